/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking at a volume: locate, attach read-only, scan, plan, inspect.
 */
#include "session/examine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/budget.h"
#include "run/effects.h"
#include "run/inspect.h"
#include "run/inspect_name.h"
#include "run/inspect_subvol.h"
#include "run/state.h"
#include "session/bits.h"
#include "session/diagnosing.h"
#include "session/frommap.h"
#include "session/kinship.h"
#include "session/locked.h"
#include "session/reading.h"
#include "session/room.h"
#include "session/selection.h"
#include "session/surroundings.h"
#include "session/unfinished.h"
#include "session/unmapped.h"
#include "session/volumes.h"
#include "session/watched.h"
#include "target/ctalive.h"
#include "target/hostask.h"
#include "target/lockwatch.h"

/* A start waits for a hook: so long does it look for who has files of the volume open. */
#define HOOK_OPENERS_MS 3000

void ctm_exam_free(struct ctm_exam *exam)
{
	if (!exam) {
		return;
	}
	ctm_diagnosis_done(&exam->diagnosis);
	ctm_plan_free(exam->plan);
	ctm_kinship_free(exam->kin);
	ctm_idmap_free(exam->from);
	ctm_scan_totals_done(&exam->seen);
	ctm_buf_done(&exam->identity_text);
	for (size_t i = 0; i < exam->notes.n; i++) {
		free(exam->notes.v[i]);
	}
	ctm_vec_done(&exam->notes);
	ctm_target_free(exam->target);
	free(exam);
}

int ctm_exam_note(struct ctm_exam *exam, const char *text)
{
	char *copy = strdup(text);
	int r = copy ? ctm_vec_push(&exam->notes, &copy) : -ENOMEM;

	if (r < 0) {
		free(copy);
	}
	return r;
}

int ctm_exam_unguard(struct ctm_exam *exam, struct ctm_guard *guard, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err left = { 0 };
	int r;

	if (ctm_guard_end(guard, &left) == 0) {
		return 0;
	}
	r = ctm_buf_addf(&text, "the volume stays active until the next run: %s", left.msg);
	r = r < 0 ? r : ctm_exam_note(exam, text.p);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

static int pick_volume(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		       struct ctm_err *err)
{
	const char *key = opts->volume ? opts->volume : "rootfs";

	return ctm_target_pick(exam->target, key, &exam->volume, err);
}

/* A socket that is not its monitor's is worth a word: the container cannot be started. */
static int look_running(struct ctm_exam *exam, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	const struct ctm_target *target = exam->target;
	struct ctm_ctalive alive = { .running = false };
	int r = target->socket ? ctm_ctalive(target->socket, target->name, &alive, err) : 0;

	if (r < 0) {
		return r;
	}
	exam->running = alive.running;
	if (!alive.imitated) {
		return 0;
	}
	r = ctm_ctalive_describe(&alive, &text);
	r = r < 0 ? r : ctm_exam_note(exam, text.p);
	return r < 0 ? ctm_err_nomem(err) : 0;
}

static int take_pin(const struct ctm_exam *exam, struct ctm_pin *pin, struct ctm_err *err)
{
	if (!ctm_pin_same(pin, &exam->volume->pin)) {
		return ctm_pin_refuse(exam->volume->path, err);
	}
	*pin = exam->volume->pin;
	return 0;
}

int ctm_exam_new(const char *name, const struct ctm_session_opts *opts, struct ctm_exam **ret,
		 struct ctm_err *err)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = calloc(1, sizeof(*exam));
	int r;

	if (!exam) {
		return ctm_err_nomem(err);
	}
	/* Others do not even see /etc/pve, and would hear that there is no such container. */
	if (geteuid() != 0) {
		(void)ctm_err_set(err, CTM_REFUSED, 0, "only root may look at a container's files");
		ctm_err_hint(err, "call it by sudo");
		return -EPERM;
	}
	struct ctm_target_opts target_opts = opts->target;

	/* The rootfs may be of no use when another volume is wanted. */
	target_opts.keep_refused = opts->volume != NULL;
	if (opts->starting && opts->starting->config) {
		r = ctm_target_locate_starting(&opts->host, name, opts->starting->config,
					       opts->starting->rootfs, &exam->target, err);
	} else {
		r = ctm_target_locate(&opts->host, name, &target_opts, &exam->target, err);
	}
	if (r == 0) {
		r = pick_volume(exam, opts, err);
	}
	if (r == 0) {
		r = ctm_watched_located(exam, opts, err);
	}
	if (r == 0) {
		r = ctm_hostask_volume(exam->volume, err);
	}
	if (r == 0 && opts->pin) {
		r = take_pin(exam, opts->pin, err);
	}
	if (r == 0 && ctm_exam_no_map(exam)) {
		r = ctm_frommap_adopt(exam, opts, err);
	}
	/* A container that is being started listens on its socket before it calls its hooks. */
	if (r == 0 && exam->target->kind != CTM_TARGET_PATH && !opts->starting) {
		r = look_running(exam, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(exam);
	return 0;
}

int ctm_exam_interrupt(void *arg, struct ctm_err *err)
{
	const struct ctm_exam *exam = arg;

	return exam->guard ? ctm_guard_yield(exam->guard, err) : 0;
}

bool ctm_exam_no_map(const struct ctm_exam *exam)
{
	return !exam->back && (exam->target->no_map || exam->volume->unshifted);
}

/*
 * A part that has damage says nothing of the whole; only then the whole volume is counted, and the
 * names that its inodes have elsewhere.
 */
static int count_whole(struct ctm_plan *plan, const struct ctm_scan_request *part,
		       struct ctm_source *src, struct ctm_scan_totals *ret, struct ctm_err *err)
{
	const bool names = ctm_plan_wants_names(plan);
	struct ctm_scan_request req = *part;

	req.starts = NULL;
	req.n_starts = 0;
	req.want_all = part->want_all && names;
	req.want_none = !names;
	req.rules = false;
	return ctm_source_scan(src, &req, names ? ctm_plan_other_name : NULL, plan, ret, err);
}

static int scan_into(struct ctm_plan *plan, const struct ctm_selection *sel,
		     const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		     struct ctm_attached *att, struct ctm_err *err)
{
	CLEANUP(ctm_source_freep) struct ctm_source *src = NULL;
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals totals = { 0 };
	CLEANUP(ctm_scan_totals_done) struct ctm_scan_totals whole = { 0 };
	struct ctm_scan_request req = {
		.map = plan->policy.map,
		.from = plan->policy.from,
		.want_all = opts->flatten,
		.rules = true,
		.one_subvolume = opts->hook,
		.starts = sel->starts,
		.n_starts = sel->n_starts,
		.jobs = opts->jobs,
		.interrupt = ctm_exam_interrupt,
		.interrupt_arg = (void *)(uintptr_t)exam,
	};
	bool counted = false;
	int r;

	if (!sel->whole && !sel->n_starts) {
		return 0;
	}
	r = ctm_walk_new(ctm_attached_root(att), &src, err);
	if (r == 0) {
		r = ctm_source_scan(src, &req, ctm_plan_fact, plan, &totals, err);
	}
	if (r == 0 && !sel->whole && (ctm_scan_totals_odd(&totals) || ctm_plan_wants_names(plan))) {
		r = count_whole(plan, &req, src, &whole, err);
		counted = true;
	}
	if (r < 0) {
		return r;
	}
	ctm_plan_totals(plan, &totals, counted ? &whole : NULL);
	return 0;
}

struct below {
	struct ctm_plan *plan;
};

static int note_mount(const char *path, void *arg)
{
	const struct below *below = arg;

	return ctm_plan_note(below->plan, CTM_F_MOUNT_BELOW, path, strlen(path), NULL);
}

/* Before the plan is of any use: what cannot be changed is no action. */
static int inspect_subvols(const struct ctm_exam *exam, struct ctm_attached *att,
			   struct ctm_plan *plan, struct ctm_err *err)
{
	CLEANUP(ctm_effects_done) struct ctm_effects fx = { .root = -1, .real = -1 };
	int r = ctm_effects_init(&fx, ctm_attached_root(att), exam->volume->kind != CTM_VOLUME_DIR,
				 err);

	if (r < 0) {
		return r;
	}
	r = ctm_inspect_subvols(&ctm_effects_ops, &fx, plan);
	if (r == 0) {
		r = ctm_plan_settle(plan);
	}
	return r < 0 ? ctm_room_err(plan, ctm_err_nomem(err), err) : 0;
}

/* The names of hard links are looked at here, and not believed: outside may be the host's. */
static int finish(const struct ctm_exam *exam, struct ctm_attached *att, struct ctm_plan *plan,
		  struct ctm_err *err)
{
	CLEANUP(ctm_effects_done) struct ctm_effects fx = { .root = -1, .real = -1 };
	struct ctm_inspect_names names = { .ops = &ctm_effects_ops, .fs = &fx };
	int r = ctm_effects_init(&fx, ctm_attached_root(att), exam->volume->kind != CTM_VOLUME_DIR,
				 err);

	if (r < 0) {
		return r;
	}
	plan->policy.is_name = ctm_inspect_name;
	plan->policy.is_name_arg = &names;
	r = ctm_plan_finish(plan);
	plan->policy.is_name = NULL;
	plan->policy.is_name_arg = NULL;
	return r;
}

int ctm_exam_plan(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		  struct ctm_attached *att, struct ctm_plan **ret, struct ctm_err *err)
{
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_selection_done) struct ctm_selection sel = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf where = { 0 };
	struct below below;
	int r = ctm_selection_make(opts, exam->volume, ctm_attached_root(att), &sel, err);

	if (r == 0) {
		r = ctm_room_dir(exam, opts, &where, err);
	}
	if (r < 0) {
		return r;
	}
	const struct ctm_policy policy = {
		.map = exam->volume->map,
		.from = opts->from_map ? exam->from : NULL,
		.kin = &exam->kin->kin,
		.clean = opts->clean,
		.no_content = opts->no_content,
		.alone = exam->alone,
		.openers_ms = opts->hook ? HOOK_OPENERS_MS : 0,
		.running = exam->running,
		.fix = opts->fix,
		.flatten = opts->flatten,
		.convert = opts->convert,
		.starts = sel.starts,
		.n_starts = sel.n_starts,
		.rules_on = sel.rules_on,
		.raw_volume = exam->volume->kind != CTM_VOLUME_DIR,
		.memory = CTM_PLAN_MEMORY,
		.spill_dir = where.p,
	};
	r = ctm_plan_new(&policy, &plan);
	if (r == -EINVAL) {
		return ctm_err_set(
			err, CTM_REFUSED, 0,
			"the map has no root of the container, so nothing can be given to it");
	}
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	/* Inspection asks for holders of locks by it, and the selection ends with this function. */
	plan->policy.rules_on = (const void *)ctm_arena_dup(&plan->arena, sel.rules_on,
							    ctm_rules_n * sizeof(*sel.rules_on));
	if (!plan->policy.rules_on) {
		return ctm_err_nomem(err);
	}
	r = ctm_bits_look(exam->volume, &sel, att, plan, err);
	if (r < 0) {
		return r;
	}
	r = scan_into(plan, &sel, exam, opts, att, err);
	if (r == -CTM_LOCKWATCH_YIELD) {
		return r;
	}
	if (r < 0) {
		(void)ctm_room_err(plan, r, err);
		return ctm_err_wrap(err, "scan");
	}
	below = (struct below){ plan };
	r = ctm_attached_mounts_below(att, note_mount, &below);
	/* who starts the container knows these, and waits for us */
	if (r == 0 && !opts->starting) {
		r = ctm_surroundings_note(&opts->host, exam->target, exam->volume, plan, err);
	}
	/* whose ids these could be is for people; what is done about them is nothing anyway */
	if (r == 0 && ctm_plan_waits(plan) && !opts->hook) {
		r = ctm_kinship_add_bases(exam->kin, &opts->host, exam->target);
	}
	if (r == 0) {
		r = finish(exam, att, plan, err);
	}
	plan->policy.starts = NULL;
	plan->policy.n_starts = 0;
	if (r < 0) {
		r = r == -ENOMEM ? ctm_err_nomem(err) :
				   ctm_err_set(err, CTM_SYS, r, "make the plan");
		return ctm_room_err(plan, r, err);
	}
	r = inspect_subvols(exam, att, plan, err);
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(plan);
	return 0;
}

static int inspect(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		   struct ctm_attached *att, struct ctm_err *err)
{
	CLEANUP(ctm_effects_done) struct ctm_effects fx = { .root = -1, .real = -1 };
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	uint64_t budget;
	int r;

	/* Records that may not be read take no part; why not is said where they are needed. */
	(void)ctm_locked_state(exam, opts, false, &state, NULL);
	r = ctm_budget(&opts->host, state, &budget, err);

	if (r == 0) {
		r = ctm_effects_init(&fx, ctm_attached_root(att),
				     exam->volume->kind != CTM_VOLUME_DIR, err);
	}
	if (r == 0) {
		r = ctm_inspect(&ctm_effects_ops, &fx, exam->plan, budget, err);
	}
	return r < 0 ? ctm_room_err(exam->plan, r, err) : 0;
}

static int take_identity(struct ctm_exam *exam, struct ctm_attached *att, struct ctm_err *err)
{
	const char *note = ctm_attached_note(att);
	int r;

	exam->identity = *ctm_attached_identity(att);
	exam->dirty = ctm_attached_dirty(att);
	(void)snprintf(exam->fstype, sizeof(exam->fstype), "%s", ctm_attached_fstype(att));
	exam->identity_text.len = 0;
	r = ctm_identity_format(&exam->identity, &exam->identity_text);
	if (r == 0 && note) {
		r = ctm_exam_note(exam, note);
	}
	if (r == 0 && exam->running) {
		r = ctm_exam_note(
			exam, "the container is running: what is read here can change meanwhile");
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

static int judge(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		 struct ctm_attached *att, struct ctm_err *err)
{
	int r;

	if (!exam->kin && ctm_kinship_new(exam->target, exam->volume, &exam->kin) < 0) {
		return ctm_err_nomem(err);
	}
	r = ctm_frommap_decide(exam, opts, err);
	if (r == 0) {
		r = ctm_exam_plan(exam, opts, att, &exam->plan, err);
	}
	if (r == 0) {
		r = ctm_exam_interrupt(exam, err);
	}
	if (r == 0) {
		r = inspect(exam, opts, att, err);
	}
	if (r == 0) {
		r = ctm_exam_interrupt(exam, err);
	}
	if (r == 0) {
		r = ctm_unfinished_look(exam, opts, att, err);
	}
	if (r == 0) {
		ctm_plan_digest(exam->plan, exam->identity_text.p, exam->digest);
	}
	return r;
}

int ctm_exam_look(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		  struct ctm_attached *att, struct ctm_err *err)
{
	int r = take_identity(exam, att, err);

	ctm_plan_free(TAKE_PTR(exam->plan));
	if (r < 0) {
		return r;
	}
	if (ctm_exam_no_map(exam)) {
		r = ctm_exam_unmapped(exam, opts, att, err);
	} else {
		r = judge(exam, opts, att, err);
	}
	if (r == 0 && exam->plan && !opts->starting && !exam->to_repair) {
		r = ctm_exam_diagnose(exam, att, err);
	}
	return r;
}

int ctm_examine(const char *name, const struct ctm_session_opts *opts, struct ctm_exam **ret,
		struct ctm_err *err)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = NULL;
	CLEANUP(ctm_reading_done) struct ctm_reading reading = { 0 };
	int r = ctm_exam_new(name, opts, &exam, err);

	if (r == 0 && exam) {
		r = ctm_reading_begin(exam, opts, &reading, err);
	}
	if (r == 0) {
		r = ctm_volumes_note(exam, opts, err);
	}
	if (r == 0 && exam) {
		r = ctm_exam_look(exam, opts, reading.att, err);
	}
	if (r == 0) {
		r = ctm_reading_end(exam, &reading, err);
	}
	if (r < 0) {
		return r;
	}
	*ret = TAKE_PTR(exam);
	return 0;
}
