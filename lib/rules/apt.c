/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * apt: its locks, the two binary caches, and unfinished downloads.
 */
#include <stdint.h>

#include "base/cleanup.h"
#include "rules/rules.h"

/*
 * The header of both caches (apt-pkg/pkgcache.h), in the byte order of the machine: of the
 * container's, which is little endian wherever this program runs for it. Up to apt 1.0 the version
 * numbers have two bytes, since then one:
 *
 *	byte  0  signature 0x98FE76DC
 *	      4  major, minor, dirty: each one byte, then one of padding, size of the header: two
 *	      4  major, minor: each two bytes, dirty: one, padding, size of the header: two
 *
 * Dirty is 0 or 1 and no header is that small, so the word at 8 tells the layouts apart.
 */
#define SIGNATURE    0x98FE76DCU
#define HEADER_LEAST 64U
#define FIXED_LEN    12U

/* The layout of the fields behind them, as apt 1.9 and later write it. */
#define MAJOR_KNOWN 16U

static uint32_t le16(const unsigned char *p)
{
	return (uint32_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const unsigned char *p)
{
	return le16(p) | le16(p + 2) << 16;
}

/* The header counts the groups and packages that stand in the file, so it cannot be smaller. */
static bool too_small(const unsigned char *p, size_t len, unsigned long long size)
{
	unsigned long long groups;
	unsigned long long packages;

	if (len < 32 || p[4] != MAJOR_KNOWN) {
		return false;
	}
	groups = (unsigned long long)le32(p + 24) * p[10];
	packages = (unsigned long long)le32(p + 28) * p[11];
	return size < le16(p + 8) + groups + packages;
}

/*
 * What apt itself calls corrupted (pkgCache::ReMap), as far as the first bytes show it. A cache of
 * another version of apt is not damaged. apt rebuilds one that it does not like, but only where it
 * may write: this is about the leftovers of a run that died.
 */
static bool cache_damaged(struct ctm_bytes head, unsigned long long size)
{
	const unsigned char *p = head.p;
	uint32_t header;
	bool dirty;

	if (size < FIXED_LEN) {
		return true;
	}
	if (!p || head.len < FIXED_LEN) {
		return false; /* it was not read: nothing is known */
	}
	if (le32(p) != SIGNATURE) {
		return true;
	}
	if (le16(p + 8) >= HEADER_LEAST) {
		dirty = p[6] != 0;
		header = le16(p + 8);
		if (too_small(p, head.len, size)) {
			return true;
		}
	} else {
		dirty = p[8] != 0;
		header = le16(p + 10);
	}
	return dirty || size < header;
}

static const struct ctm_rule rows[] = {
	{
		.id = "apt.archives-lock",
		.at = "var/cache/apt/archives/lock",
		.kind = CTM_RULE_LOCK,
		.why = "apt's lock on downloaded packages; apt makes a new one",
	},
	{
		.id = "apt.archives-partial",
		.at = "var/cache/apt/archives/partial/*",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a package; apt fetches it again",
	},
	{
		.id = "apt.pkgcache",
		.at = "var/cache/apt/pkgcache.bin",
		.kind = CTM_RULE_CACHE,
		.why = "apt's cache of package lists and status; apt builds it again",
		.damaged = cache_damaged,
	},
	{
		.id = "apt.srcpkgcache",
		.at = "var/cache/apt/srcpkgcache.bin",
		.kind = CTM_RULE_CACHE,
		.why = "apt's cache of package lists; apt builds it again",
		.damaged = cache_damaged,
	},
	{
		.id = "apt.lists-lock",
		.at = "var/lib/apt/lists/lock",
		.kind = CTM_RULE_LOCK,
		.why = "apt's lock on package lists; apt makes a new one",
	},
	{
		.id = "apt.lists-partial",
		.at = "var/lib/apt/lists/partial/*",
		.kind = CTM_RULE_LEFTOVER,
		.why = "an unfinished download of a package list; apt fetches it again",
	},
};

static const char *const never[] = {
	"var/lib/apt/extended_states", /* which packages nobody asked for */
};

static const char *const dirs[] = { "var/cache/apt", "var/lib/apt", "var/log/apt" };

const struct ctm_rules ctm_rules_apt = {
	.name = "apt",
	.present_if = "var/lib/dpkg/status",
	.rows = rows,
	.n = ARRAY_LEN(rows),
	.never = never,
	.n_never = ARRAY_LEN(never),
	.dirs = dirs,
	.n_dirs = ARRAY_LEN(dirs),
};
