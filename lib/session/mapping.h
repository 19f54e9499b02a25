/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * map: the volumes of a container, their maps, and what is wrong with them.
 */
#ifndef CTM_SESSION_MAPPING_H
#define CTM_SESSION_MAPPING_H

#include "session/session.h"

/** Zero-initialise. */
struct ctm_mapping {
	struct ctm_target *target;
	/*
	 * The container's map as it is written, in the configuration's order, the built-in default
	 * spelled out: "u 0 100000 65536". Empty for a privileged container, and where Proxmox VE
	 * cannot read a line of it.
	 */
	CTM_VEC(char *) idmap;
	bool builtin;      /* no line is written: it is Proxmox VE's default */
	char *idmap_error; /* what Proxmox VE says of a line that it cannot read, or NULL */
	/* Why there is no map to work with; code CTM_OK: target->map is one. */
	struct ctm_err refused;
	struct ctm_plan *lint; /* the findings; no actions */
	char *note;            /* why the accounts inside were not looked at, or NULL */
};
void ctm_mapping_done(struct ctm_mapping *mapping);

/**
 * A target whose map is not to be read, or whose volumes are not to be worked on, is no error here:
 * that is what map explains. The rootfs is attached read-only for its passwd and group, if that can
 * be had without waiting for anybody.
 */
int ctm_session_mapping(const char *name, const struct ctm_session_opts *opts,
			struct ctm_mapping *ret, struct ctm_err *err);

#endif
