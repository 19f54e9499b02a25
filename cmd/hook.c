/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hook: entry point for PVE hook scripts and lxc.hook.pre-start.
 *
 * LXC reads a hook's output in few pieces and then not at all (lxc/src/lxc/utils.c run_buffer),
 * so what is printed here stays within a few lines; the rest goes to the system's log.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "command.h"
#include "session/hook.h"
#include "syslog_line.h"
#include "term.h"

/* One line of what was done; nothing when there was nothing to do. */
static void say(const struct options *opts, const struct ctm_hook_call *call,
		const struct ctm_done *done)
{
	const struct ctm_outcome *run = &done->run;
	uint64_t left = run->counts.conflicts + run->counts.failed;

	if (!run->run[0]) {
		return;
	}
	syslog_end("hook", call->name, "run %s: %" PRIu64 " done, %" PRIu64 " left", run->run,
		   run->counts.done, left);
	if (!opts->quiet) {
		printf("ctmend: %s: %" PRIu64 " entries repaired, %" PRIu64 " left (run %s)\n",
		       call->name, run->counts.done, left, run->run);
	}
}

/* Nobody may listen to a hook. What cannot be said is no reason to stop a start. */
static void stop_talking(void)
{
	if (fflush(stdout) != 0) {
		__fpurge(stdout);
		clearerr(stdout);
	}
}

static int run(const struct options *opts, int argc, char **argv)
{
	CLEANUP(ctm_done_free) struct ctm_done done = { 0 };
	const struct ctm_hook_env env = {
		.name = getenv("LXC_NAME"),
		.type = getenv("LXC_HOOK_TYPE"),
		.config = getenv("LXC_CONFIG_FILE"),
		.rootfs = getenv("LXC_ROOTFS_PATH"),
	};
	struct ctm_hook_call call = { 0 };
	struct ctm_err err = { 0 };
	bool starting = false;
	int r = ctm_hook_call_read(argc, argv, &env, &call, &err);

	if (r < 0) {
		term_error("hook", &err);
		return term_status(&err);
	}
	if (call.form == CTM_HOOK_IDLE) {
		return EXIT_CLEAN;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	r = ctm_session_hook(&call, &opts->session, &starting, &done, &err);
	if (r < 0) {
		syslog_end("hook", call.name, "%s%s%s", err.msg, err.hint[0] ? "; " : "", err.hint);
		term_error(call.name, &err);
		return starting ? EXIT_CLEAN : term_status(&err);
	}
	say(opts, &call, &done);
	if (starting) {
		stop_talking();
	}
	return starting || !ctm_done_partly(&done) ? EXIT_CLEAN : EXIT_PARTLY;
}

const struct command command_hook = {
	.name = "hook",
	.operands = "[VMID PHASE | NAME lxc TYPE]",
	.summary = "entry point for hook scripts and lxc.hook.pre-start",
	.details = "Repairs the required directories when a container is about to start. The words "
		   "and the environment are those that Proxmox VE and LXC hand to their hooks. A "
		   "start is never stopped.",
	.options = OPTS_COMMON | OPT(OPT_JOBS) | OPT(OPT_WAIT),
	.min_operands = 0,
	.max_operands = 3,
	.run = run,
};
