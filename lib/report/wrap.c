/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running text for a terminal.
 */
#include "report/wrap.h"

#include <stdbool.h>
#include <string.h>

void ctm_wrap(FILE *out, const char *indent, const char *lead, size_t width, const char *text)
{
	size_t column = strlen(indent) + strlen(lead);
	bool first = true;

	fprintf(out, "%s%s", indent, lead);
	while (*text) {
		size_t word = strcspn(text, " ");

		if (!first && column + 1 + word > width) {
			fprintf(out, "\n%s", indent);
			column = strlen(indent);
		} else if (!first) {
			fputc(' ', out);
			column++;
		}
		fprintf(out, "%.*s", (int)word, text);
		column += word;
		first = false;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}
