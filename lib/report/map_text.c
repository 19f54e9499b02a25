/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The maps of a container for people.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "plan/translate.h"
#include "report/map.h"
#include "report/report.h"

#define INDENT "        "

static const char *const kinds[] = { "uid", "gid" };

const char *ctm_map_volume_type(const struct ctm_volume *volume, const struct ctm_target *target)
{
	if (target->kind != CTM_TARGET_PVE) {
		return "path";
	}
	if (volume->kind == CTM_VOLUME_BIND) {
		return "bind";
	}
	return volume->id && strncmp(volume->id, "/dev/", 5) == 0 ? "device" : "volume";
}

struct page {
	FILE *out;
	const struct ctm_map_report *rep;
	struct ctm_buf line;
};

static const char *safe(struct page *p, const char *text)
{
	p->line.len = 0;
	if (ctm_path_escape(&p->line, text, strlen(text)) < 0) {
		return NULL;
	}
	return p->line.p ? p->line.p : "";
}

/* "lead" and the text made safe to show. */
static int put(struct page *p, const char *lead, const char *text)
{
	const char *shown = safe(p, text);

	if (!shown) {
		return -ENOMEM;
	}
	fprintf(p->out, "%s%s", lead, shown);
	return 0;
}

static void put_root(struct page *p)
{
	const struct ctm_idmap *map = p->rep->mapping->target->map;
	char ids[2][24] = { "none", "none" };

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		ctm_did id;

		if (ctm_idmap_to_disk(map, kind, (ctm_cid){ 0 }, &id) == 0) {
			(void)snprintf(ids[kind], sizeof(ids[kind]), "%" PRIu32, id.v);
		}
	}
	fprintf(p->out, "root is %s:%s on disk\n", ids[CTM_UID], ids[CTM_GID]);
}

static int put_head(struct page *p)
{
	const struct ctm_mapping *m = p->rep->mapping;
	int r = put(p, m->target->kind == CTM_TARGET_PVE ? "CT " : "", p->rep->name);

	if (r == 0 && m->target->lock) {
		r = put(p, ", locked by ", m->target->lock);
	}
	if (m->target->template) {
		fputs(", template", p->out);
	}
	if (r == 0 && m->target->privileged) {
		fputs(", privileged: no map, ids inside and on disk are the same\n", p->out);
		return 0;
	}
	for (size_t i = 0; i < m->idmap.n && r == 0; i++) {
		r = put(p, i ? ", " : ", map ", m->idmap.v[i]);
	}
	if (r < 0) {
		return r;
	}
	fputs(m->builtin ? " (built in)\n" : "\n", p->out);
	if (m->refused.code != CTM_OK) {
		r = put(p, "no map to work with: ", m->refused.msg);
		fputc('\n', p->out);
		return r;
	}
	put_root(p);
	return 0;
}

/* The map of a volume that has one of its own. */
static int put_volume_map(struct page *p, const struct ctm_volume *vol)
{
	if (!vol->map || !vol->idmap_opt || p->rep->mapping->target->privileged) {
		return 0;
	}
	if (vol->unshifted) {
		fputs(INDENT "ids on disk are the container's own\n", p->out);
		return 0;
	}
	p->line.len = 0;
	if (ctm_idmap_format(vol->map, &p->line) < 0) {
		return -ENOMEM;
	}
	fprintf(p->out, INDENT "map %s\n", p->line.p);
	return 0;
}

static int put_volume(struct page *p, const struct ctm_volume *vol)
{
	const struct ctm_target *target = p->rep->mapping->target;
	const char *type = ctm_map_volume_type(vol, target);
	int r;

	fprintf(p->out, "%-7s ", vol->key);
	r = put(p, "", vol->id ? vol->id : "?");
	fprintf(p->out, ", %s", strcmp(type, "volume") == 0 && vol->format ? vol->format : type);
	if (r == 0 && vol->mp && strcmp(vol->mp, "/") != 0) {
		r = put(p, ", at ", vol->mp);
	}
	fputc('\n', p->out);
	if (r == 0 && vol->path && vol->id && strcmp(vol->path, vol->id) != 0) {
		r = put(p, INDENT, vol->path);
		fputc('\n', p->out);
	}
	if (r == 0) {
		r = put_volume_map(p, vol);
	}
	if (r == 0 && vol->refusal && strcmp(vol->refusal, p->rep->mapping->refused.msg) != 0) {
		r = put(p, INDENT "not worked on: ", vol->refusal);
		fputc('\n', p->out);
	}
	return r;
}

static void put_need(FILE *out, const char *lead, enum ctm_idkind kind, struct ctm_range need)
{
	if (need.len) {
		fprintf(out, "%s%c %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", lead, kinds[kind][0],
			need.ct, need.disk, need.len);
	} else {
		fputs("; no map can hold it\n", out);
	}
}

static void put_translation(FILE *out, enum ctm_idkind kind, uint32_t id,
			    const struct ctm_translation *t)
{
	fprintf(out, INDENT "%s %" PRIu32 " of the container is ", kinds[kind], id);
	if (t->inside) {
		fprintf(out, "%" PRIu32 " on disk\n", t->disk.v);
	} else {
		fputs("not mapped", out);
		put_need(out, "; the map would need at least ", kind, t->need_inside);
	}
	fprintf(out, INDENT "%s %" PRIu32 " on disk is ", kinds[kind], id);
	if (t->on_disk) {
		fprintf(out, "%" PRIu32 " of the container\n", t->ct.v);
	} else if (t->from_host) {
		fprintf(out, "not mapped: written from the host, it belongs at %" PRIu32,
			t->disk.v);
		put_need(out, "; to pass it through the map would need ", kind, t->need_disk);
	} else {
		fputs("not mapped", out);
		put_need(out, "; the map would need at least ", kind, t->need_disk);
	}
}

static void put_id(FILE *out, const struct ctm_volume *vol, uint32_t id)
{
	fprintf(out, "\nid %" PRIu32 ", %s\n", id, vol->key);
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		struct ctm_translation t;

		ctm_translate(vol->map, vol->unshifted, kind, id, &t);
		put_translation(out, kind, id, &t);
	}
}

static void put_ids(struct page *p)
{
	const struct ctm_map_report *rep = p->rep;
	const struct ctm_target *target = rep->mapping->target;

	for (size_t i = 0; i < rep->n_ids; i++) {
		for (size_t k = 0; k < target->volumes.n; k++) {
			const struct ctm_volume *vol = &target->volumes.v[k];

			if (vol->map && (!rep->volume || rep->volume == vol)) {
				put_id(p->out, vol, rep->ids[i]);
			}
		}
	}
}

int ctm_map_text(FILE *out, const struct ctm_map_report *rep)
{
	struct page p = { .out = out, .rep = rep };
	const struct ctm_mapping *m = rep->mapping;
	int r = put_head(&p);

	if (r == 0 && m->note) {
		r = put(&p, "note: the accounts inside were not looked at: ", m->note);
		fputc('\n', out);
	}
	fputc('\n', out);
	for (size_t i = 0; i < m->target->volumes.n && r == 0; i++) {
		r = put_volume(&p, &m->target->volumes.v[i]);
	}
	if (r == 0) {
		put_ids(&p);
		r = ctm_report_causes(out, m->lint, rep->verbose, rep->color);
	}
	ctm_buf_done(&p.line);
	return r;
}
