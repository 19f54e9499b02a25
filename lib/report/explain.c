/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of codes: as text, as JSON, as a part of the manual.
 */
#include "report/explain.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/pathname.h"
#include "base/version.h"
#include "plan/diagnosis.h"
#include "report/json.h"
#include "report/json_parts.h"
#include "report/wrap.h"

#define INDENT "    "
#define WIDTH  80

static void put_part(FILE *out, const char *head, const char *text)
{
	fprintf(out, "\n%s\n", head);
	ctm_wrap(out, INDENT, "", WIDTH, text);
}

void ctm_explain_text(FILE *out, const char *code, const struct ctm_page *page)
{
	struct ctm_buf typed = { 0 };

	/* of an error it is what was typed */
	if (ctm_path_escape(&typed, code, strlen(code)) == 0) {
		fprintf(out, "%s: %s\n", typed.p, page->title);
	}
	ctm_buf_done(&typed);
	ctm_wrap(out, INDENT, "", WIDTH, page->why);
	put_part(out, "How it comes about", page->how);
	put_part(out, "What repair does", page->repair);
	ctm_wrap(out, INDENT, "", WIDTH, page->severity);
	fputs("\nTo look further\n", out);
	for (const struct ctm_page_look *look = page->look; look->command; look++) {
		fprintf(out, INDENT "%s\n", look->command);
		ctm_wrap(out, INDENT INDENT, "", WIDTH, look->shows);
	}
	if (page->next) {
		put_part(out, "Next", page->next);
	}
}

void ctm_explain_list(FILE *out)
{
	for (size_t i = 0; i < ctm_page_count(); i++) {
		struct ctm_page page;

		ctm_page_at(i, &page);
		fprintf(out, "%-15s %s\n", page.code, page.title);
	}
}

static json_t *page_json(const char *code, const struct ctm_page *page)
{
	json_t *looks = json_array();
	int r = 0;

	for (const struct ctm_page_look *look = page->look; look->command; look++) {
		r |= json_array_append_new(looks, json_pack("{s:s, s:s}", "command", look->command,
							    "shows", look->shows));
	}
	if (r) {
		json_decref(looks);
		return NULL;
	}
	return json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:s?, s:o}", "code",
			 ctm_json_text(code, strlen(code)), "title", page->title, "severity",
			 page->severity, "why", page->why, "how", page->how, "repair", page->repair,
			 "next", page->next, "look", looks);
}

int ctm_explain_json(FILE *out, const char *code, const struct ctm_page *page)
{
	json_t *pages = json_array();
	json_t *root;
	int r = code ? json_array_append_new(pages, page_json(code, page)) : 0;

	for (size_t i = 0; !code && i < ctm_page_count(); i++) {
		struct ctm_page one;

		ctm_page_at(i, &one);
		r |= json_array_append_new(pages, page_json(one.code, &one));
	}
	root = json_pack("{s:i, s:s, s:s, s:o}", "schema", CTM_JSON_SCHEMA, "ctmend", ctm_version,
			 "command", "explain", "pages", pages);
	if (r || !root) {
		json_decref(root);
		return -ENOMEM;
	}
	r = json_dumpf(root, out, JSON_INDENT(1) | JSON_PRESERVE_ORDER) == 0 ? 0 : -EIO;
	fputc('\n', out);
	json_decref(root);
	return r;
}

/* Text that roff would take for something else is escaped: a backslash, a dash that is a minus. */
static void put_roff(FILE *out, const char *text, size_t len)
{
	if (len && (text[0] == '.' || text[0] == '\'')) {
		fputs("\\&", out);
	}
	for (size_t i = 0; i < len; i++) {
		bool minus = text[i] == '-' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '-');

		if (text[i] == '\\') {
			fputs("\\e", out);
		} else if (text[i] == '"') {
			fputs("\\(dq", out);
		} else if (minus) {
			fputs("\\-", out);
		} else {
			fputc(text[i], out);
		}
	}
}

/* Where the sentence ends that begins here: behind its full stop. */
static size_t sentence(const char *text)
{
	const char *end = strstr(text, ". ");

	return end ? (size_t)(end - text) + 1 : strlen(text);
}

/* One sentence a line, or more lines where it is long: what mandoc(1) wants to see. */
static void put_sentences(FILE *out, const char *text)
{
	while (*text) {
		size_t end = sentence(text);
		size_t column = 0;

		while (end > 0) {
			size_t word = strcspn(text, " ");

			word = word < end ? word : end;
			if (column && column + 1 + word > 70) {
				fputc('\n', out);
				column = 0;
			} else if (column) {
				fputc(' ', out);
			}
			put_roff(out, text, word);
			column += word + 1;
			text += word;
			end -= word;
			while (end > 0 && *text == ' ') {
				text++;
				end--;
			}
		}
		fputc('\n', out);
		text += strspn(text, " ");
	}
}

static void put_page(FILE *out, const struct ctm_page *page)
{
	fprintf(out, ".It Li %s\n", page->code);
	fprintf(out, ".Em ");
	put_roff(out, page->title, strlen(page->title));
	fputs("\n.Pp\n", out);
	put_sentences(out, page->why);
	put_sentences(out, page->how);
	fputs(".Pp\n", out);
	put_sentences(out, page->repair);
	put_sentences(out, page->severity);
	fputs(".Bl -tag -width Ds -compact\n", out);
	for (const struct ctm_page_look *look = page->look; look->command; look++) {
		fputs(".It Li \"", out);
		put_roff(out, look->command, strlen(look->command));
		fputs("\"\n", out);
		put_sentences(out, look->shows);
	}
	fputs(".El\n", out);
	if (page->next) {
		fputs(".Pp\nNext:\n", out);
		put_sentences(out, page->next);
	}
}

void ctm_explain_mdoc(FILE *out)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (size_t i = 0; i < ctm_page_count(); i++) {
		struct ctm_page page;

		ctm_page_at(i, &page);
		put_page(out, &page);
	}
	fputs(".El\n", out);
}

void ctm_explain_causes_mdoc(FILE *out)
{
	fputs(".Bl -tag -width backup-through-map -compact\n", out);
	for (int i = 0; i < CTM_CAUSE_N; i++) {
		fprintf(out, ".It Li %s\n", ctm_cause_word((enum ctm_cause)i));
		put_sentences(out, ctm_cause_means((enum ctm_cause)i));
	}
	fputs(".El\n", out);
}
