/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fixtures/parse/pve: sample configurations, and in EXPECTED.json what Proxmox VE's own parsers
 * make of them (pve-container 6.1.10, storage 9.1.7). Every row and every field must come out
 * the same; what ctmend does not take must be refused.
 */
#include <dirent.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "config/ctmap.h"
#include "sysroot.h"
#include "target/target.h"

#define SAMPLES "fixtures/parse/pve"

static json_t *load_expected(void)
{
	json_error_t error;
	json_t *all = json_load_file(SAMPLES "/EXPECTED.json", JSON_REJECT_DUPLICATES, &error);

	cr_assert_not_null(all, "%s line %d: %s", SAMPLES, error.line, error.text);
	return all;
}

/* A host named pve1 that has this container and the samples' storages. */
static void make_host(const struct scratch *s, const char *file, char name[static 16])
{
	char from[256];
	char to[64];
	size_t digits = strspn(file, "0123456789");

	cr_assert(digits > 0 && digits < 16);
	memcpy(name, file, digits);
	name[digits] = '\0';
	(void)snprintf(from, sizeof(from), SAMPLES "/%s", file);
	(void)snprintf(to, sizeof(to), "etc/pve/nodes/pve1/lxc/%s.conf", name);
	sysroot_copy(s, to, from);
	sysroot_copy(s, "etc/pve/storage.cfg", SAMPLES "/storage.cfg");
	sysroot_file(s, "var/lib/dpkg/status",
		     "Package: pve-container\nStatus: install ok installed\n"
		     "Version: 6.1.10\n");
	sysroot_link(s, "etc/pve/local", "nodes/pve1");
	sysroot_link(s, "etc/pve/lxc", "nodes/pve1/lxc");
}

static void check_text(const char *file, const char *key, const char *got, const json_t *want)
{
	cr_assert(json_is_string(want), "%s: %s", file, key);
	cr_assert_str_eq(got ? got : "(none)", json_string_value(want), "%s: %s", file, key);
}

static void check_flag(const char *file, const char *key, bool got, const json_t *want)
{
	cr_assert(json_is_integer(want), "%s: %s", file, key);
	cr_assert_eq(got, json_integer_value(want) != 0, "%s: %s", file, key);
}

static void check_idmap(const char *file, const struct ctm_target *target, const json_t *want,
			bool refused)
{
	struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };

	if (refused) {
		/* PVE and LXC read a leading zero differently */
		cr_assert_null(target->map, "%s", file);
		cr_assert_lt(
			ctm_ctmap_from_pct(ctm_pctconf_current(&target->conf), 6, &ctmap, &err), 0);
		cr_assert_eq(err.code, CTM_REFUSED, "%s: %s", file, err.msg);
		cr_assert_not_null(strstr(err.msg, "leading zero"), "%s: %s", file, err.msg);
		ctm_ctmap_done(&ctmap);
		return;
	}
	cr_assert_not_null(target->map, "%s", file);
	cr_assert_eq(target->idmap.n, json_array_size(want), "%s: ranges", file);
	for (size_t i = 0; i < target->idmap.n; i++) {
		check_text(file, "idmap", target->idmap.v[i], json_array_get(want, i));
	}
	cr_assert_eq(target->privileged, json_array_size(want) == 0, "%s: privileged", file);
}

static void check_idmap_error(const char *file, const struct ctm_target *target, const json_t *want)
{
	static const char prefix[] = "failed to parse idmap: ";
	const char *text = json_string_value(want);
	const struct ctm_volume *rootfs = ctm_target_volume(target, "rootfs");

	cr_assert(text && strncmp(text, prefix, strlen(prefix)) == 0, "%s", file);
	cr_assert_null(target->map, "%s: a map after all", file);
	cr_assert_not_null(rootfs->refusal, "%s", file);
	cr_assert_not_null(strstr(rootfs->refusal, text + strlen(prefix)), "%s: '%s'", file,
			   rootfs->refusal);
}

/* Where container id 0 is on the host; a privileged container has no map. */
static uint32_t root_id(const struct ctm_target *target, enum ctm_idkind kind)
{
	ctm_did id = { 0 };

	if (!target->privileged) {
		cr_assert_eq(ctm_idmap_to_disk(target->map, kind, (ctm_cid){ 0 }, &id), 0);
	}
	return id.v;
}

static void check_root(const char *file, const struct ctm_target *target, const json_t *want,
		       bool refused)
{
	if (refused) {
		return; /* check_idmap() has it: there is no map */
	}
	cr_assert_eq(root_id(target, CTM_UID), json_integer_value(json_array_get(want, 0)), "%s",
		     file);
	cr_assert_eq(root_id(target, CTM_GID), json_integer_value(json_array_get(want, 1)), "%s",
		     file);
}

static int by_ct(const void *a, const void *b)
{
	const struct ctm_range *x = a;
	const struct ctm_range *y = b;

	return x->ct < y->ct ? -1 : x->ct > y->ct;
}

/* Disk id -> host id, as the kernel's idmapped mount has it: "u 456 100123 1" by container id. */
static void check_disk_to_host(const char *file, const struct ctm_target *target,
			       const struct ctm_volume *volume, const json_t *want)
{
	size_t line = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *ranges = ctm_idmap_ranges(volume->map, kind, &n);
		struct ctm_range sorted[16];

		cr_assert_leq(n, ARRAY_LEN(sorted));
		memcpy(sorted, ranges, n * sizeof(ranges[0]));
		qsort(sorted, n, sizeof(sorted[0]), by_ct);
		for (size_t i = 0; i < n; i++) {
			ctm_did host;
			char text[64];

			cr_assert_eq(ctm_idmap_to_disk(target->map, kind, (ctm_cid){ sorted[i].ct },
						       &host),
				     0);
			(void)snprintf(text, sizeof(text), "%c %u %u %u",
				       kind == CTM_UID ? 'u' : 'g', sorted[i].disk, host.v,
				       sorted[i].len);
			check_text(file, "disk_to_host", text, json_array_get(want, line++));
		}
	}
	cr_assert_eq(line, json_array_size(want), "%s: %s", file, volume->key);
}

static void check_path(const char *file, const struct ctm_volume *volume, const json_t *want)
{
	if (strncmp(json_string_value(want), "rbd:", 4) == 0) {
		/* no path on the host before PVE's library has mapped it */
		cr_assert_null(volume->path, "%s", file);
		cr_assert_str_eq(volume->type, "rbd", "%s", file);
		cr_assert(volume->by_pve, "%s", file);
		return;
	}
	check_text(file, "path", volume->path, want);
}

static void check_format(const char *file, const struct ctm_volume *volume, const json_t *want)
{
	check_text(file, "format", volume->format, want);
}

static const char *class_of(const struct ctm_volume *volume)
{
	return volume->storage ? "volume" : volume->kind == CTM_VOLUME_BIND ? "bind" : "device";
}

static void check_volume(const char *file, const struct ctm_target *target,
			 const struct ctm_volume *volume, json_t *want)
{
	const char *key;
	json_t *value;

	json_object_foreach(want, key, value)
	{
		if (strcmp(key, "key") == 0) {
			check_text(file, key, volume->key, value);
		} else if (strcmp(key, "volume") == 0) {
			check_text(file, key, volume->id, value);
		} else if (strcmp(key, "type") == 0) {
			check_text(file, key, class_of(volume), value);
		} else if (strcmp(key, "path") == 0) {
			check_path(file, volume, value);
		} else if (strcmp(key, "format") == 0) {
			check_format(file, volume, value);
		} else if (strcmp(key, "mp") == 0) {
			check_text(file, key, volume->mp, value);
		} else if (strcmp(key, "ro") == 0) {
			check_flag(file, key, volume->readonly, value);
		} else if (strcmp(key, "base") == 0) {
			check_flag(file, key, volume->base, value);
		} else if (strcmp(key, "disk_to_host") == 0) {
			check_disk_to_host(file, target, volume, value);
		} else {
			cr_assert_fail("%s: no check for the field '%s'", file, key);
		}
	}
	if (!json_object_get(want, "base")) {
		cr_assert_not(volume->base, "%s: %s", file, volume->key);
	}
	if (!json_object_get(want, "format")) {
		cr_assert_null(volume->format, "%s: %s", file, volume->key);
	}
	if (!json_object_get(want, "disk_to_host") && target->map) {
		cr_assert(ctm_idmap_eq(volume->map, target->map), "%s: %s", file, volume->key);
	}
	/* what belongs to the host is named and never worked on */
	cr_assert(volume->storage || volume->refusal, "%s: %s", file, volume->key);
}

static void check_volumes(const char *file, const struct ctm_target *target, const json_t *want)
{
	cr_assert_eq(target->volumes.n, json_array_size(want), "%s: volumes", file);
	for (size_t i = 0; i < target->volumes.n; i++) {
		check_volume(file, target, &target->volumes.v[i], json_array_get(want, i));
	}
}

static void check_unprivileged(const char *file, const struct ctm_target *target,
			       const json_t *want)
{
	const char *got = ctm_pctconf_get(ctm_pctconf_current(&target->conf), "unprivileged");

	if (json_is_string(want)) {
		check_text(file, "unprivileged", got, want);
	} else {
		cr_assert_not_null(got, "%s", file);
		check_flag(file, "unprivileged", strcmp(got, "1") == 0, want);
	}
}

static bool has(const json_t *list, const char *text)
{
	size_t i;
	json_t *value;

	json_array_foreach(list, i, value)
	{
		if (strcmp(json_string_value(value), text) == 0) {
			return true;
		}
	}
	return false;
}

static const struct ctm_pctsection *section_of(const struct ctm_target *target,
					       enum ctm_pctsection_kind kind)
{
	const struct ctm_pctsection *found = NULL;

	for (size_t i = 0; i < target->conf.sections.n; i++) {
		if (target->conf.sections.v[i].kind == kind) {
			cr_assert_null(found);
			found = &target->conf.sections.v[i];
		}
	}
	return found;
}

static void check_pending(const char *file, const struct ctm_target *target, const json_t *want)
{
	const struct ctm_pctsection *pending = section_of(target, CTM_PCT_PENDING);

	cr_assert_not_null(pending, "%s", file);
	cr_assert_eq(pending->keys.n + (pending->remove ? 1 : 0), json_array_size(want), "%s",
		     file);
	cr_assert_eq(pending->remove != NULL, has(want, "delete"), "%s", file);
	for (size_t i = 0; i < pending->keys.n; i++) {
		cr_assert(has(want, pending->keys.v[i].key), "%s: %s", file,
			  pending->keys.v[i].key);
	}
}

static void check_snapshots(const char *file, const struct ctm_target *target, const json_t *want)
{
	size_t n = 0;

	for (size_t i = 0; i < target->conf.sections.n; i++) {
		if (target->conf.sections.v[i].kind == CTM_PCT_SNAPSHOT) {
			cr_assert(has(want, target->conf.sections.v[i].name), "%s", file);
			n++;
		}
	}
	cr_assert_eq(n, json_array_size(want), "%s: snapshots", file);
}

/* Every field of the row is compared, and what the row does not have must not be there. */
static void check_row(const char *file, const struct ctm_target *target, json_t *row)
{
	const bool refused = json_object_get(row, "ctmend") != NULL;
	const char *key;
	json_t *want;

	json_object_foreach(row, key, want)
	{
		if (strcmp(key, "idmap") == 0) {
			check_idmap(file, target, want, refused);
		} else if (strcmp(key, "idmap_error") == 0) {
			check_idmap_error(file, target, want);
		} else if (strcmp(key, "root") == 0) {
			check_root(file, target, want, refused);
		} else if (strcmp(key, "volumes") == 0) {
			check_volumes(file, target, want);
		} else if (strcmp(key, "unprivileged") == 0) {
			check_unprivileged(file, target, want);
		} else if (strcmp(key, "lock") == 0) {
			check_text(file, key, target->lock, want);
		} else if (strcmp(key, "template") == 0) {
			check_flag(file, key, target->template, want);
		} else if (strcmp(key, "warnings") == 0) {
			cr_assert_eq((json_int_t)target->warnings.n, json_integer_value(want),
				     "%s: warnings", file);
		} else if (strcmp(key, "pending") == 0) {
			check_pending(file, target, want);
		} else if (strcmp(key, "snapshots") == 0) {
			check_snapshots(file, target, want);
		} else if (strcmp(key, "ctmend") == 0) {
			check_text(file, key, "refuse", want);
		} else {
			cr_assert_fail("%s: no check for the field '%s'", file, key);
		}
	}
	cr_assert(json_object_get(row, "lock") || !target->lock, "%s", file);
	cr_assert(json_object_get(row, "template") || !target->template, "%s", file);
	cr_assert(json_object_get(row, "pending") || !section_of(target, CTM_PCT_PENDING), "%s",
		  file);
	cr_assert(json_object_get(row, "snapshots") || !section_of(target, CTM_PCT_SNAPSHOT), "%s",
		  file);
	cr_assert(json_object_get(row, "unprivileged") ||
			  !ctm_pctconf_get(ctm_pctconf_current(&target->conf), "unprivileged"),
		  "%s", file);
}

/* Without keep_refused: what cannot be worked on is refused, the rest is located. */
static void check_plain_locate(const char *file, const struct ctm_host *host, const char *name,
			       const json_t *row)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	struct ctm_err err = { 0 };
	int r = ctm_target_locate(host, name, NULL, &target, &err);

	if (json_object_get(row, "ctmend") || json_object_get(row, "idmap_error")) {
		cr_assert_lt(r, 0, "%s", file);
		cr_assert_eq(err.code, CTM_REFUSED, "%s: %s", file, err.msg);
		cr_assert_null(target);
	} else {
		cr_assert_eq(r, 0, "%s: %s", file, err.msg);
		cr_assert_null(ctm_target_volume(target, "rootfs")->refusal, "%s", file);
	}
}

Test(pve_samples, every_row_is_what_pve_says)
{
	json_t *all = load_expected();
	const char *file;
	json_t *row;
	size_t n = 0;

	json_object_foreach(all, file, row)
	{
		static const struct ctm_target_opts opts = { .keep_refused = true };
		SCRATCH(s);
		CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
		const struct ctm_host host = { .sysroot = s.path };
		struct ctm_err err = { 0 };
		char name[16];

		make_host(&s, file, name);
		cr_assert_eq(ctm_target_locate(&host, name, &opts, &target, &err), 0, "%s: %s",
			     file, err.msg);
		cr_assert_str_eq(target->node, "pve1");
		check_row(file, target, row);
		check_plain_locate(file, &host, name, row);
		n++;
	}
	cr_assert_eq(n, 12, "rows: %zu", n);
	json_decref(all);
}

Test(pve_samples, every_file_has_a_row)
{
	json_t *all = load_expected();
	DIR *dir = opendir(SAMPLES);
	const struct dirent *entry;
	size_t n = 0;

	cr_assert_not_null(dir);
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len > 5 && strcmp(entry->d_name + len - 5, ".conf") == 0) {
			cr_assert_not_null(json_object_get(all, entry->d_name), "%s",
					   entry->d_name);
			n++;
		}
	}
	cr_assert_eq(n, json_object_size(all));
	(void)closedir(dir);
	json_decref(all);
}
