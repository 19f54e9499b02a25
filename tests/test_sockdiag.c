/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/sockdiag.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"

/* --- real sockets ---------------------------------------------------------------------------- */

/* An abstract name that nobody else on this host has. */
static void make_name(char *ret, size_t size)
{
	(void)snprintf(ret, size, "ctmend-test-%d", (int)getpid());
}

static int bound(const char *name, bool listens)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	cr_assert_geq(fd, 0);
	memcpy(addr.sun_path + 1, name, strlen(name));
	cr_assert_eq(bind(fd, (struct sockaddr *)&addr,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))),
		     0);
	if (listens) {
		cr_assert_eq(listen(fd, 1), 0);
	}
	return fd;
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st.st_ino;
}

Test(sockdiag, says_who_listens)
{
	struct ctm_sockdiag said = { 0 };
	char name[64];

	make_name(name, sizeof(name));
	{
		CLEANUP_CLOSE int fd = bound(name, true);

		cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), name, &said), 0);
		cr_assert(said.listens);
		if (said.has_uid) {
			cr_assert_eq(said.uid, geteuid());
		}
	}
}

Test(sockdiag, says_that_nobody_listens)
{
	struct ctm_sockdiag said = { .listens = true };
	char name[64];
	CLEANUP_CLOSE int fd = -1;

	make_name(name, sizeof(name));
	fd = bound(name, false);
	cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), name, &said), 0);
	cr_assert_not(said.listens);
}

Test(sockdiag, another_name_is_another_socket)
{
	struct ctm_sockdiag said;
	char name[64];
	char longer[80];
	CLEANUP_CLOSE int fd = -1;

	make_name(name, sizeof(name));
	fd = bound(name, true);
	(void)snprintf(longer, sizeof(longer), "%sx", name);
	cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), longer, &said), -ENOENT);
	cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), "ctmend-test", &said), -ENOENT);
	cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), "", &said), -ENOENT);
}

Test(sockdiag, a_name_in_the_file_system_is_none)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ctm_sockdiag said;

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "/tmp/ctmend-test-%d", (int)getpid());
	(void)unlink(addr.sun_path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	cr_assert_eq(unlink(addr.sun_path), 0);
	cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), addr.sun_path + 1, &said), -ENOENT);
	cr_assert_eq(ctm_sockdiag_ask(inode_of(fd), addr.sun_path, &said), -ENOENT);
}

Test(sockdiag, there_is_no_such_socket)
{
	struct ctm_sockdiag said;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	uint64_t inode = inode_of(fd);

	cr_assert_eq(close(fd), 0);
	cr_assert_eq(ctm_sockdiag_ask(inode, "any", &said), -ENOENT);
	cr_assert_eq(ctm_sockdiag_ask(0, "any", &said), -ENOENT);
	/* the kernel's field has 32 bits: one with these at its end would be another socket */
	cr_assert_eq(ctm_sockdiag_ask((1ULL << 32) + inode, "any", &said), -ENOENT);
}

/* --- answers that are none ------------------------------------------------------------------- */

#define INODE 4711
#define UID   1000

/* As the kernel lays it out: header, message, name and uid with their headers. */
struct answer {
	struct nlmsghdr nl;
	struct unix_diag_msg msg;
	struct nlattr name_head;
	char name[4]; /* NUL, "abc" */
	struct nlattr uid_head;
	uint32_t uid;
};

static const struct answer good = {
	.nl = { .nlmsg_len = sizeof(struct answer), .nlmsg_type = SOCK_DIAG_BY_FAMILY },
	.msg = { .udiag_family = AF_UNIX, .udiag_state = 10, .udiag_ino = INODE },
	.name_head = { .nla_len = sizeof(struct nlattr) + 4, .nla_type = UNIX_DIAG_NAME },
	.name = { '\0', 'a', 'b', 'c' },
	.uid_head = { .nla_len = sizeof(struct nlattr) + 4, .nla_type = 7 },
	.uid = UID,
};

static int parse(const struct answer *answer, size_t len, struct ctm_sockdiag *ret)
{
	/* as large as it says and no larger, so that reading on is seen */
	CLEANUP_FREE char *copy = malloc(len + 1);

	cr_assert_not_null(copy);
	memcpy(copy, answer, len);
	return ctm_sockdiag_parse((struct ctm_bytes){ copy, len }, INODE, "abc", ret);
}

Test(sockdiag, reads_a_good_answer)
{
	struct ctm_sockdiag said = { 0 };

	cr_assert_eq(parse(&good, sizeof(good), &said), 0);
	cr_assert(said.listens);
	cr_assert(said.has_uid);
	cr_assert_eq(said.uid, UID);
}

/* Cut anywhere it is no answer, or one without what was cut off. */
Test(sockdiag, no_cut_answer_has_more_than_the_bytes_say)
{
	for (size_t len = 0; len < sizeof(good); len++) {
		struct ctm_sockdiag said = { 0 };
		int r = parse(&good, len, &said);

		if (len >= offsetof(struct answer, uid_head)) {
			cr_assert(r == -EBADMSG || (r == 0 && !said.has_uid), "%zu: %d", len, r);
		} else {
			cr_assert(r == -EBADMSG || r == -ENOENT, "%zu: %d", len, r);
		}
	}
}

static const struct {
	const char *name;
	size_t at;
	uint32_t value;
	size_t size;
	int want;
} wrong[] = {
	{ "another socket", offsetof(struct answer, msg.udiag_ino), INODE + 1, 4, -EBADMSG },
	{ "another kind of message", offsetof(struct answer, nl.nlmsg_type), NLMSG_DONE, 2,
	  -EBADMSG },
	{ "an attribute of no length", offsetof(struct answer, name_head.nla_len), 0, 2, -EBADMSG },
	{ "one beyond the end", offsetof(struct answer, uid_head.nla_len), 60000, 2, -EBADMSG },
	{ "one without its head", offsetof(struct answer, name_head.nla_len), 3, 2, -EBADMSG },
	{ "another name", offsetof(struct answer, name) + 3, 'd', 1, -ENOENT },
	{ "a name in the file system", offsetof(struct answer, name), '/', 1, -ENOENT },
	{ "no name", offsetof(struct answer, name_head.nla_type), UNIX_DIAG_PEER, 2, -ENOENT },
};
CASES(sockdiag, wrong_answers, wrong)
{
	struct answer answer = good;
	struct ctm_sockdiag said;

	/* little-endian, as all machines that this is tested on */
	memcpy((char *)&answer + wrong[*i].at, &wrong[*i].value, wrong[*i].size);
	cr_assert_eq(parse(&answer, sizeof(answer), &said), wrong[*i].want, "%s", wrong[*i].name);
}

static const struct {
	const char *name;
	int error;
	int want;
} errors[] = {
	{ "there is none", -ENOENT, -ENOENT },
	{ "not allowed", -EPERM, -EPERM },
	{ "a success is no answer", 0, -EBADMSG },
	{ "nor is a positive number", 5, -EBADMSG },
};
CASES(sockdiag, errors, errors)
{
	struct {
		struct nlmsghdr nl;
		struct nlmsgerr err;
	} answer = { .nl = { .nlmsg_type = NLMSG_ERROR }, .err = { .error = errors[*i].error } };
	struct ctm_sockdiag said;

	cr_assert_eq(ctm_sockdiag_parse((struct ctm_bytes){ &answer, sizeof(answer) }, INODE, "abc",
					&said),
		     errors[*i].want, "%s", errors[*i].name);
	cr_assert_eq(ctm_sockdiag_parse((struct ctm_bytes){ &answer, NLMSG_HDRLEN + 2 }, INODE,
					"abc", &said),
		     -EBADMSG, "%s, cut", errors[*i].name);
}
