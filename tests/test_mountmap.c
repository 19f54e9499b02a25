/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The property idmap= of a volume. The second table's rows follow the kernel's rule that an id
 * has one place in an idmapped mount.
 */
#include "config/mountmap.h"

#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

#define DEFAULT "0:100000:65536"
#define HOLES   "u:0:100000:1005,u:1005:1005:1,u:1006:101006:64530,g:0:100000:65536"

static const struct {
	const char *name;
	const char *container;
	const char *option;
	const char *want;
} good[] = {
	{ "no property", HOLES, NULL,
	  "u 0 100000 1005, u 1005 1005 1, u 1006 101006 64530, g 0 100000 65536" },
	{ "passthrough", DEFAULT, "passthrough", "u 0 0 65536, g 0 0 65536" },
	{ "passthrough keeps the container's holes", "u:0:100000:10,u:20:100020:5,g:0:100000:7",
	  "passthrough", "u 0 0 10, u 20 20 5, g 0 0 7" },
	{ "one uid", DEFAULT, "u:123:456:1",
	  "u 0 100000 123, u 123 456 1, u 124 100124 65412, g 0 100000 65536" },
	{ "entries in any order", DEFAULT, "g:100:50:5;u:2:9:1;u:0:7:1",
	  "u 0 7 1, u 1 100001 1, u 2 9 1, u 3 100003 65533, "
	  "g 0 100000 100, g 100 50 5, g 105 100105 65431" },
	{ "entries side by side", DEFAULT, "u:0:0:5;u:5:200:5",
	  "u 0 0 5, u 5 200 5, u 10 100010 65526, g 0 100000 65536" },
	{ "at the end", DEFAULT, "u:65535:7:1", "u 0 100000 65535, u 65535 7 1, g 0 100000 65536" },
	{ "cut off behind the map", DEFAULT, "u:65530:1000:100",
	  "u 0 100000 65530, u 65530 1000 6, g 0 100000 65536" },
	{ "cut off before a range", "u:10:100010:10,g:0:100000:1", "u:0:0:15",
	  "u 10 10 5, u 15 100015 5, g 0 100000 1" },
	{ "outside of the map", DEFAULT, "u:70000:5:1", "u 0 100000 65536, g 0 100000 65536" },
	{ "over two ranges", "u:0:100000:10,u:10:200000:10,g:0:1000:1", "u:5:50:10",
	  "u 0 100000 5, u 5 50 5, u 10 55 5, u 15 200005 5, g 0 1000 1" },
	{ "the whole of it", DEFAULT, "u:0:0:65536;g:0:0:65536", "u 0 0 65536, g 0 0 65536" },
	{ "leading zeros are decimal", DEFAULT, "u:0123:0456:01",
	  "u 0 100000 123, u 123 456 1, u 124 100124 65412, g 0 100000 65536" },
};
CASES(mountmap, good, good)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *container = NULL;
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_idmap_parse_spec(good[*i].container, &container, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_mountmap(container, good[*i].option, &map, &err), 0, "%s: %s",
		     good[*i].name, err.msg);
	cr_assert_eq(ctm_idmap_format(map, &text), 0);
	cr_assert_str_eq(text.p, good[*i].want, "%s", good[*i].name);
}

static const struct {
	const char *name;
	const char *option;
	const char *error;
} bad[] = {
	{ "empty", "", "'' in idmap= is not" },
	{ "another word", "Passthrough", "'Passthrough' in idmap= is not" },
	{ "another kind", "b:0:0:1", "'b:0:0:1' in idmap= is not" },
	{ "too few numbers", "u:0:0", "'u:0:0' in idmap= is not" },
	{ "too many numbers", "u:0:0:1:2", "in idmap= is not" },
	{ "length 0", "u:0:0:0", "in idmap= is not" },
	{ "a sign", "u:-1:0:1", "in idmap= is not" },
	{ "hexadecimal", "u:0x10:0:1", "in idmap= is not" },
	{ "a blank", "u: 0:0:1", "in idmap= is not" },
	{ "an empty entry", "u:0:0:1;", "'' in idmap= is not" },
	{ "over 32 bits", "u:0:4294967296:1", "in idmap= is not" },
	{ "up to 4294967295", "u:0:4294967290:10", "beyond the largest uid" },
	{ "a long word", "u:0:0:111111111111111111111111111111111111111111111111111111111111111111",
	  "in idmap= is not" },
	{ "a container id twice", "u:0:0:5;u:4:50:5", "container id 4 stands twice" },
	{ "a disk id twice", "u:0:500:5;u:10:504:5", "two container uids at one disk uid" },
	{ "on a disk id of the map", "g:0:100007:1", "two container gids at one disk gid" },
};
CASES(mountmap, bad, bad)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *container = NULL;
	struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_idmap_parse_spec(DEFAULT, &container, &err), 0, "%s", err.msg);
	cr_assert_lt(ctm_mountmap(container, bad[*i].option, &map, &err), 0, "%s", bad[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", bad[*i].name);
	cr_assert_not_null(strstr(err.msg, bad[*i].error), "%s: %s", bad[*i].name, err.msg);
	cr_assert_null(map, "%s", bad[*i].name);
}
