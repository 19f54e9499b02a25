/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of package-manager rules, and finding a rule from a path.
 */
#include "rules/rules.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "cases.h"

/* A relative path without "." and "..", and "*" only as the whole last component. */
static bool good_path(const char *path, bool pattern)
{
	CLEANUP(ctm_buf_done) struct ctm_buf norm = { 0 };
	const char *star = strchr(path, '*');

	if (ctm_path_normalise(path, &norm) < 0 || norm.len == 0 || strcmp(norm.p, path) != 0) {
		return false;
	}
	return !star || (pattern && star[1] == '\0' && star > path && star[-1] == '/');
}

static void check_row(const struct ctm_rules *set, const struct ctm_rule *row)
{
	cr_assert(row->id && strncmp(row->id, set->name, strlen(set->name)) == 0 &&
			  row->id[strlen(set->name)] == '.',
		  "%s: the id '%s' starts with its table's name", set->name, row->id);
	cr_assert(row->at && good_path(row->at, true), "%s: path '%s'", row->id, row->at);
	cr_assert(row->why && row->why[0], "%s: says why", row->id);
	cr_assert(!row->damaged || row->kind == CTM_RULE_CACHE, "%s: only caches have content",
		  row->id);
}

Test(rules, every_row_is_whole)
{
	cr_assert_gt(ctm_rules_n, 0);
	for (size_t i = 0; i < ctm_rules_n; i++) {
		const struct ctm_rules *set = ctm_rules_all[i];

		cr_assert(set->name && set->name[0]);
		cr_assert(set->present_if && good_path(set->present_if, false), "%s", set->name);
		cr_assert_gt(set->n, 0, "%s", set->name);
		for (size_t k = 0; k < set->n; k++) {
			check_row(set, &set->rows[k]);
			cr_assert(k == 0 || strcmp(set->rows[k - 1].at, set->rows[k].at) < 0,
				  "%s: out of order", set->rows[k].id);
		}
	}
}

static const struct ctm_rule *nth_row(size_t n)
{
	for (size_t i = 0; i < ctm_rules_n; i++) {
		if (n < ctm_rules_all[i]->n) {
			return &ctm_rules_all[i]->rows[n];
		}
		n -= ctm_rules_all[i]->n;
	}
	return NULL;
}

Test(rules, ids_and_paths_are_unique)
{
	for (size_t i = 0; nth_row(i); i++) {
		for (size_t k = 0; k < i; k++) {
			cr_assert_str_neq(nth_row(i)->id, nth_row(k)->id);
			cr_assert_str_neq(nth_row(i)->at, nth_row(k)->at);
		}
	}
}

/* Also proves that the memory of the trie is large enough. */
Test(rules, every_row_is_found_by_its_path)
{
	for (size_t i = 0; i < ctm_rules_n; i++) {
		for (size_t k = 0; k < ctm_rules_all[i]->n; k++) {
			const struct ctm_rule *row = &ctm_rules_all[i]->rows[k];
			CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
			const struct ctm_rules *set = NULL;

			cr_assert_eq(ctm_buf_addf(&path, "%s", row->at), 0);
			if (path.p[path.len - 1] == '*') {
				path.p[path.len - 1] = 'x';
			}
			cr_assert_eq(ctm_rules_match(path.p, path.len, &set), row, "%s", row->id);
			cr_assert_eq(set, ctm_rules_all[i], "%s", row->id);
		}
	}
}

Test(rules, required_directories)
{
	static const char *const want[] = {
		"root",        "usr/share/locale", "var/cache/apt",
		"var/lib/apt", "var/lib/dpkg",     "var/log/apt",
	};

	cr_assert_eq(ctm_required_n, ARRAY_LEN(want));
	for (size_t i = 0; i < ctm_required_n; i++) {
		cr_assert_str_eq(ctm_required_dirs[i], want[i]);
		cr_assert(good_path(ctm_required_dirs[i], false), "%s", ctm_required_dirs[i]);
	}
}

static const struct {
	const char *path;
	const char *id; /* NULL: no rule */
} matches[] = {
	{ "var/lib/dpkg/lock", "dpkg.lock" },
	{ "var/lib/dpkg/lock-frontend", "dpkg.lock-frontend" },
	{ "var/lib/dpkg/triggers/Lock", "dpkg.triggers-lock" },
	{ "var/lib/dpkg/updates/0001", "dpkg.updates" },
	{ "var/lib/apt/lists/lock", "apt.lists-lock" },
	{ "var/lib/apt/lists/partial/x_InRelease", "apt.lists-partial" },
	{ "var/lib/apt/lists/partial/*", "apt.lists-partial" },
	{ "var/cache/apt/archives/lock", "apt.archives-lock" },
	{ "var/cache/apt/archives/partial/a_1_all.deb", "apt.archives-partial" },
	{ "var/cache/apt/pkgcache.bin", "apt.pkgcache" },
	{ "var/cache/apt/srcpkgcache.bin", "apt.srcpkgcache" },
	{ "", NULL },
	{ "var", NULL },
	{ "lock", NULL },
	{ "var/lib/dpkg", NULL },
	{ "var/lib/dpkg/", NULL },
	{ "var/lib/dpkg/loc", NULL },
	{ "var/lib/dpkg/lock2", NULL },
	{ "var/lib/dpkg/Lock", NULL },
	{ "var/lib/dpkg/lock/x", NULL },
	{ "var/lib/dpkg/triggers/File", NULL },
	{ "var/lib/dpkg/updates", NULL },
	{ "var/lib/dpkg/updates/", NULL },
	{ "var/lib/dpkg/updates/0001/x", NULL },
	{ "var/lib/apt/lists/partial", NULL },
	{ "var/lib/apt/lists/auxfiles/x", NULL },
	{ "x/var/lib/dpkg/lock", NULL },
	{ "/var/lib/dpkg/lock", NULL },
	{ "var//lib/dpkg/lock", NULL },
	{ "var/cache/debconf/config.dat", NULL },
};

CASES(rules, match, matches)
{
	const struct ctm_rules *set = NULL;
	const char *path = matches[*i].path;
	const struct ctm_rule *rule = ctm_rules_match(path, strlen(path), &set);

	if (matches[*i].id) {
		cr_assert(rule, "%s: no rule", path);
		cr_assert_str_eq(rule->id, matches[*i].id, "%s: %s", path, rule->id);
		cr_assert(set, "%s: which table", path);
	} else {
		cr_assert_null(rule, "%s: %s", path, rule ? rule->id : "");
		cr_assert_null(set, "%s: table", path);
	}
	cr_assert_eq(ctm_rules_match(path, strlen(path), NULL), rule, "%s: without a table", path);
}

/* The path is not terminated where its length ends. */
Test(rules, match_reads_no_further_than_the_length)
{
	cr_assert_not_null(
		ctm_rules_match("var/lib/dpkg/lockXYZ", strlen("var/lib/dpkg/lock"), NULL));
	cr_assert_null(ctm_rules_match("var/lib/dpkg/lock", strlen("var/lib/dpkg/loc"), NULL));
}

/* Steps down as a walk does it; NULL where the walk may stop asking. */
static const struct {
	const char *dir;
	bool below;
} steps[] = {
	{ "", true },
	{ "var", true },
	{ "var/lib/dpkg", true },
	{ "var/lib/dpkg/updates", true },
	{ "var/lib/dpkg/updates/x", false },
	{ "var/lib/dpkg/lock", false },
	{ "var/lib/dpkg/info", false },
	{ "var/log", false },
	{ "usr", false },
	{ "v", false },
	{ "vars", false },
};

CASES(rules, down, steps)
{
	const struct ctm_rule_node *at = ctm_rules_root();
	const char *name = steps[*i].dir;

	while (*name && at) {
		size_t len = strcspn(name, "/");

		at = ctm_rules_down(at, name, len);
		name += name[len] ? len + 1 : len;
	}
	cr_assert_eq(at != NULL, steps[*i].below, "%s", steps[*i].dir);
	if (!at) {
		cr_assert_null(ctm_rules_down(at, "x", 1), "%s", steps[*i].dir);
		cr_assert_null(ctm_rules_entry(at, "x", 1), "%s", steps[*i].dir);
	}
}

static void *match_one(void *arg)
{
	(void)arg;
	return (void *)(uintptr_t)ctm_rules_match("var/lib/dpkg/lock", 17, NULL);
}

Test(rules, threads_may_ask_first_at_the_same_time)
{
	pthread_t threads[8];

	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		cr_assert_eq(pthread_create(&threads[i], NULL, match_one, NULL), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		void *found = NULL;

		cr_assert_eq(pthread_join(threads[i], &found), 0);
		cr_assert_not_null(found);
	}
}

/*
 * The first bytes of pkgcache.bin (37,008,676 bytes) as apt-cache gencaches of apt 2.6.1 on Debian
 * 12 wrote it: signature, version 16.0, clean, header of 680 bytes, sizes of structures, 121,048
 * groups of 28 bytes, 108,032 packages of 44.
 */
#define APT26                                                                                      \
	"\xdc\x76\xfe\x98\x10\x00\x00\x00\xa8\x02\x1c\x2c\x40\x38\x58\x18\x14\x10\x18\x18\x18\x55" \
	"\x00\x00\xd8\xd8\x01\x00\x00\xa6\x01\x00"
#define APT26_DIRTY "\xdc\x76\xfe\x98\x10\x00\x01\x00\xa8\x02\x1c\x2c"
/* The older layout: version 8.0 in two words, clean or dirty, header of 0x1234 bytes. */
#define APT08       "\xdc\x76\xfe\x98\x08\x00\x00\x00\x00\x00\x34\x12"
#define APT08_DIRTY "\xdc\x76\xfe\x98\x08\x00\x00\x00\x01\x00\x34\x12"
#define ZEROES      "\0\0\0\0\0\0\0\0\0\0\0\0"

#define BYTES(text)                                  \
	{                                            \
		.p = (text), .len = sizeof(text) - 1 \
	}

static const struct {
	const char *name;
	struct ctm_bytes head;
	unsigned long long size;
	bool damaged;
} headers[] = {
	{ "as apt wrote it", BYTES(APT26), 37008676, false },
	{ "smallest that holds its groups and packages", BYTES(APT26),
	  680 + 121048 * 28 + 108032 * 44, false },
	{ "one byte less", BYTES(APT26), 680 + 121048 * 28 + 108032 * 44 - 1, true },
	{ "cut behind the header", BYTES(APT26), 4096, true },
	{ "cut inside the header", BYTES(APT26), 100, true },
	{ "empty", { .p = "", .len = 0 }, 0, true },
	{ "empty and not read", { .p = NULL }, 0, true },
	{ "one byte", { .p = "\xdc", .len = 1 }, 1, true },
	{ "zeroes, as after a power loss", BYTES(ZEROES), 37008676, true },
	{ "dirty", BYTES(APT26_DIRTY), 37008676, true },
	{ "old layout", BYTES(APT08), 5000000, false },
	{ "old layout, dirty", BYTES(APT08_DIRTY), 5000000, true },
	{ "old layout, cut inside the header", BYTES(APT08), 0x1233, true },
	{ "text", BYTES("# this is no cache at all\n"), 26, true },
	{ "other byte order", BYTES("\x98\xfe\x76\xdc\x10\x00\x00\x00\x02\xa8\x1c\x2c"), 37008676,
	  true },
	{ "not read: unknown, not damaged", { .p = NULL }, 37008676, false },
	{ "read in part: unknown, not damaged", { .p = "\xdc\x76", .len = 2 }, 37008676, false },
};

CASES(rules, apt_cache_header, headers)
{
	static const char *const paths[] = { "var/cache/apt/pkgcache.bin",
					     "var/cache/apt/srcpkgcache.bin" };

	for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
		const struct ctm_rule *rule = ctm_rules_match(paths[k], strlen(paths[k]), NULL);

		cr_assert(rule && rule->damaged, "%s: %s", headers[*i].name, paths[k]);
		cr_assert_eq(rule->damaged(headers[*i].head, headers[*i].size), headers[*i].damaged,
			     "%s: %s", headers[*i].name, rule->id);
	}
}
