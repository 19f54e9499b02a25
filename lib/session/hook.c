/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session of a hook.
 */
#include "session/hook.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/starter.h"

/*
 * Who starts the container is found out first: a start is not stopped because of a volume or a
 * configuration that we do not understand.
 */

/* A hook script: pct holds the configuration's lock while it waits for us. */
static int is_starting_pve(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
			   bool *ret, struct ctm_err *err)
{
	CLEANUP_CLOSE int lock = -1;
	enum ctm_starter_lock who;
	unsigned long vmid = strtoul(call->name, NULL, 10);
	int r;

	if (ctm_target_kind_of(&opts->host, call->name) != CTM_TARGET_PVE || vmid > UINT_MAX) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no container of Proxmox VE",
				   call->name);
	}
	r = ctm_starter_config(&opts->host, (unsigned int)vmid, &who, &lock, err);
	if (r < 0) {
		return r;
	}
	if (who == CTM_STARTER_OTHER) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"CT %s: its configuration is locked by a process that has "
				"not called this hook",
				call->name);
		ctm_err_hint(err, "wait until that is done, then use: ctmend repair %s",
			     call->name);
		return r;
	}
	/* By hand: the session takes the lock again, in its own way. */
	*ret = who == CTM_STARTER_ANCESTOR;
	return 0;
}

/* lxc.hook.pre-start: LXC's monitor listens on the command socket already, and has no init yet. */
static int is_starting_lxc(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
			   bool *ret, struct ctm_err *err)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	int r = ctm_starter_socket(&opts->host, call->name, call->config, &socket, err);

	if (r == 0) {
		r = ctm_starter_monitor(socket.p, ret, err);
	}
	if (r == 0) {
		r = ctm_target_locate_starting(&opts->host, call->name, call->config, call->rootfs,
					       &target, err);
	}
	if (r < 0) {
		return r;
	}
	/* One line: LXC reads little of what a hook prints. */
	if (*ret && target && target->volumes.v[0].kind != CTM_VOLUME_DIR) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "a hook mounts no image; stop it and use: ctmend repair %s",
				   call->name);
	}
	return 0;
}

int ctm_session_hook(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     bool *ret_starting, struct ctm_done *ret, struct ctm_err *err)
{
	struct ctm_session_opts session = *opts;
	struct ctm_starting starting = { 0 };
	int r;

	*ret_starting = false;
	if (call->form == CTM_HOOK_LXC) {
		starting = (struct ctm_starting){ .config = call->config, .rootfs = call->rootfs };
		r = is_starting_lxc(call, opts, ret_starting, err);
	} else {
		r = is_starting_pve(call, opts, ret_starting, err);
	}
	if (r < 0) {
		return r;
	}
	session.scope_required = true;
	session.no_content = true;
	session.hook = true;
	session.starting = *ret_starting ? &starting : NULL;
	return ctm_session_repair(call->name, &session, NULL, ret, err);
}
