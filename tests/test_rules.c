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

/* A relative path without "." and ".."; in a pattern at most one "*" in each component. */
static bool good_path(const char *path, bool pattern)
{
	CLEANUP(ctm_buf_done) struct ctm_buf norm = { 0 };
	bool star = false;

	if (ctm_path_normalise(path, &norm) < 0 || norm.len == 0 || strcmp(norm.p, path) != 0) {
		return false;
	}
	for (; *path; path++) {
		if (*path == '*' && (star || !pattern)) {
			return false;
		}
		star = *path == '*' || (star && *path != '/');
	}
	return true;
}

static void check_list(const char *table, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cr_assert(good_path(list[i], false), "%s: path '%s'", table, list[i]);
		cr_assert(i == 0 || strcmp(list[i - 1], list[i]) < 0, "%s: '%s' out of order",
			  table, list[i]);
	}
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
		check_list(set->name, set->never, set->n_never);
		check_list(set->name, set->dirs, set->n_dirs);
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
			for (size_t at = 0; at < path.len; at++) {
				path.p[at] = path.p[at] == '*' ? 'x' : path.p[at];
			}
			cr_assert_eq(ctm_rules_match(path.p, path.len, &set), row, "%s", row->id);
			cr_assert_eq(set, ctm_rules_all[i], "%s", row->id);
		}
	}
}

/* The length of the row up to its n-th component. */
static size_t up_to(const char *row, size_t n)
{
	size_t len = strcspn(row, "/");

	while (n-- > 0 && row[len]) {
		len += 1 + strcspn(row + len + 1, "/");
	}
	return len;
}

/* The walk goes one way down: a directory by name and one by pattern would hide each other. */
Test(rules, no_directory_has_names_and_patterns_with_something_below)
{
	for (size_t i = 0; nth_row(i); i++) {
		for (size_t k = 0; k < i; k++) {
			const char *a = nth_row(i)->at;
			const char *b = nth_row(k)->at;
			size_t n = 0;
			size_t len;

			while (a[up_to(a, n)] && up_to(a, n) == up_to(b, n) &&
			       memcmp(a, b, up_to(a, n)) == 0) {
				n++;
			}
			len = up_to(a, n);
			cr_assert(!a[len] || !b[up_to(b, n)] ||
					  (n > 0 && up_to(a, n - 1) != up_to(b, n - 1)) ||
					  (!memchr(a, '*', len) && !memchr(b, '*', up_to(b, n))),
				  "%s and %s", nth_row(i)->id, nth_row(k)->id);
		}
	}
}

/* What can never be built again: nothing that removes may name it, nor a name below it. */
Test(rules, nothing_names_what_is_never_removed)
{
	size_t n = 0;

	for (size_t i = 0; i < ctm_rules_n; i++) {
		for (size_t k = 0; k < ctm_rules_all[i]->n_never; k++) {
			const char *path = ctm_rules_all[i]->never[k];
			const struct ctm_rule *rule = ctm_rules_match(path, strlen(path), NULL);
			CLEANUP(ctm_buf_done) struct ctm_buf below = { 0 };

			cr_assert(!rule || rule->kind == CTM_RULE_DATABASE, "%s: %s", path,
				  rule ? rule->id : "");
			cr_assert(ctm_rules_never(path, strlen(path)), "%s", path);
			cr_assert_eq(ctm_buf_addf(&below, "%s/x", path), 0);
			cr_assert(ctm_rules_never(below.p, below.len), "%s", below.p);
			n++;
		}
	}
	cr_assert_gt(n, 30);
	for (size_t i = 0; nth_row(i); i++) {
		const struct ctm_rule *row = nth_row(i);
		bool kept = row->kind == CTM_RULE_DATABASE || row->kind == CTM_RULE_UNFINISHED;

		cr_assert_eq(ctm_rules_never(row->at, strlen(row->at)), kept, "%s", row->id);
	}
}

static const char *const kept[] = {
	"var/lib/rpm/Packages",
	"var/lib/rpm/rpmdb.sqlite-wal",
	"usr/lib/sysimage/rpm/Packages.db",
	"usr/lib/sysimage/rpm/rpmdb.sqlite",
	"var/db/xbps/pkgdb-0.38.plist",
	"var/lib/dpkg/updates/0001",
	"var/lib/dpkg/info/bash.list",
	"var/lib/dpkg/status",
	"var/cache/debconf/config.dat",
	"var/cache/debconf/templates.dat",
	"lib/apk/db/installed",
	"usr/lib/apk/db/installed",
	"lib/apk/db/scripts.tar",
	"var/lib/pacman/local/ALPM_DB_VERSION",
	"var/lib/pacman/local/a-1-1/desc",
};

CASES(rules, never, kept)
{
	cr_assert(ctm_rules_never(kept[*i], strlen(kept[*i])), "%s", kept[*i]);
	cr_assert(!ctm_rules_never(kept[*i], 3), "%s", kept[*i]);
}

Test(rules, required_directories)
{
	static const char *const want[] = {
		"root",          "usr/share/locale",  "var/cache/apt",  "var/lib/apt",
		"var/log/apt",   "var/lib/dpkg",      "var/lib/rpm",    "usr/lib/sysimage/rpm",
		"var/cache/dnf", "var/cache/libdnf5", "var/lib/pacman", "var/db/xbps",
		"lib/apk",       "var/cache/zypp",    "var/lib/yum",    "var/cache/pacman",
	};
	const struct ctm_rules *of;
	size_t n = 0;

	for (; ctm_required_dir(n, &of); n++) {
		cr_assert_eq(of != NULL, n >= 2, "%zu", n);
		for (size_t k = 0; k < n; k++) {
			cr_assert(strcmp(ctm_required_dir(n, &of), ctm_required_dir(k, &of)) != 0 ||
				  strcmp(ctm_required_dir(n, &of), "var/lib/dnf") == 0);
		}
	}
	cr_assert_null(ctm_required_dir(n, &of));
	cr_assert_null(ctm_required_dir(n + 1000, &of));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++) {
			found = found || strcmp(ctm_required_dir(k, &of), want[i]) == 0;
		}
		cr_assert(found, "%s", want[i]);
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
	{ "lib/apk/db/lock", "apk.lock" },
	{ "usr/lib/apk/db/lock", "apk.usr-lock" },
	{ "run/apk/db.lock", "apk.run-lock" },
	{ "var/cache/apk/.apknew.bash-5.2.apk", "apk.partial2" },
	{ "var/cache/apk/.apknew.", NULL }, /* "*" is one byte or more */
	{ "var/cache/apk/bash-5.2.apk.tmp", "apk.partial3" },
	{ "var/cache/apk/.tmp", NULL },
	{ "var/cache/apk/bash-5.2.apk", NULL },
	{ "var/cache/apk/x.tmp/y", NULL },
	{ "lib/apk/db/installed", NULL },
	{ "var/lib/pacman/db.lck", "pacman.lock" },
	{ "var/cache/pacman/pkg/a-1-1-any.pkg.tar.zst.part", "pacman.partial" },
	{ "var/cache/pacman/pkg/a-1-1-any.pkg.tar.zst", NULL },
	{ "var/cache/pacman/pkg/download-AbCdEf/a.part", "pacman.download-partial" },
	{ "var/cache/pacman/pkg/download-/a.part", NULL },
	{ "var/cache/pacman/pkg/download-AbCdEf/b/a.part", NULL },
	{ "var/lib/pacman/sync/core.db", NULL },
	{ "var/lib/pacman/sync/core.db.part", "pacman.sync-partial" },
	{ "var/lib/rpm/__db.001", "rpm.environment" },
	{ "var/lib/rpm/.rpm.lock", "rpm.lock" },
	{ "usr/lib/sysimage/rpm/.rpm.lock", "rpm.usr-lock" },
	{ "var/lib/rpm/Packages", NULL },
	{ "var/lib/rpm/rpmdb.sqlite", NULL },
	{ "var/cache/dnf/fedora.solv", "dnf.solv" },
	{ "var/cache/dnf/fedora-filenames.solvx", "dnf.solvx" },
	{ "var/cache/dnf/metadata_lock.pid", "dnf.metadata-lock" },
	{ "var/cache/dnf/fedora-0123/repodata/repomd.xml", NULL },
	{ "var/lib/dnf/rpmdb_lock.pid", "dnf.rpmdb-lock" },
	{ "var/lib/dnf/history.sqlite", NULL },
	{ "var/log/log_lock.pid", "dnf.log-lock" },
	{ "var/cache/libdnf5/fedora-0123/solv/fedora.solv", "dnf5.solv" },
	{ "var/cache/libdnf5/fedora-0123/repodata/repomd.xml", NULL },
	{ "usr/lib/sysimage/libdnf5/system-repo.lock", "dnf5.system-lock" },
	{ "usr/lib/sysimage/libdnf5/packages.toml", NULL },
	{ "run/yum.pid", "yum.pid" },
	{ "run/zypp.pid", "zypper.pid" },
	{ "var/cache/zypp/solv/@System/solv", "zypper.solv" },
	{ "var/cache/zypp/solv/@System/cookie", NULL },
	{ "var/cache/zypp/solv/solv", NULL },
	{ "var/cache/xbps/a.xbps.part", "xbps.partial" },
	{ "var/db/xbps/lock", "xbps.lock" },
	{ "var/db/xbps/pkgdb-0.38.plist", "xbps.pkgdb" },
	{ "var/db/xbps/.a-files.plist", NULL },
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
	{ "var/log", true },
	{ "var/log/apt", false },
	{ "var/cache/libdnf5/any", true },
	{ "var/cache/libdnf5/any/solv", true },
	{ "var/cache/libdnf5/any/other", false },
	{ "var/cache/pacman/pkg/download-x", true },
	{ "var/cache/pacman/pkg/other", false },
	{ "var/cache/dnf/x.solv", false },
	{ "usr", true },
	{ "usr/share", false },
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

/* As libdnf 0.69 and libzypp 17.25 of Debian 12 wrote them. */
#define SOLV_DNF  "SOLV\0\0\0\x09\0\0\0\x11\0\0\0\0\0\0\0\0\0\0\0\x09\0\0\0\x03\0\0\0\x1c"
#define SOLV_ZYPP "SOLV\0\0\0\x08\0\0\0\x06\0\0\0\0\0\0\0\0\0\0\0\x03\0\0\0\x02\0\0\0\0"

static const struct {
	const char *name;
	struct ctm_bytes head;
	unsigned long long size;
	bool damaged;
} solvs[] = {
	{ "as dnf wrote it", BYTES(SOLV_DNF), 419, false },
	{ "as libzypp wrote it", BYTES(SOLV_ZYPP), 57, false },
	{ "a header and nothing else", BYTES(SOLV_ZYPP), 32, false },
	{ "cut in its header", BYTES("SOLV\0\0\0\x09"), 31, true },
	{ "empty", { .p = "", .len = 0 }, 0, true },
	{ "empty and not read", { .p = NULL }, 0, true },
	{ "zeroes, as after a power loss", BYTES(ZEROES), 419, true },
	{ "text", BYTES("<?xml version=\"1.0\"?><repomd>"), 419, true },
	{ "not read: unknown, not damaged", { .p = NULL }, 419, false },
	{ "read in part: unknown, not damaged", BYTES("SO"), 419, false },
};

CASES(rules, solv_header, solvs)
{
	static const char *const paths[] = {
		"var/cache/dnf/a.solv",
		"var/cache/dnf/a-filenames.solvx",
		"var/cache/libdnf5/a-1/solv/a.solv",
		"var/cache/libdnf5/a-1/solv/a-group.solvx",
		"var/cache/zypp/solv/a/solv",
	};

	for (size_t k = 0; k < ARRAY_LEN(paths); k++) {
		const struct ctm_rule *rule = ctm_rules_match(paths[k], strlen(paths[k]), NULL);

		cr_assert(rule && rule->damaged, "%s: %s", solvs[*i].name, paths[k]);
		cr_assert_eq(rule->damaged(solvs[*i].head, solvs[*i].size), solvs[*i].damaged,
			     "%s: %s", solvs[*i].name, rule->id);
	}
}
