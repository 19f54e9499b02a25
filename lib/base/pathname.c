/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names from a hostile tree: order, normal form, and a form that is safe to show.
 */
#include "base/pathname.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"

int ctm_path_cmp(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t n = alen < blen ? alen : blen;
	size_t i = 0;

	while (i < n && a[i] == b[i]) {
		i++;
	}
	if (i == n) {
		return (alen > blen) - (alen < blen);
	}
	/* the end of a component comes before anything that a longer name could go on with */
	if (a[i] == '/' || b[i] == '/') {
		return a[i] == '/' ? -1 : 1;
	}
	return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
}

bool ctm_path_within(const char *path, size_t plen, const char *dir, size_t dlen)
{
	if (dlen == 0) {
		return true;
	}
	if (plen < dlen || memcmp(path, dir, dlen) != 0) {
		return false;
	}
	return plen == dlen || path[dlen] == '/';
}

int ctm_path_normalise(const char *typed, struct ctm_buf *ret)
{
	CLEANUP(ctm_buf_done) struct ctm_buf out = { 0 };
	const char *at = typed;
	int r;

	if (*typed == '\0') {
		return -EINVAL;
	}
	r = ctm_buf_add(&out, "", 0);
	while (r == 0 && *at) {
		size_t len = strcspn(at, "/");

		if (len > NAME_MAX) {
			return -ENAMETOOLONG;
		}
		if (len == 2 && memcmp(at, "..", 2) == 0) {
			return -EINVAL;
		}
		if (len > 0 && !(len == 1 && *at == '.')) {
			r = out.len > 0 ? ctm_buf_add(&out, "/", 1) : 0;
			if (r == 0) {
				r = ctm_buf_add(&out, at, len);
			}
		}
		at += len;
		at += strspn(at, "/");
	}
	if (r < 0) {
		return r;
	}
	*ret = out;
	out = (struct ctm_buf){ 0 };
	return 0;
}

/*
 * Characters that are not seen, or that move what stands beside them: Unicode's
 * Default_Ignorable_Code_Point, controls, format characters without a glyph, separators and blanks
 * other than U+0020, private use and noncharacters. Sorted, ends included.
 */
static const struct {
	uint32_t first;
	uint32_t last;
} unseen[] = {
	{ 0x00080, 0x000a0 }, /* C1 controls, no-break space */
	{ 0x000ad, 0x000ad }, /* soft hyphen */
	{ 0x0034f, 0x0034f }, /* combining grapheme joiner */
	{ 0x0061c, 0x0061c }, /* Arabic letter mark */
	{ 0x0115f, 0x01160 }, /* Hangul fillers */
	{ 0x01680, 0x01680 }, /* Ogham space */
	{ 0x017b4, 0x017b5 }, /* Khmer inherent vowels */
	{ 0x0180b, 0x0180f }, /* Mongolian selectors and separator */
	{ 0x02000, 0x0200f }, /* blanks of many widths, zero width, direction marks */
	{ 0x02028,
	  0x0202f }, /* line and paragraph separator, bidirectional controls, narrow blank */
	{ 0x0205f, 0x0206f },  /* mathematical blank, word joiner, invisible operators, isolates */
	{ 0x02800, 0x02800 },  /* Braille without dots */
	{ 0x03000, 0x03000 },  /* ideographic space */
	{ 0x03164, 0x03164 },  /* Hangul filler */
	{ 0x0e000, 0x0f8ff },  /* private use */
	{ 0x0fdd0, 0x0fdef },  /* noncharacters */
	{ 0x0fe00, 0x0fe0f },  /* variation selectors */
	{ 0x0feff, 0x0feff },  /* byte order mark */
	{ 0x0ffa0, 0x0ffa0 },  /* halfwidth Hangul filler */
	{ 0x0fff0, 0x0fffb },  /* interlinear annotation */
	{ 0x13430, 0x1343f },  /* Egyptian format controls */
	{ 0x1bca0, 0x1bca3 },  /* shorthand format controls */
	{ 0x1d159, 0x1d159 },  /* musical null notehead */
	{ 0x1d173, 0x1d17a },  /* musical format controls */
	{ 0xe0000, 0x10ffff }, /* tags, variation selectors, private use */
};

static bool is_unseen(uint32_t c)
{
	size_t low = 0;
	size_t high = ARRAY_LEN(unseen);

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c > unseen[mid].last) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (low < ARRAY_LEN(unseen) && c >= unseen[low].first) {
		return true;
	}
	return (c & 0xfffe) == 0xfffe; /* the last two of each plane are noncharacters */
}

/*
 * Length of the character that starts at s, 0 when these bytes are not UTF-8: continuation bytes
 * missing or astray, longer than needed, a surrogate, above U+10FFFF (RFC 3629).
 */
static size_t utf8_char(const unsigned char *s, size_t len, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n;
	uint32_t c;

	if (s[0] < 0x80) {
		*ret = s[0];
		return 1;
	}
	if (s[0] >= 0xc2 && s[0] <= 0xdf) {
		n = 2;
		c = s[0] & 0x1fU;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3;
		c = s[0] & 0x0fU;
	} else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
		n = 4;
		c = s[0] & 0x07U;
	} else {
		return 0;
	}
	if (n > len) {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			return 0;
		}
		c = c << 6 | (s[i] & 0x3fU);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		return 0;
	}
	*ret = c;
	return n;
}

static int add_hex(struct ctm_buf *out, const unsigned char *s, size_t n)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		r = ctm_buf_addf(out, "\\x%02x", s[i]);
	}
	return r;
}

/* Appends the one character, or byte that is none, at s; returns how many bytes that were. */
static int escape_one(struct ctm_buf *out, const unsigned char *s, size_t len, size_t *ret_n)
{
	uint32_t c = 0;
	size_t n = utf8_char(s, len, &c);

	*ret_n = n > 0 ? n : 1;
	if (n == 0) {
		return add_hex(out, s, 1);
	}
	switch (c) {
	case '\\':
		return ctm_buf_add(out, "\\\\", 2);
	case '\n':
		return ctm_buf_add(out, "\\n", 2);
	case '\t':
		return ctm_buf_add(out, "\\t", 2);
	default:
		break;
	}
	if (c < 0x20 || c == 0x7f || is_unseen(c)) {
		return add_hex(out, s, n);
	}
	return ctm_buf_add(out, s, n);
}

int ctm_text_escape(struct ctm_buf *out, const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	int r = ctm_buf_reserve(out, len);

	for (size_t at = 0; r == 0 && at < len;) {
		size_t n = 1;

		r = s[at] == '\\' ? ctm_buf_add(out, "\\", 1) :
				    escape_one(out, s + at, len - at, &n);
		at += n;
	}
	return r;
}

int ctm_path_escape(struct ctm_buf *out, const char *name, size_t len)
{
	const unsigned char *s = (const unsigned char *)name;
	size_t end = len; /* behind the last byte that is no blank */
	size_t at = 0;
	int r;

	while (end > 0 && s[end - 1] == ' ') {
		end--;
	}
	r = ctm_buf_reserve(out, len);
	while (r == 0 && at < end) {
		size_t n = 0;

		r = escape_one(out, s + at, end - at, &n);
		at += n;
	}
	return r == 0 ? add_hex(out, s + end, len - end) : r;
}

/* Where the part that is shown ends, at a slash where there is one not far before. */
static size_t head_len(const char *path)
{
	const char *slash = memrchr(path, '/', CTM_PATH_SHOWN / 2);

	return slash && slash - path > (ptrdiff_t)(CTM_PATH_SHOWN / 4) ?
		       (size_t)(slash - path) + 1 :
		       CTM_PATH_SHOWN / 2;
}

static size_t tail_start(const char *path, size_t len)
{
	const size_t from = len - CTM_PATH_SHOWN / 2;
	const char *slash = memchr(path + from, '/', CTM_PATH_SHOWN / 4);

	return slash ? (size_t)(slash - path) : from;
}

int ctm_path_show(struct ctm_buf *out, const char *path, size_t len)
{
	size_t head;
	size_t tail;
	int r;

	if (len <= CTM_PATH_SHOWN) {
		return ctm_path_escape(out, path, len);
	}
	head = head_len(path);
	tail = tail_start(path, len);
	r = ctm_path_escape(out, path, head);
	if (r == 0) {
		r = ctm_buf_addf(out, "\\[%zu bytes left out\\]", tail - head);
	}
	return r < 0 ? r : ctm_path_escape(out, path + tail, len - tail);
}
