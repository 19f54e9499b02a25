/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The session of a hook.
 */
#include "session/hook.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "session/deadline.h"
#include "session/watch.h"
#include "target/starter.h"

static int read_vmid(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     unsigned int *ret, struct ctm_err *err)
{
	if (ctm_target_kind_of(&opts->host, call->name) != CTM_TARGET_PVE || call->name[0] == '0' ||
	    strlen(call->name) > 9) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no container of Proxmox VE",
				   call->name);
	}
	*ret = (unsigned int)strtoul(call->name, NULL, 10);
	return 0;
}

static int refuse_locked(const struct ctm_hook_call *call, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0,
			    "CT %s: its configuration is locked by a process that has not called "
			    "this hook",
			    call->name);

	ctm_err_hint(err, "when that is done, stop the container and use: ctmend repair %s",
		     call->name);
	return r;
}

/*
 * A hook script. pct start holds the configuration's lock while it waits for us. Where nobody holds
 * it (vzdump's restart after a backup in stop mode, the start behind a remote migration) our watch
 * takes it: whoever else wants the container has to wait then.
 */
static int prove_pve(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     unsigned int vmid, struct ctm_starting *ret, struct ctm_err *err)
{
	/* once more when it is given back between two looks */
	for (unsigned int i = 0; i < 2; i++) {
		CLEANUP_CLOSE int lock = -1;
		enum ctm_starter_lock who;
		int r = opts->watch->lock(vmid, opts->watch->arg, err);

		if (r != -EWOULDBLOCK) {
			ret->unlocked = r == 0;
			return r;
		}
		r = ctm_starter_config(&opts->host, vmid, &who, &lock, err);
		if (r < 0 || who == CTM_STARTER_ANCESTOR) {
			return r;
		}
		if (who == CTM_STARTER_OTHER) {
			break;
		}
	}
	return refuse_locked(call, err);
}

/*
 * lxc.hook.pre-start: LXC's monitor listens on the command socket already, and has no init yet.
 * *ret: it is our ancestor.
 */
static int prove_lxc(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     bool *ret, struct ctm_err *err)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	int r = ctm_starter_socket(&opts->host, call->name, call->config, &socket, err);

	if (r == 0) {
		r = ctm_starter_monitor(socket.p, ret, err);
	}
	if (r == 0 && !*ret && ctm_target_kind_of(&opts->host, call->name) == CTM_TARGET_PVE) {
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"CT %s: it is not being started by a process that has called this "
				"hook",
				call->name);
		ctm_err_hint(err, "by hand use: ctmend repair %s", call->name);
	}
	if (r == 0) {
		r = ctm_target_locate_starting(&opts->host, call->name, call->config, call->rootfs,
					       &target, err);
	}
	if (!target) {
		return r;
	}
	/* One line: LXC reads little of what a hook prints. */
	if (*ret && target->volumes.v[0].kind != CTM_VOLUME_DIR) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "a hook mounts no image; stop it and use: ctmend repair %s",
				   call->name);
	}
	return 0;
}

int ctm_session_hook(const struct ctm_hook_call *call, const struct ctm_session_opts *opts,
		     struct ctm_done *ret, struct ctm_err *err)
{
	struct ctm_session_opts session = *opts;
	struct ctm_starting starting = { 0 };
	bool is_starting = true;
	unsigned int vmid = 0;
	int r;

	if (call->form == CTM_HOOK_LXC) {
		starting = (struct ctm_starting){ .config = call->config, .rootfs = call->rootfs };
		r = prove_lxc(call, opts, &is_starting, err);
	} else {
		r = read_vmid(call, opts, &vmid, err);
		if (r == 0 && ctm_target_is_vm(&opts->host, vmid)) {
			return 0;
		}
		r = r < 0 ? r : prove_pve(call, opts, vmid, &starting, err);
	}
	if (r < 0) {
		return r;
	}
	session.scope_required = true;
	session.no_content = true;
	session.hook = true;
	session.starting = is_starting ? &starting : NULL;
	if (opts->deadline) {
		session.wait = ctm_deadline_wait(opts->deadline, ctm_clock_ms(), session.wait);
	}
	return ctm_session_repair(call->name, &session, NULL, ret, err);
}
