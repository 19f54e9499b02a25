/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Errors: what they return, what they say, and what gives way when it is too long. */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "cases.h"

static const struct {
	const char *name;
	enum ctm_code code;
	int num;
	int want;
	const char *msg;
} set_rows[] = {
	{ "system call", CTM_SYS, ENOENT, -ENOENT, "thing 7: No such file or directory" },
	{ "negative errno", CTM_SYS, -EROFS, -EROFS, "thing 7: Read-only file system" },
	{ "no errno", CTM_SYS, 0, -EIO, "thing 7" },
	{ "unknown errno", CTM_SYS, 4095, -4095, "thing 7: unknown error 4095" },
	{ "usage", CTM_USAGE, 0, -EINVAL, "thing 7" },
	{ "usage with errno", CTM_USAGE, ERANGE, -ERANGE, "thing 7" },
	{ "refused", CTM_REFUSED, 0, -EPERM, "thing 7" },
	{ "refused with errno", CTM_REFUSED, EBUSY, -EBUSY, "thing 7" },
	{ "corrupt", CTM_CORRUPT, 0, -EBADMSG, "thing 7" },
	{ "partial", CTM_PARTIAL, 0, -EIO, "thing 7" },
};

CASES(err, set, set_rows)
{
	struct ctm_err err = { 0 };
	int r = ctm_err_set(&err, set_rows[*i].code, set_rows[*i].num, "thing %d", 7);

	cr_assert_eq(r, set_rows[*i].want, "%s: returned %d", set_rows[*i].name, r);
	cr_assert_eq(err.code, set_rows[*i].code, "%s: code %d", set_rows[*i].name, err.code);
	cr_assert(err.num >= 0, "%s: errno %d", set_rows[*i].name, err.num);
	cr_assert_str_eq(err.msg, set_rows[*i].msg, "%s: %s", set_rows[*i].name, err.msg);
	cr_assert_str_eq(err.hint, "", "%s: hint %s", set_rows[*i].name, err.hint);

	r = ctm_err_set(NULL, set_rows[*i].code, set_rows[*i].num, "thing %d", 7);
	cr_assert_eq(r, set_rows[*i].want, "%s: returned %d without err", set_rows[*i].name, r);
}

Test(err, wrap_puts_the_outer_first)
{
	struct ctm_err err = { 0 };

	(void)ctm_err_set(&err, CTM_SYS, EACCES, "open %s", "x");
	cr_assert_eq(ctm_err_wrap(&err, "volume %d", 3), -EACCES);
	cr_assert_eq(ctm_err_wrap(&err, "CT %d", 115), -EACCES);
	cr_assert_str_eq(err.msg, "CT 115: volume 3: open x: Permission denied");
}

Test(err, wrap_without_an_error)
{
	cr_assert_eq(ctm_err_wrap(NULL, "outer"), -EIO);
}

Test(err, set_may_use_what_is_there)
{
	struct ctm_err err = { 0 };

	(void)ctm_err_set(&err, CTM_USAGE, 0, "first");
	ctm_err_hint(&err, "do %s", "this");
	ctm_err_hint(&err, "%s, then that", err.hint);
	cr_assert_str_eq(err.hint, "do this, then that");
	(void)ctm_err_set(&err, CTM_REFUSED, 0, "second after %s", err.msg);
	cr_assert_str_eq(err.msg, "second after first");
	cr_assert_str_eq(err.hint, "", "a new error starts without a hint");
}

Test(err, too_long_keeps_the_reason)
{
	char text[2000];
	struct ctm_err err = { 0 };
	size_t len;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)ctm_err_set(&err, CTM_SYS, ENOENT, "%s", text);
	len = strlen(err.msg);
	cr_assert_eq(len, sizeof(err.msg) - 1, "%zu", len);
	cr_assert_str_eq(err.msg + len - strlen("aa...: No such file or directory"),
			 "aa...: No such file or directory");

	/* no room is left: the outer words are not worth the reason */
	cr_assert_eq(ctm_err_wrap(&err, "outer"), -ENOENT);
	cr_assert_eq(err.msg[0], 'a');

	(void)ctm_err_set(&err, CTM_SYS, ENOENT, "inner");
	(void)ctm_err_wrap(&err, "%s", text);
	len = strlen(err.msg);
	cr_assert_eq(len, sizeof(err.msg) - 1, "%zu", len);
	cr_assert_str_eq(err.msg + len - strlen("a...: inner: No such file or directory"),
			 "a...: inner: No such file or directory");

	ctm_err_hint(&err, "%s", text);
	len = strlen(err.hint);
	cr_assert_eq(len, sizeof(err.hint) - 1, "%zu", len);
	cr_assert_str_eq(err.hint + len - 4, "a...");
}

Test(err, cut_between_characters)
{
	char text[1200];
	struct ctm_err err = { 0 };

	/* whatever the offset, the cut falls into a two-byte character half of the time */
	for (size_t start = 0; start < 2; start++) {
		const char *dots;

		memset(text, 'a', start);
		for (size_t i = start; i + 2 < sizeof(text); i += 2) {
			memcpy(text + i, "\xc3\xa4", 3);
		}
		(void)ctm_err_set(&err, CTM_USAGE, 0, "%s", text);
		dots = strstr(err.msg, "...");
		cr_assert(dots && dots[3] == '\0', "offset %zu: not cut", start);
		cr_assert_eq((unsigned char)dots[-1], 0xa4, "offset %zu: half a character", start);
	}
}

Test(err, exact_fit_is_not_cut)
{
	char text[sizeof(((struct ctm_err *)0)->msg)];
	struct ctm_err err = { 0 };

	memset(text, 'b', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)ctm_err_set(&err, CTM_REFUSED, 0, "%s", text);
	cr_assert_str_eq(err.msg, text);
}

Test(err, nomem)
{
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_err_nomem(&err), -ENOMEM);
	cr_assert_eq(err.code, CTM_SYS);
	cr_assert_eq(err.num, ENOMEM);
	cr_assert_str_neq(err.msg, "");
	cr_assert_eq(ctm_err_nomem(NULL), -ENOMEM);
	ctm_err_hint(NULL, "nothing happens");
}
