/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A volume without a map to judge it by.
 */
#include "session/unmapped.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/guess.h"
#include "session/examine.h"
#include "session/surroundings.h"
#include "target/lockwatch.h"

static int count(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		 struct ctm_attached *att, struct ctm_scan_totals *ret, struct ctm_err *err)
{
	CLEANUP(ctm_source_freep) struct ctm_source *src = NULL;
	struct ctm_scan_request req = {
		.want_none = true,
		.jobs = opts->jobs,
		.interrupt = ctm_exam_interrupt,
		.interrupt_arg = exam,
	};
	int r = ctm_walk_new(ctm_attached_root(att), &src, err);

	if (r == 0) {
		r = ctm_source_scan(src, &req, NULL, NULL, ret, err);
	}
	return r < 0 && r != -CTM_LOCKWATCH_YIELD ? ctm_err_wrap(err, "scan") : r;
}

static int guess(struct ctm_exam *exam, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_buf_addf(&text, "no map was given; the tree looks like --map ");

	if (r == 0) {
		r = ctm_guess_map(exam->seen.ids, &text);
	}
	if (r == -ENODATA) {
		text.len = 0;
		r = ctm_buf_addf(&text, "no map was given, and the ids on disk fit no single one");
	}
	if (r == 0) {
		r = ctm_exam_note(exam, text.p);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

/*
 * Incus and LXD keep a container at POOL/containers/NAME/rootfs and its map in their database; an
 * empty map there means that the disk is not shifted, and must not be.
 */
static int note_incus(struct ctm_exam *exam, struct ctm_err *err)
{
	const char *path = exam->volume->path;

	if (!path || !strstr(path, "/storage-pools/") || !strstr(path, "/containers/")) {
		return 0;
	}
	return ctm_exam_note(
		       exam,
		       "this looks like a container of Incus or LXD, which keep its map in "
		       "their database: see volatile.last_state.idmap of 'incus config show NAME "
		       "--expanded' (or lxc) and give it as --map u:NSID:HOSTID:RANGE,g:...; [] "
		       "there means that nothing is shifted on disk") < 0 ?
		       ctm_err_nomem(err) :
		       0;
}

/* More than half of the inodes have a uid in one range that does not begin at 0. */
static bool looks_shifted(const struct ctm_scan_totals *seen, uint32_t *ret_base, uint64_t *ret_n)
{
	uint64_t all;

	*ret_n = ctm_guess_base(&seen->ids[CTM_UID], ret_base, &all);
	return *ret_base && *ret_n > all / 2;
}

static int note_mapped(struct ctm_plan *plan, uint32_t base, uint64_t n, uint64_t all)
{
	char text[128];

	(void)snprintf(text, sizeof(text),
		       "%" PRIu64 " of %" PRIu64 " inodes have a uid from %" PRIu32 " to %" PRIu32,
		       n, all, base, base + (CTM_IDMAP_DEFAULT_LEN - 1));
	return ctm_plan_note(plan, CTM_F_TREE_MAPPED, NULL, 0, text);
}

/* The configuration says one thing, the disk another. */
static int contradict(struct ctm_exam *exam, const struct ctm_session_opts *opts, uint32_t base,
		      uint64_t n, struct ctm_err *err)
{
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const struct ctm_policy policy = { .map = exam->volume->map };
	const uint64_t all = exam->seen.inodes;
	int r = ctm_plan_new(&policy, &plan);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	r = ctm_surroundings_note(&opts->host, exam->target, exam->volume, plan, err);
	if (r < 0) {
		return r;
	}
	if (!ctm_plan_has(plan, CTM_F_CONF_SECTION)) {
		r = note_mapped(plan, base, n, all);
	}
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	ctm_plan_totals(plan, &exam->seen, NULL);
	r = ctm_plan_finish(plan);
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	ctm_plan_digest(plan, exam->identity_text.p, exam->digest);
	exam->plan = TAKE_PTR(plan);
	return 0;
}

int ctm_exam_unmapped(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_attached *att, struct ctm_err *err)
{
	uint32_t base = 0;
	uint64_t n = 0;
	int r;

	if (exam->volume->unshifted) {
		r = ctm_exam_note(exam, exam->target->privileged ?
						"privileged container: nothing to shift" :
						"idmap= of the volume: nothing to shift on disk");
		if (r < 0) {
			return ctm_err_nomem(err);
		}
		/* a start does not wait until a tree is counted that nothing will be done to */
		if (opts->starting) {
			return 0;
		}
	}
	r = count(exam, opts, att, &exam->seen, err);
	if (r < 0) {
		return r;
	}
	if (!exam->volume->unshifted) {
		r = guess(exam, err);
		return r < 0 ? r : note_incus(exam, err);
	}
	return looks_shifted(&exam->seen, &base, &n) ? contradict(exam, opts, base, n, err) : 0;
}
