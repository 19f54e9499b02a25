/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The system calls that change something, what each names, and in which phase of a run it is. */
#include "killcalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Where the call names its object. */
enum where {
	FD0,   /* a descriptor, the first argument */
	PATH0, /* a path, the first argument; "/proc/self/fd/N" is the descriptor N */
	AT0,   /* a directory's descriptor and a name in it, the first two arguments */
	AT2,   /* the same, arguments three and four */
	NONE,
};

/* What it does to it; the phase follows from that and from the object, see phase_of(). */
enum what {
	CHOWN,
	CHMOD,
	XATTR, /* the name is the second argument */
	TIMES,
	REMOVE,
	CREATE, /* counts when the flags, the third argument, say so */
	NAME,   /* a link, a rename */
	MKDIR,  /* counts when there is no such directory */
	WRITE,  /* counts on regular files */
	SYNC,
	IOCTL, /* counts for some requests */
	LOCK,
	MOUNT,
	UNMOUNT,
	CLOSE, /* counts for mounts, loop devices and locks: they go with their last descriptor */
};

static const struct call {
	long nr;
	const char *name;
	enum where where;
	enum what what;
} calls[] = {
#define CALL(name, where, what)                    \
	{                                          \
		SYS_##name, #name, (where), (what) \
	}
	CALL(fchown, FD0, CHOWN),
	CALL(fchownat, AT0, CHOWN),
	CALL(fchmod, FD0, CHMOD),
	CALL(fchmodat, AT0, CHMOD),
	CALL(setxattr, PATH0, XATTR),
	CALL(lsetxattr, PATH0, XATTR),
	CALL(fsetxattr, FD0, XATTR),
	CALL(removexattr, PATH0, XATTR),
	CALL(lremovexattr, PATH0, XATTR),
	CALL(fremovexattr, FD0, XATTR),
	CALL(utimensat, AT0, TIMES),
	CALL(unlinkat, AT0, REMOVE),
	CALL(openat, AT0, CREATE),
	CALL(openat2, AT0, CREATE),
	CALL(linkat, AT2, NAME),
	CALL(symlinkat, AT0, NAME),
	CALL(mknodat, AT0, NAME),
	CALL(renameat2, AT2, NAME),
	CALL(mkdirat, AT0, MKDIR),
	CALL(write, FD0, WRITE),
	CALL(pwrite64, FD0, WRITE),
	CALL(writev, FD0, WRITE),
	CALL(copy_file_range, NONE, WRITE),
	CALL(ftruncate, FD0, WRITE),
	CALL(fallocate, FD0, WRITE),
	CALL(fsync, FD0, SYNC),
	CALL(fdatasync, FD0, SYNC),
	CALL(syncfs, FD0, SYNC),
	CALL(ioctl, FD0, IOCTL),
	CALL(flock, FD0, LOCK),
	CALL(fsopen, NONE, MOUNT),
	CALL(fsconfig, NONE, MOUNT),
	CALL(fsmount, NONE, MOUNT),
	CALL(open_tree, NONE, MOUNT),
	CALL(mount_setattr, NONE, MOUNT),
	CALL(move_mount, NONE, MOUNT),
	CALL(mount, NONE, MOUNT),
	CALL(umount2, NONE, UNMOUNT),
	CALL(close, FD0, CLOSE),
/* The old ones, which newer machines do not have. */
#ifdef SYS_chmod
	CALL(chown, PATH0, CHOWN),
	CALL(lchown, PATH0, CHOWN),
	CALL(chmod, PATH0, CHMOD),
	CALL(unlink, PATH0, REMOVE),
	CALL(rmdir, PATH0, REMOVE),
	CALL(mkdir, PATH0, MKDIR),
	CALL(rename, PATH0, NAME),
	CALL(renameat, AT2, NAME),
#endif
#ifdef SYS_fchmodat2
	CALL(fchmodat2, AT0, CHMOD),
#endif
#undef CALL
};

/* --- what a call changes ---------------------------------------------------------------------- */

/* A call that a thread is about to make. */
struct look {
	pid_t tid;
	const struct call *call;
	const uint64_t *args;
	const char *state;
	bool dirty;
	int fd;          /* of the object; -1: none */
	char path[4352]; /* of the object; "" when it is not known */
	char xattr[256];
};

/* A string of the tracee's memory. */
static void peek(pid_t tid, uint64_t at, char *to, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		/* not across a page that may not be there */
		size_t want = 4096 - (size_t)((at + n) % 4096);
		struct iovec local = { to + n, want < size - 1 - n ? want : size - 1 - n };
		struct iovec remote = { (void *)(uintptr_t)(at + n), local.iov_len };
		ssize_t got = process_vm_readv(tid, &local, 1, &remote, 1, 0);

		if (got <= 0) {
			break;
		}
		if (memchr(to + n, '\0', (size_t)got)) {
			return;
		}
		n += (size_t)got;
	}
	to[n] = '\0';
}

static void read_fd_path(struct look *x)
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", x->tid, x->fd);
	n = readlink(link, x->path, sizeof(x->path) - 1);
	x->path[n > 0 ? n : 0] = '\0';
}

/* The path of a directory becomes that of a name in it. */
static void add_name(struct look *x, const char *name)
{
	size_t len = strlen(x->path);

	if (name[0] == '/') {
		(void)snprintf(x->path, sizeof(x->path), "%s", name);
	} else if (name[0]) {
		(void)snprintf(x->path + len, sizeof(x->path) - len, "/%s", name);
	}
}

static void find_object(struct look *x)
{
	char name[4096] = "";
	int at = x->call->where == AT2 ? 2 : 0;

	x->fd = -1;
	switch (x->call->where) {
	case FD0:
		x->fd = (int)x->args[0];
		break;
	case PATH0:
		peek(x->tid, x->args[0], name, sizeof(name));
		break;
	case AT0:
	case AT2:
		x->fd = (int)x->args[at];
		if (x->args[at + 1]) {
			peek(x->tid, x->args[at + 1], name, sizeof(name));
		}
		break;
	case NONE:
		break;
	}
	if (sscanf(name, "/proc/self/fd/%d", &x->fd) == 1) {
		name[0] = '\0';
	}
	if (x->fd >= 0) {
		read_fd_path(x);
	}
	add_name(x, name);
	if (x->call->what == XATTR) {
		peek(x->tid, x->args[1], x->xattr, sizeof(x->xattr));
	}
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static unsigned long mount_of(pid_t tid, int fd)
{
	char line[128];
	unsigned long id = 0;
	FILE *f;

	(void)snprintf(line, sizeof(line), "/proc/%d/fdinfo/%d", tid, fd);
	f = fopen(line, "re");
	while (f && id == 0 && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "mnt_id:", 7) == 0) {
			id = strtoul(line + 7, NULL, 10);
		}
	}
	if (f) {
		(void)fclose(f);
	}
	return id;
}

static bool is_in_namespace(unsigned long mount)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	while (f && !found && getline(&line, &size, f) > 0) {
		found = strtoul(line, NULL, 10) == mount;
	}
	free(line);
	if (f) {
		(void)fclose(f);
	}
	return found;
}

/*
 * The volume's mount hangs in no namespace. Pipes and files in memory have such mounts, too, but no
 * path.
 */
static bool is_on_volume(const struct look *x)
{
	return x->fd >= 0 && x->path[0] == '/' && strncmp(x->path, "/memfd:", 7) != 0 &&
	       !is_in_namespace(mount_of(x->tid, x->fd));
}

/* The root of a mount; what was opened by a handle has the path "/", too. */
static bool is_mount_root(const struct look *x)
{
	struct statx st;
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", x->tid, x->fd);
	return statx(AT_FDCWD, link, 0, 0, &st) == 0 && (st.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static bool makes_file(const struct look *x)
{
	uint64_t flags = x->args[2];

	if (x->call->nr == SYS_openat2) {
		struct iovec local = { &flags, sizeof(flags) };
		struct iovec remote = { (void *)(uintptr_t)x->args[2], sizeof(flags) };

		if (process_vm_readv(x->tid, &local, 1, &remote, 1, 0) < 0) {
			return false;
		}
	}
	return (flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE;
}

static bool is_of_type(const struct look *x, mode_t type)
{
	struct stat st;
	char link[64];

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", x->tid, x->fd);
	return stat(link, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

static bool changes(const struct look *x)
{
	static const uint64_t requests[] = {
		FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, LOOP_CONFIGURE,
		LOOP_SET_FD,     LOOP_CLR_FD,       LOOP_SET_STATUS64,
	};
	struct stat st;

	switch (x->call->what) {
	case CREATE:
		return makes_file(x);
	case MKDIR:
		return stat(x->path, &st) < 0;
	case WRITE:
		return x->fd > STDERR_FILENO && is_of_type(x, S_IFREG);
	case IOCTL:
		for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
			if (x->args[1] == requests[i]) {
				return true;
			}
		}
		return false;
	default:
		return true;
	}
}

/* --- its phase -------------------------------------------------------------------------------- */

/* A record is sealed when it has its name; what is written to it then are marks. */
static const char *phase_of_record(const struct look *x)
{
	const char *below = x->path + strlen(x->state);
	const char *run = below[0] ? strchr(below + 1, '/') : NULL;

	if (x->call->what == LOCK || x->call->what == CLOSE) {
		return x->call->what == LOCK ? "attach" : NULL;
	}
	return run && run[1] != '.' && strchr(run + 1, '/') ? "done" : "record";
}

static const char *phase_on_volume(const struct look *x)
{
	if (x->call->what == CLOSE) {
		return is_mount_root(x) ? "detach" : NULL;
	}
	if (x->call->what == LOCK) {
		return NULL; /* only asks whether somebody holds it */
	}
	if (strstr(x->path, "(deleted)")) {
		return "restore"; /* a file that has no name yet */
	}
	switch (x->call->what) {
	case CHOWN:
		return "chown";
	case CHMOD:
		return "mode";
	case XATTR:
		return strncmp(x->xattr, "system.posix_acl", 16) == 0 ? "ACL" : "capability";
	case TIMES:
		return "times";
	case REMOVE:
		return "remove";
	case SYNC:
		/* The last one is no longer the run's. */
		return x->dirty ? "done" : "detach";
	case IOCTL:
		return "flags";
	default:
		return "restore";
	}
}

/* NULL: it does not count. */
static const char *phase_of(const struct look *x, bool *ret_on_volume)
{
	if (x->call->what == MOUNT || x->call->what == UNMOUNT) {
		return x->call->what == MOUNT ? "attach" : "detach";
	}
	if (x->state && is_below(x->path, x->state)) {
		return phase_of_record(x);
	}
	if (is_on_volume(x)) {
		*ret_on_volume = x->call->what != SYNC && x->call->what != CLOSE &&
				 x->call->what != LOCK;
		return phase_on_volume(x);
	}
	switch (x->call->what) {
	case IOCTL:
		return x->args[1] == LOOP_CLR_FD ? "detach" : "attach";
	case CLOSE:
		return is_of_type(x, S_IFBLK) || strstr(x->path, ".lock") ? "detach" : NULL;
	case REMOVE:
		return "detach"; /* of a lock */
	case WRITE:
		return NULL; /* its memory, its /proc */
	default:
		return "attach";
	}
}

size_t killcalls_numbers(uint32_t ret[static KILLCALLS_MAX])
{
	const size_t n = sizeof(calls) / sizeof(calls[0]);

	_Static_assert(sizeof(calls) / sizeof(calls[0]) <= KILLCALLS_MAX, "they fit");
	for (size_t i = 0; i < n; i++) {
		ret[i] = (uint32_t)calls[i].nr;
	}
	return n;
}

bool killcalls_look(pid_t tid, uint64_t nr, const uint64_t *args, const char *state, bool dirty,
		    struct killcall *ret)
{
	struct look x = { .tid = tid, .args = args, .state = state, .dirty = dirty };
	struct killcall found = { .name = NULL };

	for (size_t i = 0; !x.call && i < sizeof(calls) / sizeof(calls[0]); i++) {
		x.call = calls[i].nr == (long)nr ? &calls[i] : NULL;
	}
	if (!x.call) {
		return false;
	}
	find_object(&x);
	found.phase = changes(&x) ? phase_of(&x, &found.on_volume) : NULL;
	if (!found.phase) {
		return false;
	}
	found.name = x.call->name;
	found.fd = x.fd;
	found.syncs = nr == SYS_syncfs;
	*ret = found;
	return true;
}
