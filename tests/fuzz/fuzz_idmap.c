/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Id maps: the first line is a --map argument, each further one a value of lxc.idmap.
 */
#include "fuzz/fuzz.h"
#include "id/idmap.h"

/* The ends of a range come back from the disk, and neither is 4294967295. */
static void check_end(const struct ctm_idmap *map, enum ctm_idkind kind, uint32_t ct, uint32_t disk)
{
	ctm_did to = { 0 };
	ctm_cid back = { 0 };

	FUZZ_CHECK(ct != CTM_ID_INVALID && disk != CTM_ID_INVALID);
	FUZZ_CHECK(ctm_idmap_to_disk(map, kind, (ctm_cid){ ct }, &to) == 0 && to.v == disk);
	FUZZ_CHECK(ctm_idmap_to_ct(map, kind, to, &back) == 0 && back.v == ct);
	FUZZ_CHECK(ctm_idmap_on_disk(map, kind, to) && ctm_idmap_in_ct(map, kind, back));
}

static void check_map(const struct ctm_idmap *map)
{
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *ranges = ctm_idmap_ranges(map, kind, &n);

		FUZZ_CHECK(ctm_idmap_empty(map, kind) == (n == 0));
		for (size_t i = 0; i < n; i++) {
			uint32_t last = ranges[i].len - 1;

			FUZZ_CHECK(ranges[i].len > 0);
			check_end(map, kind, ranges[i].ct, ranges[i].disk);
			check_end(map, kind, ranges[i].ct + last, ranges[i].disk + last);
		}
	}
}

/* What is written can be read again, to the same map. */
static void check_text(const struct ctm_idmap *map)
{
	struct ctm_idmap *again = ctm_idmap_new();
	struct ctm_buf text = { 0 };

	FUZZ_CHECK(again && ctm_idmap_format(map, &text) == 0);
	for (char *p = text.p, *line; p && (line = strsep(&p, ","));) {
		FUZZ_CHECK(line[0] == '\0' || ctm_idmap_add_line(again, line, NULL) == 0);
	}
	FUZZ_CHECK(ctm_idmap_eq(map, again));
	ctm_buf_done(&text);
	ctm_idmap_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	char *rest = text;
	const char *line = strsep(&rest, "\n");
	struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };

	if (ctm_idmap_parse_spec(line, &map, &err) < 0) {
		FUZZ_CHECK(err.code != CTM_OK && err.msg[0] != '\0' && !map);
		map = ctm_idmap_new();
		FUZZ_CHECK(map);
	}
	while ((line = strsep(&rest, "\n"))) {
		if (ctm_idmap_add_line(map, line, &err) < 0) {
			FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
		}
	}
	check_map(map);
	check_text(map);
	ctm_idmap_free(map);
	free(text);
	return 0;
}
