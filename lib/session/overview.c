/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list: what can be said of a container in one line.
 */
#include "session/overview.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/managed.h"
#include "plan/lint.h"
#include "session/history.h"
#include "session/surroundings.h"
#include "target/hostfile.h"
#include "target/running.h"

void ctm_overview_done(struct ctm_overview *overview)
{
	free(overview->name);
	free(overview->hostname);
	free(overview->lock);
	free(overview->storage);
	free(overview->volume);
	free(overview->map);
	free(overview->config);
	free(overview->findings);
	*overview = (struct ctm_overview){ 0 };
}

void ctm_overviews_done(struct ctm_overviews *overviews)
{
	for (size_t i = 0; i < overviews->v.n; i++) {
		ctm_overview_done(&overviews->v.v[i]);
	}
	ctm_vec_done(&overviews->v);
}

/* What is read once for all containers. */
struct shared {
	const struct ctm_session_opts *opts;
	bool look;
	bool no_records; /* what is wrong with their directory is said once, not for each */
	struct ctm_buf ha;
	struct ctm_buf replication;
};

static void shared_done(struct shared *shared)
{
	ctm_buf_done(&shared->ha);
	ctm_buf_done(&shared->replication);
}

static int set(char **field, const char *value)
{
	*field = value ? strdup(value) : NULL;
	return value && !*field ? -ENOMEM : 0;
}

/* The first thing that went wrong stays. */
static void fault(struct ctm_overview *o, const struct ctm_err *err)
{
	if (o->err.code == CTM_OK) {
		o->err = *err;
	}
}

static int describe_map(struct ctm_overview *o, const struct ctm_target *target)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	const struct ctm_range *v[2];
	ctm_did root[2] = { 0 };
	size_t n[2];
	int r;

	if (!target->map) {
		return 0;
	}
	if (target->privileged) {
		return set(&o->map, "privileged");
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		v[kind] = ctm_idmap_ranges(target->map, kind, &n[kind]);
		(void)ctm_idmap_to_disk(target->map, kind, (ctm_cid){ 0 }, &root[kind]);
	}
	if (n[CTM_UID] == 1 && n[CTM_GID] == 1 &&
	    memcmp(v[CTM_UID], v[CTM_GID], sizeof(struct ctm_range)) == 0) {
		r = ctm_buf_addf(&text, "%u:%u:%u", v[CTM_UID]->ct, v[CTM_UID]->disk,
				 v[CTM_UID]->len);
	} else {
		r = ctm_buf_addf(&text, "root %u:%u, %zu ranges", root[CTM_UID].v, root[CTM_GID].v,
				 n[CTM_UID] + n[CTM_GID]);
	}
	o->map = r == 0 ? TAKE_PTR(text.p) : NULL;
	return r;
}

static int describe_state(struct ctm_overview *o, const struct ctm_target *target,
			  const struct shared *shared)
{
	struct ctm_err err = { 0 };
	bool running = false;
	bool rebooting = false;
	int r = ctm_guard_running(target, &running, &err);

	if (r == 0 && target->kind == CTM_TARGET_PVE && !running) {
		r = ctm_running_rebooting(&shared->opts->host, target->vmid, &rebooting, &err);
	}
	if (r < 0) {
		fault(o, &err);
		return r == -ENOMEM ? r : 0;
	}
	o->state = running          ? "running" :
		   rebooting        ? "rebooting" :
		   target->template ? "template" :
				      "stopped";
	return 0;
}

/* Findings of one inode follow each other. */
static bool same_inode(const struct ctm_finding *a, const struct ctm_finding *b)
{
	return a->path && b->path && a->path_len == b->path_len &&
	       memcmp(a->path, b->path, a->path_len) == 0;
}

/* "own.host 483, pkg.lock 2", by inodes, or NULL. */
static int count_codes(const struct ctm_plan *plan, bool with_numbers, char **ret)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = 0;

	for (size_t i = 0; i < plan->findings.n && r == 0;) {
		enum ctm_finding_code code = plan->findings.v[i].code;
		size_t n = 0;

		for (size_t first = i; i < plan->findings.n && plan->findings.v[i].code == code;
		     i++) {
			n += i == first ||
			     !same_inode(&plan->findings.v[i - 1], &plan->findings.v[i]);
		}
		r = ctm_buf_addf(&text, "%s%s", text.len ? ", " : "", ctm_finding_info(code)->code);
		if (r == 0 && with_numbers) {
			r = ctm_buf_addf(&text, " %zu", n);
		}
	}
	if (r == 0) {
		*ret = TAKE_PTR(text.p);
	}
	return r;
}

static int describe_config(struct ctm_overview *o, const struct ctm_target *target,
			   const struct shared *shared)
{
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	static const struct ctm_policy policy = { 0 };
	int r = ctm_plan_new(&policy, &plan);

	r = r == 0 ? ctm_lint_warnings(target, plan) : r;
	if (r == 0) {
		r = ctm_surroundings_note(&shared->opts->host, target,
					  ctm_target_volume(target, "rootfs"), plan, NULL);
	}
	r = r == 0 ? ctm_plan_finish(plan) : r;
	return r == 0 ? count_codes(plan, false, &o->config) : r;
}

static int describe(struct ctm_overview *o, const struct ctm_target *target,
		    const struct shared *shared)
{
	const struct ctm_volume *rootfs = ctm_target_volume(target, "rootfs");
	const struct ctm_volume *usable;
	const char *hostname = target->name;
	struct ctm_err err = { 0 };
	int r;

	if (target->kind == CTM_TARGET_PVE) {
		hostname = ctm_pctconf_get(ctm_pctconf_current(&target->conf), "hostname");
		o->ha = ctm_managed_ha((struct ctm_bytes){ shared->ha.p, shared->ha.len },
				       target->vmid);
		o->replicated = ctm_managed_replicated(
			(struct ctm_bytes){ shared->replication.p, shared->replication.len },
			target->vmid);
	}
	if (set(&o->hostname, hostname) < 0 || set(&o->lock, target->lock) < 0 ||
	    set(&o->storage, target->kind == CTM_TARGET_PVE ? rootfs->storage : rootfs->id) < 0 ||
	    set(&o->volume, rootfs->id) < 0) {
		return -ENOMEM;
	}
	if (ctm_target_pick(target, "rootfs", &usable, &err) < 0) {
		fault(o, &err);
	}
	r = describe_map(o, target);
	r = r == 0 ? describe_state(o, target, shared) : r;
	return r == 0 ? describe_config(o, target, shared) : r;
}

/* It is no matter of the configuration, but as much a reason to look. */
static int add_code(struct ctm_overview *o, enum ctm_finding_code code)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_buf_addf(&text, "%s%s%s", o->config ? o->config : "", o->config ? ", " : "",
			     ctm_finding_info(code)->code);

	if (r == 0) {
		free(o->config);
		o->config = TAKE_PTR(text.p);
		o->work = true;
	}
	return r;
}

static int add_history(struct ctm_overview *o, const struct shared *shared)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	struct ctm_err err = { 0 };
	bool damaged = false;
	bool newer = false;
	int r;

	if (shared->no_records) {
		return 0;
	}
	r = ctm_session_history(o->name, shared->opts, &history, &err);
	if (r < 0) {
		fault(o, &err);
		return r == -ENOMEM ? r : 0;
	}
	o->runs = history.runs.n;
	for (size_t i = history.runs.n; i > 0; i--) {
		const struct ctm_run_info *run = &history.runs.v[i - 1];

		o->interrupted = o->interrupted || run->status == CTM_RUN_INTERRUPTED;
		damaged = damaged || run->status == CTM_RUN_DAMAGED;
		newer = newer || run->status == CTM_RUN_NEWER;
		if (ctm_run_known(run) && !run->undoes[0] && !o->repaired) {
			o->repaired = true;
			o->last = *run;
		}
	}
	r = damaged ? add_code(o, CTM_F_RUN_DAMAGED) : 0;
	r = r == 0 && newer ? add_code(o, CTM_F_RUN_NEWER) : r;
	return r == 0 && o->interrupted ? add_code(o, CTM_F_RUN_UNFINISHED) : r;
}

static int look(struct ctm_overview *o, const struct shared *shared)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = NULL;
	struct ctm_err err = { 0 };
	int r;

	/* the reason why not is known */
	if (o->err.code == CTM_REFUSED) {
		return 0;
	}
	r = ctm_examine(o->name, shared->opts, &exam, &err);
	if (r < 0) {
		fault(o, &err);
		return r == -ENOMEM ? r : 0;
	}
	if (!exam->plan || !exam->plan->findings.n) {
		return set(&o->findings, "clean");
	}
	o->work = o->work || ctm_plan_has_work(exam->plan);
	return count_codes(exam->plan, true, &o->findings);
}

static int add(struct ctm_overviews *all, const char *name, const struct shared *shared)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	static const struct ctm_target_opts opts = { .keep_refused = true };
	struct ctm_overview o = { 0 };
	struct ctm_err err = { 0 };
	int r = set(&o.name, name);

	if (r == 0) {
		r = ctm_target_locate(&shared->opts->host, name, &opts, &target, &err);
		if (r == 0) {
			r = describe(&o, target, shared);
		} else if (r != -ENOMEM) {
			fault(&o, &err);
			r = 0;
		}
	}
	r = r == 0 ? add_history(&o, shared) : r;
	r = r == 0 && shared->look ? look(&o, shared) : r;
	r = r == 0 ? ctm_vec_push(&all->v, &o) : r;
	if (r < 0) {
		ctm_overview_done(&o);
	}
	return r;
}

/* Of a cluster without the file nothing is managed, and so it is on a host without a cluster. */
static int read_cluster(const struct ctm_host *host, const char *name, struct ctm_buf *ret,
			struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	if (ctm_buf_add(ret, "", 0) < 0 ||
	    ctm_host_path(host, &path, "%s/%s", CTM_PLACE_PVE, name) < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_hostfile_exists(path.p) ? ctm_hostfile_read(path.p, ret, err) : 0;
}

int ctm_session_overviews(const struct ctm_session_opts *opts, bool look_too,
			  struct ctm_overviews *ret, struct ctm_err *err)
{
	CLEANUP(ctm_inventory_done) struct ctm_inventory inventory = { 0 };
	CLEANUP(shared_done) struct shared shared = { .opts = opts, .look = look_too };
	CLEANUP(ctm_run_names_done) struct ctm_run_names kept = { 0 };
	int r = ctm_inventory_read(&opts->host, &inventory, err);

	if (r == 0) {
		r = read_cluster(&opts->host, "ha/resources.cfg", &shared.ha, err);
	}
	if (r == 0) {
		r = read_cluster(&opts->host, "replication.cfg", &shared.replication, err);
	}
	if (r < 0) {
		return r;
	}
	ret->missing = inventory.missing;
	if (ctm_state_targets(&opts->host, &kept, &ret->records) < 0) {
		shared.no_records = true;
	}
	for (size_t i = 0; i < inventory.names.n && r == 0; i++) {
		r = add(ret, inventory.names.v[i], &shared);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}
