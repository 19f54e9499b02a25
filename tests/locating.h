/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For the tests of locate: a call with a scratch directory for the host, and checks of the result.
 */
#ifndef CTM_TESTS_LOCATING_H
#define CTM_TESTS_LOCATING_H

#include "sysroot.h"
#include "target/target.h"

#define DEFAULT_MAP "u 0 100000 65536, g 0 100000 65536"

/** Node pve1 of a cluster with pve2; container 115, VM 200; on pve2 container 116, VM 201. */
void make_cluster(const struct scratch *s);

int locate(const struct scratch *s, const char *name, const struct ctm_target_opts *opts,
	   struct ctm_target **ret, struct ctm_err *err);

/** want: as ctm_idmap_format() writes it, or NULL for no map at all. */
void check_map(const char *name, const struct ctm_idmap *map, const char *want);

/** r and err are those of a refusal with these words in its message and its hint. */
void check_refused(const char *name, int r, const struct ctm_err *err, const char *msg,
		   const char *hint);

#endif
