/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records back to facts: the reading side, which believes nothing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scan/feed.h"
#include "scan/feed_record.h"

/* MAX_ERRNO of linux/err.h: no system call returns more. */
#define ERRNO_MAX 4095u

/* What is left of the record that is being read. */
struct cursor {
	const unsigned char *p;
	size_t left;
};

int ctm_feed_in_init(struct ctm_feed_in *in, size_t n_streams)
{
	struct ctm_feed_in made = {
		.path = calloc(n_streams, sizeof(*made.path)),
		.dir_len = calloc(n_streams, sizeof(*made.dir_len)),
		.n_streams = n_streams,
	};
	int r = made.path && made.dir_len ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < n_streams; i++) {
		r = ctm_buf_reserve(&made.path[i], CTM_FEED_NAME_MAX + 1);
	}
	if (r < 0) {
		ctm_feed_in_done(&made);
		return r;
	}
	*in = made;
	return 0;
}

void ctm_feed_in_done(struct ctm_feed_in *in)
{
	for (size_t i = 0; in->path && i < in->n_streams; i++) {
		ctm_buf_done(&in->path[i]);
	}
	free(in->path);
	free(in->dir_len);
	ctm_scan_totals_done(&in->totals);
	*in = (struct ctm_feed_in){ 0 };
}

static bool take(struct cursor *in, void *to, size_t len)
{
	if (in->left < len) {
		return false;
	}
	memcpy(to, in->p, len);
	in->p += len;
	in->left -= len;
	return true;
}

static bool is_name(const unsigned char *p, size_t len)
{
	if (len == 0 || len > CTM_FEED_NAME_MAX) {
		return false;
	}
	if (p[0] == '.' && (len == 1 || (len == 2 && p[1] == '.'))) {
		return false;
	}
	return !memchr(p, '/', len) && !memchr(p, '\0', len);
}

static bool is_names(const unsigned char *p, size_t len)
{
	while (len > 0) {
		const unsigned char *slash = memchr(p, '/', len);
		size_t n = slash ? (size_t)(slash - p) : len;

		if (!is_name(p, n) || (slash && n + 1 == len)) {
			return false;
		}
		p += slash ? n + 1 : n;
		len -= slash ? n + 1 : n;
	}
	return true;
}

static int read_dir(struct ctm_feed_in *in, size_t stream, struct cursor from)
{
	struct ctm_buf *path = &in->path[stream];
	const size_t old = in->dir_len[stream];
	struct ctm_record_dir record;
	size_t len;
	int r;

	if (!take(&from, &record, sizeof(record)) || record.keep > old ||
	    (record.keep > 0 && record.keep < old && path->p[record.keep] != '/') ||
	    !is_names(from.p, from.left)) {
		return -EBADMSG;
	}
	len = record.keep + (record.keep > 0 && from.left > 0) + from.left;
	if (len > CTM_FEED_PATH_MAX) {
		return -EBADMSG;
	}
	path->len = record.keep;
	r = ctm_buf_reserve(path, len - record.keep + 1 + CTM_FEED_NAME_MAX + 1);
	if (r < 0) {
		return r;
	}
	if (record.keep > 0 && from.left > 0) {
		(void)ctm_buf_add(path, "/", 1);
	}
	(void)ctm_buf_add(path, from.p, from.left);
	in->dir_len[stream] = len;
	return 0;
}

/*
 * Puts the name behind the stream's directory. There is room for it. No name: the directory itself.
 */
static bool read_path(struct ctm_feed_in *in, size_t stream, struct cursor *from, size_t len,
		      struct ctm_fact *fact)
{
	struct ctm_buf *path = &in->path[stream];

	if (from->left < len) {
		return false;
	}
	path->len = in->dir_len[stream];
	if (len > 0) {
		if (!is_name(from->p, len)) {
			return false;
		}
		if (path->len > 0) {
			(void)ctm_buf_add(path, "/", 1);
		}
		(void)ctm_buf_add(path, from->p, len);
	} else if (path->len > 0) {
		path->p[path->len] = '\0';
	}
	from->p += len;
	from->left -= len;
	fact->path = path->len ? path->p : "";
	fact->path_len = path->len;
	return true;
}

static bool read_value(struct cursor *from, uint32_t len, bool allowed, size_t max,
		       struct ctm_bytes *ret)
{
	*ret = (struct ctm_bytes){ 0 };
	if (len == CTM_RECORD_ABSENT) {
		return true;
	}
	if (!allowed || len > max || from->left < len) {
		return false;
	}
	*ret = (struct ctm_bytes){ .p = from->p, .len = len };
	from->p += len;
	from->left -= len;
	return true;
}

static bool is_mode(uint32_t mode)
{
	if (mode & ~(uint32_t)(S_IFMT | 07777)) {
		return false;
	}
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFLNK:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return true;
	default:
		return false;
	}
}

static int read_inode(struct ctm_feed_in *in, size_t stream, struct cursor from,
		      struct ctm_fact *ret)
{
	struct ctm_fact fact = { .kind = CTM_FACT_INODE };
	struct ctm_record_inode record;
	bool is_link;

	if (!take(&from, &record, sizeof(record)) || !is_mode(record.mode) ||
	    (record.attr & ~(CTM_ATTR_IMMUTABLE | CTM_ATTR_APPEND)) ||
	    !read_path(in, stream, &from, record.name, &fact)) {
		return -EBADMSG;
	}
	is_link = S_ISLNK(record.mode);
	fact.mode = record.mode;
	fact.uid.v = record.uid;
	fact.gid.v = record.gid;
	fact.dev = record.dev;
	fact.ino = record.ino;
	fact.rdev = S_ISCHR(record.mode) || S_ISBLK(record.mode) ? record.rdev : 0;
	fact.nlink = record.nlink;
	fact.size = record.size;
	fact.attr = record.attr;
	if (!read_value(&from, record.value[0], !is_link, CTM_FEED_VALUE_MAX, &fact.acl_access) ||
	    !read_value(&from, record.value[1], S_ISDIR(record.mode), CTM_FEED_VALUE_MAX,
			&fact.acl_default) ||
	    !read_value(&from, record.value[2], !is_link, CTM_FEED_VALUE_MAX, &fact.caps) ||
	    !read_value(&from, record.value[3], S_ISREG(record.mode), CTM_HEAD_LEN, &fact.head) ||
	    from.left != 0) {
		return -EBADMSG;
	}
	*ret = fact;
	return 0;
}

static int read_error(struct cursor *from, int *ret_err, const char **ret_op)
{
	struct ctm_record_error record;

	if (!take(from, &record, sizeof(record)) || record.err == 0 || record.err > ERRNO_MAX ||
	    record.op >= ctm_feed_ops_n) {
		return -EBADMSG;
	}
	*ret_err = (int)record.err;
	*ret_op = ctm_feed_ops[record.op];
	return 0;
}

static int read_fact(struct ctm_feed_in *in, const struct ctm_record_head *head, struct cursor from,
		     struct ctm_fact *ret)
{
	struct ctm_fact fact = { .kind = CTM_FACT_MOUNT };

	if (head->type == CTM_RECORD_INODE) {
		return read_inode(in, head->stream, from, ret);
	}
	if (head->type == CTM_RECORD_ERROR) {
		fact.kind = CTM_FACT_ERROR;
		if (read_error(&from, &fact.err, &fact.op) < 0) {
			return -EBADMSG;
		}
	}
	if (!read_path(in, head->stream, &from, from.left, &fact)) {
		return -EBADMSG;
	}
	*ret = fact;
	return 0;
}

static int read_totals(struct ctm_feed_in *in, struct cursor from)
{
	struct ctm_record_totals record;

	if (in->has_totals || !take(&from, &record, sizeof(record)) || from.left != 0) {
		return -EBADMSG;
	}
	in->totals = (struct ctm_scan_totals){
		.entries = record.entries,
		.inodes = record.inodes,
		.dirs = record.dirs,
		.host = { record.host[CTM_UID], record.host[CTM_GID] },
		.nobody = { record.nobody[CTM_UID], record.nobody[CTM_GID] },
		.errors = record.errors,
		.subvolumes = record.subvolumes,
		.ids = { { .other = record.other[CTM_UID] }, { .other = record.other[CTM_GID] } },
	};
	in->has_totals = true;
	return 0;
}

static int read_ids(struct ctm_feed_in *in, struct cursor from)
{
	struct ctm_record_ids record;
	struct ctm_id_histogram *ids;
	struct ctm_id_count *more;

	if (!in->has_totals || !take(&from, &record, sizeof(record)) ||
	    (record.kind != CTM_UID && record.kind != CTM_GID) || record.n == 0 ||
	    record.n > CTM_RECORD_IDS_MAX || from.left != record.n * sizeof(struct ctm_record_id)) {
		return -EBADMSG;
	}
	ids = &in->totals.ids[record.kind];
	if (record.n > CTM_ID_COUNT_MAX - ids->n) {
		return -EBADMSG;
	}
	more = reallocarray(ids->v, ids->n + record.n, sizeof(*more));
	if (!more) {
		return -ENOMEM;
	}
	ids->v = more;
	for (uint32_t i = 0; i < record.n; i++) {
		struct ctm_record_id id;

		if (!take(&from, &id, sizeof(id)) || id.n == 0 || id.zero != 0 ||
		    (ids->n > 0 && ids->v[ids->n - 1].id >= id.id)) {
			return -EBADMSG;
		}
		ids->v[ids->n++] = (struct ctm_id_count){ .id = id.id, .n = id.n };
	}
	return 0;
}

/* One whole record. msg->kind stays CTM_FEED_MORE when it says nothing by itself. */
static int read_record(struct ctm_feed_in *in, const struct ctm_record_head *head,
		       struct cursor from, struct ctm_feed_msg *msg)
{
	int r;

	switch (head->type) {
	case CTM_RECORD_DIR:
		return read_dir(in, head->stream, from);
	case CTM_RECORD_INODE:
	case CTM_RECORD_ERROR:
	case CTM_RECORD_MOUNT:
		r = in->has_totals ? -EBADMSG : read_fact(in, head, from, &msg->fact);
		msg->kind = CTM_FEED_FACT;
		return r;
	case CTM_RECORD_TOTALS:
		return read_totals(in, from);
	case CTM_RECORD_IDS:
		return read_ids(in, from);
	case CTM_RECORD_FAIL:
		r = read_error(&from, &msg->err, &msg->op);
		msg->kind = CTM_FEED_FAIL;
		in->ended = true;
		return r < 0 || from.left != 0 ? -EBADMSG : 0;
	case CTM_RECORD_END:
		msg->kind = CTM_FEED_END;
		in->ended = true;
		return !in->has_totals || from.left != 0 ? -EBADMSG : 0;
	default:
		return -EBADMSG;
	}
}

int ctm_feed_next(struct ctm_feed_in *in, const void *p, size_t len, size_t *ret_used,
		  struct ctm_feed_msg *ret)
{
	struct ctm_feed_msg msg = { .kind = CTM_FEED_MORE };
	struct cursor all = { .p = p, .left = len };

	while (msg.kind == CTM_FEED_MORE) {
		struct cursor from = all;
		struct ctm_record_head head;
		int r;

		if (!take(&from, &head, sizeof(head))) {
			break;
		}
		if (in->ended || head.len < sizeof(head) || head.len > CTM_FEED_RECORD_MAX ||
		    head.stream >= in->n_streams) {
			return -EBADMSG;
		}
		if (from.left < head.len - sizeof(head)) {
			break;
		}
		from.left = head.len - sizeof(head);
		r = read_record(in, &head, from, &msg);
		if (r < 0) {
			return r;
		}
		all.p += head.len;
		all.left -= head.len;
	}
	*ret_used = len - all.left;
	*ret = msg;
	return 0;
}
