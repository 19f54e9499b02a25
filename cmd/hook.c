/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hook: entry point for PVE hook scripts and lxc.hook.pre-start.
 *
 * A start waits for this, and a status other than 0 stops it: so the status is 0 whatever is found,
 * unless --strict asks for a veto. The work is done by another process, within a limited time
 * (hookwatch.h).
 */
#include "hook.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "command.h"
#include "hookwatch.h"
#include "session/hook.h"
#include "syslog_line.h"
#include "term.h"

static struct ctm_hook_env read_env(void)
{
	return (struct ctm_hook_env){
		.name = getenv("LXC_NAME"),
		.type = getenv("LXC_HOOK_TYPE"),
		.config = getenv("LXC_CONFIG_FILE"),
		.rootfs = getenv("LXC_ROOTFS_PATH"),
		.section = getenv("LXC_HOOK_SECTION"),
	};
}

int hook_status(int argc, char **argv, int status)
{
	const struct ctm_hook_env env = read_env();
	bool strict = false;

	return status != EXIT_CLEAN && ctm_hook_call_is(argc, argv, &env, &strict) && !strict ?
		       EXIT_CLEAN :
		       status;
}

struct hook_job {
	const struct options *opts;
	const struct ctm_hook_call *call;
};

static int fail(const struct hook_job *job, int r, const struct ctm_err *err)
{
	syslog_end("hook", job->call->name, "%s%s%s", err->msg, err->hint[0] ? "; " : "",
		   err->hint);
	term_error(job->call->name, err);
	if (err->code == CTM_REFUSED && (r == -ECANCELED || r == -EALREADY)) {
		return r == -ECANCELED ? HOOK_TOO_LATE : HOOK_AS_BEFORE;
	}
	return term_status(err);
}

/* What was not looked at is not called right. */
static void say_subvolumes(const struct hook_job *job, const struct ctm_done *done)
{
	const struct ctm_plan *plan = done->exam ? done->exam->plan : NULL;
	struct ctm_err err = { 0 };

	if (!plan || !plan->totals.subvolumes || job->opts->quiet) {
		return;
	}
	(void)ctm_err_set(&err, CTM_PARTIAL, 0,
			  "not looked at in a hook: %" PRIu64 " btrfs subvolume%s below the "
			  "required directories",
			  plan->totals.subvolumes, plan->totals.subvolumes == 1 ? "" : "s");
	term_error(job->call->name, &err);
}

/* How it ended; what was changed is said already. */
static int report(const struct hook_job *job, const struct ctm_done *done)
{
	const struct ctm_outcome *run = done->run.run[0] ? &done->run : &done->finished;
	struct ctm_err err = { 0 };

	if (run->run[0]) {
		syslog_end("hook", job->call->name, "run %s: %" PRIu64 " done, %" PRIu64 " left",
			   run->run, run->counts.done, run->counts.conflicts + run->counts.failed);
	}
	if (run->stopped) {
		(void)ctm_err_set(&err, CTM_PARTIAL, 0,
				  "run %s is not finished: the time was over, or it was asked to "
				  "end; the next start goes on with it",
				  run->run);
		ctm_err_hint(&err, "or stop it and use: ctmend repair %s", job->call->name);
		term_error(job->call->name, &err);
		return EXIT_PARTLY;
	}
	say_subvolumes(job, done);
	return ctm_done_partly(done) ? EXIT_PARTLY : EXIT_CLEAN;
}

static int work(const struct ctm_watch *watch, const struct ctm_deadline *deadline, void *arg)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	const struct hook_job *job = arg;
	struct ctm_session_opts session = job->opts->session;
	struct ctm_err err = { 0 };
	int r;

	session.watch = watch;
	session.deadline = deadline;
	r = ctm_session_hook(job->call, &session, &done, &err);
	return r < 0 ? fail(job, r, &err) : report(job, &done);
}

static int run(const struct options *opts, int argc, char **argv)
{
	const struct ctm_hook_env env = read_env();
	struct ctm_hook_call call = { 0 };
	struct hook_job job = { .opts = opts, .call = &call };
	struct ctm_err err = { 0 };
	int status;

	if (ctm_hook_call_read(argc, argv, &env, &call, &err) < 0) {
		term_error("hook", &err);
		return EXIT_USAGE; /* of a hook's call main.c makes 0 */
	}
	if (call.form == CTM_HOOK_IDLE) {
		return EXIT_CLEAN;
	}
	status = hookwatch_run(&(struct hookwatch_job){
		.opts = opts,
		.name = call.name,
		.work = work,
		.arg = &job,
	});
	return opts->strict ? status : EXIT_CLEAN;
}

const struct command command_hook = {
	.name = "hook",
	.operands = "[VMID PHASE | NAME lxc TYPE]",
	.summary = "entry point for hook scripts and lxc.hook.pre-start",
	.details =
		"Repairs the required directories when a container is about to start. The words "
		"and the environment are those that Proxmox VE and LXC hand to their hooks. The "
		"exit status is 0 whatever is found, so that no start is stopped, unless --strict "
		"is given.",
	.options = OPTS_COMMON | OPT(OPT_JOBS) | OPT(OPT_WAIT) | OPT(OPT_MAX_TIME) |
		   OPT(OPT_STRICT),
	.min_operands = 0,
	.max_operands = -1,
	.run = run,
};
