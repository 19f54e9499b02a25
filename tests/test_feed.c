/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts over a pipe: what is sent arrives, and nothing else gets through. */
#include "scan/feed.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "prng.h"
#include "scan/feed_record.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int memfile(void)
{
	int fd = memfd_create("feed", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	return fd;
}

/* All that was written to the file. */
static struct ctm_buf content(int fd)
{
	struct ctm_buf buf = { 0 };
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(ctm_buf_reserve(&buf, (size_t)st.st_size), 0);
	cr_assert_eq(pread(fd, buf.p, (size_t)st.st_size, 0), st.st_size);
	buf.len = (size_t)st.st_size;
	return buf;
}

#define DIR_FACT(...)                                                                    \
	{                                                                                \
		.kind = CTM_FACT_INODE, .mode = S_IFDIR | 02755, .nlink = 2, __VA_ARGS__ \
	}
#define FILE_FACT(...)                                                                   \
	{                                                                                \
		.kind = CTM_FACT_INODE, .mode = S_IFREG | 04755, .nlink = 1, __VA_ARGS__ \
	}
#define PATH(s) .path = (s), .path_len = sizeof(s) - 1
#define VALUE(s)                   \
	{                          \
		(s), sizeof(s) - 1 \
	}

/* The directory that each is sent in, and the part of it that is as in the row before. */
static const struct {
	const char *dir;
	size_t same;
	struct ctm_fact fact;
} samples[] = {
	{ "",
	  0,
	  { .kind = CTM_FACT_INODE, PATH("sda"), .mode = S_IFBLK | 0660, .rdev = UINT64_MAX - 1 } },
	{ "", 0, DIR_FACT(PATH(""), .uid = { 0 }, .gid = { 5 }, .dev = UINT64_MAX, .ino = 2) },
	{ "", 0,
	  FILE_FACT(PATH("a"), .uid = { UINT32_MAX }, .gid = { 1 }, .ino = UINT64_MAX,
		    .size = UINT64_MAX) },
	{ "usr/lib", 0,
	  FILE_FACT(PATH("usr/lib/x"), .acl_access = VALUE("acl"), .caps = VALUE("caps"),
		    .head = VALUE("\0\xff head"), .attr = CTM_ATTR_IMMUTABLE) },
	{ "usr/lib", 7,
	  DIR_FACT(PATH("usr/lib/dir"), .acl_default = VALUE("\x02\0\0\0"), .acl_access = VALUE(""),
		   .attr = CTM_ATTR_APPEND) },
	{ "usr/lib/dir/deep",
	  7,
	  { .kind = CTM_FACT_ERROR, PATH("usr/lib/dir/deep"), .err = EACCES, .op = "open" } },
	{ "usr/lib",
	  7,
	  { .kind = CTM_FACT_ERROR, PATH("usr/lib/\n\x1b[0m\xff..."), .err = EIO, .op = "xattr" } },
	{ "usr", 3, { .kind = CTM_FACT_MOUNT, PATH("usr/..a") } },
	{ "", 0, { .kind = CTM_FACT_MOUNT, PATH("mnt") } },
	{ "l", 0, { .kind = CTM_FACT_INODE, PATH("l/ink"), .mode = S_IFLNK | 0777, .nlink = 3 } },
	{ "l",
	  1,
	  { .kind = CTM_FACT_INODE,
	    PATH("l/fifo"),
	    .mode = S_IFIFO | 0644,
	    .nlink = 1,
	    .acl_access = VALUE("f") } },
};

static const struct ctm_scan_totals sample_totals = {
	.entries = 11,
	.inodes = 10,
	.dirs = 3,
	.host = { 4, 5 },
	.nobody = { 8, 9 },
	.errors = 2,
	.ids = { { .v = (struct ctm_id_count[]){ { 0, 4 }, { 33, 1 }, { UINT32_MAX, 1 } }, .n = 3 },
		 { .other = 7 } },
};

/* Everything once. */
static struct ctm_buf sample(void)
{
	CLEANUP_CLOSE int fd = memfile();
	CLEANUP(ctm_feed_out_done) struct ctm_feed_out out = { 0 };

	ctm_feed_out_init(&out, fd, &lock, 1);
	for (size_t k = 0; k < ARRAY_LEN(samples); k++) {
		cr_assert_eq(ctm_feed_dir(&out, samples[k].dir, strlen(samples[k].dir),
					  samples[k].same),
			     0, "row %zu", k);
		cr_assert_eq(ctm_feed_fact(&out, &samples[k].fact), 0, "row %zu", k);
	}
	cr_assert_eq(ctm_feed_totals(&out, &sample_totals), 0);
	cr_assert_eq(ctm_feed_end(&out), 0);
	cr_assert_eq(ctm_feed_flush(&out), 0);
	return content(fd);
}

static bool same_value(struct ctm_bytes a, struct ctm_bytes b)
{
	return (a.p == NULL) == (b.p == NULL) && ctm_bytes_eq(a, b);
}

static void check_same(const struct ctm_fact *got, const struct ctm_fact *want, size_t row)
{
	cr_assert_eq(got->kind, want->kind, "row %zu", row);
	cr_assert_eq(got->path_len, want->path_len, "row %zu", row);
	cr_assert_arr_eq(got->path, want->path, want->path_len + 1, "row %zu: %s", row, got->path);
	cr_assert_eq(got->mode, want->mode, "row %zu", row);
	cr_assert_eq(got->uid.v, want->uid.v, "row %zu", row);
	cr_assert_eq(got->gid.v, want->gid.v, "row %zu", row);
	cr_assert_eq(got->dev, want->dev, "row %zu", row);
	cr_assert_eq(got->ino, want->ino, "row %zu", row);
	cr_assert_eq(got->rdev, want->rdev, "row %zu", row);
	cr_assert_eq(got->nlink, want->nlink, "row %zu", row);
	cr_assert_eq(got->size, want->size, "row %zu", row);
	cr_assert_eq(got->attr, want->attr, "row %zu", row);
	cr_assert(same_value(got->acl_access, want->acl_access), "row %zu", row);
	cr_assert(same_value(got->acl_default, want->acl_default), "row %zu", row);
	cr_assert(same_value(got->caps, want->caps), "row %zu", row);
	cr_assert(same_value(got->head, want->head), "row %zu", row);
	cr_assert_eq(got->err, want->err, "row %zu", row);
	cr_assert((got->op == NULL) == (want->op == NULL), "row %zu", row);
	cr_assert(!got->op || strcmp(got->op, want->op) == 0, "row %zu", row);
}

static void check_totals(const struct ctm_scan_totals *got)
{
	const struct ctm_scan_totals *want = &sample_totals;

	cr_assert_eq(got->entries, want->entries);
	cr_assert_eq(got->inodes, want->inodes);
	cr_assert_eq(got->dirs, want->dirs);
	cr_assert_eq(got->errors, want->errors);
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		cr_assert_eq(got->host[kind], want->host[kind]);
		cr_assert_eq(got->nobody[kind], want->nobody[kind]);
		cr_assert_eq(got->ids[kind].other, want->ids[kind].other);
		cr_assert_eq(got->ids[kind].n, want->ids[kind].n);
		for (size_t k = 0; k < want->ids[kind].n; k++) {
			cr_assert_eq(got->ids[kind].v[k].id, want->ids[kind].v[k].id);
			cr_assert_eq(got->ids[kind].v[k].n, want->ids[kind].v[k].n);
		}
	}
}

Test(feed, everything_arrives)
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = sample();
	CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
	struct ctm_feed_msg msg;
	size_t at = 0, used = 0;

	cr_assert_eq(ctm_feed_in_init(&in, 2), 0);
	for (size_t k = 0; k < ARRAY_LEN(samples); k++) {
		cr_assert_eq(ctm_feed_next(&in, all.p + at, all.len - at, &used, &msg), 0);
		cr_assert_eq(msg.kind, CTM_FEED_FACT);
		check_same(&msg.fact, &samples[k].fact, k);
		at += used;
	}
	cr_assert_eq(ctm_feed_next(&in, all.p + at, all.len - at, &used, &msg), 0);
	cr_assert_eq(msg.kind, CTM_FEED_END);
	cr_assert_eq(at + used, all.len);
	check_totals(&in.totals);
	cr_assert_eq(ctm_feed_next(&in, all.p + all.len, 0, &used, &msg), 0);
	cr_assert_eq(msg.kind, CTM_FEED_MORE, "nothing follows");
	cr_assert_eq(ctm_feed_next(&in, all.p, all.len, &used, &msg), -EBADMSG,
		     "and what follows is refused");
}

/* As from a pipe, in pieces of any size: the reader keeps what it has not used. */
Test(feed, in_pieces)
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = sample();

	for (size_t piece = 1; piece <= 67; piece++) {
		CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
		struct ctm_feed_msg msg = { .kind = CTM_FEED_MORE };
		size_t at = 0, end = 0, row = 0;

		cr_assert_eq(ctm_feed_in_init(&in, 2), 0);
		while (msg.kind != CTM_FEED_END) {
			size_t used;

			cr_assert_eq(ctm_feed_next(&in, all.p + at, end - at, &used, &msg), 0);
			at += used;
			if (msg.kind == CTM_FEED_FACT) {
				check_same(&msg.fact, &samples[row].fact, row);
				row++;
			} else if (msg.kind == CTM_FEED_MORE) {
				cr_assert_lt(end, all.len, "pieces of %zu", piece);
				end = end + piece < all.len ? end + piece : all.len;
			}
		}
		cr_assert_eq(row, ARRAY_LEN(samples), "pieces of %zu", piece);
		check_totals(&in.totals);
	}
}

/* Whatever comes out must be something a careful reader may rely on. */
static void check_valid(const struct ctm_fact *fact)
{
	size_t component = 0;

	cr_assert_leq(fact->path_len, CTM_FEED_PATH_MAX + CTM_FEED_NAME_MAX + 1);
	cr_assert_eq(fact->path[fact->path_len], '\0');
	for (size_t k = 0; k <= fact->path_len; k++) {
		if (k < fact->path_len && fact->path[k] != '/') {
			cr_assert_neq(fact->path[k], '\0');
			component++;
			continue;
		}
		cr_assert(component > 0 || fact->path_len == 0, "an empty component");
		cr_assert_leq(component, NAME_MAX);
		cr_assert(component != 1 || fact->path[k - 1] != '.', "a component '.'");
		cr_assert(component != 2 || memcmp(fact->path + k - 2, "..", 2) != 0, "'..'");
		component = 0;
	}
	switch (fact->kind) {
	case CTM_FACT_INODE:
		cr_assert_eq(fact->mode & ~(uint32_t)(S_IFMT | 07777), 0);
		cr_assert(S_ISREG(fact->mode) || S_ISDIR(fact->mode) || S_ISLNK(fact->mode) ||
			  S_ISFIFO(fact->mode) || S_ISCHR(fact->mode) || S_ISBLK(fact->mode) ||
			  S_ISSOCK(fact->mode));
		cr_assert_leq(fact->head.len, CTM_HEAD_LEN);
		cr_assert(S_ISREG(fact->mode) || !fact->head.p);
		cr_assert(S_ISDIR(fact->mode) || !fact->acl_default.p);
		break;
	case CTM_FACT_ERROR:
		cr_assert(fact->err > 0 && fact->err < 4096);
		cr_assert_not_null(fact->op);
		break;
	case CTM_FACT_MOUNT:
		break;
	default:
		cr_assert_fail("kind %d", (int)fact->kind);
	}
}

/*
 * Reads from an exact copy, so that a sanitizer sees every byte too many. True: it came to its end.
 */
static bool read_all(const char *p, size_t len)
{
	CLEANUP_FREE char *copy = malloc(len ? len : 1);
	CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
	size_t at = 0;

	cr_assert_not_null(copy);
	memcpy(copy, p, len);
	cr_assert_eq(ctm_feed_in_init(&in, 2), 0);
	for (;;) {
		struct ctm_feed_msg msg;
		size_t used = 0;
		int r = ctm_feed_next(&in, copy + at, len - at, &used, &msg);

		if (r < 0) {
			cr_assert_eq(r, -EBADMSG);
			return false;
		}
		cr_assert_leq(used, len - at);
		at += used;
		switch (msg.kind) {
		case CTM_FEED_FACT:
			check_valid(&msg.fact);
			break;
		case CTM_FEED_END:
			return at == len;
		case CTM_FEED_MORE:
		case CTM_FEED_FAIL:
			return false;
		}
	}
}

Test(feed, a_part_is_never_the_whole)
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = sample();

	for (size_t len = 0; len < all.len; len++) {
		cr_assert_not(read_all(all.p, len), "the first %zu bytes", len);
	}
	cr_assert(read_all(all.p, all.len));
}

Test(feed, any_byte_changed)
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = sample();

	for (size_t at = 0; at < all.len; at++) {
		for (int bit = 0; bit < 9; bit++) {
			const char old = all.p[at];

			/* each bit, and all of them */
			all.p[at] = (char)(bit == 8 ? ~old : old ^ (1 << bit));
			(void)read_all(all.p, all.len);
			all.p[at] = old;
		}
	}
}

Test(feed, random_damage)
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = sample();
	uint64_t state = PRNG_SEED;

	for (int round = 0; round < 20000; round++) {
		CLEANUP_FREE char *copy = malloc(all.len);
		const uint32_t hits = 1 + prng_below(&state, 4);

		cr_assert_not_null(copy);
		memcpy(copy, all.p, all.len);
		for (uint32_t k = 0; k < hits; k++) {
			const uint32_t at = prng_below(&state, (uint32_t)all.len);

			copy[at] = "/.\0\xff\x01\x10"[prng_below(&state, 6)];
		}
		(void)read_all(copy, all.len);
	}
}

/* --- records that nobody sends ---------------------------------------------------------------- */

struct record {
	uint16_t type;
	uint16_t stream;
	const void *body;
	size_t len;
	uint32_t said_len; /* in place of the true one, if not 0 */
};

static int read_records(const struct record *record, size_t n)
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = { 0 };
	CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
	struct ctm_feed_msg msg = { .kind = CTM_FEED_MORE };
	size_t used = 0, at = 0;
	int r = 0;

	for (size_t k = 0; k < n; k++) {
		const struct ctm_record_head head = {
			.len = record[k].said_len ? record[k].said_len :
						    (uint32_t)(sizeof(head) + record[k].len),
			.type = record[k].type,
			.stream = record[k].stream,
		};

		cr_assert_eq(ctm_buf_add(&all, &head, sizeof(head)), 0);
		cr_assert_eq(ctm_buf_add(&all, record[k].body, record[k].len), 0);
	}
	cr_assert_eq(ctm_feed_in_init(&in, 2), 0);
	while (r == 0 && at < all.len) {
		r = ctm_feed_next(&in, all.p + at, all.len - at, &used, &msg);
		at += r == 0 ? used : 0;
		if (r == 0 && used == 0) {
			return 0;
		}
		if (r == 0 && msg.kind == CTM_FEED_FACT) {
			check_valid(&msg.fact);
		}
	}
	return r;
}

#define KEEP0   "\0\0\0\0"
#define KEEP(n) n "\0\0\0"
#define DIR(s)                                                            \
	{                                                                 \
		.type = CTM_RECORD_DIR, .body = (s), .len = sizeof(s) - 1 \
	}
#define MOUNT(s)                                                            \
	{                                                                   \
		.type = CTM_RECORD_MOUNT, .body = (s), .len = sizeof(s) - 1 \
	}
#define ERROR(s)                                                            \
	{                                                                   \
		.type = CTM_RECORD_ERROR, .body = (s), .len = sizeof(s) - 1 \
	}
#define FAIL(s)                                                            \
	{                                                                  \
		.type = CTM_RECORD_FAIL, .body = (s), .len = sizeof(s) - 1 \
	}
#define NAME_255                                                           \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

#define RECORDS_MAX 3

static const struct {
	const char *name;
	int r;
	struct record record[RECORDS_MAX];
} forged[] = {
	{ "a good one", 0, { DIR(KEEP0 "a/b"), MOUNT("c") } },
	{ "no such type", -EBADMSG, { { .type = 99 } } },
	{ "type 0", -EBADMSG, { { .type = 0, .body = "", .said_len = 8 }, MOUNT("c") } },
	{ "no such stream",
	  -EBADMSG,
	  { { .type = CTM_RECORD_MOUNT, .stream = 2, .body = "x", .len = 1 } } },
	{ "another stream has another directory",
	  0,
	  { DIR(KEEP0 "a"), { .type = CTM_RECORD_MOUNT, .stream = 1, .body = "x", .len = 1 } } },
	{ "shorter than its head", -EBADMSG, { { .type = CTM_RECORD_END, .said_len = 7 } } },
	{ "longer than any",
	  -EBADMSG,
	  { { .type = CTM_RECORD_MOUNT, .said_len = CTM_FEED_RECORD_MAX + 1 } } },
	{ "as long as any, not all there yet",
	  0,
	  { { .type = CTM_RECORD_MOUNT, .said_len = CTM_FEED_RECORD_MAX } } },

	{ "directory without its number", -EBADMSG, { DIR("\0\0") } },
	{ "directory '..'", -EBADMSG, { DIR(KEEP0 "..") } },
	{ "directory '.'", -EBADMSG, { DIR(KEEP0 "a/./b") } },
	{ "absolute directory", -EBADMSG, { DIR(KEEP0 "/etc") } },
	{ "slash at the end", -EBADMSG, { DIR(KEEP0 "etc/") } },
	{ "double slash", -EBADMSG, { DIR(KEEP0 "etc//x") } },
	{ "NUL in a directory", -EBADMSG, { DIR(KEEP0 "et\0c") } },
	{ "name of 255 in a directory", 0, { DIR(KEEP0 "a/" NAME_255) } },
	{ "name of 256 in a directory", -EBADMSG, { DIR(KEEP0 "a/" NAME_255 "n") } },
	{ "keeps what is not there", -EBADMSG, { DIR(KEEP0 "ab"), DIR(KEEP("\3") "x") } },
	{ "keeps half a component", -EBADMSG, { DIR(KEEP0 "ab/c"), DIR(KEEP("\1") "x") } },
	{ "keeps up to behind a slash", -EBADMSG, { DIR(KEEP0 "ab/c"), DIR(KEEP("\3") "x") } },
	{ "keeps up to a slash", 0, { DIR(KEEP0 "ab/c"), DIR(KEEP("\2") "x"), MOUNT("m") } },
	{ "keeps all", 0, { DIR(KEEP0 "ab/c"), DIR(KEEP("\4")), MOUNT("m") } },
	{ "absolute behind a kept part", -EBADMSG, { DIR(KEEP0 "ab"), DIR(KEEP("\2") "/x") } },

	{ "name '..'", -EBADMSG, { MOUNT("..") } },
	{ "name '.'", -EBADMSG, { MOUNT(".") } },
	{ "name '...'", 0, { MOUNT("...") } },
	{ "name with a slash", -EBADMSG, { MOUNT("a/b") } },
	{ "name with a NUL", -EBADMSG, { MOUNT("a\0b") } },
	{ "name of 255", 0, { MOUNT(NAME_255) } },
	{ "name of 256", -EBADMSG, { MOUNT(NAME_255 "n") } },

	{ "error without a number", -EBADMSG, { ERROR("\1\0\0\0") } },
	{ "no error", -EBADMSG, { ERROR("\0\0\0\0\0\0\0\0x") } },
	{ "error beyond all", -EBADMSG, { ERROR("\0\x10\0\0\0\0\0\0x") } },
	{ "a negative error", -EBADMSG, { ERROR("\xfe\xff\xff\xff\0\0\0\0x") } },
	{ "no such operation", -EBADMSG, { ERROR("\1\0\0\0\x63\0\0\0x") } },
	{ "operation -1",
	  -EBADMSG,
	  { ERROR("\1\0\0\0\xff\xff\xff\xff"
		  "x") } },
	{ "a good error", 0, { ERROR("\1\0\0\0\0\0\0\0x") } },
	{ "failure with a tail", -EBADMSG, { FAIL("\1\0\0\0\0\0\0\0x") } },
	{ "a good failure", 0, { FAIL("\1\0\0\0\0\0\0\0") } },
	{ "something behind a failure", -EBADMSG, { FAIL("\1\0\0\0\0\0\0\0"), MOUNT("x") } },
	{ "end without totals", -EBADMSG, { { .type = CTM_RECORD_END } } },
	{ "ids without totals",
	  -EBADMSG,
	  { { .type = CTM_RECORD_IDS, .body = "\0\0\0\0\1\0\0\0", .len = 8 } } },
	{ "half of the totals",
	  -EBADMSG,
	  { { .type = CTM_RECORD_TOTALS, .body = "\0\0\0\0", .len = 4 } } },
};

CASES(feed, forged_records, forged)
{
	size_t n = 0;

	while (n < RECORDS_MAX && (forged[*i].record[n].type || forged[*i].record[n].said_len)) {
		n++;
	}
	cr_assert_eq(read_records(forged[*i].record, n), forged[*i].r, "%s", forged[*i].name);
}

enum change {
	MODE,
	ATTR,
	NAME_LEN,
	VALUE_LEN,
	HEAD_LEN,
	DEFAULT_OF_FILE,
	ACL_OF_LINK,
	HEAD_OF_DIR,
	TAIL
};

static const struct {
	const char *name;
	enum change change;
	uint32_t to;
} inodes[] = {
	{ "bits beyond the mode", MODE, S_IFREG | 0644 | 1u << 16 },
	{ "no type", MODE, 0644 },
	{ "type that does not exist", MODE, 0030000 | 0644 },
	{ "unknown attribute", ATTR, 4 },
	{ "name longer than the record", NAME_LEN, 200 },
	{ "name as long as an integer can tell", NAME_LEN, UINT32_MAX },
	{ "value longer than the record", VALUE_LEN, 1000 },
	{ "value longer than any", VALUE_LEN, UINT32_MAX - 1 },
	{ "head too long", HEAD_LEN, CTM_HEAD_LEN + 1 },
	{ "default ACL of a file", DEFAULT_OF_FILE, 0 },
	{ "ACL of a link", ACL_OF_LINK, 0 },
	{ "content of a directory", HEAD_OF_DIR, 0 },
	{ "something behind it", TAIL, 0 },
};

CASES(feed, forged_inodes, inodes)
{
	struct {
		struct ctm_record_inode inode;
		char rest[64];
	} body = {
		.inode = { .mode = S_IFREG | 0644,
			   .name = 1,
			   .value = { CTM_RECORD_ABSENT, CTM_RECORD_ABSENT, CTM_RECORD_ABSENT,
				      CTM_RECORD_ABSENT } },
		.rest = "n",
	};
	struct record record = { CTM_RECORD_INODE, 0, &body, sizeof(body.inode) + 1, 0 };

	cr_assert_eq(read_records(&record, 1), 0, "the good one");
	switch (inodes[*i].change) {
	case MODE:
		body.inode.mode = inodes[*i].to;
		break;
	case ATTR:
		body.inode.attr = inodes[*i].to;
		break;
	case NAME_LEN:
		body.inode.name = inodes[*i].to;
		break;
	case VALUE_LEN:
		body.inode.value[0] = inodes[*i].to;
		break;
	case HEAD_LEN:
		body.inode.value[3] = inodes[*i].to;
		record.len += inodes[*i].to;
		break;
	case DEFAULT_OF_FILE:
		body.inode.value[1] = 0;
		break;
	case ACL_OF_LINK:
		body.inode.mode = S_IFLNK | 0777;
		body.inode.value[0] = 0;
		break;
	case HEAD_OF_DIR:
		body.inode.mode = S_IFDIR | 0755;
		body.inode.value[3] = 0;
		break;
	case TAIL:
		record.len++;
		break;
	}
	cr_assert_eq(read_records(&record, 1), -EBADMSG, "%s", inodes[*i].name);
}

static const struct {
	const char *name;
	uint32_t kind, n;
	struct ctm_record_id id[2];
	size_t len; /* ids that are really there */
	int r;
} histograms[] = {
	{ "a good one", 1, 2, { { 1, 5, 0 }, { 1, 6, 0 } }, 2, 0 },
	{ "no such kind", 2, 1, { { 1, 5, 0 } }, 1, -EBADMSG },
	{ "not ascending", 0, 2, { { 1, 6, 0 }, { 1, 5, 0 } }, 2, -EBADMSG },
	{ "twice", 0, 2, { { 1, 6, 0 }, { 1, 6, 0 } }, 2, -EBADMSG },
	{ "none of an id", 0, 1, { { 0, 6, 0 } }, 1, -EBADMSG },
	{ "padding in use", 0, 1, { { 1, 6, 1 } }, 1, -EBADMSG },
	{ "more than are there", 0, 2, { { 1, 6, 0 } }, 1, -EBADMSG },
	{ "fewer than are there", 0, 1, { { 1, 5, 0 }, { 1, 6, 0 } }, 2, -EBADMSG },
	{ "none", 0, 0, { { 0 } }, 0, -EBADMSG },
	{ "a number that overflows", 0, UINT32_MAX, { { 1, 5, 0 } }, 1, -EBADMSG },
};

CASES(feed, forged_histograms, histograms)
{
	const struct ctm_record_totals totals = { .entries = 1 };
	struct {
		struct ctm_record_ids ids;
		struct ctm_record_id id[2];
	} body = { .ids = { histograms[*i].kind, histograms[*i].n } };
	const struct record record[] = {
		{ CTM_RECORD_TOTALS, 0, &totals, sizeof(totals), 0 },
		{ CTM_RECORD_IDS, 0, &body,
		  sizeof(body.ids) + histograms[*i].len * sizeof(body.id[0]), 0 },
	};
	const struct record twice[] = { record[0], record[0] };
	const struct record late[] = { record[0], MOUNT("x") };

	memcpy(body.id, histograms[*i].id, sizeof(body.id));
	cr_assert_eq(read_records(record, 2), histograms[*i].r, "%s", histograms[*i].name);
	cr_assert_eq(read_records(twice, 2), -EBADMSG, "totals twice");
	cr_assert_eq(read_records(late, 2), -EBADMSG, "a fact behind the totals");
}

/* --- limits ----------------------------------------------------------------------------------- */

Test(feed, a_path_as_long_as_can_be)
{
	CLEANUP_CLOSE int fd = memfile();
	CLEANUP(ctm_feed_out_done) struct ctm_feed_out out = { 0 };
	CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 }, all = { 0 };
	struct ctm_fact fact = FILE_FACT(.path = NULL);
	struct ctm_feed_msg msg;
	size_t used = 0;

	while (path.len + 256 <= CTM_FEED_PATH_MAX) {
		cr_assert_eq(ctm_buf_add(&path, "/" NAME_255, path.len ? 256 : 0), 0);
		cr_assert(path.len > 0 || ctm_buf_add(&path, NAME_255, 255) == 0);
	}
	ctm_feed_out_init(&out, fd, &lock, 0);
	cr_assert_eq(ctm_feed_dir(&out, path.p, path.len, 0), 0);
	cr_assert_eq(ctm_buf_add(&path, "/" NAME_255, 256), 0);
	fact.path = path.p;
	fact.path_len = path.len;
	cr_assert_eq(ctm_feed_fact(&out, &fact), 0);
	cr_assert_eq(ctm_feed_flush(&out), 0);
	all = content(fd);
	cr_assert_eq(ctm_feed_in_init(&in, 1), 0);
	cr_assert_eq(ctm_feed_next(&in, all.p, all.len, &used, &msg), 0);
	cr_assert_eq(msg.kind, CTM_FEED_FACT);
	check_valid(&msg.fact);
	check_same(&msg.fact, &fact, 0);
}

Test(feed, what_the_writer_refuses)
{
	CLEANUP_CLOSE int fd = memfile();
	CLEANUP(ctm_feed_out_done) struct ctm_feed_out out = { 0 };
	CLEANUP_FREE char *big = calloc(1, CTM_FEED_PATH_MAX + 2);
	struct ctm_fact name = FILE_FACT(PATH(NAME_255 "n"));
	struct ctm_fact value = FILE_FACT(PATH("n"), .acl_access = { big, CTM_FEED_VALUE_MAX + 1 });
	struct ctm_fact outside = FILE_FACT(PATH("x"));

	cr_assert_not_null(big);
	ctm_feed_out_init(&out, fd, &lock, 0);
	cr_assert_eq(ctm_feed_dir(&out, big, CTM_FEED_PATH_MAX + 1, 0), -EINVAL);
	cr_assert_eq(ctm_feed_fact(&out, &name), -EINVAL);
	cr_assert_eq(ctm_feed_fact(&out, &value), -EINVAL);
	cr_assert_eq(ctm_feed_dir(&out, "abc", 3, 0), 0);
	cr_assert_eq(ctm_feed_fact(&out, &outside), -EINVAL, "not in the directory");
	cr_assert_eq(ctm_feed_dir(&out, "abcdef", 6, 5), -EINVAL, "more than the last one had");
}

Test(feed, a_histogram_as_large_as_can_be)
{
	CLEANUP_CLOSE int fd = memfile();
	CLEANUP(ctm_feed_out_done) struct ctm_feed_out out = { 0 };
	CLEANUP(ctm_feed_in_done) struct ctm_feed_in in = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf all = { 0 };
	CLEANUP_FREE struct ctm_id_count *ids = calloc(CTM_ID_COUNT_MAX + 1, sizeof(*ids));
	struct ctm_scan_totals totals = { .ids = { { .v = ids, .n = CTM_ID_COUNT_MAX } } };
	struct ctm_feed_msg msg;
	size_t used = 0;

	cr_assert_not_null(ids);
	for (uint32_t k = 0; k <= CTM_ID_COUNT_MAX; k++) {
		ids[k] = (struct ctm_id_count){ .id = 3 * k, .n = k + 1 };
	}
	ctm_feed_out_init(&out, fd, &lock, 0);
	cr_assert_eq(ctm_feed_totals(&out, &totals), 0);
	cr_assert_eq(ctm_feed_end(&out), 0);
	cr_assert_eq(ctm_feed_flush(&out), 0);
	all = content(fd);
	cr_assert_eq(ctm_feed_in_init(&in, 1), 0);
	cr_assert_eq(ctm_feed_next(&in, all.p, all.len, &used, &msg), 0);
	cr_assert_eq(msg.kind, CTM_FEED_END);
	cr_assert_eq(in.totals.ids[CTM_UID].n, CTM_ID_COUNT_MAX);
	for (uint32_t k = 0; k < CTM_ID_COUNT_MAX; k++) {
		cr_assert_eq(in.totals.ids[CTM_UID].v[k].id, 3 * k);
		cr_assert_eq(in.totals.ids[CTM_UID].v[k].n, k + 1);
	}

	ctm_buf_done(&all);
	ctm_feed_in_done(&in);
	totals.ids[CTM_UID].n++;
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
	cr_assert_eq(ctm_feed_totals(&out, &totals), 0);
	cr_assert_eq(ctm_feed_flush(&out), 0);
	all = content(fd);
	cr_assert_eq(ctm_feed_in_init(&in, 1), 0);
	cr_assert_eq(ctm_feed_next(&in, all.p, all.len, &used, &msg), -EBADMSG,
		     "one more than there may be");
}

Test(feed, nobody_listens)
{
	CLEANUP(ctm_feed_out_done) struct ctm_feed_out out = { 0 };
	const struct ctm_fact fact = FILE_FACT(PATH("a"));

	ctm_feed_out_init(&out, -1, &lock, 0);
	cr_assert_eq(ctm_feed_fact(&out, &fact), 0, "collected");
	cr_assert_eq(ctm_feed_flush(&out), -EBADF);
}
