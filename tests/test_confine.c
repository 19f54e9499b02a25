/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a confined process cannot do any more, with descriptors left open that it would not have:
 * one of the host's root, one of the tree, and one of a directory where everybody may write.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "must.h"
#include "scan/confine.h"
#include "scan/spare_id.h"
#include "scratch.h"
#include "walking.h"

struct places {
	int host; /* the root directory of this machine */
	int tree; /* the confined process's root */
	int open; /* mode 0777, below tree */
	pid_t parent;
};

/* Each: 0 or more, or -1 with errno. */
static int write_passwd(const struct places *p)
{
	return openat(p->host, "etc/passwd", O_WRONLY);
}

static int append_to_passwd(const struct places *p)
{
	return openat(p->host, "etc/passwd", O_RDONLY | O_APPEND);
}

static int truncate_file(const struct places *p)
{
	return openat(p->tree, "file", O_RDONLY | O_TRUNC);
}

static int create(const struct places *p)
{
	return openat(p->open, "new", O_RDONLY | O_CREAT | O_EXCL, 0600);
}

static int create_nameless(const struct places *p)
{
	return openat(p->open, ".", O_TMPFILE | O_RDWR, 0600);
}

static int create_by_openat2(const struct places *p)
{
	const struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0600 };

	return (int)syscall(SYS_openat2, p->open, "new", &how, sizeof(how));
}

static int create_by_name(const struct places *p)
{
	(void)p;
	return open("/open/new", O_RDONLY | O_CREAT, 0600);
}

static int read_by_name(const struct places *p)
{
	(void)p;
	return open("/etc/passwd", O_RDONLY);
}

static int read_by_handle(const struct places *p)
{
	_Alignas(struct file_handle) char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	struct file_handle *handle = (void *)space;
	int mount_id;

	handle->handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(p->tree, "file", handle, &mount_id, 0) < 0) {
		return -1;
	}
	return open_by_handle_at(p->tree, handle, O_RDONLY);
}

static int make_directory(const struct places *p)
{
	return mkdirat(p->open, "new", 0700);
}

static int make_fifo(const struct places *p)
{
	return mknodat(p->open, "new", S_IFIFO | 0600, 0);
}

static int make_link(const struct places *p)
{
	return linkat(p->tree, "file", p->open, "new", 0);
}

static int make_symlink(const struct places *p)
{
	return symlinkat("file", p->open, "new");
}

static int move(const struct places *p)
{
	return renameat(p->tree, "file", p->open, "new");
}

static int remove_it(const struct places *p)
{
	return unlinkat(p->tree, "file", 0);
}

static int change_owner(const struct places *p)
{
	return fchownat(p->tree, "file", 1, 1, 0);
}

static int change_owner_to_own(const struct places *p)
{
	return fchownat(p->tree, "file", getuid(), getgid(), 0);
}

static int change_mode(const struct places *p)
{
	return fchmodat(p->tree, "file", 0777, 0);
}

static int change_times(const struct places *p)
{
	return utimensat(p->tree, "file", NULL, 0);
}

static int set_attribute(const struct places *p)
{
	(void)p;
	return setxattr("file", "user.new", "x", 1, 0);
}

static int mount_something(const struct places *p)
{
	(void)p;
	return mount("none", "open", "tmpfs", 0, NULL);
}

static int make_socket(const struct places *p)
{
	(void)p;
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int trace(const struct places *p)
{
	(void)p;
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int signal_parent(const struct places *p)
{
	return kill(p->parent, 0);
}

static int signal_thread_of_parent(const struct places *p)
{
	return (int)syscall(SYS_tgkill, p->parent, p->parent, 0);
}

static int limit_parent(const struct places *p)
{
	struct rlimit limit;

	return prlimit(p->parent, RLIMIT_NOFILE, NULL, &limit);
}

static int fork_again(const struct places *p)
{
	pid_t pid = fork();

	(void)p;
	if (pid == 0) {
		_exit(0);
	}
	return pid;
}

static int start_program(const struct places *p)
{
	char *const argv[] = { NULL };
	int fd = openat(p->host, "proc/self/exe", O_PATH);

	return fd < 0 ? fd : (int)syscall(SYS_execveat, fd, "", argv, NULL, AT_EMPTY_PATH);
}

static int make_executable(const struct places *p)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)p;
	return at == MAP_FAILED ? -1 : 0;
}

static int leave_namespace(const struct places *p)
{
	(void)p;
	return unshare(CLONE_NEWUSER);
}

static int become_root(const struct places *p)
{
	(void)p;
	return setresuid(0, 0, 0);
}

static const struct {
	const char *name;
	int (*try)(const struct places *p);
	bool no_control; /* unconfined it would hit this machine, or the test */
} rows[] = {
	{ "write to /etc/passwd", write_passwd, false },
	{ "append to /etc/passwd", append_to_passwd, false },
	{ "truncate a file", truncate_file, false },
	{ "create a file", create, false },
	{ "create a file without a name", create_nameless, false },
	{ "create a file by openat2", create_by_openat2, false },
	{ "create a file by its name", create_by_name, true },
	{ "read what a library would", read_by_name, false },
	{ "read by handle", read_by_handle, false },
	{ "make a directory", make_directory, false },
	{ "make a FIFO", make_fifo, false },
	{ "make a hard link", make_link, false },
	{ "make a symlink", make_symlink, false },
	{ "move a file", move, false },
	{ "remove a file", remove_it, false },
	{ "change an owner", change_owner, false },
	{ "change an owner to its own", change_owner_to_own, false },
	{ "change a mode", change_mode, false },
	{ "change times", change_times, false },
	{ "set an attribute", set_attribute, false },
	{ "mount", mount_something, true },
	{ "make a socket", make_socket, false },
	{ "be traced", trace, false },
	{ "send a signal", signal_parent, false },
	{ "send a signal to a thread", signal_thread_of_parent, false },
	{ "ask for another's limits", limit_parent, false },
	{ "fork", fork_again, false },
	{ "start a program", start_program, true },
	{ "make code", make_executable, false },
	{ "a new namespace", leave_namespace, false },
	{ "become root", become_root, false },
};

/* In a process of its own: 0, the errno, or 255 when it cannot be confined. */
static int attempt(const struct places *p, size_t row, bool confine)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		const char *op;

		must(fchdir(p->tree) == 0);
		if (confine && ctm_confine(p->tree, p->parent, CTM_SPARE_FIRST, &op) < 0) {
			_exit(255);
		}
		_exit(rows[row].try(p) < 0 ? errno : 0);
	}
	must(waitpid(pid, &status, 0) == pid);
	must(WIFEXITED(status));
	return WEXITSTATUS(status);
}

CASES(confine, nothing_can_be_changed, rows)
{
	in_memory();
	SCRATCH(s);
	struct places p = { .host = open("/", O_PATH), .tree = s.fd, .parent = getpid() };

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	plant(s.path, "file", "x");
	plant(s.path, "open/file", "x");
	plant(s.path, "etc/passwd", "x");
	cr_assert_eq(fchmodat(s.fd, "open", 0777, 0), 0);
	/* The file is its own, so that owner's rights are there. */
	cr_assert_eq(fchownat(s.fd, "file", CTM_SPARE_FIRST, CTM_SPARE_FIRST, 0), 0);
	p.open = openat(s.fd, "open", O_PATH | O_DIRECTORY);
	cr_assert(p.host >= 0 && p.open >= 0);
	cr_assert_eq(attempt(&p, *i, true), EPERM, "%s", rows[*i].name);
	if (!rows[*i].no_control) {
		cr_assert_eq(attempt(&p, *i, false), 0, "%s is possible without", rows[*i].name);
	}
}

/*
 * The filter alone, without a change of user, for a caller that has no capabilities to begin with.
 */
CASES(confine, nor_by_a_user, rows)
{
	in_memory();
	SCRATCH(s);
	struct places p = { .host = open("/", O_PATH), .tree = s.fd, .parent = getpid() };

	plant(s.path, "file", "x");
	plant(s.path, "open/file", "x");
	cr_assert_eq(fchmodat(s.fd, ".", 0777, 0), 0);
	cr_assert_eq(fchmodat(s.fd, "open", 0777, 0), 0);
	p.open = openat(s.fd, "open", O_PATH | O_DIRECTORY);
	cr_assert(p.host >= 0 && p.open >= 0);
	if (geteuid() == 0) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			must(setresgid(1234, 1234, 1234) == 0 && setresuid(1234, 1234, 1234) == 0);
			p.parent = getpid();
			_exit(attempt(&p, *i, true));
		}
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == EPERM, "%s: %d",
			  rows[*i].name, WEXITSTATUS(status));
	} else {
		cr_assert_eq(attempt(&p, *i, true), EPERM, "%s", rows[*i].name);
	}
}

/* What it is for: reading what nobody may read, and not leaving the tree. */
static int read_on(const struct places *p)
{
	struct stat above, here;
	char c;
	int fd = openat(p->tree, "shut", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		return errno;
	}
	fd = openat(fd, "secret", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &c, 1, 0) != 1 || c != 'x') {
		return errno;
	}
	fd = openat(p->tree, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &above) < 0 || fstat(p->tree, &here) < 0) {
		return errno;
	}
	return above.st_ino == here.st_ino ? 0 : 254;
}

Test(confine, everything_in_the_tree_can_be_read)
{
	in_memory();
	SCRATCH(s);
	struct places p = { .tree = s.fd, .parent = getpid() };
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	plant(s.path, "shut/secret", "x");
	cr_assert_eq(fchmodat(s.fd, "shut/secret", 0, 0), 0);
	cr_assert_eq(fchmodat(s.fd, "shut", 0, 0), 0);
	pid = fork();
	if (pid == 0) {
		const char *op;

		_exit(ctm_confine(s.fd, p.parent, CTM_SPARE_FIRST, &op) < 0 ? 255 : read_on(&p));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", WEXITSTATUS(status));
}

/* --- calls of another architecture ------------------------------------------------------------ */

#ifdef __x86_64__
static void *i386_getpid(void *arg)
{
	long number = 20; /* getpid of i386 */

	(void)arg;
	__asm__ volatile("int $0x80" : "+a"(number) : : "memory");
	return NULL;
}

static void *x32_getpid(void *arg)
{
	(void)arg;
	(void)syscall(0x40000000 | SYS_getpid);
	return NULL;
}

static const struct {
	const char *name;
	void *(*call)(void *arg);
} foreign[] = { { "i386", i386_getpid }, { "x32", x32_getpid } };

/* One thread of two ends all of the process: who waits for it, or for what it held, gets on. */
CASES(confine, a_foreign_call_kills_the_process, foreign)
{
	in_memory();
	SCRATCH(s);
	const pid_t parent = getpid();
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t thread;
		const char *op;

		must(ctm_confine(s.fd, parent, CTM_SPARE_FIRST, &op) == 0);
		must(pthread_create(&thread, NULL, foreign[*i].call, NULL) == 0);
		(void)pthread_join(thread, NULL);
		for (;;) {
			(void)sched_yield();
		}
	}
	for (int k = 0; k < 100 && waitpid(pid, &status, WNOHANG) == 0; k++) {
		(void)usleep(50000);
	}
	(void)kill(pid, SIGKILL);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "%s: %x", foreign[*i].name,
		  (unsigned int)status);
}
#endif

/* --- when it cannot be ------------------------------------------------------------------------ */

Test(confine, root_without_capabilities_is_refused)
{
	SCRATCH(s);
	const pid_t parent = getpid();
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		cr_skip("needs root");
	}
	pid = fork();
	if (pid == 0) {
		const char *op = "";
		struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
		const struct __user_cap_data_struct data[2] = { 0 };

		must(syscall(SYS_capset, &head, data) == 0);
		_exit(ctm_confine(s.fd, parent, CTM_SPARE_FIRST, &op) == -EPERM &&
				      strcmp(op, "confine: user") == 0 ?
			      0 :
			      1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(confine, an_orphan_is_refused)
{
	SCRATCH(s);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		const char *op = "";

		_exit(ctm_confine(s.fd, getpid(), CTM_SPARE_FIRST, &op) == -ESRCH ? 0 : 1);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}
