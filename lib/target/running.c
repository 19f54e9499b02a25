/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of sockets. */
#include "target/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "target/sockdiag.h"

CTM_HOST_PATHS

/* __SO_ACCEPTCON of the kernel's net.h, in the column Flags */
#define FLAG_LISTENS 0x10000u

/* The columns before the path: Num RefCount Protocol Flags Type St Inode. */
#define COLUMN_FLAGS 3
#define COLUMN_INODE 6
#define COLUMNS      7

/* Splits the columns off; returns what follows the one blank behind them, the path, or NULL. */
static const char *split(const char *line, const char *end, uint64_t *ret_flags,
			 uint64_t *ret_inode)
{
	const char *p = line;

	for (unsigned int i = 0; i < COLUMNS; i++) {
		char column[32];
		size_t n;

		while (p < end && *p == ' ') {
			p++;
		}
		for (n = 0; p < end && *p != ' '; p++) {
			if (n + 1 < sizeof(column)) {
				column[n++] = *p;
			}
		}
		column[n] = '\0';
		if (i == COLUMN_FLAGS) {
			*ret_flags = strtoull(column, NULL, 16);
		} else if (i == COLUMN_INODE) {
			*ret_inode = strtoull(column, NULL, 10);
		}
	}
	return p < end && *p == ' ' ? p + 1 : NULL;
}

int ctm_socket_each(struct ctm_bytes text, const char *name,
		    int (*fn)(const struct ctm_socket *socket, void *arg), void *arg)
{
	const char *p = text.p;
	const char *end = p + text.len;
	const size_t len = strlen(name);
	int r = 0;

	while (r == 0 && p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *stop = eol ? eol : end;
		uint64_t flags = 0;
		uint64_t inode = 0;
		const char *path = split(p, stop, &flags, &inode);

		/* an abstract name is shown with "@" for its leading NUL */
		if (path && (size_t)(stop - path) == len + 1 && path[0] == '@' &&
		    memcmp(path + 1, name, len) == 0) {
			const struct ctm_socket socket = {
				.inode = inode,
				.listens = flags & FLAG_LISTENS,
			};

			r = fn(&socket, arg);
		}
		p = stop + 1;
	}
	return r;
}

struct believing {
	const char *name;
	int (*fn)(const struct ctm_socket *socket, void *arg);
	void *arg;
};

static int ask_kernel(const struct ctm_socket *row, void *arg)
{
	const struct believing *believing = arg;
	struct ctm_socket socket = *row;
	struct ctm_sockdiag said;
	int r = ctm_sockdiag_ask(row->inode, believing->name, &said);

	CTM_DEBUG("guard", "the socket %ju of '@%s': %d", (uintmax_t)row->inode, believing->name,
		  r);
	if (r == -ENOENT) {
		return 0;
	}
	/* where the kernel does not answer, the row is all there is to know */
	if (r == 0) {
		socket.listens = said.listens;
		socket.has_uid = said.has_uid;
		socket.uid = said.uid;
	}
	return believing->fn(&socket, believing->arg);
}

int ctm_socket_each_real(struct ctm_bytes text, const char *name,
			 int (*fn)(const struct ctm_socket *socket, void *arg), void *arg)
{
	struct believing believing = { .name = name, .fn = fn, .arg = arg };

	return ctm_socket_each(text, name, ask_kernel, &believing);
}

static int note_socket(const struct ctm_socket *socket, void *arg)
{
	struct ctm_socket_row *row = arg;

	row->found = true;
	if (socket->listens) {
		row->listening = socket->inode;
	}
	return 0;
}

void ctm_socket_find(struct ctm_bytes text, const char *name, struct ctm_socket_row *ret)
{
	*ret = (struct ctm_socket_row){ .found = false };
	(void)ctm_socket_each(text, name, note_socket, ret);
}

void ctm_socket_find_real(struct ctm_bytes text, const char *name, struct ctm_socket_row *ret)
{
	*ret = (struct ctm_socket_row){ .found = false };
	(void)ctm_socket_each_real(text, name, note_socket, ret);
}

static int read_all(const char *path, struct ctm_buf *ret)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		return -errno;
	}
	for (;;) {
		ssize_t n;
		int r = ctm_buf_reserve(ret, 65536);

		if (r < 0) {
			return r;
		}
		n = read(fd, ret->p + ret->len, 65536);
		if (n < 0) {
			return -errno;
		}
		if (n == 0) {
			return 0;
		}
		ret->len += (size_t)n;
	}
}

int ctm_socket_table(struct ctm_buf *ret, struct ctm_err *err)
{
	int r = read_all("/proc/net/unix", ret);

	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "read /proc/net/unix") : 0;
}

int ctm_socket_look(const char *name, struct ctm_socket_row *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_socket_table(&text, err);

	if (r < 0) {
		return r;
	}
	ctm_socket_find_real((struct ctm_bytes){ .p = text.p, .len = text.len }, name, ret);
	return 0;
}

int ctm_running_rebooting(const struct ctm_host *host, unsigned int vmid, bool *ret,
			  struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	struct stat st;

	if (ctm_host_path(host, &path, CTM_PLACE_LXC "/%u/reboot", vmid) < 0) {
		return ctm_err_nomem(err);
	}
	if (lstat(path.p, &st) == 0) {
		*ret = true;
		return 0;
	}
	if (errno != ENOENT && errno != ENOTDIR) {
		return ctm_err_set(err, CTM_SYS, errno, "look for '%s'", path.p);
	}
	*ret = false;
	return 0;
}
