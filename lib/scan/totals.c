/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting while scanning. */
#include "scan/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TABLE_FIRST 64   /* slots */
#define TABLE_LARGE 1024 /* ids */

void ctm_scan_totals_done(struct ctm_scan_totals *totals)
{
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		free(totals->ids[kind].v);
	}
	*totals = (struct ctm_scan_totals){ 0 };
}

void ctm_source_free(struct ctm_source *src)
{
	if (src) {
		src->ops->free(src);
	}
}

void ctm_tally_done(struct ctm_tally *tally)
{
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		free(tally->ids[kind].slot);
	}
	*tally = (struct ctm_tally){ 0 };
}

/* The slot of this id, or the free one where it would go. There always is a free one. */
static struct ctm_id_slot *find_slot(const struct ctm_id_table *table, uint32_t id)
{
	/* The middle of a product with 2^64 divided by the golden ratio: ids of one base spread. */
	size_t at = (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table->size - 1);

	while (table->slot[at].sum != 0 && table->slot[at].id != id) {
		at = (at + 1) & (table->size - 1);
	}
	return &table->slot[at];
}

static int grow(struct ctm_id_table *table)
{
	struct ctm_id_table bigger = *table;

	bigger.size = table->size ? 2 * table->size : TABLE_FIRST;
	bigger.slot = calloc(bigger.size, sizeof(*bigger.slot));
	if (!bigger.slot) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->size; i++) {
		if (table->slot[i].sum != 0) {
			*find_slot(&bigger, table->slot[i].id) = table->slot[i];
		}
	}
	free(table->slot);
	*table = bigger;
	return 0;
}

static void add_id(struct ctm_id_table *table, uint32_t id, uint64_t sum)
{
	struct ctm_id_slot *slot = table->size ? find_slot(table, id) : NULL;

	if (slot && slot->sum != 0) {
		slot->sum += sum;
		return;
	}
	if (table->n == CTM_ID_COUNT_MAX || (table->n >= table->size / 2 && grow(table) < 0)) {
		table->other += sum;
		return;
	}
	*find_slot(table, id) = (struct ctm_id_slot){ .sum = sum, .id = id };
	table->n++;
}

/* A directory has more links than names, and its names cannot be more than one. */
static uint64_t share(uint32_t mode, uint32_t nlink)
{
	return nlink <= 1 || S_ISDIR(mode) ? CTM_TALLY_ONE : CTM_TALLY_ONE / nlink;
}

void ctm_tally_inode(struct ctm_tally *tally, const struct ctm_sieve *sieve, unsigned int off,
		     uint32_t mode, uint32_t nlink, ctm_did uid, ctm_did gid)
{
	const uint64_t sum = share(mode, nlink);
	const ctm_did id[2] = { [CTM_UID] = uid, [CTM_GID] = gid };

	tally->dirs += S_ISDIR(mode);
	tally->inodes += sum;
	tally->nobody[CTM_UID] += uid.v == sieve->nobody[CTM_UID].v ? sum : 0;
	tally->nobody[CTM_GID] += gid.v == sieve->nobody[CTM_GID].v ? sum : 0;
	if (off == 0) {
		return;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		if ((off & CTM_OFF(kind)) == 0) {
			continue;
		}
		add_id(&tally->ids[kind], id[kind].v, sum);
		if (sieve->map && (off & CTM_FROM(kind)) == 0 &&
		    ctm_idmap_in_ct(sieve->map, kind, (ctm_cid){ id[kind].v })) {
			tally->host[kind] += sum;
		}
	}
}

void ctm_tally_merge(struct ctm_tally *into, struct ctm_tally *from)
{
	into->entries += from->entries;
	into->dirs += from->dirs;
	into->errors += from->errors;
	into->subvolumes += from->subvolumes;
	into->inodes += from->inodes;
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		const struct ctm_id_table *ids = &from->ids[kind];

		into->host[kind] += from->host[kind];
		into->nobody[kind] += from->nobody[kind];
		into->ids[kind].other += ids->other;
		for (size_t i = 0; i < ids->size; i++) {
			if (ids->slot[i].sum != 0) {
				add_id(&into->ids[kind], ids->slot[i].id, ids->slot[i].sum);
			}
		}
	}
	ctm_tally_done(from);
}

bool ctm_tally_large(const struct ctm_tally *tally)
{
	return tally->ids[CTM_UID].n > TABLE_LARGE || tally->ids[CTM_GID].n > TABLE_LARGE;
}

static uint64_t rounded(uint64_t sum)
{
	return (sum >> 32) + ((sum >> 31) & 1);
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct ctm_id_count *)a)->id;
	uint32_t y = ((const struct ctm_id_count *)b)->id;

	return (x > y) - (x < y);
}

static int finish_ids(const struct ctm_id_table *table, struct ctm_id_histogram *ret)
{
	struct ctm_id_histogram ids = { .other = rounded(table->other) };

	if (table->n == 0) {
		*ret = ids;
		return 0;
	}
	ids.v = calloc(table->n, sizeof(*ids.v));
	if (!ids.v) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->size; i++) {
		const struct ctm_id_slot *slot = &table->slot[i];
		uint64_t n = rounded(slot->sum);

		if (slot->sum != 0) {
			ids.v[ids.n++] = (struct ctm_id_count){ slot->id, n ? n : 1 };
		}
	}
	qsort(ids.v, ids.n, sizeof(*ids.v), by_id);
	*ret = ids;
	return 0;
}

int ctm_tally_finish(const struct ctm_tally *tally, struct ctm_scan_totals *ret)
{
	struct ctm_scan_totals totals = {
		.entries = tally->entries,
		.inodes = rounded(tally->inodes),
		.dirs = tally->dirs,
		.errors = tally->errors,
		.subvolumes = tally->subvolumes,
	};

	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		int r = finish_ids(&tally->ids[kind], &totals.ids[kind]);

		if (r < 0) {
			ctm_scan_totals_done(&totals);
			return r;
		}
		totals.host[kind] = rounded(tally->host[kind]);
		totals.nobody[kind] = rounded(tally->nobody[kind]);
	}
	*ret = totals;
	return 0;
}
