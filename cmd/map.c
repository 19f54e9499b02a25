/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map: the id maps of a container's volumes, ids translated, and what is wrong with the maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "command.h"
#include "report/map.h"
#include "term.h"

static int read_id(const char *text, uint32_t *ret)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || value >= CTM_ID_INVALID) {
		term_say("'%s' is no id: give a number from 0 to 4294967294", text);
		return -EINVAL;
	}
	*ret = (uint32_t)value;
	return 0;
}

static int fail(const struct options *opts, const char *name, const struct ctm_err *err)
{
	term_error(name, err);
	if (opts->format == FORMAT_JSON) {
		(void)ctm_map_json_error(stdout, name, err);
	}
	return term_status(err);
}

/* The volume whose map translates; none for all of them. */
static int pick(const struct options *opts, struct ctm_map_report *rep, struct ctm_err *err)
{
	const struct ctm_mapping *m = rep->mapping;
	const char *key = opts->session.volume ? opts->session.volume : "rootfs";

	if (strcmp(key, "all") != 0) {
		rep->volume = ctm_target_volume(m->target, key);
		if (!rep->volume) {
			return ctm_err_set(err, CTM_USAGE, 0, "there is no volume '%s'", key);
		}
	}
	if (!rep->n_ids || (rep->volume ? rep->volume->map != NULL : m->target->map != NULL)) {
		return 0;
	}
	if (m->refused.code != CTM_OK || !rep->volume) {
		*err = m->refused;
		return -EPERM;
	}
	return ctm_err_set(err, CTM_REFUSED, 0, "%s: %s", key,
			   rep->volume->refusal ? rep->volume->refusal : "it has no map");
}

/* A map that the findings explain is as much work as a finding; any other one was refused. */
static int status_of(const struct ctm_mapping *m)
{
	bool explained = m->refused.code != CTM_OK && m->idmap.n && ctm_plan_has_work(m->lint);

	if (m->refused.code != CTM_OK && !explained) {
		return term_status(&m->refused);
	}
	return ctm_plan_has_work(m->lint) ? EXIT_WORK : EXIT_CLEAN;
}

static int show(const struct options *opts, const struct ctm_map_report *rep)
{
	const struct ctm_mapping *m = rep->mapping;
	int r = 0;

	if (opts->format == FORMAT_JSON) {
		r = ctm_map_json(stdout, rep);
	} else if (!opts->quiet) {
		r = ctm_map_text(stdout, rep);
	}
	if (r < 0) {
		return EXIT_FAILED;
	}
	if (m->refused.code != CTM_OK) {
		term_error(rep->name, &m->refused);
	}
	return status_of(m);
}

static int run(const struct options *opts, int argc, char **argv)
{
	CLEANUP(ctm_mapping_done) struct ctm_mapping mapping = { 0 };
	CLEANUP_FREE uint32_t *ids = calloc((size_t)argc, sizeof(*ids));
	struct ctm_map_report rep = { .name = argv[0],
				      .mapping = &mapping,
				      .ids = ids,
				      .n_ids = (size_t)argc - 1,
				      .verbose = opts->verbose,
				      .color = term_color(opts) };
	struct ctm_err err = { 0 };

	if (!ids) {
		(void)ctm_err_nomem(&err);
		return fail(opts, argv[0], &err);
	}
	for (int i = 1; i < argc; i++) {
		if (read_id(argv[i], &ids[i - 1]) < 0) {
			return EXIT_USAGE;
		}
	}
	if (ctm_session_mapping(argv[0], &opts->session, &mapping, &err) < 0 ||
	    pick(opts, &rep, &err) < 0) {
		return fail(opts, argv[0], &err);
	}
	return show(opts, &rep);
}

const struct command command_map = {
	.name = "map",
	.operands = "TARGET [ID...]",
	.summary = "effective id map per volume, what is wrong with it, ids translated",
	.details = "Shows the volumes of TARGET with their id maps, and what is wrong with map and "
		   "configuration. Says of each ID what it is on disk as an id of the container, "
		   "and in the container as an id on disk. Exit status: 0 clean, 1 something is "
		   "wrong.",
	.options = OPTS_COMMON | OPT(OPT_MAP) | OPT(OPT_CT_CONFIG) | OPT(OPT_VOLUME),
	.min_operands = 1,
	.max_operands = -1,
	.run = run,
};
