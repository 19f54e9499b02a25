/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs in the place of share/pve-storage.pl: what they inherit, how they may end.
 */
#include "storage/pvehelper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "storage/pveplace.h"
#include "storage/pverun.h"
#include "sysroot.h"

#define GOOD "printf 'ctmend-pve 1\\npath /a\\nformat raw\\nbase 0\\nactive 1\\nend\\n'\n"

/* A script with this text; the path is in buf. */
static const char *script(const struct scratch *s, const char *text, char buf[static 512])
{
	CLEANUP(ctm_buf_done) struct ctm_buf all = { 0 };

	cr_assert_eq(ctm_buf_addf(&all, "#!/bin/sh\n%s", text), 0);
	sysroot_file(s, "helper", all.p);
	(void)snprintf(buf, 512, "%s/helper", s->path);
	cr_assert_eq(chmod(buf, 0755), 0);
	return buf;
}

static int call(const char *program, enum ctm_pve_verb verb, unsigned int seconds,
		struct ctm_pve_answer *ret, struct ctm_err *err)
{
	const struct ctm_pvecall one = {
		.program = program,
		.verb = verb,
		.volid = "thick:vm-115-disk-0",
		.keep = -1,
		.seconds = seconds,
	};

	return ctm_pvehelper_call(&one, ret, err);
}

Test(pvehelper, answer)
{
	SCRATCH(s);
	CLEANUP(ctm_pve_answer_done) struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };
	char path[512];

	script(&s, "test \"$*\" = 'attach thick:vm-115-disk-0' || exit 9\necho noise >&2\n" GOOD,
	       path);
	cr_assert_eq(call(path, CTM_PVE_ATTACH, 60, &answer, &err), 0, "%s", err.msg);
	cr_assert_str_eq(answer.path, "/a");
	cr_assert(answer.active);
	script(&s, "test \"$1\" = detach && printf 'ctmend-pve 1\\nend\\n'\n", path);
	cr_assert_eq(call(path, CTM_PVE_DETACH, 60, NULL, &err), 0, "%s", err.msg);
}

static const struct {
	const char *name;
	const char *text;
	const char *error;
	const char *hint;
	int r;
} bad[] = {
	{ "refusal", "echo one >&2; echo 'the last line' >&2; exit 1\n",
	  "library cannot find 'thick:vm-115-disk-0': the last line", "pvesm status", -EPERM },
	{ "no library", "exit 3\n", "(PVE::Storage) is not on this host", "libpve-storage-perl",
	  -ENOPKG },
	{ "killed", "kill -9 $$\n", "its process was killed", "", -EPERM },
	{ "no answer", "exit 0\n", "not to be understood", "", -EPERM },
	{ "answer and failure", GOOD "exit 1\n", "it gave no reason", "", -EPERM },
	{ "noise in the answer", "echo noise\n" GOOD, "not to be understood", "", -EPERM },
	{ "endless answer", "exec yes\n", "does not end", "", -EPERM },
	{ "endless errors", "yes x | head -c 3000000 >&2; echo last >&2; exit 1\n", ": last", "",
	  -EPERM },
	{ "escape sequences", "printf 'a\\033[31mb\\n\\n' >&2; exit 1\n", ": a\\x1b[31mb", "",
	  -EPERM },
	{ "blank lines behind the reason", "printf 'why\\n \\n\\t\\n' >&2; exit 1\n", ": why",
	  "pvesm status --storage thick", -EPERM },
};
CASES(pvehelper, bad, bad)
{
	SCRATCH(s);
	struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };
	char path[512];
	int r;

	script(&s, bad[*i].text, path);
	r = call(path, CTM_PVE_LOOK, 60, &answer, &err);
	cr_assert_lt(r, 0, "%s", bad[*i].name);
	cr_assert(bad[*i].r == 0 || r == bad[*i].r, "%s: %d", bad[*i].name, r);
	cr_assert_eq(err.code, CTM_REFUSED, "%s: %s", bad[*i].name, err.msg);
	cr_assert_not_null(strstr(err.msg, bad[*i].error), "%s: %s", bad[*i].name, err.msg);
	cr_assert_not_null(strstr(err.hint, bad[*i].hint), "%s: %s", bad[*i].name, err.hint);
	cr_assert_null(answer.path, "%s", bad[*i].name);
}

static time_t seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

Test(pvehelper, the_time_is_limited_and_the_whole_group_ends)
{
	SCRATCH(s);
	struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };
	time_t start = seconds();
	char path[512];
	char file[512];
	FILE *pids;
	int pid = 0;

	(void)snprintf(file, sizeof(file), "%s/pid", s.path);
	{
		CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

		cr_assert_eq(ctm_buf_addf(&text,
					  "trap '' TERM\nsleep 600 &\necho $! >%s\nwait\nwait\n",
					  file),
			     0);
		script(&s, text.p, path);
	}
	cr_assert_eq(call(path, CTM_PVE_LOOK, 1, &answer, &err), -ETIMEDOUT, "%s", err.msg);
	cr_assert_not_null(strstr(err.msg, "it took more than 1 seconds"), "%s", err.msg);
	cr_assert_leq(seconds() - start, 60);
	pids = fopen(file, "r");
	cr_assert_not_null(pids);
	cr_assert_eq(fscanf(pids, "%d", &pid), 1);
	(void)fclose(pids);
	cr_assert_gt(pid, 1);
	/* orphaned, it is gone once init has looked */
	for (int i = 0; i < 400 && kill(pid, 0) == 0; i++) {
		char stat[64];
		char state = 0;
		FILE *f;

		(void)snprintf(stat, sizeof(stat), "/proc/%d/stat", pid);
		f = fopen(stat, "r");
		if (f && fscanf(f, "%*d (sleep) %c", &state) == 1 && state == 'Z') {
			(void)fclose(f);
			return;
		}
		if (f) {
			(void)fclose(f);
		}
		(void)usleep(10000);
	}
	cr_assert(kill(pid, 0) < 0 && errno == ESRCH, "process %d still runs", pid);
}

Test(pvehelper, what_it_leaves_running_is_not_waited_for)
{
	SCRATCH(s);
	CLEANUP(ctm_pve_answer_done) struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };
	time_t start = seconds();
	char path[512];

	script(&s, "sleep 20 &\n" GOOD, path);
	cr_assert_eq(call(path, CTM_PVE_LOOK, 60, &answer, &err), 0, "%s", err.msg);
	cr_assert_lt(seconds() - start, 15);
}

/* What a program sees of us: its output, errors and status. */
static void run(const char *program, int keep, struct ctm_pverun *ret)
{
	const char *const argv[] = { program, NULL };

	cr_assert_eq(ctm_pverun(argv, keep, 60, 8192, ret), 0);
}

Test(pvehelper, what_is_inherited)
{
	SCRATCH(s);
	CLEANUP(ctm_pverun_done) struct ctm_pverun with = { 0 };
	CLEANUP(ctm_pverun_done) struct ctm_pverun without = { 0 };
	char path[512];
	char note[512];
	int leaked;
	int keep;

	cr_assert_eq(setenv("PERL5LIB", "/evil", 1), 0);
	cr_assert_eq(setenv("LD_PRELOAD", "", 1), 0);
	cr_assert_neq(signal(SIGPIPE, SIG_IGN), SIG_ERR);
	sysroot_file(&s, "note", "");
	(void)snprintf(note, sizeof(note), "%s/note", s.path);
	/* without FD_CLOEXEC, as a careless parent leaves them */
	leaked = open("/dev/null", O_RDONLY);
	cr_assert_eq(fcntl(leaked, F_DUPFD, 40), 40);
	keep = open(note, O_RDONLY | O_CLOEXEC);
	script(&s,
	       "env | grep -vE '^(PWD|SHLVL|_|OLDPWD)=' | LC_ALL=C sort\n"
	       "grep SigIgn /proc/self/status | tail -c 8\n"
	       "for fd in 0 3 4 40; do readlink /proc/$$/fd/$fd || echo none; done\n"
	       "cut -d ' ' -f 1,5 /proc/$$/stat | tr ' ' '\\n' | uniq | wc -l\n",
	       path);
	run(path, keep, &with);
	{
		CLEANUP(ctm_buf_done) struct ctm_buf want = { 0 };

		cr_assert_eq(ctm_buf_addf(&want,
					  "LC_ALL=C\nLVM_SUPPRESS_FD_WARNINGS=1\n"
					  "PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
					  "0000000\n"
					  "/dev/null\n%s\n",
					  note),
			     0);
		cr_assert_eq(strncmp(with.output.p, want.p, want.len), 0, "%s", with.output.p);
		/* the shell has its script open, at a number of its own choice from 10 on */
		cr_assert_str_eq(with.output.p + want.len, "none\nnone\n1\n");
	}
	run(path, -1, &without);
	cr_assert_not_null(strstr(without.output.p, "/dev/null\nnone\nnone\nnone\n"), "%s",
			   without.output.p);
	(void)close(keep);
	(void)close(leaked);
	(void)close(40);
}

static const struct {
	const char *name;
	mode_t mode;
	bool link;
	bool missing;
	const char *error;
} programs[] = {
	{ "missing", 0755, false, true, "is not installed" },
	{ "group can write", 0775, false, false, "root alone can write" },
	{ "others can write", 0757, false, false, "root alone can write" },
	{ "link", 0755, true, false, "root alone can write" },
};
CASES(pvehelper, programs, programs)
{
	SCRATCH(s);
	struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };
	char path[512];
	char name[1024];

	script(&s, "touch \"$0.ran\"\n" GOOD, path);
	cr_assert_eq(chmod(path, programs[*i].mode), 0);
	(void)snprintf(name, sizeof(name), "%s%s", path, programs[*i].missing ? ".no" : "");
	if (programs[*i].link) {
		(void)snprintf(name, sizeof(name), "%s/link", s.path);
		cr_assert_eq(symlink("helper", name), 0);
	}
	cr_assert_eq(call(name, CTM_PVE_LOOK, 60, &answer, &err), -ENOPKG, "%s", programs[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", programs[*i].name);
	cr_assert_not_null(strstr(err.msg, programs[*i].error), "%s: %s", programs[*i].name,
			   err.msg);
	(void)snprintf(name, sizeof(name), "%s.ran", path);
	cr_assert_lt(access(name, F_OK), 0, "%s: it ran", programs[*i].name);
}

Test(pvehelper, a_sysroot_has_no_helper)
{
	struct ctm_err err = { 0 };
	CLEANUP_FREE char *path = NULL;

	cr_assert_not(ctm_pveplace_in_sysroot);
	cr_assert_eq(ctm_pvehelper_find("/srv/rescue", &path, &err), -ENOPKG);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_not_null(strstr(err.msg, "--sysroot"), "%s", err.msg);
	cr_assert_eq(ctm_pvehelper_find("", &path, &err), 0);
	cr_assert_str_eq(path, ctm_pveplace);
	cr_assert_eq(path[0], '/');
}
