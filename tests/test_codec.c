/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of run/codec.h: entries survive the way to bytes and back, bad bytes are no entries. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "entries.h"
#include "run/codec.h"

/* Each sample behind each other one: every combination of what is coded as a difference. */
Test(codec, round_trip_behind_any_other)
{
	for (size_t i = 0; i < sample_entries_n * sample_entries_n; i++) {
		const struct ctm_entry *pair[] = { &sample_entries[i / sample_entries_n],
						   &sample_entries[i % sample_entries_n] };
		struct ctm_codec out = { 0 };
		struct ctm_codec in = { 0 };
		char name[32];

		(void)snprintf(name, sizeof(name), "pair %zu", i);
		for (size_t k = 0; k < 2; k++) {
			CLEANUP(ctm_buf_done) struct ctm_buf body = { 0 };
			CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
			struct ctm_entry got;

			cr_assert_eq(ctm_codec_put(&out, pair[k], &body), 0, "%s", name);
			cr_assert_eq(ctm_codec_get(&in, pair[k]->kind,
						   (struct ctm_bytes){ body.p, body.len }, &arena,
						   &got),
				     0, "%s", name);
			entries_equal(pair[k], &got, name);
		}
		ctm_codec_done(&out);
		ctm_codec_done(&in);
	}
}

/* What a repair writes most: a file after its neighbour, both from host root to the container's. */
Test(codec, usual_entry_is_small)
{
	static const struct ctm_inode_state from = { .mode = S_IFREG | 0644 };
	static const struct ctm_inode_state to = { .mode = S_IFREG | 0644,
						   .uid = { 100000 },
						   .gid = { 100000 } };
	static const char *const paths[] = { "usr/share/doc/nano/changelog.gz",
					     "usr/share/doc/nano/copyright" };
	CLEANUP(ctm_codec_done) struct ctm_codec codec = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf body = { 0 };
	struct ctm_entry e = {
		.kind = CTM_ENTRY_SET,
		.cause = CTM_F_OWN_HOST,
		.ref = { .dev = 2049, .handle = { .type = 1, .len = 8 } },
		.nlink = 1,
		.names = 1,
		.before = from,
		.after = to,
	};
	size_t first = 0;

	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t handle[] = { 100000 + i, 0xdeadbeef + i };

		e.ref.path = paths[i];
		e.ref.path_len = strlen(paths[i]);
		e.ref.ino = 100000 + i;
		memcpy(e.ref.handle.bytes, handle, sizeof(handle));
		first = body.len;
		cr_assert_eq(ctm_codec_put(&codec, &e, &body), 0);
	}
	cr_expect_leq(body.len - first, 18, "%zu bytes", body.len - first);
}

static const struct {
	const char *name;
	enum ctm_entry_kind kind;
	const char *path;
	size_t len;
} bad_paths[] = {
	{ "absolute", CTM_ENTRY_SET, "/etc", 4 },
	{ "upwards", CTM_ENTRY_SET, "a/../b", 6 },
	{ "upwards at the end", CTM_ENTRY_REMOVE, "a/..", 4 },
	{ "dot", CTM_ENTRY_SET, "./a", 3 },
	{ "double slash", CTM_ENTRY_SET, "a//b", 4 },
	{ "slash at the end", CTM_ENTRY_SET, "a/", 2 },
	{ "NUL", CTM_ENTRY_SET, "a\0b", 3 },
	{ "root removed", CTM_ENTRY_REMOVE, "", 0 },
	{ "root restored", CTM_ENTRY_RESTORE, "", 0 },
};

CASES(codec, refuses_path, bad_paths)
{
	CLEANUP(ctm_codec_done) struct ctm_codec codec = { 0 };
	CLEANUP(ctm_codec_done) struct ctm_codec other = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf body = { 0 };
	CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
	struct ctm_entry e = sample_entries[0];
	struct ctm_entry got;
	char *at;

	e.kind = bad_paths[*i].kind;
	e.ref.path = bad_paths[*i].path;
	e.ref.path_len = bad_paths[*i].len;
	cr_assert_eq(ctm_codec_put(&codec, &e, &body), -EINVAL, "%s", bad_paths[*i].name);
	cr_assert_eq(body.len, 0, "%s", bad_paths[*i].name);

	/* The same in bytes of somebody else's making. */
	if (e.ref.path_len > 0) {
		e.ref.path = "######";
		cr_assert_eq(ctm_codec_put(&codec, &e, &body), 0, "%s", bad_paths[*i].name);
		at = memmem(body.p, body.len, e.ref.path, e.ref.path_len);
		cr_assert_not_null(at);
		memcpy(at, bad_paths[*i].path, e.ref.path_len);
		cr_assert_eq(ctm_codec_get(&other, e.kind, (struct ctm_bytes){ body.p, body.len },
					   &arena, &got),
			     -EBADMSG, "%s", bad_paths[*i].name);
	}
}

/* Cut anywhere, or with a byte more: not an entry, and no read beyond the end (sanitizers). */
Test(codec, cut_bodies)
{
	for (size_t i = 0; i < sample_entries_n; i++) {
		CLEANUP(ctm_codec_done) struct ctm_codec codec = { 0 };
		CLEANUP(ctm_buf_done) struct ctm_buf body = { 0 };

		cr_assert_eq(ctm_codec_put(&codec, &sample_entries[i], &body), 0);
		for (size_t len = 0; len <= body.len + 1; len++) {
			CLEANUP(ctm_codec_done) struct ctm_codec in = { 0 };
			CLEANUP(ctm_arena_done) struct ctm_arena arena = { 0 };
			CLEANUP_FREE char *exact = calloc(1, len + 1);
			struct ctm_entry got;
			int want = len == body.len ? 0 : -EBADMSG;

			memcpy(exact, body.p, len < body.len ? len : body.len);
			cr_assert_eq(ctm_codec_get(&in, sample_entries[i].kind,
						   (struct ctm_bytes){ exact, len }, &arena, &got),
				     want, "entry %zu, %zu of %zu bytes", i, len, body.len);
		}
	}
}
