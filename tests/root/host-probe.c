/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks the questions about this host's processes for the scripts.
 *
 *	host-probe holder FILE          "free", or "held fcntl|flock PID NAME"
 *	host-probe config VMID SYSROOT  "none", "ancestor" or "other": who has the config flock
 *	host-probe monitor SOCKET       "yes" or "no": are we called by who starts the container
 *	host-probe idmap FROM TO        bind FROM at TO, idmapped by stdin's user namespace
 *
 * Exit status 5 and a message for a failure.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "target/lockholder.h"
#include "target/starter.h"

static int failed(const char *what)
{
	perror(what);
	return 5;
}

static int holder(const char *path)
{
	struct ctm_lockholder who;
	bool held;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || ctm_lockholder_find(fd, &held, &who) < 0) {
		return failed(path);
	}
	if (held) {
		printf("held %s %d %s\n", who.how, (int)who.pid, who.name);
	} else {
		printf("free\n");
	}
	close(fd);
	return 0;
}

static int config(const char *vmid, const char *sysroot)
{
	static const char *const words[] = {
		[CTM_STARTER_NONE] = "none",
		[CTM_STARTER_ANCESTOR] = "ancestor",
		[CTM_STARTER_OTHER] = "other",
	};
	const struct ctm_host host = { .sysroot = sysroot };
	struct ctm_err err = { 0 };
	enum ctm_starter_lock state;
	int fd;

	if (ctm_starter_config(&host, (unsigned int)strtoul(vmid, NULL, 10), &state, &fd, &err) <
	    0) {
		fprintf(stderr, "%s\n", err.msg);
		return 5;
	}
	printf("%s\n", words[state]);
	if (fd >= 0) {
		close(fd);
	}
	return 0;
}

static int monitor(const char *socket)
{
	struct ctm_err err = { 0 };
	bool is;

	if (ctm_starter_monitor(socket, &is, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 5;
	}
	printf("%s\n", is ? "yes" : "no");
	return 0;
}

static int idmap(const char *from, const char *to)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_IDMAP, .userns_fd = STDIN_FILENO };
	int fd = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ||
	    move_mount(fd, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH) < 0) {
		return failed(from);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "holder") == 0) {
		return holder(argv[2]);
	}
	if (argc == 4 && strcmp(argv[1], "config") == 0) {
		return config(argv[2], argv[3]);
	}
	if (argc == 3 && strcmp(argv[1], "monitor") == 0) {
		return monitor(argv[2]);
	}
	if (argc == 4 && strcmp(argv[1], "idmap") == 0) {
		return idmap(argv[2], argv[3]);
	}
	fprintf(stderr, "host-probe: what?\n");
	return 2;
}
