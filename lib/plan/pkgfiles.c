/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of a plan's paths are files of packages.
 */
#include "plan/pkgfiles.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "rules/rules.h"

#define SLOTS        ((size_t)4 * CTM_PKGFILES_PATHS) /* a power of two */
#define PROBES       64                               /* slots that a path may lie behind its own */
#define PACKAGES_MAX 4096 /* with hits; each has at least one path of its own */

struct slot {
	const char *path; /* the plan's; NULL: free */
	size_t len;
	uint32_t times;   /* lists that have it, up to 2 */
	uint32_t package; /* the last of them */
};

struct package {
	char name[CTM_PKGFILES_NAME];
	uint32_t n;
};

struct ctm_pkgfiles {
	struct slot *slot;
	size_t looked;
	CTM_VEC(struct package) packages;
	bool lists;
};

static uint64_t hash(const char *p, size_t len)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < len; i++) {
		h = (h ^ (unsigned char)p[i]) * UINT64_C(1099511628211);
	}
	return h ^ h >> 29;
}

/*
 * The slot of a path, or the free one where it would go; at most a quarter of them is in use. NULL:
 * none is near. Names that fall together by chance never get there, only ones that somebody chose
 * for it.
 */
static struct slot *find(const struct ctm_pkgfiles *files, const char *path, size_t len)
{
	size_t at = hash(path, len) & (SLOTS - 1);

	for (int i = 0; i < PROBES; i++) {
		struct slot *slot = &files->slot[at];

		if (!slot->path || (slot->len == len && memcmp(slot->path, path, len) == 0)) {
			return slot;
		}
		at = (at + 1) & (SLOTS - 1);
	}
	return NULL;
}

static bool is_next(const struct ctm_finding *f, const struct ctm_finding *prev)
{
	return !prev || prev->path_len != f->path_len ||
	       memcmp(prev->path, f->path, f->path_len) != 0;
}

/* Takes every step-th path of the code; files NULL: none. Returns how many there are. */
static size_t take_paths(const struct ctm_plan *plan, enum ctm_finding_code code,
			 struct ctm_pkgfiles *files, size_t step)
{
	const struct ctm_finding *prev = NULL;
	size_t n = 0;

	for (size_t i = 0; i < plan->findings.n; i++) {
		const struct ctm_finding *f = &plan->findings.v[i];

		ctm_spill_pass(plan->spill);
		if (f->code != code || !f->path || !is_next(f, prev)) {
			continue;
		}
		prev = f;
		if (files && n % step == 0) {
			struct slot *slot = find(files, f->path, f->path_len);

			if (slot) {
				files->looked += slot->path == NULL;
				slot->path = f->path;
				slot->len = f->path_len;
			}
		}
		n++;
	}
	return n;
}

int ctm_pkgfiles_new(const struct ctm_plan *plan, enum ctm_finding_code code,
		     struct ctm_pkgfiles **ret)
{
	struct ctm_pkgfiles *files = calloc(1, sizeof(*files));
	size_t n;

	if (!files) {
		return -ENOMEM;
	}
	files->slot = calloc(SLOTS, sizeof(*files->slot));
	if (!files->slot) {
		ctm_pkgfiles_free(files);
		return -ENOMEM;
	}
	n = take_paths(plan, code, NULL, 1);
	(void)take_paths(plan, code, files, (n + CTM_PKGFILES_PATHS - 1) / CTM_PKGFILES_PATHS);
	*ret = files;
	return 0;
}

void ctm_pkgfiles_free(struct ctm_pkgfiles *files)
{
	if (files) {
		ctm_vec_done(&files->packages);
		free(files->slot);
		free(files);
	}
}

/* As deb-control(5) allows; dpkg puts ":amd64" behind the name of one that may be there twice. */
static bool is_package(const char *name, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

		if (!letter && (i == 0 || (c != '+' && c != '-' && c != '.'))) {
			return false;
		}
	}
	return len > 0 && len < CTM_PKGFILES_NAME;
}

/* Of the package whose list is being read: made with the first of its paths that matters. */
static int count(struct ctm_pkgfiles *files, struct slot *slot, const char *name, size_t len,
		 bool *made)
{
	if (!*made) {
		struct package one = { .n = 0 };

		if (files->packages.n == PACKAGES_MAX) {
			slot->times = 2; /* it has an owner, whose name does not matter any more */
			return 0;
		}
		memcpy(one.name, name, len);
		if (ctm_vec_push(&files->packages, &one) < 0) {
			return -ENOMEM;
		}
		*made = true;
	}
	if (slot->times == 1 && slot->package == files->packages.n - 1) {
		return 0; /* twice in one list */
	}
	slot->times += slot->times < 2;
	slot->package = (uint32_t)(files->packages.n - 1);
	return 0;
}

/* Directories that have become links into usr. */
static bool was_merged(const char *path, size_t len)
{
	static const char *const dirs[] = { "bin/", "sbin/", "lib/", "lib32/", "lib64/" };

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		size_t n = strlen(dirs[i]);

		if (len > n && memcmp(path, dirs[i], n) == 0) {
			return true;
		}
	}
	return false;
}

static struct slot *find_line(const struct ctm_pkgfiles *files, const char *path, size_t len)
{
	char merged[PATH_MAX + 4] = "usr/";
	struct slot *slot = find(files, path, len);

	if ((!slot || !slot->path) && was_merged(path, len)) {
		memcpy(merged + 4, path, len);
		slot = find(files, merged, len + 4);
	}
	return slot && slot->path ? slot : NULL;
}

int ctm_pkgfiles_list(struct ctm_pkgfiles *files, const char *package, size_t len,
		      struct ctm_bytes list)
{
	const char *arch = memchr(package, ':', len);
	const size_t name_len = arch ? (size_t)(arch - package) : len;
	const char *p = list.p;
	const char *end = p + list.len;
	bool made = false;

	if (!is_package(package, name_len)) {
		return 0;
	}
	files->lists = true;
	while (p < end) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *stop = newline ? newline : end;
		struct slot *slot = NULL;

		if (*p == '/' && stop - p > 1 && stop - p < PATH_MAX) {
			slot = find_line(files, p + 1, (size_t)(stop - p) - 1);
		}
		if (slot && count(files, slot, package, name_len, &made) < 0) {
			return -ENOMEM;
		}
		p = stop + 1;
	}
	return 0;
}

static bool is_own(const struct slot *slot)
{
	for (size_t i = 0; i < ctm_rules_n; i++) {
		for (size_t k = 0; k < ctm_rules_all[i]->n_dirs; k++) {
			const char *dir = ctm_rules_all[i]->dirs[k];

			if (ctm_path_within(slot->path, slot->len, dir, strlen(dir))) {
				return true;
			}
		}
	}
	return false;
}

static int more_first(const void *pa, const void *pb)
{
	const struct package *a = pa;
	const struct package *b = pb;

	if (a->n != b->n) {
		return a->n > b->n ? -1 : 1;
	}
	return strcmp(a->name, b->name);
}

void ctm_pkgfiles_found(struct ctm_pkgfiles *files, struct ctm_pkgfiles_found *ret)
{
	struct ctm_pkgfiles_found found = { .looked = files->looked, .lists = files->lists };
	struct package *sorted = files->packages.v;
	size_t n = files->packages.n;

	for (size_t i = 0; i < SLOTS; i++) {
		const struct slot *slot = &files->slot[i];

		if (!slot->path) {
			continue;
		}
		if (slot->times == 1) {
			sorted[slot->package].n++;
		}
		found.listed += slot->times > 0;
		found.own += slot->times == 0 && is_own(slot);
	}
	if (n) {
		qsort(sorted, n, sizeof(*sorted), more_first);
	}
	for (size_t i = 0; i < n && sorted[i].n > 0; i++) {
		if (found.n_names < CTM_PKGFILES_NAMES) {
			memcpy(found.names[found.n_names++], sorted[i].name, CTM_PKGFILES_NAME);
		}
		found.packages++;
	}
	*ret = found;
}
