/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks first, then every sign that somebody else uses the volume. */
#include "target/guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "target/activate.h"
#include "target/ctalive.h"
#include "target/guard_config.h"
#include "target/hostlock.h"
#include "target/inuse.h"
#include "target/lockwatch.h"
#include "target/running.h"
#include "target/starter.h"
#include "target/stopsignals.h"

struct ctm_guard {
	struct ctm_guard_opts opts;
	struct ctm_host host;
	struct ctm_buf sysroot;      /* what host points to */
	struct ctm_buf label;        /* "CT 115" */
	char key[96];                /* of the volume's lock */
	int config;                  /* PVE's config flock, -1: not taken */
	int volume;                  /* the volume's own lock, -1: not taken */
	struct ctm_stopsignals stop; /* held as long as config is */
	struct ctm_lockwatch watch;  /* READ, of config */
	int64_t search_end;          /* HOOK: when the search for other users ends; 0: not begun */
	bool told;                   /* that the search takes long */
	struct ctm_activation active;
	bool started_by_us; /* HOOK: our ancestor is the monitor that starts the container */
	bool in_container;  /* READ, raw: a running container has it mounted */
	char note[256];
};

static void release_config(struct ctm_guard *guard)
{
	ctm_lockwatch_end(&guard->watch);
	ctm_closep(&guard->config);
	ctm_stopsignals_release(&guard->stop);
}

int ctm_guard_end(struct ctm_guard *guard, struct ctm_err *err)
{
	int r;

	if (!guard) {
		return 0;
	}
	r = ctm_deactivate(&guard->host, &guard->active, err);
	ctm_hostlock_volume_done(&guard->host, guard->key, &guard->volume);
	release_config(guard);
	ctm_buf_done(&guard->label);
	ctm_buf_done(&guard->sysroot);
	free(guard);
	return r;
}

void ctm_guard_free(struct ctm_guard *guard)
{
	(void)ctm_guard_end(guard, NULL);
}

void ctm_guard_freep(struct ctm_guard **guard)
{
	ctm_guard_free(*guard);
	*guard = NULL;
}

static bool changes(const struct ctm_guard *guard)
{
	return guard->opts.mode != CTM_GUARD_READ;
}

static bool is_raw(const struct ctm_volume *vol)
{
	return vol->kind == CTM_VOLUME_IMAGE || vol->kind == CTM_VOLUME_BLOCK;
}

/* --- the container ---------------------------------------------------------------------------- */

static int refuse_running(const struct ctm_guard *guard, const struct ctm_target *target,
			  struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0, "%s is running", guard->label.p);

	if (target->kind == CTM_TARGET_PVE) {
		ctm_err_hint(err, "stop it with: pct stop %u", target->vmid);
	} else {
		ctm_err_hint(err, "stop it with: lxc-stop -n %s", target->name);
	}
	return r;
}

int ctm_guard_running(const struct ctm_target *target, bool *ret, struct ctm_err *err)
{
	struct ctm_ctalive alive = { .running = false };
	int r = target->socket ? ctm_ctalive(target->socket, target->name, &alive, err) : 0;

	if (r < 0) {
		return r;
	}
	*ret = alive.running;
	return 0;
}

/* With the socket it runs; without one, PVE may be about to start it again. */
static int check_rebooting(const struct ctm_guard *guard, const struct ctm_target *target,
			   struct ctm_err *err)
{
	bool rebooting = false;
	int r;

	if (target->kind != CTM_TARGET_PVE ||
	    (guard->opts.mode == CTM_GUARD_HOOK && !guard->opts.unlocked)) {
		return 0;
	}
	r = ctm_running_rebooting(&guard->host, target->vmid, &rebooting, err);
	if (r < 0 || !rebooting) {
		return r;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "%s is rebooting", guard->label.p);
	ctm_err_hint(err, "wait until it is up again, then stop it with: pct stop %u",
		     target->vmid);
	return r;
}

/* What a running container changes meanwhile is no danger to who only reads. */
static int look_running(struct ctm_guard *guard, const struct ctm_target *target,
			const struct ctm_volume *vol, struct ctm_err *err)
{
	bool running = false;
	int r = ctm_guard_running(target, &running, err);

	if (r < 0) {
		return r;
	}
	guard->in_container = running && is_raw(vol);
	if (guard->in_container) {
		/* nothing of ours is in its way, so there is nothing to lock */
		release_config(guard);
	}
	if (running) {
		(void)snprintf(guard->note, sizeof(guard->note),
			       "the container is running: what it changes meanwhile may be "
			       "missing here");
		return 0;
	}
	return is_raw(vol) ? check_rebooting(guard, target, err) : 0;
}

static int check_stopped(struct ctm_guard *guard, const struct ctm_target *target,
			 struct ctm_err *err)
{
	bool running = false;
	int r = ctm_guard_running(target, &running, err);

	if (r < 0) {
		return r;
	}
	if (!running) {
		return check_rebooting(guard, target, err);
	}
	if (guard->opts.mode == CTM_GUARD_HOOK) {
		r = ctm_starter_monitor(target->socket, &guard->started_by_us, err);
		if (r < 0 || guard->started_by_us) {
			return r;
		}
	}
	return refuse_running(guard, target, err);
}

/* --- other users ------------------------------------------------------------------------------ */

/* Called while the search goes on. */
static void tell(void *arg)
{
	struct ctm_guard *guard = arg;

	if (!guard->told && guard->opts.notice) {
		guard->opts.notice("looking through all mount namespaces of this host for other "
				   "users of the volume",
				   guard->opts.notice_arg);
	}
	guard->told = true;
}

static int check_users(struct ctm_guard *guard, const struct ctm_volume *vol, struct ctm_err *err)
{
	struct ctm_inuse_opts opts = {
		.exclusive = changes(guard),
		/* where the monitor has put the rootfs together for the container */
		.skip_own_namespace = guard->started_by_us,
		.limits = { .tick = tell, .tick_arg = guard },
	};

	if (guard->opts.mode == CTM_GUARD_HOOK) {
		const int64_t now = ctm_clock_ms();

		/* of both looks together */
		guard->search_end = guard->search_end ? guard->search_end : now + CTM_GUARD_HOOK_MS;
		opts.limits.total_ms =
			guard->search_end > now ? (unsigned int)(guard->search_end - now) : 1;
	}
	return ctm_inuse_check(vol, &opts, err);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int check(struct ctm_guard *guard, const struct ctm_target *target,
		 const struct ctm_volume *vol, struct ctm_err *err)
{
	int r = ctm_guard_config(guard->label.p, changes(guard), target, vol, err);

	if (r == 0) {
		r = changes(guard) ? check_stopped(guard, target, err) :
				     look_running(guard, target, vol, err);
	}
	if (r == 0 && (changes(guard) || (is_raw(vol) && !guard->in_container))) {
		r = check_users(guard, vol, err);
	}
	return r;
}

/* --- activation ----------------------------------------------------------------------------- */

static bool needs_activation(const struct ctm_guard *guard, const struct ctm_target *target,
			     const struct ctm_volume *vol)
{
	return target->kind == CTM_TARGET_PVE && guard->opts.mode != CTM_GUARD_HOOK &&
	       ctm_activation_needed(vol);
}

/* The caller sees the volume as read-only; it is the target's, which may change. */
static struct ctm_volume *own(struct ctm_target *target, const struct ctm_volume *vol)
{
	for (size_t i = 0; i < target->volumes.n; i++) {
		if (&target->volumes.v[i] == vol) {
			return &target->volumes.v[i];
		}
	}
	return NULL;
}

/* Under the config flock. A running container has its volumes active, wherever it has them. */
static int activate(struct ctm_guard *guard, struct ctm_target *target,
		    const struct ctm_volume *vol, struct ctm_err *err)
{
	struct ctm_volume *volume = own(target, vol);
	bool running = false;
	int r;

	if (!volume || !needs_activation(guard, target, vol)) {
		return 0;
	}
	r = changes(guard) ? check_stopped(guard, target, err) :
			     look_running(guard, target, vol, err);
	r = r < 0 ? r : ctm_guard_running(target, &running, err);
	if (r < 0 || running) {
		return r;
	}
	return ctm_activate(&guard->host, target->vmid, volume, &guard->active, err);
}

/* The same for the volume as it was located again. */
static int activated(const struct ctm_guard *guard, struct ctm_target *target,
		     const struct ctm_volume *vol, struct ctm_err *err)
{
	struct ctm_volume *volume = own(target, vol);

	return volume && needs_activation(guard, target, vol) ?
		       ctm_activation_apply(&guard->active, volume, err) :
		       0;
}

/*
 * A running container has it somewhere; of a third party's storage even what it is must be asked.
 */
static int find_running(const struct ctm_guard *guard, struct ctm_target *target,
			const struct ctm_volume *vol, struct ctm_err *err)
{
	struct ctm_volume *volume = own(target, vol);
	bool running = false;
	int r = ctm_guard_running(target, &running, err);

	return r == 0 && running && volume && volume->by_pve && !volume->format ?
		       ctm_activation_find(&guard->host, volume, err) :
		       r;
}

/* A volume that only PVE's library can find, and it was not asked. */
static int check_path(const struct ctm_guard *guard, const struct ctm_volume *vol,
		      struct ctm_err *err)
{
	int r;

	if (vol->path || guard->in_container) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"where '%s' is, only Proxmox VE's storage library knows", vol->id);
	ctm_err_hint(err, "stop the container, then use ctmend on it");
	return r;
}

/* --- locks ---------------------------------------------------------------------------------- */

/*
 * The flock of PVE: for every change, and for readers while a loop device of theirs could be reused
 * or what they activated is active.
 */
static bool needs_config_lock(const struct ctm_guard *guard, const struct ctm_target *target,
			      const struct ctm_volume *vol)
{
	if (target->kind != CTM_TARGET_PVE) {
		return false;
	}
	switch (guard->opts.mode) {
	case CTM_GUARD_READ:
		return vol->kind == CTM_VOLUME_IMAGE || ctm_activation_needed(vol);
	case CTM_GUARD_WRITE:
		return true;
	case CTM_GUARD_HOOK:
		break;
	}
	return false;
}

static int take_locks(struct ctm_guard *guard, struct ctm_target *target,
		      const struct ctm_volume *vol, struct ctm_err *err)
{
	int r = 0;

	if (needs_config_lock(guard, target, vol)) {
		/* before it is taken: between the two nobody may stop us */
		ctm_stopsignals_hold(&guard->stop);
		r = ctm_hostlock_config(&guard->host, target->vmid, guard->opts.wait,
					&guard->config, err);
	}
	if (guard->config >= 0 && !changes(guard)) {
		ctm_lockwatch_begin(&guard->watch, guard->config);
	}
	r = r < 0 ? r : activate(guard, target, vol, err);
	r = r < 0 ? r : check_path(guard, vol, err);
	if (r == 0 && changes(guard)) {
		r = ctm_inuse_key(vol, guard->key, sizeof(guard->key), err);
		r = r < 0 ? r :
			    ctm_hostlock_volume(&guard->host, guard->key, vol->id, guard->opts.wait,
						&guard->volume, err);
	}
	return r;
}

static struct ctm_guard *guard_new(const struct ctm_host *host, const struct ctm_target *target,
				   const struct ctm_guard_opts *opts)
{
	CLEANUP(ctm_guard_freep) struct ctm_guard *guard = calloc(1, sizeof(*guard));

	if (!guard) {
		return NULL;
	}
	guard->opts = *opts;
	guard->config = -1;
	guard->volume = -1;
	guard->active.note = -1;
	if (ctm_buf_addf(&guard->sysroot, "%s", host->sysroot ? host->sysroot : "") < 0 ||
	    ctm_guard_label(target, &guard->label) < 0) {
		return NULL;
	}
	guard->host.sysroot = guard->sysroot.p;
	return TAKE_PTR(guard);
}

int ctm_guard_take(const struct ctm_host *host, struct ctm_target *target,
		   const struct ctm_volume *vol, const struct ctm_guard_opts *opts,
		   struct ctm_guard **ret, struct ctm_err *err)
{
	CLEANUP(ctm_guard_freep) struct ctm_guard *guard = guard_new(host, target, opts);
	int r;

	if (!guard) {
		return ctm_err_nomem(err);
	}
	if (opts->mode != CTM_GUARD_HOOK) {
		ctm_activation_sweep(&guard->host);
	}
	/* what needs no lock to be known is not waited for */
	r = ctm_guard_config(guard->label.p, changes(guard), target, vol, err);
	if (r == 0 && !changes(guard)) {
		r = find_running(guard, target, vol, err);
		r = r < 0 ? r : look_running(guard, target, vol, err);
	}
	if (r == 0 && !guard->in_container) {
		r = take_locks(guard, target, vol, err);
	}
	r = r < 0 ? r : check(guard, target, vol, err);
	if (r == 0 && !guard->in_container && guard->config < 0 &&
	    needs_config_lock(guard, target, vol)) {
		/* it has been stopped between the two looks */
		r = take_locks(guard, target, vol, err);
		r = r < 0 ? r : check(guard, target, vol, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(guard);
	return 0;
}

int ctm_guard_recheck(struct ctm_guard *guard, struct ctm_target *target,
		      const struct ctm_volume *vol, struct ctm_err *err)
{
	char key[sizeof(guard->key)];
	int r = activated(guard, target, vol, err);

	r = r < 0 ? r : check_path(guard, vol, err);
	if (r < 0) {
		return r;
	}
	if (changes(guard)) {
		r = ctm_inuse_key(vol, key, sizeof(key), err);
		if (r < 0) {
			return r;
		}
		if (strcmp(key, guard->key) != 0) {
			r = ctm_err_set(err, CTM_REFUSED, 0,
					"the configuration of %s was changed meanwhile: '%s' is "
					"another volume now",
					guard->label.p, vol->key);
			ctm_err_hint(err, "start again");
			return r;
		}
	}
	return check(guard, target, vol, err);
}

int ctm_guard_yield(struct ctm_guard *guard, struct ctm_err *err)
{
	return ctm_lockwatch_look(&guard->watch, err);
}

bool ctm_guard_in_container(const struct ctm_guard *guard)
{
	return guard->in_container;
}

const char *ctm_guard_note(const struct ctm_guard *guard)
{
	return guard->note[0] ? guard->note : NULL;
}
