/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint of a Proxmox VE container's configuration.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/ctmap.h"
#include "config/pctlock.h"
#include "plan/lint.h"

/* "snapshot section [before]" */
static const char *section_words(const struct ctm_pctsection *section, char buf[static 160])
{
	if (section->kind == CTM_PCT_PENDING) {
		return "section of pending changes [pve:pending]";
	}
	(void)snprintf(buf, 160, "snapshot section [%.128s]", section->name);
	return buf;
}

static const struct ctm_pctentry *first_idmap(const struct ctm_pctsection *section)
{
	for (size_t i = 0; i < section->lxc.n; i++) {
		if (strcmp(section->lxc.v[i].key, "lxc.idmap") == 0) {
			return &section->lxc.v[i];
		}
	}
	return NULL;
}

/*
 * The entry that was most likely meant for the container as it is now, or NULL. Snapshots have a
 * right to another map, pending changes never carry one: Proxmox VE puts none there.
 */
static const struct ctm_pctentry *misplaced(const struct ctm_target *target,
					    const struct ctm_pctsection *section)
{
	const struct ctm_pctentry *idmap = first_idmap(section);

	if (target->privileged) {
		return idmap ? idmap :
		       ctm_pctconf_flag(section, "unprivileged") ?
			       ctm_pctconf_find(section, "unprivileged") :
			       NULL;
	}
	return section->kind == CTM_PCT_PENDING &&
			       !first_idmap(ctm_pctconf_current(&target->conf)) ?
		       idmap :
		       NULL;
}

static int note_misplaced(const struct ctm_pctsection *section, const struct ctm_pctentry *entry,
			  struct ctm_plan *plan)
{
	char text[384];
	char name[160];

	(void)snprintf(text, sizeof(text), "line %u, '%s: %.64s', stands in the %s (line %u)",
		       entry->line, entry->key, entry->value, section_words(section, name),
		       section->line);
	return ctm_plan_note(plan, CTM_F_CONF_SECTION, NULL, 0, text);
}

/* "u 0 100000 65536, g ...", "privileged" or why it cannot be told. */
static int map_words(const struct ctm_target *target, const struct ctm_pctsection *section,
		     struct ctm_buf *ret)
{
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };
	int r = ctm_ctmap_from_pct(section, target->pct_major, &ctmap, &err);

	if (r == -ENOMEM) {
		return r;
	}
	if (r < 0) {
		return ctm_buf_addf(ret, "a map that cannot be read (%s)", err.msg);
	}
	if (target->map && ctm_idmap_eq(ctmap.map, target->map)) {
		return 0;
	}
	if (ctmap.privileged) {
		return ctm_buf_addf(ret, "no map, it is privileged");
	}
	r = ctm_buf_addf(ret, "the map ");
	for (size_t i = 0; i < ctmap.lines.n && i < 4 && r == 0; i++) {
		r = ctm_buf_addf(ret, "%s%s", i ? ", " : "", ctmap.lines.v[i]);
	}
	return r == 0 && ctmap.lines.n > 4 ? ctm_buf_addf(ret, " ...") : r;
}

static int compare_snapshot(const struct ctm_target *target, const struct ctm_pctsection *section,
			    struct ctm_plan *plan)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	char name[160];
	size_t empty;
	int r = ctm_buf_addf(&text, "the %s (line %u) has ", section_words(section, name),
			     section->line);

	empty = text.len;
	if (r == 0) {
		r = map_words(target, section, &text);
	}
	if (r < 0 || text.len == empty) {
		return r;
	}
	return ctm_plan_note(plan, CTM_F_CONF_SNAPSHOT, NULL, 0, text.p);
}

int ctm_lint_sections(const struct ctm_target *target, struct ctm_plan *plan)
{
	const struct ctm_pctconf *conf = &target->conf;
	int r = 0;

	for (size_t i = 1; i < conf->sections.n && r == 0; i++) {
		const struct ctm_pctsection *section = &conf->sections.v[i];
		const struct ctm_pctentry *entry = misplaced(target, section);

		if (entry) {
			r = note_misplaced(section, entry, plan);
		} else if (section->kind == CTM_PCT_SNAPSHOT && target->map) {
			r = compare_snapshot(target, section, plan);
		}
	}
	return r;
}

int ctm_lint_warnings(const struct ctm_target *target, struct ctm_plan *plan)
{
	int r = 0;

	for (size_t i = 0; i < target->warnings.n && r == 0; i++) {
		r = ctm_plan_note(plan, CTM_F_CONF_UNKNOWN, NULL, 0, target->warnings.v[i]);
	}
	return r;
}

int ctm_lint_lock(const struct ctm_target *target, struct ctm_plan *plan)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r;

	if (!target->lock || !target->lock[0]) {
		return 0;
	}
	r = ctm_buf_addf(&text, "%s: %s", target->lock, ctm_pctlock(target->lock)->means);
	return r < 0 ? r : ctm_plan_note(plan, CTM_F_CONF_LOCK, NULL, 0, text.p);
}
