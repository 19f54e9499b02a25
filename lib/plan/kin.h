/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other maps that ids of a volume may have been written under: what the host and the container's
 * configuration know of them.
 */
#ifndef CTM_PLAN_KIN_H
#define CTM_PLAN_KIN_H

#include <stddef.h>

#include "id/idmap.h"

/** Another map of this very container. */
struct ctm_kin_map {
	const struct ctm_idmap *map;
	const char *name; /* where it stands: "the section [before]" */
};

/** A range that is somebody's on this host: of another container, or granted in /etc/subuid. */
struct ctm_kin_base {
	enum ctm_idkind kind;
	struct ctm_range range;
	const char *owner; /* "container 116", "/etc/subuid" */
};

/** Borrowed by the plan; the order counts: of two that hold an id, the first one. */
struct ctm_kin {
	const struct ctm_kin_map *maps; /* without Proxmox VE's default map, which is always one */
	size_t n_maps;
	const struct ctm_kin_base *bases;
	size_t n_bases;
};

#endif
