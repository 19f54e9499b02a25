/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ACLs. The values with a text are what the kernel stored for setfacl(1), read with getxattr(2) on
 * tmpfs; the texts are acl_to_any_text(3)'s of libacl 2.3.1 for them.
 */
#include "id/acl.h"

#include <errno.h>
#include <string.h>
#include <sys/acl.h>

#include "cases.h"
#include "hex.h"
#include "prng.h"

/* setfacl -m u:33:rwx on a file 0750 */
#define ACL_ONE                            \
	"02000000"                         \
	"01000700ffffffff0200070021000000" \
	"04000500ffffffff10000700ffffffff20000000ffffffff"
/* setfacl -m u:0:r,u:100033:rw,g:4:r,g:100004:- on a file 0640 */
#define ACL_MIXED                                          \
	"02000000"                                         \
	"01000600ffffffff020004000000000002000600c1860100" \
	"04000400ffffffff080004000400000008000000a4860100" \
	"10000600ffffffff20000000ffffffff"
/* setfacl -m u:4294967294:x,g:65534:wx on a file 0755 */
#define ACL_HIGH                                           \
	"02000000"                                         \
	"01000700ffffffff02000100feffffff04000500ffffffff" \
	"08000300feff000010000700ffffffff20000500ffffffff"
/* setfacl -m d:u:42:rwx,d:g:100:rx,d:o::- on a directory 0770, the default ACL */
#define ACL_DEFAULT                                        \
	"02000000"                                         \
	"01000700ffffffff020007002a00000004000700ffffffff" \
	"080005006400000010000700ffffffff20000000ffffffff"
/* setfacl -m m::r on a file 0644 */
#define ACL_MASK_ONLY "0200000001000600ffffffff04000400ffffffff10000400ffffffff20000400ffffffff"
/* u:1000:rw u:1001:r u:1002:x g:1000:rwx on a file 0644 */
#define ACL_FOUR                                                           \
	"02000000"                                                         \
	"01000600ffffffff02000600e803000002000400e903000002000100ea030000" \
	"04000400ffffffff08000700e803000010000600ffffffff20000400ffffffff"
/* uid 5 named twice: setxattr(2) took it, libacl calls it invalid */
#define ACL_TWICE                                          \
	"02000000"                                         \
	"01000600ffffffff02000700050000000200040005000000" \
	"04000500ffffffff10000700ffffffff20000000ffffffff"
/* uid 50 before uid 5: taken as well, and kept in this order */
#define ACL_UNSORTED                                       \
	"02000000"                                         \
	"01000600ffffffff02000700320000000200040005000000" \
	"04000500ffffffff080004000900000010000700ffffffff20000000ffffffff"

static const struct {
	const char *hex;
	int count;
	const char *text;
} format_rows[] = {
	{ ACL_ONE, 5, "u::rwx,u:33:rwx,g::r-x,m::rwx,o::---" },
	{ ACL_MIXED, 8, "u::rw-,u:0:r--,u:100033:rw-,g::r--,g:4:r--,g:100004:---,m::rw-,o::---" },
	{ ACL_HIGH, 6, "u::rwx,u:4294967294:--x,g::r-x,g:65534:-wx,m::rwx,o::r-x" },
	{ ACL_DEFAULT, 6, "u::rwx,u:42:rwx,g::rwx,g:100:r-x,m::rwx,o::---" },
	{ ACL_MASK_ONLY, 4, "u::rw-,g::r--,m::r--,o::r--" },
	{ ACL_FOUR, 8, "u::rw-,u:1000:rw-,u:1001:r--,u:1002:--x,g::r--,g:1000:rwx,m::rw-,o::r--" },
	{ ACL_TWICE, 6, "u::rw-,u:5:rwx,u:5:r--,g::r-x,m::rwx,o::---" },
	/* libacl sorts what it shows; these bytes are shown as they are */
	{ ACL_UNSORTED, 7, "u::rw-,u:50:rwx,u:5:r--,g::r-x,g:9:r--,m::rwx,o::---" },
	{ "02000000", 0, "" },
	{ "0200000040000600210000000200ffff21000000", 2, "0x40:33:rw-,u:33:rwx+0xfff8" },
	{ "0200000000000000000000000300070007000000", 2, "0x0:0:---,0x3:7:rwx" },
};

CASES(acl, format, format_rows)
{
	unsigned char store[256];
	struct ctm_bytes acl = from_hex(format_rows[*i].hex, store, sizeof(store));
	struct ctm_buf out = { 0 };

	cr_assert_eq(ctm_acl_count(acl), format_rows[*i].count, "row %zu: %d", *i,
		     ctm_acl_count(acl));
	cr_assert_eq(ctm_acl_format(acl, &out), 0, "row %zu", *i);
	cr_assert_str_eq(out.p, format_rows[*i].text, "row %zu: %s", *i, out.p);
	ctm_buf_done(&out);
}

static bool never(enum ctm_idkind kind, ctm_did from, ctm_did *to, void *arg)
{
	(void)kind;
	(void)from;
	(void)to;
	(void)arg;
	cr_assert_fail("asked about an entry of a malformed value");
	return false;
}

static const struct {
	const char *name;
	const char *hex; /* NULL: absent */
} bad_rows[] = {
	{ "absent", NULL },
	{ "empty", "" },
	{ "no full header", "020000" },
	{ "version 1", "0100000001000700ffffffff" },
	{ "version 3", "03000000" },
	{ "version in the other byte order", "00000002" },
	{ "half an entry", "0200000001000700" },
	{ "one byte short", "0200000001000700ffffff" },
	{ "one byte more", "0200000001000700ffffffff00" },
};

CASES(acl, malformed, bad_rows)
{
	unsigned char store[256];
	struct ctm_bytes acl = { 0 };
	struct ctm_idmap *map = ctm_idmap_new();
	struct ctm_arena arena = { 0 };
	struct ctm_bytes moved = { "untouched", 9 };
	struct ctm_buf out = { 0 };
	bool merge = true;

	if (bad_rows[*i].hex) {
		acl = from_hex(bad_rows[*i].hex, store, sizeof(store));
	}
	cr_assert_eq(ctm_idmap_add_default(map), 0);
	cr_assert_eq(ctm_acl_count(acl), -EINVAL, "%s", bad_rows[*i].name);
	cr_assert(ctm_acl_off_map(acl, map), "%s", bad_rows[*i].name);
	cr_assert_eq(ctm_acl_format(acl, &out), -EINVAL, "%s", bad_rows[*i].name);
	cr_assert_eq(ctm_acl_move(acl, never, NULL, &arena, &moved, &merge), -EINVAL, "%s",
		     bad_rows[*i].name);
	cr_assert(moved.len == 9 && merge, "%s: written although refused", bad_rows[*i].name);
	ctm_buf_done(&out);
	ctm_arena_done(&arena);
	ctm_idmap_free(map);
}

Test(acl, entries)
{
	static const struct ctm_acl_entry want[] = {
		{ ACL_USER_OBJ, 6, UINT32_MAX },
		{ ACL_USER, 4, 0 },
		{ ACL_USER, 6, 100033 },
		{ ACL_GROUP_OBJ, 4, UINT32_MAX },
		{ ACL_GROUP, 4, 4 },
		{ ACL_GROUP, 0, 100004 },
		{ ACL_MASK, 6, UINT32_MAX },
		{ ACL_OTHER, 0, UINT32_MAX },
	};
	unsigned char store[256];
	/* at an odd address: values in an arena are not aligned */
	struct ctm_bytes acl = from_hex(ACL_MIXED, store + 1, sizeof(store) - 1);

	for (int n = 0; n < 8; n++) {
		const struct ctm_acl_entry got = ctm_acl_get(acl, n);
		enum ctm_idkind kind = CTM_UID;
		const bool names = ctm_acl_names(&got, &kind);

		cr_assert_eq(got.tag, want[n].tag, "entry %d: tag %d", n, got.tag);
		cr_assert_eq(got.perm, want[n].perm, "entry %d: perm %d", n, got.perm);
		cr_assert_eq(got.id, want[n].id, "entry %d: id %u", n, got.id);
		cr_assert_eq(names, want[n].id != UINT32_MAX, "entry %d", n);
		cr_assert(!names || kind == (got.tag == ACL_USER ? CTM_UID : CTM_GID), "entry %d",
			  n);
	}
}

static const struct {
	const char *name;
	const char *hex;
	const char *map;
	bool want;
} off_rows[] = {
	{ "host uid", ACL_ONE, "100000", true },
	{ "uid is passed through", ACL_ONE, "33:33:1", false },
	{ "uid is passed through for gids alone", ACL_ONE, "g:33:33:1,u:0:100000:65536", true },
	{ "two of four are off", ACL_MIXED, "100000", true },
	{ "gids alone are off", ACL_MIXED, "u:0:0:1,u:33:100033:1,g:0:100000:65536", true },
	{ "uids alone are off", ACL_MIXED, "g:4:4:1,g:5:100004:1,u:0:100000:65536", true },
	{ "all are on", ACL_MIXED, "u:0:0:1,u:33:100033:1,g:4:4:1,g:5:100004:1", false },
	{ "highest ids are on", ACL_HIGH, "0:0:4294967295", false },
	{ "one below the highest", ACL_HIGH, "0:0:4294967294", true },
	{ "nobody is named", ACL_MASK_ONLY, "100000", false },
	{ "no entries", "02000000", "100000", false },
	{ "unknown tag names nobody", "020000004000060021000000", "100000", false },
	{ "id -1", "0200000002000600ffffffff", "0:0:4294967295", true },
};

CASES(acl, off_map, off_rows)
{
	unsigned char store[256];
	struct ctm_bytes acl = from_hex(off_rows[*i].hex, store, sizeof(store));
	struct ctm_idmap *map = NULL;

	cr_assert_eq(ctm_idmap_parse_spec(off_rows[*i].map, &map, NULL), 0, "%s",
		     off_rows[*i].name);
	cr_assert_eq(ctm_acl_off_map(acl, map), off_rows[*i].want, "%s", off_rows[*i].name);
	ctm_idmap_free(map);
}

/* What a test moves: ids below the limit go up by the offset, each kind by its own. */
struct shift {
	uint32_t below[2];
	uint32_t by[2];
};

static bool shift(enum ctm_idkind kind, ctm_did from, ctm_did *to, void *arg)
{
	const struct shift *s = arg;

	if (from.v >= s->below[kind]) {
		return false;
	}
	to->v = from.v + s->by[kind];
	return true;
}

static const struct {
	const char *name;
	const char *hex;
	struct shift shift;
	int moved;
	bool merge;
	const char *text;
} move_rows[] = {
	{ "one",
	  ACL_ONE,
	  { { 65536, 65536 }, { 100000, 100000 } },
	  1,
	  false,
	  "u::rwx,u:100033:rwx,g::r-x,m::rwx,o::---" },
	{ "what is off the map alone",
	  ACL_MIXED,
	  { { 65536, 65536 }, { 100000, 200000 } },
	  2,
	  false,
	  "u::rw-,u:100000:r--,u:100033:rw-,g::r--,g:200004:r--,g:100004:---,m::rw-,o::---" },
	{ "gids meet",
	  ACL_MIXED,
	  { { 65536, 65536 }, { 100000, 100000 } },
	  2,
	  true,
	  "u::rw-,u:100000:r--,u:100033:rw-,g::r--,g:100004:r--,g:100004:---,m::rw-,o::---" },
	{ "uids meet",
	  ACL_MIXED,
	  { { 65536, 0 }, { 100033, 0 } },
	  1,
	  true,
	  "u::rw-,u:100033:r--,u:100033:rw-,g::r--,g:4:r--,g:100004:---,m::rw-,o::---" },
	{ "uid on a gid is no meeting",
	  ACL_MIXED,
	  { { 65536, 0 }, { 100004, 0 } },
	  1,
	  false,
	  "u::rw-,u:100004:r--,u:100033:rw-,g::r--,g:4:r--,g:100004:---,m::rw-,o::---" },
	{ "nothing moves",
	  ACL_MIXED,
	  { { 0, 0 }, { 0, 0 } },
	  0,
	  false,
	  "u::rw-,u:0:r--,u:100033:rw-,g::r--,g:4:r--,g:100004:---,m::rw-,o::---" },
	{ "to where it is",
	  ACL_ONE,
	  { { 65536, 65536 }, { 0, 0 } },
	  0,
	  false,
	  "u::rwx,u:33:rwx,g::r-x,m::rwx,o::---" },
	{ "into a place that is left",
	  ACL_FOUR,
	  { { 1002, 0 }, { 1, 0 } },
	  2,
	  true,
	  "u::rw-,u:1001:rw-,u:1002:r--,u:1002:--x,g::r--,g:1000:rwx,m::rw-,o::r--" },
	{ "all by one",
	  ACL_FOUR,
	  { { 1003, 0 }, { 1, 0 } },
	  3,
	  false,
	  "u::rw-,u:1001:rw-,u:1002:r--,u:1003:--x,g::r--,g:1000:rwx,m::rw-,o::r--" },
	{ "duplicates move together",
	  ACL_TWICE,
	  { { 65536, 0 }, { 100000, 0 } },
	  2,
	  false,
	  "u::rw-,u:100005:rwx,u:100005:r--,g::r-x,m::rwx,o::---" },
	{ "order stays",
	  ACL_UNSORTED,
	  { { 65536, 65536 }, { 100000, 100000 } },
	  3,
	  false,
	  "u::rw-,u:100050:rwx,u:100005:r--,g::r-x,g:100009:r--,m::rwx,o::---" },
	{ "unknown tag stays",
	  "020000004000060021000000",
	  { { 65536, 65536 }, { 1, 1 } },
	  0,
	  false,
	  "0x40:33:rw-" },
};

CASES(acl, move, move_rows)
{
	unsigned char store[256];
	struct ctm_bytes acl = from_hex(move_rows[*i].hex, store, sizeof(store));
	struct shift how = move_rows[*i].shift;
	struct ctm_arena arena = { 0 };
	struct ctm_bytes moved = { 0 };
	struct ctm_buf out = { 0 };
	bool merge = !move_rows[*i].merge;
	int r = ctm_acl_move(acl, shift, &how, &arena, &moved, &merge);

	cr_assert_eq(r, move_rows[*i].moved, "%s: moved %d", move_rows[*i].name, r);
	cr_assert_eq(merge, move_rows[*i].merge, "%s: merge %d", move_rows[*i].name, merge);
	cr_assert_eq(ctm_acl_format(moved, &out), 0, "%s", move_rows[*i].name);
	cr_assert_str_eq(out.p, move_rows[*i].text, "%s: %s", move_rows[*i].name, out.p);
	cr_assert_eq(ctm_bytes_eq(acl, moved), r == 0, "%s: bytes", move_rows[*i].name);
	ctm_buf_done(&out);
	ctm_arena_done(&arena);
}

/*
 * As many entries as an attribute holds, worst order: neither the time nor the stack grows out of
 * hand.
 */
Test(acl, longest_value)
{
	static unsigned char store[65536 + 8] = { 2 };
	struct shift how = { .below = { 100000, 0 }, .by = { 100000, 0 } };
	struct ctm_arena arena = { 0 };
	struct ctm_bytes acl = { .p = store, .len = 65532 };
	struct ctm_bytes moved;
	bool merge = true;

	for (uint32_t n = 0; n < 8191; n++) {
		unsigned char *entry = store + 4 + 8 * (size_t)n;
		const uint32_t id = 8190 - n;

		entry[0] = ACL_USER;
		entry[4] = (unsigned char)(id & 0xff);
		entry[5] = (unsigned char)(id >> 8);
	}
	cr_assert_eq(ctm_acl_count(acl), 8191);
	cr_assert_eq(ctm_acl_move(acl, shift, &how, &arena, &moved, &merge), 8191);
	cr_assert(!merge);
	cr_assert_eq(ctm_acl_get(moved, 0).id, 108190);
	cr_assert_eq(ctm_acl_get(moved, 8190).id, 100000);
	acl.len += 8;
	cr_assert_eq(ctm_acl_count(acl), -EINVAL, "longer than any attribute");
	ctm_arena_done(&arena);
}

/*
 * Whatever the bytes are: every function gives the same verdict, and a move and its way back
 * meet.
 */
Test(acl, any_bytes)
{
	uint64_t state = PRNG_SEED;
	struct ctm_idmap *map = ctm_idmap_new();

	cr_assert_eq(ctm_idmap_add_default(map), 0);
	for (int round = 0; round < 20000; round++) {
		unsigned char store[64] = { 2 };
		const size_t len = prng_below(&state, sizeof(store));
		struct ctm_bytes acl = { .p = store, .len = len };
		struct shift up = { .below = { UINT32_MAX, UINT32_MAX }, .by = { 77, 78 } };
		struct shift down = { .below = { UINT32_MAX, UINT32_MAX },
				      .by = { UINT32_MAX - 76, UINT32_MAX - 77 } };
		struct ctm_arena arena = { 0 };
		struct ctm_bytes moved;
		struct ctm_bytes back;
		struct ctm_buf out = { 0 };
		bool merge;
		int r;

		for (size_t at = prng_below(&state, 16) ? 4 : 0; at < len; at++) {
			/* the low bytes of tags and ids: named entries and meetings are common */
			store[at] = (unsigned char)(at % 8 == 4 || at % 8 == 0 ?
							    prng_below(&state, 10) :
							    0);
		}
		r = ctm_acl_count(acl);
		cr_assert_eq(ctm_acl_format(acl, &out), r < 0 ? -EINVAL : 0, "round %d", round);
		if (r >= 0) {
			r = ctm_acl_move(acl, shift, &up, &arena, &moved, &merge);
			cr_assert_geq(r, 0, "round %d", round);
			cr_assert(!merge, "round %d: one offset for all merges nothing", round);
			cr_assert_eq(ctm_acl_move(moved, shift, &down, &arena, &back, &merge), r,
				     "round %d", round);
			cr_assert(ctm_bytes_eq(acl, back), "round %d: %s", round, out.p);
			cr_assert_eq(ctm_acl_off_map(acl, map), r > 0, "round %d: %s", round,
				     out.p);
		}
		ctm_buf_done(&out);
		ctm_arena_done(&arena);
	}
	ctm_idmap_free(map);
}
