/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The header of a record: who, what, when, on which volume. Layout: run/journal.h.
 */
#ifndef CTM_RUN_JOURNAL_HEADER_H
#define CTM_RUN_JOURNAL_HEADER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"

enum ctm_run_kind { CTM_RUN_REPAIR, CTM_RUN_UNDO };

/** Strings: never NULL, "" for none. */
struct ctm_run_header {
	const char *version;  /* of the program */
	const char *target;   /* "115", or a path */
	const char *volume;   /* "rootfs" */
	const char *identity; /* ctm_identity_format() */
	const char *map;      /* ctm_idmap_format() */
	int64_t time;         /* seconds since 1970 */
	const char *user;
	const char *options;
	enum ctm_run_kind kind;
	const char *undoes; /* run */
	const char *digest;
	const char *run;
	const char *caller; /* "hook", "" for a person */
	const char *from;   /* --from-map as ctm_idmap_format(), "" for none */
	const char *part;   /* an undo of a part: its paths, "" for all of the run */
};

/** Appends the body. -ENOMEM. */
int ctm_header_put(const struct ctm_run_header *header, struct ctm_buf *ret);
/**
 * Strings in the arena. -EBADMSG; -EPROTONOSUPPORT: it has a field that must be known and is not.
 */
int ctm_header_get(struct ctm_bytes body, struct ctm_arena *arena, struct ctm_run_header *ret);

#endif
