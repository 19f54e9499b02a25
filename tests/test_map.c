/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The views of map; tests/cli/041-map.sh has whole pages. */
#include "report/map.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "locating.h"

#define HOSTILE                                                 \
	"unprivileged: 1\nrootfs: none:115/vm-115-disk-0.raw\n" \
	"mp0: local:115/vm-115-disk-1.raw,mp=/a\033[2Jb\n"      \
	"mp1: local:115/vm-115-disk-2.raw,mp=/c,idmap=passthrough\nlock: x\033y\n"

static void make(const struct scratch *s, struct ctm_mapping *mapping)
{
	const struct ctm_session_opts opts = { .host = { .sysroot = s->path } };
	struct ctm_err err = { 0 };

	make_cluster(s);
	sysroot_file(s, "etc/pve/nodes/pve1/lxc/115.conf", HOSTILE);
	cr_assert_eq(ctm_session_mapping("115", &opts, mapping, &err), 0, "%s", err.msg);
}

static char *written(int (*view)(FILE *, const struct ctm_map_report *),
		     const struct ctm_map_report *rep)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_not_null(out);
	cr_assert_eq(view(out, rep), 0);
	cr_assert_eq(fclose(out), 0);
	return text;
}

static void has(const char *text, const char *part)
{
	cr_assert_not_null(strstr(text, part), "no '%s' in:\n%s", part, text);
}

Test(map, text_is_safe_and_names_every_volume)
{
	SCRATCH(s);
	CLEANUP(ctm_mapping_done) struct ctm_mapping mapping = { 0 };
	struct ctm_map_report rep = { .name = "115", .mapping = &mapping };
	CLEANUP_FREE char *text = NULL;

	make(&s, &mapping);
	text = written(ctm_map_text, &rep);
	has(text, "CT 115, locked by x\\x1by, map u 0 100000 65536, g 0 100000 65536 (built in)\n"
		  "root is 100000:100000 on disk\n");
	has(text, "rootfs  none:115/vm-115-disk-0.raw, ");
	has(text, "not worked on: ");
	has(text, "mp0     local:115/vm-115-disk-1.raw, raw, at /a\\x1b[2Jb\n");
	has(text, "mp1     local:115/vm-115-disk-2.raw, raw, at /c\n");
	has(text, "        ids on disk are the container's own\n");
	cr_assert_null(strchr(text, '\033'));
}

Test(map, json_is_one_object)
{
	SCRATCH(s);
	CLEANUP(ctm_mapping_done) struct ctm_mapping mapping = { 0 };
	const uint32_t ids[] = { 7 };
	struct ctm_map_report rep = { .name = "115", .mapping = &mapping, .ids = ids, .n_ids = 1 };
	CLEANUP_FREE char *text = NULL;
	json_t *root;
	const json_t *mp1;
	const json_t *id;

	make(&s, &mapping);
	rep.volume = ctm_target_volume(mapping.target, "mp1");
	text = written(ctm_map_json, &rep);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	cr_assert_not_null(root, "%s", text);
	cr_assert_str_eq(json_string_value(json_object_get(root, "lock")), "x\\x1by");
	cr_assert(json_is_null(json_object_get(root, "template")));
	cr_assert_eq(json_array_size(json_object_get(root, "volumes")), 3);
	mp1 = json_array_get(json_object_get(root, "volumes"), 2);
	cr_assert(json_is_true(json_object_get(mp1, "unshifted")));
	cr_assert_str_eq(json_string_value(json_array_get(json_object_get(mp1, "disk_to_host"), 1)),
			 "g 0 100000 65536");
	id = json_object_get(json_array_get(json_object_get(root, "ids"), 0), "uid");
	cr_assert_eq(json_integer_value(json_object_get(id, "to_disk")), 7);
	cr_assert_eq(json_integer_value(json_object_get(id, "to_container")), 7);
	json_decref(root);
}

Test(map, json_of_an_error)
{
	struct ctm_err err = { 0 };
	CLEANUP_FREE char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	json_t *root;

	(void)ctm_err_set(&err, CTM_REFUSED, 0, "there is none");
	cr_assert_eq(ctm_map_json_error(out, "7", &err), 0);
	cr_assert_eq(fclose(out), 0);
	root = json_loads(text, 0, NULL);
	cr_assert_not_null(root);
	cr_assert_str_eq(json_string_value(json_object_get(json_object_get(root, "error"), "code")),
			 "refused");
	json_decref(root);
}
