/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a lock: line means.
 */
#include "config/pctlock.h"

#include <string.h>

#include "base/cleanup.h"

/* Sorted by name; the last row is for any other text. */
static const struct ctm_pctlock rows[] = {
	{ "backup", "a backup (vzdump) is at work, or one has died",
	  "wait for the backup, or see that none is running", "unlock" },
	{ "create", "the container is being created or restored, or that has failed",
	  "wait for the task; what was never filled is restored again, not repaired", "unlock" },
	{ "destroyed", "the container is being removed",
	  "see whether it is to stay; if not, remove it with pct destroy, else", "unlock" },
	{ "disk", "a volume is being moved or resized, or that has failed",
	  "wait for the task, and look for a volume that was copied in part", "unlock" },
	{ "fstrim", "pct fstrim is at work, or has died",
	  "wait for it, and look for a mount it has left", "unlock" },
	{ "migrate", "the container is moving to another node, or that has failed",
	  "see on which node its volumes are now", "unlock" },
	{ "mounted", "pct mount holds it for somebody who works in it",
	  "look for the mount and for who uses it", "unmount" },
	{ "rollback", "a rollback to a snapshot is at work, or has failed",
	  "roll back again; until that is done the volume is in between", "unlock" },
	{ "snapshot", "a snapshot is being taken, or that has failed",
	  "wait for the task, and remove half a snapshot with pct delsnapshot --force", "unlock" },
	{ "snapshot-delete", "a snapshot is being removed, or that has failed",
	  "remove it again with pct delsnapshot --force", "unlock" },
	{ NULL, "some program has locked it", "find out which one, and wait for it", "unlock" },
};

const struct ctm_pctlock *ctm_pctlock(const char *name)
{
	const struct ctm_pctlock *row = rows;

	while (row->name && strcmp(row->name, name) != 0) {
		row++;
	}
	return row;
}
