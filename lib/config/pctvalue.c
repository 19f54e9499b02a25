/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values of ordinary keys in a Proxmox VE container's configuration.
 */
#include "config/pctvalue.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"
#include "config/mountpoint.h"
#include "config/pctkeys.h"

static bool all_digits(struct ctm_bytes in)
{
	const char *p = in.p;

	for (size_t i = 0; i < in.len; i++) {
		if (p[i] < '0' || p[i] > '9') {
			return false;
		}
	}
	return in.len > 0;
}

/* "0512" is kept as "512", "000" as "0". */
static struct ctm_bytes without_zeros(struct ctm_bytes in)
{
	const char *p = in.p;

	while (in.len > 1 && *p == '0') {
		p++;
		in.len--;
	}
	in.p = p;
	return in;
}

/* "12" or "0.5" */
static bool is_number(struct ctm_bytes in)
{
	const char *p = in.p;
	const char *dot = memchr(p, '.', in.len);

	if (!dot) {
		return all_digits(in);
	}
	return all_digits((struct ctm_bytes){ p, (size_t)(dot - p) }) &&
	       all_digits((struct ctm_bytes){ dot + 1, in.len - (size_t)(dot - p) - 1 });
}

static int check_mount(bool rootfs, const char *text, struct ctm_err *err)
{
	CLEANUP(ctm_mountpoint_done) struct ctm_mountpoint mp = { 0 };

	return ctm_mountpoint_parse(rootfs, text, &mp, err);
}

static int check_bool(struct ctm_bytes value, struct ctm_bytes *ret, struct ctm_err *err)
{
	int word = ctm_bool_word(value);

	if (word < 0) {
		return ctm_err_set(err, CTM_REFUSED, 0, "neither 0 nor 1");
	}
	*ret = (struct ctm_bytes){ word ? "1" : "0", 1 };
	return 0;
}

int ctm_pctvalue_check(struct ctm_bytes key, const char *text, struct ctm_bytes *ret,
		       struct ctm_err *err)
{
	const enum ctm_pctkey type = ctm_pctkey(key);
	struct ctm_bytes value = { text, strlen(text) };
	int r = 0;

	if (type != CTM_PCTKEY_UNKNOWN && memchr(text, '\r', value.len)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "a carriage return");
	}
	switch (type) {
	case CTM_PCTKEY_UNKNOWN:
		return ctm_err_set(err, CTM_REFUSED, 0, "unknown key");
	case CTM_PCTKEY_BOOL:
		return check_bool(value, ret, err);
	case CTM_PCTKEY_INTEGER:
		if (!all_digits(value)) {
			return ctm_err_set(err, CTM_REFUSED, 0, "not an integer");
		}
		value = without_zeros(value);
		break;
	case CTM_PCTKEY_NUMBER:
		if (!is_number(value)) {
			return ctm_err_set(err, CTM_REFUSED, 0, "not a number");
		}
		break;
	case CTM_PCTKEY_ROOTFS:
	case CTM_PCTKEY_MP:
		r = check_mount(type == CTM_PCTKEY_ROOTFS, text, err);
		break;
	case CTM_PCTKEY_TEXT:
		break;
	}
	if (r == 0) {
		*ret = value;
	}
	return r;
}
