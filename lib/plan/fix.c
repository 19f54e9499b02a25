/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of --fix.
 */
#include "plan/fix.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

static const struct {
	const char *name;
	enum ctm_fix bit;
} words[] = {
	{ "base", CTM_FIX_BASE },         { "bits", CTM_FIX_BITS },
	{ "device", CTM_FIX_DEVICE },     { "flags", CTM_FIX_FLAGS },
	{ "hole", CTM_FIX_HOLE },         { "link", CTM_FIX_LINK },
	{ "overflow", CTM_FIX_OVERFLOW }, { "rosubvol", CTM_FIX_ROSUBVOL },
	{ "twice", CTM_FIX_TWICE },
};

static bool find(const char *name, size_t len, unsigned int *set)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strlen(words[i].name) == len && memcmp(words[i].name, name, len) == 0) {
			*set |= words[i].bit;
			return true;
		}
	}
	return false;
}

int ctm_fix_parse(const char *text, unsigned int *ret, const char **ret_bad, size_t *ret_len)
{
	unsigned int set = 0;

	for (;;) {
		size_t len = strcspn(text, ",");

		if (!find(text, len, &set)) {
			*ret_bad = text;
			*ret_len = len;
			return -EINVAL;
		}
		if (text[len] == '\0') {
			*ret = set;
			return 0;
		}
		text += len + 1;
	}
}

const char *ctm_fix_names(void)
{
	return "base, bits, device, flags, hole, link, overflow, rosubvol, twice";
}
