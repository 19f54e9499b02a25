/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of a plan against lists of packages, which may say anything. */
#include "plan/pkgfiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"

#define LIST(name, text)                       \
	{                                      \
		name, sizeof(name) - 1,        \
		{                              \
			text, sizeof(text) - 1 \
		}                              \
	}

struct list {
	const char *package;
	size_t len;
	struct ctm_bytes text;
};

static const char *const paths[] = {
	"usr/bin/nano",        "usr/share/nano",       "usr/share/nano/c.nanorc", "etc/hosts",
	"var/lib/dpkg/status", "var/log/apt/term.log", "usr/lib/x/libx.so",
};

static const struct {
	const char *name;
	struct list lists[4];
	size_t n;
	uint64_t listed;
	uint64_t own;
	const char *names; /* joined by blanks */
	size_t packages;
	bool has_lists;
} rows[] = {
	{ "no lists", { { 0 } }, 0, 0, 2, "", 0, false },
	{ "one package",
	  { LIST("nano", "/.\n/usr\n/usr/bin\n/usr/bin/nano\n/usr/share/nano\n") },
	  1,
	  2,
	  2,
	  "nano",
	  1,
	  true },
	{ "a directory of two speaks for neither",
	  { LIST("nano", "/usr/bin/nano\n/usr/share/nano\n"), LIST("nano-doc", "/usr/share/"
									       "nano\n") },
	  2,
	  2,
	  2,
	  "nano",
	  1,
	  true },
	{ "larger first, then by name",
	  { LIST("zz", "/etc/hosts\n"), LIST("nano", "/usr/bin/nano\n/usr/share/nano/c.nanorc\n"),
	    LIST("aa", "/usr/share/nano\n") },
	  3,
	  4,
	  2,
	  "nano aa zz",
	  3,
	  true },
	{ "three are named, all counted",
	  { LIST("a1", "/etc/hosts\n"), LIST("b", "/usr/bin/nano\n"),
	    LIST("c", "/usr/share/nano\n"), LIST("d", "/usr/share/nano/c.nanorc\n") },
	  4,
	  4,
	  2,
	  "a1 b c",
	  4,
	  true },
	{ "an architecture behind the name, a directory that was merged",
	  { LIST("libx:amd64", "/lib/x/libx.so\n") },
	  1,
	  1,
	  2,
	  "libx",
	  1,
	  true },
	{ "own files that are on a list",
	  { LIST("base", "/var/lib/dpkg/status\n") },
	  1,
	  1,
	  1,
	  "base",
	  1,
	  true },
	{ "twice in one list",
	  { LIST("nano", "/usr/bin/nano\n/usr/bin/nano\n") },
	  1,
	  1,
	  2,
	  "nano",
	  1,
	  true },
	{ "no newline at the end", { LIST("nano", "/usr/bin/nano") }, 1, 1, 2, "nano", 1, true },
	{ "not from the root",
	  { LIST("nano", "usr/bin/nano\n//usr/bin/nano\n\n/\n") },
	  1,
	  0,
	  2,
	  "",
	  0,
	  true },
	{ "a NUL in the line",
	  { LIST("nano", "/usr/bin/nano\0\n/usr/bin\0/nano\n") },
	  1,
	  0,
	  2,
	  "",
	  0,
	  true },
	{ "an empty list", { LIST("nano", "") }, 1, 0, 2, "", 0, true },
	{ "names that are none",
	  { LIST("Nano", "/usr/bin/nano\n"), LIST("na\033[2J", "/usr/bin/nano\n"),
	    LIST("../x", "/usr/bin/nano\n"), LIST("", "/usr/bin/nano\n") },
	  4,
	  0,
	  2,
	  "",
	  0,
	  false },
	{ "a name that is too long",
	  { LIST("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "/usr/bin/"
										      "nano\n") },
	  1,
	  0,
	  2,
	  "",
	  0,
	  false },
};

static struct ctm_plan *plan_with(const struct ctm_idmap *map, const struct ctm_fact *facts,
				  size_t n)
{
	const struct ctm_policy policy = { .map = map, .raw_volume = true };

	return plan_of(&policy, facts, n);
}

CASES(pkgfiles, lists, rows)
{
	struct ctm_fact facts[sizeof(paths) / sizeof(paths[0])];
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_pkgfiles_freep) struct ctm_pkgfiles *files = NULL;
	struct ctm_pkgfiles_found found;
	char names[256] = "";

	for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
		facts[k] = fact_of(paths[k], 0644, 0, 0);
	}
	plan = plan_with(map, facts, sizeof(paths) / sizeof(paths[0]));
	cr_assert_eq(ctm_pkgfiles_new(plan, CTM_F_OWN_HOST, &files), 0);
	for (size_t k = 0; k < rows[*i].n; k++) {
		const struct list *list = &rows[*i].lists[k];

		cr_assert_eq(ctm_pkgfiles_list(files, list->package, list->len, list->text), 0);
	}
	ctm_pkgfiles_found(files, &found);
	for (size_t k = 0; k < found.n_names; k++) {
		size_t at = strlen(names);

		(void)snprintf(names + at, sizeof(names) - at, "%s%s", k ? " " : "",
			       found.names[k]);
	}
	cr_assert_eq(found.looked, 7, "%s", rows[*i].name);
	cr_assert_eq(found.listed, rows[*i].listed, "%s: %lu listed", rows[*i].name, found.listed);
	cr_assert_eq(found.own, rows[*i].own, "%s: %lu own", rows[*i].name, found.own);
	cr_assert_str_eq(names, rows[*i].names, "%s: %s", rows[*i].name, names);
	cr_assert_eq(found.packages, rows[*i].packages, "%s", rows[*i].name);
	cr_assert_eq(found.lists, rows[*i].has_lists, "%s", rows[*i].name);
}

/* A uid and a gid of one inode are two findings and one path. */
Test(pkgfiles, no_more_than_so_many_paths)
{
	enum { N = 3 * CTM_PKGFILES_PATHS };
	static char names[N][16];
	static char list[N * 16];
	struct ctm_fact *facts = calloc(N, sizeof(*facts));
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_pkgfiles_freep) struct ctm_pkgfiles *files = NULL;
	struct ctm_pkgfiles_found found;
	size_t len = 0;

	cr_assert_not_null(facts);
	for (size_t k = 0; k < N; k++) {
		(void)snprintf(names[k], sizeof(names[k]), "f%05zu", k);
		facts[k] = fact_of(names[k], 0644, 0, 0);
		len += (size_t)snprintf(list + len, sizeof(list) - len, "/%s\n", names[k]);
	}
	plan = plan_with(map, facts, N);
	cr_assert_eq(ctm_pkgfiles_new(plan, CTM_F_OWN_HOST, &files), 0);
	cr_assert_eq(ctm_pkgfiles_list(files, "all", 3, (struct ctm_bytes){ list, len }), 0);
	ctm_pkgfiles_found(files, &found);
	cr_assert_eq(found.looked, CTM_PKGFILES_PATHS);
	cr_assert_eq(found.listed, CTM_PKGFILES_PATHS);
	cr_assert_eq(found.packages, 1);
	free(facts);
}

/* FNV-1a as the table has it; whoever knows it can choose names that fall together. */
static uint64_t place_of(const char *name)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (; *name; name++) {
		h = (h ^ (unsigned char)*name) * UINT64_C(1099511628211);
	}
	return (h ^ h >> 29) & (4 * CTM_PKGFILES_PATHS - 1);
}

Test(pkgfiles, names_that_fall_together)
{
	enum { N = 200 };
	static char names[N][16];
	struct ctm_fact facts[N];
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	CLEANUP(ctm_pkgfiles_freep) struct ctm_pkgfiles *files = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf list = { 0 };
	struct ctm_pkgfiles_found found;
	size_t n = 0;

	for (unsigned int k = 0; n < N; k++) {
		(void)snprintf(names[n], sizeof(names[n]), "n%u", k);
		if (place_of(names[n]) != 7) {
			continue;
		}
		facts[n] = fact_of(names[n], 0644, 0, 0);
		cr_assert_eq(ctm_buf_addf(&list, "/%s\n", names[n]), 0);
		n++;
	}
	plan = plan_with(map, facts, N);
	cr_assert_eq(ctm_pkgfiles_new(plan, CTM_F_OWN_HOST, &files), 0);
	cr_assert_eq(ctm_pkgfiles_list(files, "bad", 3, (struct ctm_bytes){ list.p, list.len }), 0);
	ctm_pkgfiles_found(files, &found);
	/* no more of them than are looked through for one line of a list */
	cr_assert_eq(found.looked, 64);
	cr_assert_eq(found.listed, 64);
}

Test(pkgfiles, none_of_the_code)
{
	struct ctm_fact fact = fact_of("etc/hosts", 0644, 100000, 100000);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of("100000");
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = plan_with(map, &fact, 1);
	CLEANUP(ctm_pkgfiles_freep) struct ctm_pkgfiles *files = NULL;
	struct ctm_pkgfiles_found found;

	cr_assert_eq(ctm_pkgfiles_new(plan, CTM_F_OWN_HOST, &files), 0);
	ctm_pkgfiles_found(files, &found);
	cr_assert_eq(found.looked, 0);
}
