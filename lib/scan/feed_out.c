/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts as records: the writing side. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/feed.h"
#include "scan/feed_record.h"

/* As much as an empty pipe takes at once. */
#define FLUSH_AT ((size_t)65536)

const char *const ctm_feed_ops[] = {
	"open",
	"read",
	"stat",
	"xattr",
	CTM_OP_DEEP,
	"memory",
	"thread",
	"write",
	"confine: descriptors",
	"confine: limits",
	"confine: root directory",
	"confine: user",
	"confine: capabilities",
	"confine: privileges",
	"confine: system calls",
	"confine: parent",
};
const size_t ctm_feed_ops_n = ARRAY_LEN(ctm_feed_ops);

void ctm_feed_out_init(struct ctm_feed_out *out, int fd, pthread_mutex_t *lock, uint16_t stream)
{
	*out = (struct ctm_feed_out){ .fd = fd, .lock = lock, .stream = stream };
}

void ctm_feed_out_done(struct ctm_feed_out *out)
{
	ctm_buf_done(&out->buf);
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0) {
			if (errno == EINTR) {
				continue;
			}
			return -errno;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int ctm_feed_flush(struct ctm_feed_out *out)
{
	int r;

	if (out->buf.len == 0) {
		return 0;
	}
	(void)pthread_mutex_lock(out->lock);
	r = write_all(out->fd, out->buf.p, out->buf.len);
	(void)pthread_mutex_unlock(out->lock);
	out->buf.len = 0;
	if (out->buf.cap > 4 * FLUSH_AT) {
		/* Once in a while a path is of megabytes, and there is a buffer for each thread. */
		ctm_buf_done(&out->buf);
	}
	return r;
}

/* Starts a record for which there is room after this; the parts are then added with put(). */
static int begin(struct ctm_feed_out *out, enum ctm_record_type type, size_t body)
{
	const struct ctm_record_head head = {
		.len = (uint32_t)(sizeof(head) + body),
		.type = (uint16_t)type,
		.stream = out->stream,
	};
	int r;

	if (body > CTM_FEED_RECORD_MAX - sizeof(head)) {
		return -EINVAL;
	}
	if (out->buf.len >= FLUSH_AT) {
		r = ctm_feed_flush(out);
		if (r < 0) {
			return r;
		}
	}
	r = ctm_buf_reserve(&out->buf, head.len);
	if (r < 0) {
		return r;
	}
	return ctm_buf_add(&out->buf, &head, sizeof(head));
}

/* begin() has made the room, so this cannot fail. */
static void put(struct ctm_feed_out *out, const void *p, size_t len)
{
	(void)ctm_buf_add(&out->buf, p, len);
}

int ctm_feed_dir(struct ctm_feed_out *out, const char *dir, size_t len, size_t same)
{
	const struct ctm_record_dir record = { .keep = (uint32_t)same };
	/* The reader puts the slash back that joins the kept part and the rest. */
	const size_t from = same + (same > 0 && same < len);
	int r;

	if (len > CTM_FEED_PATH_MAX || same > len || same > out->dir_len) {
		return -EINVAL;
	}
	r = begin(out, CTM_RECORD_DIR, sizeof(record) + len - from);
	if (r < 0) {
		return r;
	}
	put(out, &record, sizeof(record));
	put(out, dir + from, len - from);
	out->dir_len = len;
	return 0;
}

static uint32_t value_len(struct ctm_bytes value)
{
	return value.p ? (uint32_t)value.len : CTM_RECORD_ABSENT;
}

static int send_inode(struct ctm_feed_out *out, const struct ctm_fact *fact, const char *name,
		      size_t name_len)
{
	const struct ctm_bytes value[] = { fact->acl_access, fact->acl_default, fact->caps,
					   fact->head };
	struct ctm_record_inode record = {
		.dev = fact->dev,
		.ino = fact->ino,
		.rdev = fact->rdev,
		.size = fact->size,
		.mode = fact->mode,
		.uid = fact->uid.v,
		.gid = fact->gid.v,
		.nlink = fact->nlink,
		.attr = fact->attr,
		.name = (uint32_t)name_len,
	};
	size_t len = sizeof(record) + name_len;
	int r;

	for (size_t i = 0; i < ARRAY_LEN(value); i++) {
		if (value[i].p && value[i].len > CTM_FEED_VALUE_MAX) {
			return -EINVAL;
		}
		record.value[i] = value_len(value[i]);
		len += value[i].p ? value[i].len : 0;
	}
	r = begin(out, CTM_RECORD_INODE, len);
	if (r < 0) {
		return r;
	}
	put(out, &record, sizeof(record));
	put(out, name, name_len);
	for (size_t i = 0; i < ARRAY_LEN(value); i++) {
		if (value[i].p) {
			put(out, value[i].p, value[i].len);
		}
	}
	return 0;
}

static uint32_t op_number(const char *op)
{
	uint32_t i = 0;

	while (i < ctm_feed_ops_n && strcmp(op, ctm_feed_ops[i]) != 0) {
		i++;
	}
	return i;
}

static int send_error(struct ctm_feed_out *out, enum ctm_record_type type, int err, const char *op,
		      const char *name, size_t name_len)
{
	const struct ctm_record_error record = { .err = (uint32_t)err, .op = op_number(op) };
	int r = begin(out, type, sizeof(record) + name_len);

	if (r < 0) {
		return r;
	}
	put(out, &record, sizeof(record));
	put(out, name, name_len);
	return 0;
}

int ctm_feed_fact(struct ctm_feed_out *out, const struct ctm_fact *fact)
{
	const bool in_dir = fact->path_len > out->dir_len;
	const size_t from = in_dir ? out->dir_len + (out->dir_len > 0) : fact->path_len;
	const char *name = fact->path + from;
	const size_t name_len = fact->path_len - from;
	int r;

	if (fact->path_len < out->dir_len || name_len > CTM_FEED_NAME_MAX) {
		return -EINVAL;
	}
	switch (fact->kind) {
	case CTM_FACT_INODE:
		return send_inode(out, fact, name, name_len);
	case CTM_FACT_ERROR:
		return send_error(out, CTM_RECORD_ERROR, fact->err, fact->op, name, name_len);
	case CTM_FACT_MOUNT:
		r = begin(out, CTM_RECORD_MOUNT, name_len);
		if (r == 0) {
			put(out, name, name_len);
		}
		return r;
	}
	return -EINVAL;
}

static int send_ids(struct ctm_feed_out *out, enum ctm_idkind kind,
		    const struct ctm_id_histogram *ids)
{
	for (size_t at = 0; at < ids->n;) {
		const size_t left = ids->n - at;
		const struct ctm_record_ids record = {
			.kind = (uint32_t)kind,
			.n = (uint32_t)(left < CTM_RECORD_IDS_MAX ? left : CTM_RECORD_IDS_MAX),
		};
		int r = begin(out, CTM_RECORD_IDS,
			      sizeof(record) + record.n * sizeof(struct ctm_record_id));

		if (r < 0) {
			return r;
		}
		put(out, &record, sizeof(record));
		for (uint32_t i = 0; i < record.n; i++, at++) {
			const struct ctm_record_id id = { .n = ids->v[at].n, .id = ids->v[at].id };

			put(out, &id, sizeof(id));
		}
	}
	return 0;
}

int ctm_feed_totals(struct ctm_feed_out *out, const struct ctm_scan_totals *totals)
{
	const struct ctm_record_totals record = {
		.entries = totals->entries,
		.inodes = totals->inodes,
		.dirs = totals->dirs,
		.host = { totals->host[CTM_UID], totals->host[CTM_GID] },
		.nobody = { totals->nobody[CTM_UID], totals->nobody[CTM_GID] },
		.errors = totals->errors,
		.subvolumes = totals->subvolumes,
		.other = { totals->ids[CTM_UID].other, totals->ids[CTM_GID].other },
	};
	int r = begin(out, CTM_RECORD_TOTALS, sizeof(record));

	if (r < 0) {
		return r;
	}
	put(out, &record, sizeof(record));
	r = send_ids(out, CTM_UID, &totals->ids[CTM_UID]);
	return r < 0 ? r : send_ids(out, CTM_GID, &totals->ids[CTM_GID]);
}

int ctm_feed_fail(struct ctm_feed_out *out, int err, const char *op)
{
	return send_error(out, CTM_RECORD_FAIL, err, op, "", 0);
}

int ctm_feed_end(struct ctm_feed_out *out)
{
	return begin(out, CTM_RECORD_END, 0);
}
