/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names: their order, containment, normal form, and an escape that hides nothing and can be
 * undone.
 */
#include "base/pathname.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "cases.h"
#include "prng.h"

static const struct {
	const char *a;
	const char *b;
	int want;
} cmp_rows[] = {
	{ "", "", 0 },
	{ "", "a", -1 },
	{ "a", "a", 0 },
	{ "a", "b", -1 },
	{ "a", "a/b", -1 },
	{ "a/b", "a.b", -1 },
	{ "a/z", "a\x01", -1 },
	{ "a/b", "ab", -1 },
	{ "a/b/c", "a/b", 1 },
	{ "a/b", "a/c", -1 },
	{ "a-b/c", "a/b", 1 },
	{ "usr/bin", "usr/bin2", -1 },
	{ "a\x7f", "a\x80", -1 },
	{ "a\xff", "a\x01", 1 },
};

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

CASES(pathname, cmp, cmp_rows)
{
	const char *a = cmp_rows[*i].a;
	const char *b = cmp_rows[*i].b;

	cr_assert_eq(sign(ctm_path_cmp(a, strlen(a), b, strlen(b))), cmp_rows[*i].want, "%s %s", a,
		     b);
	cr_assert_eq(sign(ctm_path_cmp(b, strlen(b), a, strlen(a))), -cmp_rows[*i].want, "%s %s", b,
		     a);
}

/* The definition, word by word: the first component that differs decides, by strcmp(). */
static int cmp_by_components(const char *a, const char *b)
{
	char left[64];
	char right[64];
	char *more_left;
	char *more_right;
	const char *x;
	const char *y;

	strcpy(left, a);
	strcpy(right, b);
	x = strtok_r(left, "/", &more_left);
	y = strtok_r(right, "/", &more_right);
	while (x && y) {
		int r = strcmp(x, y);

		if (r != 0) {
			return sign(r);
		}
		x = strtok_r(NULL, "/", &more_left);
		y = strtok_r(NULL, "/", &more_right);
	}
	return (x != NULL) - (y != NULL);
}

/* A path of few letters around '/', so that neighbours meet often. */
static void random_path(uint64_t *state, char out[static 32])
{
	static const char letters[] = "ab.-\x01\xff";
	size_t len = prng_below(state, 12);
	size_t n = 0;

	while (n < len) {
		bool slash = n > 0 && out[n - 1] != '/' && n + 1 < len && prng_below(state, 3) == 0;

		out[n++] = slash ? '/' : letters[prng_below(state, sizeof(letters) - 1)];
	}
	out[n] = '\0';
}

Test(pathname, cmp_is_the_order_of_components)
{
	uint64_t state = PRNG_SEED;

	for (int round = 0; round < 100000; round++) {
		char a[32];
		char b[32];

		random_path(&state, a);
		random_path(&state, b);
		cr_assert_eq(sign(ctm_path_cmp(a, strlen(a), b, strlen(b))),
			     cmp_by_components(a, b), "round %d: \"%s\" \"%s\"", round, a, b);
	}
}

static const struct {
	const char *path;
	const char *dir;
	bool want;
} within_rows[] = {
	{ "", "", true },      { "a/b", "", true },      { "a", "a", true },
	{ "a/b", "a", true },  { "a/b/c", "a/b", true }, { "ab", "a", false },
	{ "a", "a/b", false }, { "", "a", false },       { "b/a", "a", false },
	{ "a.b", "a", false },
};

CASES(pathname, within, within_rows)
{
	const char *path = within_rows[*i].path;
	const char *dir = within_rows[*i].dir;

	cr_assert_eq(ctm_path_within(path, strlen(path), dir, strlen(dir)), within_rows[*i].want,
		     "\"%s\" in \"%s\"", path, dir);
}

#define N50  "01234567890123456789012345678901234567890123456789"
#define N255 N50 N50 N50 N50 N50 "abcde"

static const struct {
	const char *typed;
	const char *want;
	int r;
} normal_rows[] = {
	{ "in", "in", 0 },
	{ "/in", "in", 0 },
	{ "/in/", "in", 0 },
	{ "./in//x", "in/x", 0 },
	{ "in/./x/.", "in/x", 0 },
	{ "/", "", 0 },
	{ "///", "", 0 },
	{ ".", "", 0 },
	{ "/.", "", 0 },
	{ "...", "...", 0 },
	{ "..a/.b", "..a/.b", 0 },
	{ " a ", " a ", 0 },
	{ N255 "/x", N255 "/x", 0 },
	{ "", NULL, -EINVAL },
	{ "..", NULL, -EINVAL },
	{ "/..", NULL, -EINVAL },
	{ "a/../b", NULL, -EINVAL },
	{ "a/..", NULL, -EINVAL },
	{ "a/" N255 "f", NULL, -ENAMETOOLONG },
};

CASES(pathname, normalise, normal_rows)
{
	struct ctm_buf got = { 0 };
	int r = ctm_path_normalise(normal_rows[*i].typed, &got);

	cr_assert_eq(r, normal_rows[*i].r, "\"%s\": returned %d", normal_rows[*i].typed, r);
	if (r == 0) {
		cr_assert_str_eq(got.p, normal_rows[*i].want, "\"%s\"", normal_rows[*i].typed);
		cr_assert_eq(got.len, strlen(got.p), "\"%s\"", normal_rows[*i].typed);
	} else {
		cr_assert_null(got.p, "\"%s\": written although refused", normal_rows[*i].typed);
	}
	ctm_buf_done(&got);
}

static const struct {
	const char *name;
	const char *in;
	const char *want;
} escape_rows[] = {
	{ "plain", "var/lib/dpkg/lock-frontend", "var/lib/dpkg/lock-frontend" },
	{ "empty", "", "" },
	{ "all that prints", "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~",
	  "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~" },
	{ "backslash", "a\\b", "a\\\\b" },
	{ "looks escaped", "\\x41\\n", "\\\\x41\\\\n" },
	{ "newline and tab", "a\nb\tc", "a\\nb\\tc" },
	{ "escape sequence", "\x1b[2J", "\\x1b[2J" },
	{ "carriage return, bell, delete", "\r\a\x7f", "\\x0d\\x07\\x7f" },
	{ "blanks inside stay", " a b", " a b" },
	{ "blanks at the end", "a b  ", "a b\\x20\\x20" },
	{ "nothing but a blank", " ", "\\x20" },
	{ "tab before blank", "a\t ", "a\\t\\x20" },
	{ "Latin", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
	{ "Hebrew, Han, emoji", "\xd7\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80",
	  "\xd7\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80" },
	{ "combining mark", "e\xcc\x81", "e\xcc\x81" },
	{ "replacement character", "\xef\xbf\xbd", "\xef\xbf\xbd" },
	{ "first and last two-byte", "\xc2\xa1\xdf\xbf", "\xc2\xa1\xdf\xbf" },
	{ "first three-byte", "\xe0\xa0\x80", "\xe0\xa0\x80" },
	{ "first four-byte", "\xf0\x90\x80\x80", "\xf0\x90\x80\x80" },
	{ "Latin-1", "gr\xfc", "gr\\xfc" },
	{ "continuation alone", "\x80z\xbf", "\\x80z\\xbf" },
	{ "cut short", "\xe6\xbc", "\\xe6\\xbc" },
	{ "cut short, then a letter", "\xf0\x9f\x98z", "\\xf0\\x9f\\x98z" },
	{ "overlong slash", "\xc0\xaf", "\\xc0\\xaf" },
	{ "overlong in two", "\xc1\xbf", "\\xc1\\xbf" },
	{ "overlong in three", "\xe0\x9f\xbf", "\\xe0\\x9f\\xbf" },
	{ "overlong in four", "\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf" },
	{ "surrogate", "\xed\xa0\x80\xed\xbf\xbf", "\\xed\\xa0\\x80\\xed\\xbf\\xbf" },
	{ "beyond Unicode", "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
	{ "five bytes", "\xf8\x88\x80\x80\x80", "\\xf8\\x88\\x80\\x80\\x80" },
	{ "never in UTF-8", "\xfe\xff", "\\xfe\\xff" },
	{ "C1 CSI", "\xc2\x9b", "\\xc2\\x9b" },
	{ "no-break space", "\xc2\xa0", "\\xc2\\xa0" },
	{ "soft hyphen",
	  "a\xc2\xad"
	  "b",
	  "a\\xc2\\xadb" },
	{ "grapheme joiner", "\xcd\x8f", "\\xcd\\x8f" },
	{ "Arabic letter mark", "\xd8\x9c", "\\xd8\\x9c" },
	{ "en quad", "\xe2\x80\x80", "\\xe2\\x80\\x80" },
	{ "zero width space", "\xe2\x80\x8b", "\\xe2\\x80\\x8b" },
	{ "zero width joiner", "\xe2\x80\x8d", "\\xe2\\x80\\x8d" },
	{ "right-to-left mark", "\xe2\x80\x8f", "\\xe2\\x80\\x8f" },
	{ "hyphen next to it stays", "\xe2\x80\x90", "\xe2\x80\x90" },
	{ "line separator", "\xe2\x80\xa8", "\\xe2\\x80\\xa8" },
	{ "right-to-left override",
	  "a\xe2\x80\xae"
	  "cod.exe",
	  "a\\xe2\\x80\\xaecod.exe" },
	{ "isolates", "\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9" },
	{ "word joiner", "\xe2\x81\xa0", "\\xe2\\x81\\xa0" },
	{ "Braille blank", "\xe2\xa0\x80", "\\xe2\\xa0\\x80" },
	{ "Braille dot stays", "\xe2\xa0\x81", "\xe2\xa0\x81" },
	{ "ideographic space", "\xe3\x80\x80", "\\xe3\\x80\\x80" },
	{ "Hangul fillers", "\xe1\x85\x9f\xe3\x85\xa4", "\\xe1\\x85\\x9f\\xe3\\x85\\xa4" },
	{ "private use", "\xee\x80\x80", "\\xee\\x80\\x80" },
	{ "variation selector", "\xef\xb8\x8f", "\\xef\\xb8\\x8f" },
	{ "byte order mark", "\xef\xbb\xbf", "\\xef\\xbb\\xbf" },
	{ "noncharacter", "\xef\xbf\xbf\xf0\x9f\xbf\xbe", "\\xef\\xbf\\xbf\\xf0\\x9f\\xbf\\xbe" },
	{ "annotation", "\xef\xbf\xb9", "\\xef\\xbf\\xb9" },
	{ "tag", "\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81" },
	{ "last of all", "\xf4\x8f\xbf\xbf", "\\xf4\\x8f\\xbf\\xbf" },
};

CASES(pathname, escape, escape_rows)
{
	struct ctm_buf got = { 0 };

	cr_assert_eq(ctm_path_escape(&got, escape_rows[*i].in, strlen(escape_rows[*i].in)), 0);
	cr_assert_str_eq(got.p, escape_rows[*i].want, "%s: %s", escape_rows[*i].name, got.p);
	ctm_buf_done(&got);
}

static const struct {
	const char *in;
	const char *want;
} sentence_rows[] = {
	{ "", "" },
	{ "there is no '/a b'", "there is no '/a b'" },
	{ "escaped already: '\\x1b[2J'", "escaped already: '\\x1b[2J'" },
	{ "not: '\x1b[2J'\r\n", "not: '\\x1b[2J'\\x0d\\n" },
	{ "no text: \xff", "no text: \\xff" },
	{ "other direction: \xe2\x80\xae.", "other direction: \\xe2\\x80\\xae." },
	{ "a blank at the end ", "a blank at the end " },
};

CASES(pathname, sentence, sentence_rows)
{
	struct ctm_buf got = { 0 };

	cr_assert_eq(ctm_text_escape(&got, sentence_rows[*i].in, strlen(sentence_rows[*i].in)), 0);
	cr_assert_str_eq(got.p, sentence_rows[*i].want, "%s", got.p);
	ctm_buf_done(&got);
}

Test(pathname, escape_appends)
{
	struct ctm_buf got = { 0 };

	cr_assert_eq(ctm_buf_add(&got, "at ", 3), 0);
	cr_assert_eq(ctm_path_escape(&got, "a\0b", 3), 0);
	cr_assert_str_eq(got.p, "at a\\x00b");
	ctm_buf_done(&got);
}

static size_t unescape(const char *in, char *out)
{
	size_t n = 0;

	while (*in) {
		unsigned byte;

		if (*in != '\\') {
			out[n++] = *in++;
			continue;
		}
		switch (in[1]) {
		case '\\':
			out[n++] = '\\';
			in += 2;
			break;
		case 'n':
			out[n++] = '\n';
			in += 2;
			break;
		case 't':
			out[n++] = '\t';
			in += 2;
			break;
		default:
			cr_assert_eq(sscanf(in, "\\x%2x", &byte), 1, "stray backslash: %s", in);
			out[n++] = (char)byte;
			in += 4;
		}
	}
	return n;
}

/*
 * What the C library takes for a control character, a blank or no UTF-8 must not be in the
 * result.
 */
static void assert_safe(const char *text, int round)
{
	mbstate_t state = { 0 };
	size_t left = strlen(text);

	cr_assert(left == 0 || text[left - 1] != ' ', "round %d: blank at the end", round);
	while (left > 0) {
		wchar_t c;
		size_t n = mbrtowc(&c, text, left, &state);

		cr_assert(n > 0 && n <= left, "round %d: no UTF-8: %s", round, text);
		cr_assert(!iswcntrl((wint_t)c) && (c == L' ' || !iswspace((wint_t)c)),
			  "round %d: U+%04X", round, (unsigned)c);
		text += n;
		left -= n;
	}
}

static size_t random_name(uint64_t *state, char *out, size_t size)
{
	static const char *const parts[] = {
		"\\",
		"x4",
		"n",
		"\n",
		" ",
		"\xc3\xa4",
		"\xe2\x80",
		"\xe2\x80\xae",
		"\xed\xa0\x80",
		"\xf0\x9f\x98\x80",
		"\xef\xbb\xbf",
	};
	size_t n = 0;
	size_t want = prng_below(state, (uint32_t)size - 8);

	while (n < want) {
		if (prng_below(state, 2)) {
			const char *part =
				parts[prng_below(state, sizeof(parts) / sizeof(parts[0]))];

			memcpy(out + n, part, strlen(part));
			n += strlen(part);
		} else {
			out[n++] = (char)prng(state);
		}
	}
	return n;
}

Test(pathname, escape_is_safe_and_reversible)
{
	uint64_t state = PRNG_SEED;

	cr_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	for (int round = 0; round < 20000; round++) {
		struct ctm_buf got = { 0 };
		char name[64];
		char back[sizeof(name)];
		size_t len = random_name(&state, name, sizeof(name));

		cr_assert_eq(ctm_path_escape(&got, name, len), 0);
		assert_safe(got.p, round);
		cr_assert_eq(unescape(got.p, back), len, "round %d: %s", round, got.p);
		cr_assert_eq(memcmp(back, name, len), 0, "round %d: %s", round, got.p);
		ctm_buf_done(&got);
	}
}

/* Long ones are shown in part; what is left out is counted in bytes, and no name looks like it. */
Test(pathname, a_long_path_is_shown_in_part)
{
	struct ctm_buf got = { 0 };
	char path[5001];
	unsigned int left;
	size_t head;
	const char *mark;

	memset(path, 'a', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	for (size_t i = 100; i < sizeof(path) - 1; i += 101) {
		path[i] = '/';
	}
	cr_assert_eq(ctm_path_show(&got, path, CTM_PATH_SHOWN), 0);
	cr_assert_eq(got.len, CTM_PATH_SHOWN, "short ones are whole");
	got.len = 0;
	cr_assert_eq(ctm_path_show(&got, path, sizeof(path) - 1), 0);
	cr_assert_leq(got.len, CTM_PATH_SHOWN + 64);
	mark = strstr(got.p, "\\[");
	cr_assert(mark && sscanf(mark, "\\[%u bytes left out\\]", &left) == 1, "%s", got.p);
	head = (size_t)(mark - got.p);
	cr_assert_eq(memcmp(got.p, path, head), 0);
	cr_assert_eq(path[head - 1], '/');
	mark = strchr(mark, ']') + 1;
	cr_assert_eq(head + left + strlen(mark), sizeof(path) - 1);
	cr_assert_str_eq(mark, path + head + left);
	got.len = 0;
	cr_assert_eq(ctm_path_show(&got, "\\[9 bytes left out\\]", 20), 0);
	cr_assert_str_eq(got.p, "\\\\[9 bytes left out\\\\]");
	/* without a slash anywhere, and each byte escaped */
	memset(path, 1, sizeof(path) - 1);
	got.len = 0;
	cr_assert_eq(ctm_path_show(&got, path, sizeof(path) - 1), 0);
	cr_assert_leq(got.len, 4 * CTM_PATH_SHOWN + 64);
	ctm_buf_done(&got);
}
