/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/ctalive.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"

static const struct {
	const char *path;
	bool want;
} rows[] = {
	{ "/lxc/115", true },
	{ "/lxc/115/ns", true },
	{ "/lxc/115/ns/init.scope", true },
	{ "/lxc.monitor/115", true },
	{ "/lxc.monitor.115", true },
	{ "/lxc.payload.115", true },
	{ "/lxc.payload.115/system.slice/ssh.service", true },
	{ "/lxc.payload/115", true },
	{ "/lxc.payload.115-1", true },
	{ "/lxc.payload.115-12/x", true },
	{ "/lxc/1155", false },
	{ "/lxc/115.x", false },
	{ "/lxc/115-", false },
	{ "/lxc/115-1x", false },
	{ "/lxc/11", false },
	{ "/lxc", false },
	{ "/", false },
	{ "", false },
	{ "/user.slice/user-1000.slice/user@1000.service/lxc.payload.115", false },
	{ "/lxc/116/lxc/115", false },
	{ "/../lxc/115", false },
};
CASES(ctalive, cgroup, rows)
{
	cr_assert_eq(ctm_ctalive_is_cgroup(rows[*i].path, "115"), rows[*i].want, "%s",
		     rows[*i].path);
}

static int take(const char *name, bool listens)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));

	memcpy(addr.sun_path + 1, name, strlen(name));
	if (bind(fd, (const struct sockaddr *)&addr, len) < 0 || (listens && listen(fd, 1) < 0)) {
		return -1;
	}
	return fd;
}

/* A child of another user that has the name. */
static pid_t start(const char *name, bool listens)
{
	int ready[2];
	char byte;
	pid_t child;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (child == 0) {
		if (setresuid(65533, 65533, 65533) < 0 || take(name, listens) < 0 ||
		    write(ready[1], "", 1) != 1) {
			_exit(1);
		}
		(void)pause();
		_exit(0);
	}
	(void)close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1, "the child has no socket");
	(void)close(ready[0]);
	return child;
}

static const struct {
	const char *name;
	bool ours; /* root's, where the tests run as root */
	bool listens;
	bool running;
} owners[] = {
	{ "our own", true, true, true },
	{ "our own, which does not listen", true, false, true },
	{ "another user's", false, true, false },
	{ "another user's, which does not listen", false, false, false },
};
CASES(ctalive, owner, owners)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_ctalive alive = { .imitated = true };
	CLEANUP_CLOSE int fd = -1;
	char name[64];
	char want[64];
	pid_t child = 0;

	if (!owners[*i].ours && geteuid() != 0) {
		cr_skip_test("needs root");
	}
	(void)snprintf(name, sizeof(name), "ctmend test/%d", (int)getpid());
	cr_assert_eq(ctm_ctalive(name, "ctmend-test", &alive, NULL), 0);
	cr_assert(!alive.running && !alive.imitated, "nobody has it");
	if (owners[*i].ours) {
		fd = take(name, owners[*i].listens);
		cr_assert_geq(fd, 0);
	} else {
		child = start(name, owners[*i].listens);
	}
	cr_assert_eq(ctm_ctalive(name, "ctmend-test", &alive, NULL), 0);
	cr_assert_eq(alive.running, owners[*i].running, "%s", owners[*i].name);
	cr_assert_eq(alive.imitated, !owners[*i].running, "%s", owners[*i].name);
	if (child > 0) {
		cr_assert_eq(alive.uid, 65533, "%s: %u", owners[*i].name, alive.uid);
		cr_assert_eq(ctm_ctalive_describe(&alive, &text), 0);
		(void)snprintf(want, sizeof(want), "process %d (", (int)child);
		cr_assert_eq(strncmp(text.p, want, strlen(want)), 0, "%s", text.p);
		cr_assert_eq(kill(child, SIGKILL), 0);
		cr_assert_eq(waitpid(child, NULL, 0), child);
	}
}
