/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors that carry a sentence. Everything is formatted into a buffer on the stack first, so that a
 * caller may pass pieces of the message that is already there.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts the text of a buffer of that size to fit, on a character's boundary and visibly. */
static void cut(char *text, size_t size)
{
	size_t keep = size - sizeof("...");

	if (strlen(text) < size) {
		return;
	}
	/* a byte 10xxxxxx continues a UTF-8 character: its first byte goes as well */
	while (keep > 0 && ((unsigned char)text[keep] & 0xc0) == 0x80) {
		keep--;
	}
	memcpy(text + keep, "...", sizeof("..."));
}

/* The words of an errno, the same in every locale and without a shared buffer. */
static void describe(int num, char *out, size_t size)
{
	const char *text = strerrordesc_np(num);

	if (text) {
		(void)snprintf(out, size, ": %s", text);
	} else {
		(void)snprintf(out, size, ": unknown error %d", num);
	}
}

static int result(enum ctm_code code, int num)
{
	if (num != 0) {
		return -num;
	}
	switch (code) {
	case CTM_USAGE:
		return -EINVAL;
	case CTM_REFUSED:
		return -EPERM;
	case CTM_CORRUPT:
		return -EBADMSG;
	case CTM_OK:
	case CTM_SYS:
	case CTM_PARTIAL:
		break;
	}
	return -EIO;
}

int ctm_err_set(struct ctm_err *err, enum ctm_code code, int num, const char *fmt, ...)
{
	char text[sizeof(err->msg) + 1] = "";
	char reason[64] = "";
	size_t room;
	va_list ap;

	if (num < 0) {
		num = -num;
	}
	if (!err) {
		return result(code, num);
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (num != 0 && code == CTM_SYS) {
		describe(num, reason, sizeof(reason));
	}
	/* of a message that is too long the reason stays */
	room = sizeof(err->msg) - strlen(reason);
	cut(text, room);
	*err = (struct ctm_err){ .code = code, .num = num };
	(void)snprintf(err->msg, sizeof(err->msg), "%.*s%s", (int)room, text, reason);
	return result(code, num);
}

int ctm_err_wrap(struct ctm_err *err, const char *fmt, ...)
{
	char prefix[sizeof(err->msg) + 1] = "";
	size_t inner;
	size_t len;
	va_list ap;

	if (!err) {
		return -EIO;
	}
	va_start(ap, fmt);
	(void)vsnprintf(prefix, sizeof(prefix), fmt, ap);
	va_end(ap);

	/* the inner message is the reason: where both do not fit, the prefix gives way */
	inner = strlen(err->msg);
	if (inner + sizeof(": ...") < sizeof(err->msg)) {
		cut(prefix, sizeof(err->msg) - inner - strlen(": "));
		len = strlen(prefix);
		memmove(err->msg + len + 2, err->msg, inner + 1);
		memcpy(err->msg, prefix, len);
		memcpy(err->msg + len, ": ", 2);
	}
	return result(err->code, err->num);
}

void ctm_err_hint(struct ctm_err *err, const char *fmt, ...)
{
	char text[sizeof(err->hint) + 1] = "";
	va_list ap;

	if (!err) {
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cut(text, sizeof(err->hint));
	memcpy(err->hint, text, strlen(text) + 1);
}

int ctm_err_nomem(struct ctm_err *err)
{
	return ctm_err_set(err, CTM_SYS, ENOMEM, "not enough memory");
}
