/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A volume's identity as text, and the comparison of two. */
#include "target/identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* Room for any number of a field, and for "-9223372036854775808.4294967295". */
#define NUMBER_LEN 40

/*
 * The fields in the order of the text and of the comparison. A string field is an array inside
 * the struct; the two numbers have their own branch.
 */
enum kind { STRING, INODE, BTIME };

static const struct {
	const char *name;  /* in the text */
	const char *words; /* for people */
	enum kind kind;
	size_t offset;
	size_t size;
} fields[] = {
#define FIELD(member) \
	offsetof(struct ctm_identity, member), sizeof(((struct ctm_identity *)0)->member)
	{ "volume", "volume", STRING, FIELD(volume_id) },
	{ "path", "path", STRING, FIELD(path) },
	{ "fstype", "file system type", STRING, FIELD(fstype) },
	{ "uuid", "file system UUID", STRING, FIELD(uuid) },
	{ "subvol", "subvolume", STRING, FIELD(subvol) },
	{ "root-inode", "inode number of the root", INODE, FIELD(root_ino) },
	{ "root-birth", "birth time of the root", BTIME, FIELD(root_btime_sec) },
#undef FIELD
};

/* Backslash and newline are escaped, so that a field is always one line. */
static int add_escaped(struct ctm_buf *out, const char *s)
{
	for (; *s; s++) {
		int r;

		if (*s == '\\') {
			r = ctm_buf_add(out, "\\\\", 2);
		} else if (*s == '\n') {
			r = ctm_buf_add(out, "\\n", 2);
		} else {
			r = ctm_buf_add(out, s, 1);
		}
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static const char *field_text(const struct ctm_identity *id, size_t i,
			      char number[static NUMBER_LEN])
{
	switch (fields[i].kind) {
	case STRING:
		return (const char *)id + fields[i].offset;
	case INODE:
		(void)snprintf(number, NUMBER_LEN, "%" PRIu64, id->root_ino);
		break;
	case BTIME:
		(void)snprintf(number, NUMBER_LEN, "%" PRId64 ".%09" PRIu32, id->root_btime_sec,
			       id->root_btime_nsec);
		break;
	}
	return number;
}

int ctm_identity_format(const struct ctm_identity *id, struct ctm_buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		char number[NUMBER_LEN];
		int r = ctm_buf_addf(out, "%s ", fields[i].name);

		r = r < 0 ? r : add_escaped(out, field_text(id, i, number));
		r = r < 0 ? r : ctm_buf_add(out, "\n", 1);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

static int unescape(struct ctm_bytes in, char *to, size_t size)
{
	const char *p = in.p;
	size_t n = 0;

	for (size_t i = 0; i < in.len; i++) {
		char c = p[i];

		if (c == '\0' || n + 1 >= size) {
			return -EBADMSG;
		}
		if (c == '\\') {
			if (++i == in.len || (p[i] != '\\' && p[i] != 'n')) {
				return -EBADMSG;
			}
			c = p[i] == 'n' ? '\n' : '\\';
		}
		to[n++] = c;
	}
	to[n] = '\0';
	return 0;
}

/* Only what field_text() writes: no blanks, no plus sign, no leading zero. */
static int parse_number(const char *text, enum kind kind, struct ctm_identity *id)
{
	char again[NUMBER_LEN];
	char *end;

	errno = 0;
	if (kind == INODE) {
		id->root_ino = strtoull(text, &end, 10);
	} else {
		unsigned long nsec;

		id->root_btime_sec = strtoll(text, &end, 10);
		if (errno != 0 || *end != '.') {
			return -EBADMSG;
		}
		nsec = strtoul(end + 1, &end, 10);
		if (nsec >= 1000000000) {
			return -EBADMSG;
		}
		id->root_btime_nsec = (uint32_t)nsec;
	}
	if (errno != 0 || *end != '\0') {
		return -EBADMSG;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		if (fields[i].kind == kind) {
			return strcmp(field_text(id, i, again), text) == 0 ? 0 : -EBADMSG;
		}
	}
	return -EBADMSG;
}

static int parse_field(size_t i, struct ctm_bytes value, struct ctm_identity *id)
{
	char number[NUMBER_LEN];
	int r;

	if (fields[i].kind == STRING) {
		return unescape(value, (char *)id + fields[i].offset, fields[i].size);
	}
	r = unescape(value, number, sizeof(number));
	return r < 0 ? r : parse_number(number, fields[i].kind, id);
}

int ctm_identity_parse(struct ctm_bytes text, struct ctm_identity *ret)
{
	CLEANUP_FREE struct ctm_identity *id = calloc(1, sizeof(*id));
	const char *p = text.p;
	size_t left = text.len;

	if (!id) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		const size_t name_len = strlen(fields[i].name);
		const char *eol = left > 0 ? memchr(p, '\n', left) : NULL;
		size_t line = eol ? (size_t)(eol - p) : 0;
		int r;

		if (line <= name_len || memcmp(p, fields[i].name, name_len) != 0 ||
		    p[name_len] != ' ') {
			return -EBADMSG;
		}
		r = parse_field(
			i, (struct ctm_bytes){ .p = p + name_len + 1, .len = line - name_len - 1 },
			id);
		if (r < 0) {
			return r;
		}
		p += line + 1;
		left -= line + 1;
	}
	if (left > 0) {
		return -EBADMSG;
	}
	*ret = *id;
	return 0;
}

int ctm_identity_match(const struct ctm_identity *recorded, const struct ctm_identity *now,
		       struct ctm_err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		char was_number[NUMBER_LEN];
		char is_number[NUMBER_LEN];
		const char *was = field_text(recorded, i, was_number);
		const char *is = field_text(now, i, is_number);

		if (strcmp(was, is) != 0) {
			return ctm_err_set(
				err, CTM_REFUSED, 0,
				"this is not the volume of the record: the %s was '%s' and "
				"is '%s'",
				fields[i].words, was, is);
		}
	}
	return 0;
}
