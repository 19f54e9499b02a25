/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The id map of one volume: which container id is stored as which disk id.
 *
 * uid and gid apart, any number of ranges, holes allowed. Disk ids and container ids are different
 * C types, so mixing them does not compile.
 */
#ifndef CTM_ID_IDMAP_H
#define CTM_ID_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/err.h"

/** The id as stored on the host's file system. */
typedef struct {
	uint32_t v;
} ctm_did;

/** The id as the container sees it. */
typedef struct {
	uint32_t v;
} ctm_cid;

enum ctm_idkind { CTM_UID, CTM_GID };

/** (uid_t)-1: chown(2) reads it as "leave alone", so it is neither a target nor part of a range. */
#define CTM_ID_INVALID UINT32_MAX

/**
 * What the kernel shows in place of an id that a map does not hold (fs.overflowuid, fs.overflowgid,
 * which nobody changes).
 */
#define CTM_ID_OVERFLOW 65534

/** Ranges of one kind: the kernel's limit since Linux 4.15 (user_namespaces(7)). */
#define CTM_IDMAP_MAX 340

/** Length of a range when none is given, and of PVE's default. */
#define CTM_IDMAP_DEFAULT_LEN 65536

struct ctm_range {
	uint32_t ct;   /* first container id */
	uint32_t disk; /* first disk id */
	uint32_t len;  /* at least 1; ct + len - 1 and disk + len - 1 stay below CTM_ID_INVALID */
};

/**
 * Opaque to users; sorted copies for both directions. Lookups change nothing: once it is filled,
 * a map may be used by any number of threads.
 */
struct ctm_idmap;

/** NULL when memory runs out. */
struct ctm_idmap *ctm_idmap_new(void);
void ctm_idmap_free(struct ctm_idmap *map);
static inline void ctm_idmap_freep(struct ctm_idmap **map)
{
	ctm_idmap_free(*map);
}

/**
 * Adds one range. -EINVAL: length 0; -ERANGE: it would hold 4294967295; -EEXIST: it overlaps an
 * earlier range of the kind on the container's or the disk's side; -E2BIG: CTM_IDMAP_MAX ranges are
 * there. The map is then as it was before.
 */
int ctm_idmap_add(struct ctm_idmap *map, enum ctm_idkind kind, struct ctm_range range);

/** PVE's default: u and g 0 100000 65536 (PVE::LXC parse_id_maps; subuid is not read). */
int ctm_idmap_add_default(struct ctm_idmap *map);

/** Every id is itself, as in a container without a map; and how ctm_idmap_format() writes that. */
int ctm_idmap_add_identity(struct ctm_idmap *map);
#define CTM_IDMAP_IDENTITY "u 0 0 4294967295, g 0 0 4294967295"

/**
 * One value of an lxc.idmap key: "u 0 100000 65536"; words apart by spaces, tabs or carriage
 * returns, which PVE and LXC both take. Refused (CTM_REFUSED) with a sentence that names the word
 * and what is expected: another letter, missing or extra words, signs, hex, a leading zero (PVE
 * reads it as decimal, LXC as octal), numbers over 32 bits (-EINVAL, -ERANGE), and what
 * ctm_idmap_add() refuses.
 */
int ctm_idmap_add_line(struct ctm_idmap *map, const char *line, struct ctm_err *err);

/**
 * The --map argument: "100000" (a base for 65536 ids of both kinds), "0:100000:65536" (one range
 * for both kinds), or a list of ranges with or without a kind:
 * "u:0:100000:65536,g:0:100000:65536,...". One kind may stay without a range: whether that is
 * enough is the caller's to say. CTM_USAGE and the errors of ctm_idmap_add_line(). *ret is a new
 * map.
 */
int ctm_idmap_parse_spec(const char *spec, struct ctm_idmap **ret, struct ctm_err *err);

bool ctm_idmap_empty(const struct ctm_idmap *map, enum ctm_idkind kind);
/** Ranges in the order they were added; valid until the map changes. */
const struct ctm_range *ctm_idmap_ranges(const struct ctm_idmap *map, enum ctm_idkind kind,
					 size_t *ret_n);

/** -ERANGE when no range holds it; *ret is untouched then. */
int ctm_idmap_to_disk(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_cid id, ctm_did *ret);
int ctm_idmap_to_ct(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id, ctm_cid *ret);
/** Whether a range holds it on the disk's side: the hot test of every scan. */
bool ctm_idmap_on_disk(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_did id);
bool ctm_idmap_in_ct(const struct ctm_idmap *map, enum ctm_idkind kind, ctm_cid id);

/**
 * Where an id stands under one map that stands at id under another: both mean the same id of the
 * container. False when either has no such id; *ret is untouched then.
 */
bool ctm_idmap_carry(const struct ctm_idmap *from, const struct ctm_idmap *to, enum ctm_idkind kind,
		     ctm_did id, ctm_did *ret);

/**
 * Whether an id that was carried from one map to the other could be carried once more: what was
 * done to a volume cannot be seen on it then.
 */
bool ctm_idmap_carries_twice(const struct ctm_idmap *from, const struct ctm_idmap *to);

/** "u 0 100000 65536, g 0 100000 65536": uids first, in the order added. -ENOMEM. */
int ctm_idmap_format(const struct ctm_idmap *map, struct ctm_buf *out);
/** Whether both send every id to the same place; order and splitting of the ranges do not count. */
bool ctm_idmap_eq(const struct ctm_idmap *a, const struct ctm_idmap *b);

#endif
