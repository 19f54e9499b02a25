/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The maps of a container for programs. jansson takes NULL for a value it is to store as a failure,
 * so out of memory shows in the result of each call.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/version.h"
#include "plan/translate.h"
#include "report/json.h"
#include "report/json_parts.h"
#include "report/map.h"

static json_t *text_or_null(const char *text)
{
	return text ? ctm_json_text(text, strlen(text)) : json_null();
}

static json_t *range_or_null(enum ctm_idkind kind, struct ctm_range range)
{
	return range.len ? json_sprintf("%c %u %u %u", kind == CTM_UID ? 'u' : 'g', range.ct,
					range.disk, range.len) :
			   json_null();
}

/* A boolean of the configuration: as a number, or the text that Proxmox VE keeps. */
static json_t *setting(const struct ctm_target *target, const char *key)
{
	const char *value = target->conf.sections.n ?
				    ctm_pctconf_get(ctm_pctconf_current(&target->conf), key) :
				    NULL;

	if (value && (strcmp(value, "0") == 0 || strcmp(value, "1") == 0)) {
		return json_integer(value[0] - '0');
	}
	return text_or_null(value);
}

static json_t *root_json(const struct ctm_target *target)
{
	json_t *list = json_array();

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && target->map; kind++) {
		ctm_did id = { 0 };
		bool known = target->privileged ||
			     ctm_idmap_to_disk(target->map, kind, (ctm_cid){ 0 }, &id) == 0;

		json_array_append_new(list, known ? json_integer(id.v) : json_null());
	}
	if (!target->map) {
		json_decref(list);
		return json_null();
	}
	return list;
}

static int by_ct(const void *pa, const void *pb)
{
	const struct ctm_range *a = pa;
	const struct ctm_range *b = pb;

	return a->ct < b->ct ? -1 : a->ct > b->ct;
}

/* What the mount of such a volume does: disk id to host id, by the container's ids. */
static json_t *disk_to_host(const struct ctm_target *target, const struct ctm_volume *vol)
{
	json_t *list = json_array();

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		struct ctm_range sorted[CTM_IDMAP_MAX];
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(vol->map, kind, &n);

		memcpy(sorted, v, n * sizeof(v[0]));
		qsort(sorted, n, sizeof(sorted[0]), by_ct);
		for (size_t i = 0; i < n; i++) {
			ctm_did host = { 0 };

			(void)ctm_idmap_to_disk(target->map, kind, (ctm_cid){ sorted[i].ct },
						&host);
			json_array_append_new(
				list, json_sprintf("%c %u %u %u", kind == CTM_UID ? 'u' : 'g',
						   sorted[i].disk, host.v, sorted[i].len));
		}
	}
	return list;
}

static json_t *volume_json(const struct ctm_target *target, const struct ctm_volume *vol)
{
	bool bind = vol->kind == CTM_VOLUME_BIND && target->kind == CTM_TARGET_PVE;
	json_t *one = json_pack(
		"{s:s, s:o, s:s, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:b, s:o, s:o}", "key",
		vol->key, "volume", text_or_null(vol->id), "type", ctm_map_volume_type(vol, target),
		"path", text_or_null(bind ? NULL : vol->path), "format", text_or_null(vol->format),
		"mp", text_or_null(vol->mp), "ro", (int)vol->readonly, "base", (int)vol->base,
		"storage", text_or_null(vol->storage), "storage_type", text_or_null(vol->type),
		"map", ctm_json_idmap(vol->map), "unshifted", (int)vol->unshifted, "refusal",
		text_or_null(vol->refusal), "next", text_or_null(vol->hint));

	if (one && vol->idmap_opt && vol->map && target->map && !target->privileged) {
		json_object_set_new(one, "disk_to_host", disk_to_host(target, vol));
	}
	return one;
}

static json_t *translation_json(enum ctm_idkind kind, const struct ctm_translation *t)
{
	return json_pack("{s:o, s:o, s:b, s:o, s:o}", "to_disk",
			 t->inside ? json_integer(t->disk.v) : json_null(), "to_container",
			 t->on_disk ? json_integer(t->ct.v) : json_null(), "from_host",
			 (int)t->from_host, "to_disk_needs", range_or_null(kind, t->need_inside),
			 "to_container_needs", range_or_null(kind, t->need_disk));
}

static json_t *id_json(const struct ctm_volume *vol, uint32_t id)
{
	json_t *kinds[2];

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		struct ctm_translation t;

		ctm_translate(vol->map, vol->unshifted, kind, id, &t);
		kinds[kind] = translation_json(kind, &t);
	}
	return json_pack("{s:I, s:s, s:o, s:o}", "id", (json_int_t)id, "volume", vol->key, "uid",
			 kinds[CTM_UID], "gid", kinds[CTM_GID]);
}

static json_t *ids_json(const struct ctm_map_report *rep)
{
	const struct ctm_target *target = rep->mapping->target;
	json_t *list = json_array();

	for (size_t i = 0; i < rep->n_ids; i++) {
		for (size_t k = 0; k < target->volumes.n; k++) {
			const struct ctm_volume *vol = &target->volumes.v[k];

			if (vol->map && (!rep->volume || rep->volume == vol) &&
			    json_array_append_new(list, id_json(vol, rep->ids[i]))) {
				json_decref(list);
				return NULL;
			}
		}
	}
	return list;
}

static json_t *start(const char *name)
{
	return json_pack("{s:i, s:s, s:s, s:o}", "schema", CTM_JSON_SCHEMA, "ctmend", ctm_version,
			 "command", "map", "target", ctm_json_text(name, strlen(name)));
}

static int finish(json_t *root, FILE *out)
{
	int r = root && json_dumpf(root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) == 0 ? 0 : -EIO;

	json_decref(root);
	fputc('\n', out);
	return r;
}

/* Names of sections by kind; NULL: there is none. */
static json_t *snapshots_json(const struct ctm_target *target)
{
	json_t *list = json_array();

	for (size_t i = 0; i < target->conf.sections.n; i++) {
		const struct ctm_pctsection *section = &target->conf.sections.v[i];

		if (section->kind == CTM_PCT_SNAPSHOT) {
			json_array_append_new(list,
					      ctm_json_text(section->name, strlen(section->name)));
		}
	}
	return list;
}

/* The keys that wait for the next start. */
static json_t *pending_json(const struct ctm_target *target)
{
	json_t *list = json_array();

	for (size_t i = 0; i < target->conf.sections.n; i++) {
		const struct ctm_pctsection *section = &target->conf.sections.v[i];

		if (section->kind != CTM_PCT_PENDING) {
			continue;
		}
		if (section->remove) {
			json_array_append_new(list, json_string("delete"));
		}
		for (size_t k = 0; k < section->keys.n; k++) {
			const char *key = section->keys.v[k].key;

			json_array_append_new(list, ctm_json_text(key, strlen(key)));
		}
	}
	return list;
}

int ctm_map_json(FILE *out, const struct ctm_map_report *rep)
{
	const struct ctm_mapping *m = rep->mapping;
	json_t *root = start(rep->name);
	json_t *idmap = json_array();
	json_t *volumes = json_array();
	json_t *findings = json_array();
	int r = 0;

	for (size_t i = 0; i < m->idmap.n; i++) {
		r |= json_array_append_new(idmap, text_or_null(m->idmap.v[i]));
	}
	for (size_t i = 0; i < m->target->volumes.n; i++) {
		r |= json_array_append_new(volumes,
					   volume_json(m->target, &m->target->volumes.v[i]));
	}
	for (size_t i = 0; i < m->lint->findings.n; i++) {
		r |= json_array_append_new(findings,
					   ctm_json_finding(m->lint, &m->lint->findings.v[i]));
	}
	if (m->idmap_error) {
		json_decref(idmap);
		idmap = json_null();
		r |= json_object_set_new(root, "idmap_error", text_or_null(m->idmap_error));
	}
	r |= json_object_set_new(root, "idmap", idmap);
	r |= json_object_set_new(root, "root", root_json(m->target));
	r |= json_object_set_new(root, "unprivileged", setting(m->target, "unprivileged"));
	r |= json_object_set_new(root, "lock", text_or_null(m->target->lock));
	r |= json_object_set_new(root, "template", setting(m->target, "template"));
	r |= json_object_set_new(root, "warnings", json_integer((json_int_t)m->target->warnings.n));
	r |= json_object_set_new(root, "pending", pending_json(m->target));
	r |= json_object_set_new(root, "snapshots", snapshots_json(m->target));
	r |= json_object_set_new(root, "volumes", volumes);
	r |= json_object_set_new(root, "ids", ids_json(rep));
	r |= json_object_set_new(root, "findings", findings);
	r |= json_object_set_new(root, "note", text_or_null(m->note));
	if (m->refused.code != CTM_OK) {
		r |= json_object_set_new(root, "error", ctm_json_err(&m->refused));
	}
	if (r) {
		json_decref(root);
		return -ENOMEM;
	}
	return finish(root, out);
}

int ctm_map_json_error(FILE *out, const char *name, const struct ctm_err *err)
{
	json_t *root = start(name);

	if (json_object_set_new(root, "error", ctm_json_err(err))) {
		json_decref(root);
		return -ENOMEM;
	}
	return finish(root, out);
}
