/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map: the volumes of a container, their maps, and what is wrong with them.
 */
#include "session/mapping.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/ctmap.h"
#include "plan/lint.h"
#include "session/inside.h"
#include "session/surroundings.h"
#include "target/hostfile.h"

void ctm_mapping_done(struct ctm_mapping *mapping)
{
	for (size_t i = 0; i < mapping->idmap.n; i++) {
		free(mapping->idmap.v[i]);
	}
	ctm_vec_done(&mapping->idmap);
	ctm_plan_free(mapping->lint);
	ctm_target_free(mapping->target);
	free(mapping->idmap_error);
	free(mapping->note);
	*mapping = (struct ctm_mapping){ 0 };
}

static int add_line(struct ctm_mapping *m, const char *value)
{
	CLEANUP(ctm_buf_done) struct ctm_buf words = { 0 };
	int r = ctm_ctmap_words(value, &words);

	r = r == 0 ? ctm_vec_push(&m->idmap, &words.p) : r;
	if (r == 0) {
		words = (struct ctm_buf){ 0 };
	}
	return r;
}

static int say_unreadable(struct ctm_mapping *m, const char *value)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

	if (ctm_buf_addf(&text, "failed to parse idmap: %s", value) < 0) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->idmap.n; i++) {
		free(m->idmap.v[i]);
	}
	m->idmap.n = 0;
	m->idmap_error = TAKE_PTR(text.p);
	return 0;
}

/* The lines of the current section, or what was made without one. */
static int copy_idmap(struct ctm_mapping *m)
{
	const struct ctm_target *target = m->target;
	const struct ctm_pctsection *section =
		target->conf.sections.n ? ctm_pctconf_current(&target->conf) : NULL;
	int r = 0;

	for (size_t i = 0; section && i < section->lxc.n && r == 0; i++) {
		const struct ctm_pctentry *entry = &section->lxc.v[i];

		if (strcmp(entry->key, "lxc.idmap") != 0) {
			continue;
		}
		if (!ctm_ctmap_pct_reads(entry->value)) {
			return say_unreadable(m, entry->value);
		}
		r = add_line(m, entry->value);
	}
	if (r < 0 || m->idmap.n) {
		return r;
	}
	m->builtin = section && !target->privileged;
	for (size_t i = 0; i < target->idmap.n && r == 0; i++) {
		r = add_line(m, target->idmap.v[i]);
	}
	return r;
}

/* --map is no configuration, its ranges come from the map itself. */
static int copy_spec(struct ctm_mapping *m)
{
	int r = 0;

	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && m->target->map; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(m->target->map, kind, &n);

		for (size_t i = 0; i < n && r == 0; i++) {
			char text[64];

			(void)snprintf(text, sizeof(text), "%c %u %u %u",
				       kind == CTM_UID ? 'u' : 'g', v[i].ct, v[i].disk, v[i].len);
			r = add_line(m, text);
		}
	}
	return r;
}

/* Why there is no map: the configuration is asked again, or the rootfs says it. */
static void find_refusal(struct ctm_mapping *m)
{
	const struct ctm_volume *rootfs = ctm_target_volume(m->target, "rootfs");

	if (m->target->map) {
		return;
	}
	if (m->target->no_map) {
		(void)ctm_err_set(&m->refused, CTM_REFUSED, 0, "a path has no map of its own");
		ctm_err_hint(&m->refused,
			     "give --map or --ct-config; check shows which map it looks like");
		return;
	}
	if (m->target->conf.sections.n) {
		CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };

		if (ctm_ctmap_from_pct(ctm_pctconf_current(&m->target->conf), m->target->pct_major,
				       &ctmap, &m->refused) < 0) {
			return;
		}
	}
	(void)ctm_err_set(&m->refused, CTM_REFUSED, 0, "%s",
			  rootfs && rootfs->refusal ? rootfs->refusal : "there is no map");
	ctm_err_hint(&m->refused, "%s", rootfs && rootfs->hint ? rootfs->hint : "");
}

/* A file that is not there grants nothing; one that cannot be read is an error. */
static int read_grants(const struct ctm_host *host, const char *place, struct ctm_buf *ret,
		       struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	if (ctm_buf_add(ret, "", 0) < 0 || ctm_host_path(host, &path, "%s", place) < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_hostfile_exists(path.p) ? ctm_hostfile_read(path.p, ret, err) : 0;
}

static int lint(struct ctm_mapping *m, const struct ctm_host *host, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf uids = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf gids = { 0 };
	const struct ctm_volume *rootfs = ctm_target_volume(m->target, "rootfs");
	int r = read_grants(host, "/etc/subuid", &uids, err);

	if (r == 0) {
		r = read_grants(host, "/etc/subgid", &gids, err);
	}
	if (r < 0) {
		return r;
	}
	const struct ctm_lint_subids subids = { .text = { { uids.p, uids.len },
							  { gids.p, gids.len } } };

	if (ctm_lint_map(m->target, &subids, m->lint) < 0 ||
	    ctm_lint_sections(m->target, m->lint) < 0 ||
	    ctm_lint_warnings(m->target, m->lint) < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_surroundings_way(host, m->target, rootfs, m->lint, err);
}

int ctm_session_mapping(const char *name, const struct ctm_session_opts *opts,
			struct ctm_mapping *ret, struct ctm_err *err)
{
	static const struct ctm_policy policy = { 0 };
	struct ctm_target_opts target_opts = opts->target;
	int r;

	target_opts.keep_refused = true;
	r = ctm_target_locate(&opts->host, name, &target_opts, &ret->target, err);
	if (r < 0) {
		return r;
	}
	if (ctm_plan_new(&policy, &ret->lint) < 0 || copy_idmap(ret) < 0 ||
	    (!ret->idmap.n && !ret->idmap_error && copy_spec(ret) < 0)) {
		return ctm_err_nomem(err);
	}
	find_refusal(ret);
	r = lint(ret, &opts->host, err);
	if (r == 0) {
		r = ctm_inside_accounts(ret->target, &opts->host, ret->lint, &ret->note, err);
	}
	if (r == 0 && ctm_plan_finish(ret->lint) < 0) {
		r = ctm_err_nomem(err);
	}
	return r;
}
