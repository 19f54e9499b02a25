/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The volumes of a container: those that are its own, each with its map and its records, and those
 * that belong to the host.
 */
#ifndef CTM_SESSION_VOLUMES_H
#define CTM_SESSION_VOLUMES_H

#include "session/session.h"

/** Zero-initialise; ctm_volume_keys_done() frees. */
struct ctm_volume_keys {
	CTM_VEC(char *) v;
};
void ctm_volume_keys_done(struct ctm_volume_keys *keys);

/**
 * The keys of a target's own volumes in their order: "rootfs", "mp0" ..., also of those that cannot
 * be worked on. Left out is what belongs to the host.
 */
int ctm_session_volumes(const char *name, const struct ctm_session_opts *opts,
			struct ctm_volume_keys *ret, struct ctm_err *err);

/**
 * Beside the rootfs: notes which directories and devices of the host the container has mounted,
 * and, unless the user has named a volume, which other volumes were not looked at.
 */
int ctm_volumes_note(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		     struct ctm_err *err);

#endif
