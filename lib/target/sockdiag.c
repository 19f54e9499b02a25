/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ask for one socket. */
#include "target/sockdiag.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* <linux/unix_diag.h> since Linux 5.3; the number of the attribute is the kernel's interface. */
#ifndef UDIAG_SHOW_UID
#define UDIAG_SHOW_UID 0x00000040
#endif
#define ATTR_UID  7
#define ATTR_HEAD sizeof(struct nlattr)
/* TCP_LISTEN of the kernel's tcp_states.h */
#define STATE_LISTENS 10

struct request {
	struct nlmsghdr head;
	struct unix_diag_req diag;
};

static int send_request(int fd, uint64_t inode)
{
	struct request request = {
		.head = {
			.nlmsg_len = sizeof(request),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.diag = {
			.sdiag_family = AF_UNIX,
			.udiag_states = ~0u,
			.udiag_ino = (uint32_t)inode,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID,
			.udiag_cookie = { ~0u, ~0u },
		},
	};

	return send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request) ? 0 : -errno;
}

/* -errno of an answer that says no. */
static int take_error(struct ctm_bytes answer)
{
	const char *p = answer.p;
	struct nlmsgerr error;

	if (answer.len < NLMSG_HDRLEN + sizeof(error.error)) {
		return -EBADMSG;
	}
	memcpy(&error.error, p + NLMSG_HDRLEN, sizeof(error.error));
	return error.error < 0 ? error.error : -EBADMSG;
}

/* The name of a socket with a path has no NUL in front, the name of one without is not there. */
static bool is_name(const char *value, size_t len, const char *name)
{
	return len == strlen(name) + 1 && value[0] == '\0' && memcmp(value + 1, name, len - 1) == 0;
}

int ctm_sockdiag_parse(struct ctm_bytes answer, uint64_t inode, const char *name,
		       struct ctm_sockdiag *ret)
{
	const char *p = answer.p;
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	struct ctm_sockdiag said = { .listens = false };
	struct unix_diag_msg msg;
	struct nlattr attr;
	struct nlmsghdr nl;
	bool named = !name;

	if (answer.len < sizeof(nl)) {
		return -EBADMSG;
	}
	memcpy(&nl, p, sizeof(nl));
	if (nl.nlmsg_type == NLMSG_ERROR) {
		return take_error(answer);
	}
	if (nl.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.len < at) {
		return -EBADMSG;
	}
	memcpy(&msg, p + NLMSG_HDRLEN, sizeof(msg));
	if (msg.udiag_ino != inode) {
		return -EBADMSG;
	}
	said.listens = msg.udiag_state == STATE_LISTENS;
	for (; at + ATTR_HEAD <= answer.len; at += NLMSG_ALIGN(attr.nla_len)) {
		const char *value = p + at + ATTR_HEAD;

		memcpy(&attr, p + at, sizeof(attr));
		if (attr.nla_len < ATTR_HEAD || attr.nla_len > answer.len - at) {
			return -EBADMSG;
		}
		if (attr.nla_type == UNIX_DIAG_NAME && name) {
			named = is_name(value, attr.nla_len - ATTR_HEAD, name);
		} else if (attr.nla_type == ATTR_UID &&
			   attr.nla_len == ATTR_HEAD + sizeof(said.uid)) {
			memcpy(&said.uid, value, sizeof(said.uid));
			said.has_uid = true;
		}
	}
	*ret = said;
	return named ? 0 : -ENOENT;
}

/* name: NULL for whatever it has. */
static int ask(uint64_t inode, const char *name, struct ctm_sockdiag *ret)
{
	CLEANUP_CLOSE int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	const struct timeval patience = { .tv_sec = 1 };
	char answer[4096];
	ssize_t n;
	int r;

	if (fd < 0) {
		return -errno;
	}
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	r = send_request(fd, inode);
	if (r < 0) {
		return r;
	}
	n = recv(fd, answer, sizeof(answer), 0);
	return n < 0 ? -errno :
		       ctm_sockdiag_parse((struct ctm_bytes){ answer, (size_t)n }, inode, name,
					  ret);
}

/* A kernel without the module unix_diag says of every socket that there is none. */
static bool knows_ours(void)
{
	CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ctm_sockdiag ours;
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && ask(st.st_ino, NULL, &ours) == 0;
}

int ctm_sockdiag_ask(uint64_t inode, const char *name, struct ctm_sockdiag *ret)
{
	int r;

	/* no socket has such a number; 0 has a connection that nobody has accepted yet */
	if (inode == 0 || inode > UINT32_MAX) {
		return knows_ours() ? -ENOENT : -EOPNOTSUPP;
	}
	r = ask(inode, name, ret);
	return r == -ENOENT && !knows_ours() ? -EOPNOTSUPP : r;
}
