/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading one directory, block by block.
 *
 * Before the entries of a block are looked at, the rest of the directory goes back to the pool:
 * another worker can read on meanwhile, and what is known of a directory with a million entries is
 * one block for each worker.
 */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "scan/walk_state.h"

/* A record of the longest name: what getdents64(2) needs at least, or it fails with EINVAL. */
#define RECORD_MAX (offsetof(struct dirent64, d_name) + CTM_FEED_NAME_MAX + 1 + 7)

/*
 * Reads until the block is nearly full: a file system may return less than fits. *ret_len is valid
 * also with an error: names that came before it.
 */
static int read_block(struct ctm_worker *w, size_t *ret_len, bool *ret_more)
{
	size_t enough = w->block / 16 > RECORD_MAX ? w->block / 16 : RECORD_MAX;
	size_t len = 0;

	*ret_more = true;
	while (w->block - len >= enough) {
		ssize_t n = getdents64(w->fd, w->entries + len, w->block - len);

		if (n <= 0) {
			*ret_more = false;
			*ret_len = len;
			return n < 0 ? -errno : 0;
		}
		len += (size_t)n;
	}
	*ret_len = len;
	return 0;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* The position behind the last entry of the block. */
static int64_t offset_behind(const char *entries, size_t len)
{
	int64_t offset = 0;

	for (size_t at = 0; at < len;) {
		const struct dirent64 *entry = (const void *)(entries + at);

		offset = entry->d_off;
		at += entry->d_reclen;
	}
	return offset;
}

static int look_at(struct ctm_worker *w, size_t len)
{
	for (size_t at = 0; at < len;) {
		const struct dirent64 *entry = (const void *)(w->entries + at);
		const size_t n = strlen(entry->d_name);
		int r;

		at += entry->d_reclen;
		if (is_dots(entry->d_name)) {
			continue;
		}
		if (n > CTM_FEED_NAME_MAX || memchr(entry->d_name, '/', n)) {
			/*
			 * The kernel does not let such names pass; a path made of it could go
			 * anywhere.
			 */
			r = ctm_walk_error(w, w->node, "", 0, EBADMSG, "read");
		} else {
			r = ctm_walk_entry(w, w->node, entry->d_name, n);
		}
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

int ctm_walk_dir(struct ctm_worker *w)
{
	size_t len;
	bool more;
	int r = ctm_walk_open_node(w);

	if (r == -ENOENT) {
		/* Gone since its name was read: a running container lives on. */
		return 0;
	}
	if (r < 0) {
		return r == -ENOMEM ? r : ctm_walk_error(w, w->node, "", 0, -r, "open");
	}
	if (fchdir(w->fd) < 0) {
		return ctm_walk_error(w, w->node, "", 0, errno, "open");
	}
	if (w->node->offset != 0 && lseek(w->fd, w->node->offset, SEEK_SET) < 0) {
		return ctm_walk_error(w, w->node, "", 0, errno, "read");
	}
	r = read_block(w, &len, &more);
	if (r < 0) {
		r = ctm_walk_error(w, w->node, "", 0, -r, "read");
		if (r < 0) {
			return r;
		}
	}
	if (more) {
		w->node->offset = offset_behind(w->entries, len);
		ctm_walk_share(w);
	}
	return look_at(w, len);
}
