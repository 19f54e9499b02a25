/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read a number at the front of a text. */
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool ctm_number_take(const char **text, int base, uint64_t max, uint64_t *ret)
{
	const char *digits = base == 16 ? "0123456789abcdefABCDEF" : "0123456789";
	const char *p = *text + strspn(*text, digits);
	uint64_t value;
	char *end;

	if (p == *text) {
		return false;
	}
	errno = 0;
	value = strtoull(*text, &end, base);
	/* "0x1": strtoull reads on where the digits have ended */
	if (errno != 0 || end != p || value > max) {
		return false;
	}
	*text = p;
	*ret = value;
	return true;
}

bool ctm_word_take(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len) != 0) {
		return false;
	}
	*text += len;
	return true;
}
