/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a command and appends one line of figures about it to a file:
 *
 *	measure [-p] FIGURES COMMAND [ARGUMENT...]
 *
 *	1 wall	 seconds from start to exit
 *	2 cpu	 seconds, user and system, the command and all it has waited for
 *	3 peak	 KiB, peak resident memory of the largest of these processes (ru_maxrss)
 *	4 sum	 KiB, with -p: the most that the command and its descendants had together; else 0
 *	5 status exit status, or 128 + signal
 *
 * No call gives the peak of several processes together. With -p their VmHWM (proc_pid_status(5))
 * is read every millisecond and added up over those that live at that moment. That is too much
 * rather than too little: peaks may lie at different times, and a page that two processes share
 * counts twice. Looking costs time, so do not use 1 and 2 of such a run.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 256

extern char **environ;

static void die(const char *what, int err)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(err));
	exit(125);
}

struct processes {
	pid_t v[PROCESSES_MAX];
	size_t n;
};

/* Adds the children of one thread. They go away while we look; that is no error. */
static void add_children(struct processes *procs, pid_t pid, const char *tid)
{
	char path[320];
	FILE *f;
	intmax_t child;

	(void)snprintf(path, sizeof(path), "/proc/%jd/task/%s/children", (intmax_t)pid, tid);
	f = fopen(path, "re");
	if (!f) {
		return;
	}
	while (procs->n < PROCESSES_MAX && fscanf(f, "%jd", &child) == 1) {
		procs->v[procs->n++] = (pid_t)child;
	}
	(void)fclose(f);
}

static void add_children_of_threads(struct processes *procs, pid_t pid)
{
	char path[64];
	struct dirent *de;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%jd/task", (intmax_t)pid);
	dir = opendir(path);
	if (!dir) {
		return;
	}
	while ((de = readdir(dir))) {
		if (isdigit((unsigned char)de->d_name[0])) {
			add_children(procs, pid, de->d_name);
		}
	}
	(void)closedir(dir);
}

/* KiB; 0 when the process is gone. */
static uint64_t peak_of(pid_t pid)
{
	char path[64], line[256];
	uint64_t kib = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%jd/status", (intmax_t)pid);
	f = fopen(path, "re");
	if (!f) {
		return 0;
	}
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "VmHWM: %" SCNu64, &kib) == 1) {
			break;
		}
	}
	(void)fclose(f);
	return kib;
}

static uint64_t sum_of_peaks(pid_t pid)
{
	struct processes procs = { .v = { pid }, .n = 1 };
	uint64_t sum = 0;

	for (size_t i = 0; i < procs.n; i++) {
		sum += peak_of(procs.v[i]);
		add_children_of_threads(&procs, procs.v[i]);
	}
	return sum;
}

static bool has_exited(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
		die("waitid", errno);
	}
	return info.si_pid == pid;
}

static uint64_t watch(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t most = 0;

	while (!has_exited(pid)) {
		uint64_t sum = sum_of_peaks(pid);

		if (sum > most) {
			most = sum;
		}
		(void)nanosleep(&pause, NULL);
	}
	return most;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	bool poll = argc > 1 && strcmp(argv[1], "-p") == 0;
	int first = poll ? 2 : 1, status, r;
	struct timespec start, end;
	struct rusage ru;
	uint64_t sum = 0;
	FILE *figures;
	pid_t pid;

	if (argc < first + 2) {
		fputs("usage: measure [-p] FIGURES COMMAND [ARGUMENT...]\n", stderr);
		return 125;
	}
	figures = fopen(argv[first], "ae");
	if (!figures) {
		die(argv[first], errno);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	r = posix_spawnp(&pid, argv[first + 1], NULL, NULL, argv + first + 1, environ);
	if (r) {
		die(argv[first + 1], r);
	}
	if (poll) {
		sum = watch(pid);
	}
	while (wait4(pid, &status, 0, &ru) < 0) {
		if (errno != EINTR) {
			die("wait4", errno);
		}
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	fprintf(figures, "%.6f %.6f %ld %" PRIu64 " %d\n",
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9,
		seconds(ru.ru_utime) + seconds(ru.ru_stime), ru.ru_maxrss, sum, status);
	if (fclose(figures)) {
		die(argv[first], errno);
	}
	return status;
}
