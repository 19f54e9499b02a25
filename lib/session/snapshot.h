/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * repair --snapshot: a snapshot of the container by Proxmox VE itself, before anything is changed.
 */
#ifndef CTM_SESSION_SNAPSHOT_H
#define CTM_SESSION_SNAPSHOT_H

#include "session/session.h"
#include "target/snapshot.h"

/**
 * Takes it when ctm_session_repair() with the same arguments would change something; else *ret is
 * "". No lock is held while pct(1) works, because it takes the same one. CTM_USAGE: not a container
 * of Proxmox VE. CTM_REFUSED: it would be refused a repair, or pct has failed.
 */
int ctm_session_snapshot(const char *name, const struct ctm_session_opts *opts, const char *digest,
			 char ret[static CTM_SNAPSHOT_NAME_MAX], struct ctm_err *err);

#endif
