/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Byte runs compare by presence and content; buffers grow, stay terminated and survive a failure.
 */
#include "base/bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"

static const struct {
	const char *name;
	struct ctm_bytes a;
	struct ctm_bytes b;
	bool want;
} eq_rows[] = {
	{ "both absent", { NULL, 0 }, { NULL, 0 }, true },
	{ "absent and empty", { NULL, 0 }, { "", 0 }, false },
	{ "empty and absent", { "", 0 }, { NULL, 0 }, false },
	{ "both empty", { "", 0 }, { "x", 0 }, true },
	{ "same", { "a\0b", 3 }, { "a\0b", 3 }, true },
	{ "differ behind a NUL", { "a\0b", 3 }, { "a\0c", 3 }, false },
	{ "prefix", { "ab", 2 }, { "abc", 3 }, false },
};

CASES(bytes, eq, eq_rows)
{
	bool got = ctm_bytes_eq(eq_rows[*i].a, eq_rows[*i].b);

	cr_assert_eq(got, eq_rows[*i].want, "%s: %d", eq_rows[*i].name, got);
}

Test(bytes, buf_grows_and_stays_terminated)
{
	struct ctm_buf buf = { 0 };

	cr_assert_null(buf.p);
	cr_assert_eq(ctm_buf_add(&buf, NULL, 0), 0);
	cr_assert_str_eq(buf.p, "", "also what adds nothing makes it a string");
	for (size_t n = 0; n < 10000; n++) {
		cr_assert_eq(ctm_buf_add(&buf, "xyz", 3), 0);
		cr_assert_eq(buf.len, 3 * (n + 1));
		cr_assert(buf.len < buf.cap);
		cr_assert_eq(buf.p[buf.len], '\0');
	}
	cr_assert_eq(memcmp(buf.p + 29997, "xyz", 4), 0);
	ctm_buf_done(&buf);
	cr_assert(!buf.p && buf.len == 0 && buf.cap == 0);
	ctm_buf_done(&buf);
}

/* Around the first size and its doubles, where the text fits with or without its NUL. */
Test(bytes, buf_formats_at_every_length)
{
	for (int width = 1; width < 300; width++) {
		struct ctm_buf buf = { 0 };

		cr_assert_eq(ctm_buf_addf(&buf, "%*d", width, 7), 0);
		cr_assert_eq(ctm_buf_addf(&buf, "%s|", "tail"), 0);
		cr_assert_eq(buf.len, (size_t)width + 5, "width %d: %zu", width, buf.len);
		cr_assert_str_eq(buf.p + width - 1, "7tail|", "width %d", width);
		ctm_buf_done(&buf);
	}
}

Test(bytes, buf_refuses_what_no_size_holds)
{
	struct ctm_buf buf = { 0 };

	cr_assert_eq(ctm_buf_add(&buf, "ab", 2), 0);
	cr_assert_eq(ctm_buf_reserve(&buf, SIZE_MAX), -ENOMEM);
	cr_assert_eq(ctm_buf_reserve(&buf, SIZE_MAX - 1), -ENOMEM);
	cr_assert_eq(ctm_buf_reserve(&buf, SIZE_MAX - 2), -ENOMEM);
	cr_assert_str_eq(buf.p, "ab");
	cr_assert_eq(buf.len, 2);
	ctm_buf_done(&buf);
}

Test(bytes, buf_reserve_keeps_the_content_in_place)
{
	struct ctm_buf buf = { 0 };
	const char *p;

	cr_assert_eq(ctm_buf_reserve(&buf, 1000), 0);
	p = buf.p;
	for (int n = 0; n < 1000; n++) {
		cr_assert_eq(ctm_buf_add(&buf, "q", 1), 0);
	}
	cr_assert_eq(buf.p, p, "what was reserved needs no move");
	ctm_buf_done(&buf);
}

/* Allocated to the byte, so that a sanitizer sees one that is read behind the end. */
Test(bytes, dup_reads_no_byte_behind_the_end)
{
	char *raw = malloc(3);
	char *copy;

	cr_assert_not_null(raw);
	memcpy(raw, "a\0b", 3);
	copy = ctm_bytes_dup((struct ctm_bytes){ raw, 3 });
	cr_assert_not_null(copy);
	cr_assert_eq(memcmp(copy, "a\0b", 4), 0);
	free(copy);
	copy = ctm_bytes_dup((struct ctm_bytes){ raw, 0 });
	cr_assert_str_eq(copy, "");
	free(copy);
	free(raw);
}
