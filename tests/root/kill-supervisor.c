/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a program, counts every system call of it that changes something, over all its threads and
 * children, and stops it dead at one of them.
 *
 *	kill-supervisor [OPTION...] PROGRAM ARGUMENT...
 *
 *	-s DIR      the state directory, so that records are known as such
 *	-t FILE     write a line "NUMBER PHASE CALL" for each counted call (tabs between)
 *	-k N        kill everything instead of call N
 *	-K N        kill everything when call N has returned
 *	-y N        before call N, sync the file system of what it changes
 *	-x N:SHELL  before call N, while nothing of the program can change anything, run a
 *	            shell's command
 *
 * strace's inject=...:when=N counts each thread for itself, and cannot do the last three.
 *
 * The exit status is the program's, or 137 when it was killed; 125 when the supervisor failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"
#include "killcalls.h"

#define SYSCALL_STOP (SIGTRAP | 0x80)
#define FAILED       125

struct tracee {
	pid_t tid;
	bool inside; /* of a counted call */
};

static struct {
	const char *state;
	unsigned long kill_before, kill_after, sync_at, run_at;
	const char *command;
	FILE *table;
} opt;

static struct {
	pid_t main;
	int status; /* of the program */
	CTM_VEC(struct tracee) tracees;
	unsigned long n; /* counted calls */
	bool dirty;      /* the volume was changed, and not synced since */
} sv = { .status = FAILED };

__attribute__((noreturn)) static void die(const char *what)
{
	(void)fprintf(stderr, "kill-supervisor: %s: %s\n", what, strerror(errno));
	_exit(FAILED); /* PTRACE_O_EXITKILL ends the rest */
}

/* --- the tracees ------------------------------------------------------------------------------ */

static struct tracee *find(pid_t tid)
{
	const struct tracee fresh = { .tid = tid };

	for (size_t i = 0; i < sv.tracees.n; i++) {
		if (sv.tracees.v[i].tid == tid) {
			return &sv.tracees.v[i];
		}
	}
	if (ctm_vec_push(&sv.tracees, &fresh) < 0) {
		die("memory");
	}
	return &sv.tracees.v[sv.tracees.n - 1];
}

static void forget(pid_t tid)
{
	for (size_t i = 0; i < sv.tracees.n; i++) {
		if (sv.tracees.v[i].tid == tid) {
			sv.tracees.v[i] = sv.tracees.v[--sv.tracees.n];
			return;
		}
	}
}

static void kill_all(void)
{
	for (size_t i = 0; i < sv.tracees.n; i++) {
		(void)kill(sv.tracees.v[i].tid, SIGKILL);
	}
}

static void sync_volume(pid_t tid, int of)
{
	char link[64];
	int fd;

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", tid, of);
	fd = of >= 0 ? open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd >= 0) {
		(void)syncfs(fd);
		(void)close(fd);
	}
}

/*
 * Every call that changes something stops here first, and this process does one thing at a time:
 * unless another one is on its way already, nothing changes while the command runs.
 */
static void run_command(void)
{
	for (size_t i = 0; i < sv.tracees.n; i++) {
		if (sv.tracees.v[i].inside) {
			errno = EBUSY;
			die("another thread is in the middle of a change");
		}
	}
	if (system(opt.command) != 0) {
		die(opt.command);
	}
}

/* The call is about to be made. */
static void entered(struct tracee *t, uint64_t nr, const uint64_t *args)
{
	struct killcall call;

	if (!killcalls_look(t->tid, nr, args, opt.state, sv.dirty, &call)) {
		return;
	}
	/* What a child lets go of is its parent's still. */
	if (nr == SYS_close && t->tid != sv.main) {
		return;
	}
	sv.n++;
	if (opt.table) {
		(void)fprintf(opt.table, "%lu\t%s\t%s\n", sv.n, call.phase, call.name);
	}
	if (sv.n == opt.sync_at) {
		sync_volume(t->tid, call.fd);
	}
	if (sv.n == opt.run_at) {
		run_command();
	}
	if (sv.n == opt.kill_before) {
		kill_all();
	}
	sv.dirty = (sv.dirty || call.on_volume) && !call.syncs;
	t->inside = true;
}

/* Goes on, until its next event or, in the middle of a counted call, until that returns. */
static void go_on(const struct tracee *t, int sig)
{
	(void)ptrace(t->inside ? PTRACE_SYSCALL : PTRACE_CONT, t->tid, NULL, (void *)(intptr_t)sig);
}

static void stopped(pid_t tid, int status)
{
	struct tracee *t = find(tid);
	struct __ptrace_syscall_info info = { 0 };
	int event = status >> 16;
	int sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_SECCOMP) {
		/* fails when it was killed meanwhile */
		if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) > 0) {
			entered(t, info.seccomp.nr, (const uint64_t *)info.seccomp.args);
		}
		sig = 0;
	} else if (sig == SYSCALL_STOP) {
		t->inside = false;
		if (sv.n == opt.kill_after && opt.kill_after > 0) {
			kill_all();
		}
		sig = 0;
	} else if (event || sig == SIGSTOP) {
		sig = 0; /* a new one, and the stop it begins with */
	}
	go_on(find(tid), sig);
}

static void follow(void)
{
	const unsigned long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL |
				      PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
				      PTRACE_O_TRACEVFORK | PTRACE_O_TRACESECCOMP |
				      PTRACE_O_TRACEEXEC;
	int status;
	pid_t tid = waitpid(sv.main, &status, 0);

	if (tid < 0 || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, sv.main, NULL, (void *)options) < 0) {
		die("ptrace");
	}
	go_on(find(sv.main), 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (tid < 0) {
			continue;
		}
		if (WIFSTOPPED(status)) {
			stopped(tid, status);
			continue;
		}
		forget(tid);
		if (tid == sv.main) {
			sv.status = WIFEXITED(status) ? WEXITSTATUS(status) :
							128 + WTERMSIG(status);
		}
	}
}

/*
 * A filter stops the program at the calls of the table and lets the many others through at full
 * speed. Its children have it, too; one that the program adds can only forbid more.
 */
static int filter_calls(void)
{
	struct sock_filter code[KILLCALLS_MAX + 3];
	struct sock_fprog program = { .filter = code };
	uint32_t numbers[KILLCALLS_MAX];
	size_t n = killcalls_numbers(numbers);

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++) {
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i],
							   (unsigned char)(n - i), 0);
	}
	code[n + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[n + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	program.len = (unsigned short)(n + 3);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void read_options(int argc, char **argv)
{
	char *end;
	int c;

	while ((c = getopt(argc, argv, "+s:t:k:K:y:x:")) != -1) {
		switch (c) {
		case 's':
			opt.state = optarg;
			break;
		case 't':
			opt.table = fopen(optarg, "we");
			if (!opt.table) {
				die(optarg);
			}
			break;
		case 'k':
			opt.kill_before = strtoul(optarg, NULL, 10);
			break;
		case 'K':
			opt.kill_after = strtoul(optarg, NULL, 10);
			break;
		case 'y':
			opt.sync_at = strtoul(optarg, NULL, 10);
			break;
		case 'x':
			opt.run_at = strtoul(optarg, &end, 10);
			opt.command = *end == ':' ? end + 1 : "false";
			break;
		default:
			exit(FAILED);
		}
	}
	if (optind >= argc) {
		(void)fputs("kill-supervisor: which program?\n", stderr);
		exit(FAILED);
	}
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	sv.main = fork();
	if (sv.main < 0) {
		die("fork");
	}
	if (sv.main == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0 ||
		    filter_calls() < 0) {
			die("ptrace");
		}
		(void)execv(argv[optind], argv + optind);
		die(argv[optind]);
	}
	follow();
	ctm_vec_done(&sv.tracees);
	if (opt.table && fclose(opt.table) != 0) {
		die("write the table");
	}
	return sv.status;
}
