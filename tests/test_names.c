/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A reader that lies about the names of hard links: a file of the host's with one name inside a
 * directory volume must not look like one that is all inside.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "plan/plan.h"
#include "run/effects.h"
#include "run/inspect_name.h"
#include "scratch.h"
#include "walking.h"

static struct ctm_fact told(const struct stat *st, const char *path)
{
	struct ctm_fact fact = fact_of(path, S_IFREG | 0644, 0, 0);

	fact.dev = st->st_dev;
	fact.ino = st->st_ino;
	fact.nlink = (uint32_t)st->st_nlink;
	return fact;
}

static const struct {
	const char *name;
	const char *second; /* the other name that is told */
	bool part;          /* of a selection, and no whole walk */
	bool raw;
	bool changed;
} rows[] = {
	{ "the truth", "volume/two", false, false, true },
	{ "the truth about a selection", "volume/two", true, false, true },
	{ "one name twice", "volume/one", false, false, false },
	{ "another inode", "volume/other", false, false, false },
	{ "nothing", "volume/none", false, false, false },
	{ "a link to it", "volume/link", false, false, false },
	{ "by way of a link", "volume/way/one", false, false, false },
	{ "one name twice in a volume of its own", "volume/one", false, true, true },
};

CASES(names, of_a_liar, rows)
{
	SCRATCH(s);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = NULL;
	CLEANUP(ctm_effects_done) struct ctm_effects fx = { .root = -1, .real = -1 };
	CLEANUP_CLOSE int root = -1;
	struct ctm_inspect_names names = { .ops = &ctm_effects_ops, .fs = &fx };
	const char *const start = "one";
	struct ctm_policy policy = {
		.raw_volume = rows[*i].raw,
		.is_name = ctm_inspect_name,
		.is_name_arg = &names,
		.starts = &start,
		.n_starts = rows[*i].part,
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	const bool inside = strstr(rows[*i].name, "truth");
	struct ctm_fact fact;
	struct stat st;

	cr_assert_eq(ctm_idmap_parse_spec("0:100000:65536", &map, NULL), 0);
	policy.map = map;
	plant(s.path, "volume/one", "x");
	plant(s.path, "volume/other", "x");
	cr_assert_eq(linkat(s.fd, "volume/one", s.fd, inside ? "volume/two" : "outside", 0), 0);
	cr_assert_eq(symlinkat("one", s.fd, "volume/link"), 0);
	cr_assert_eq(symlinkat(".", s.fd, "volume/way"), 0);
	cr_assert_eq(fstatat(s.fd, "volume/one", &st, AT_SYMLINK_NOFOLLOW), 0);
	root = openat(s.fd, "volume", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(ctm_effects_init(&fx, root, false, NULL), 0);
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	fact = told(&st, "one");
	cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
	fact = told(&st, rows[*i].second + strlen("volume/"));
	cr_assert_eq(ctm_plan_fact(&fact, plan), 0);
	cr_assert_eq(ctm_plan_finish(plan), 0);
	cr_expect_eq(plan->actions.n, rows[*i].changed ? 1 : 0, "%s", rows[*i].name);
	cr_expect_eq(ctm_plan_has(plan, CTM_F_LINK_OUTSIDE), !rows[*i].changed, "%s",
		     rows[*i].name);
}
