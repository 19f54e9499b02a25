/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What map shows: the maps of a container's volumes, ids translated, and the lint.
 */
#ifndef CTM_REPORT_MAP_H
#define CTM_REPORT_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "session/mapping.h"

struct ctm_map_report {
	const char *name; /* the target as the user named it */
	const struct ctm_mapping *mapping;
	/* Whose map translates the ids; NULL: those of all volumes that have one. */
	const struct ctm_volume *volume;
	const uint32_t *ids;
	size_t n_ids;
	bool verbose;
	bool color;
};

/** For people. 0, or -ENOMEM. */
int ctm_map_text(FILE *out, const struct ctm_map_report *rep);

/**
 * For programs, one object: "idmap" in the configuration's order, "root" ([uid, gid] on disk; null
 * for one that is not mapped, or where there is no map), "unprivileged", "lock" and "template" as
 * the configuration has them (null where it says nothing), "volumes", "ids", "findings", "error"
 * where there is no map to work with. 0, -ENOMEM, -EIO.
 */
int ctm_map_json(FILE *out, const struct ctm_map_report *rep);
/** The same object of a target that is not to be found. */
int ctm_map_json_error(FILE *out, const char *name, const struct ctm_err *err);

/** "volume", "bind", "device" (as Proxmox VE calls them), "path": neither of these. Static. */
const char *ctm_map_volume_type(const struct ctm_volume *volume, const struct ctm_target *target);

#endif
