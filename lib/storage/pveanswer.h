/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What share/pve-storage.pl answers.
 *
 *	ctmend-pve 1
 *	path PATH
 *	format FORMAT
 *	base 0|1
 *	active 0|1
 *	end
 *
 * To "detach" the first and the last line alone. Nothing else is an answer: what a plugin prints
 * must not be taken for one.
 */
#ifndef CTM_STORAGE_PVEANSWER_H
#define CTM_STORAGE_PVEANSWER_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/err.h"

/** Longer ones are refused. */
#define CTM_PVE_ANSWER_MAX 8192

/** Zero-initialise. */
struct ctm_pve_answer {
	char *path;         /* absolute, owned; NULL: the library has none */
	const char *format; /* "raw" or "subvol"; static */
	bool base;          /* a template's base volume */
	bool active;        /* it was accessible before */
};
void ctm_pve_answer_done(struct ctm_pve_answer *answer);

/**
 * CTM_REFUSED for what is no such answer, also when it is cut short, for a path that is not
 * absolute, has control bytes or a part that climbs, and for a format that no container has.
 */
int ctm_pve_answer_parse(struct ctm_bytes text, struct ctm_pve_answer *ret, struct ctm_err *err);
/** The same for the answer to "detach". */
int ctm_pve_answer_parse_done(struct ctm_bytes text, struct ctm_err *err);

#endif
