/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A container's id map, from its configuration.
 */
#ifndef CTM_CONFIG_CTMAP_H
#define CTM_CONFIG_CTMAP_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "config/lxcconf.h"
#include "config/pctconf.h"
#include "id/idmap.h"

/** Zero-initialise. */
struct ctm_ctmap {
	struct ctm_idmap *map; /* container id -> host id; empty for a privileged container */
	CTM_VEC(char *)
	lines; /* "u 0 100000 65536", in the configuration's order, a default spelled out */
	bool privileged; /* there is no map: ids inside and outside are the same */
};
void ctm_ctmap_done(struct ctm_ctmap *ctmap);

/**
 * Whether the map depends on the version of Proxmox VE: there are lxc.id_map lines, which are a map
 * up to pve-container 4 (PVE 7) and nothing since 5 (PVE 8).
 */
bool ctm_ctmap_needs_version(const struct ctm_pctsection *section);

/**
 * Proxmox VE: the lxc.idmap lines, also with "unprivileged: 0"; without one the default map
 * when "unprivileged" is true (LXC.pm parse_id_maps). major: that of the package pve-container, 0
 * for unknown; it counts when ctm_ctmap_needs_version(). CTM_REFUSED, never the default, when it is
 * needed and unknown, when a line is not to be read, is read differently by LXC, or when only one
 * kind of ids is mapped. ctm_ctmap_done() in any case.
 */
int ctm_ctmap_from_pct(const struct ctm_pctsection *section, unsigned int major,
		       struct ctm_ctmap *ret, struct ctm_err *err);

/**
 * Whether Proxmox VE reads this value of lxc.idmap, be it right or not: one letter u or g and three
 * decimal numbers (LXC.pm parse_id_maps).
 */
bool ctm_ctmap_pct_reads(const char *value);

/** Appends the words of a value with one blank between them. -ENOMEM. */
int ctm_ctmap_words(const char *value, struct ctm_buf *ret);

/**
 * LXC: the lxc.idmap entries since the last empty one; none of them: privileged. CTM_REFUSED as
 * above, and for lxc.id_map, which no LXC since 3.0 reads.
 */
int ctm_ctmap_from_lxc(const struct ctm_lxcconf *conf, struct ctm_ctmap *ret, struct ctm_err *err);

#endif
