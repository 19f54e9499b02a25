/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes of what ctmend made active: <sysroot>/run/ctmend/active/VOLUME, one file for each volume.
 *
 * A note is there before the volume is, and goes after it; a run that was killed in between leaves
 * it, and the next run undoes what it says. Like the activation itself it does not survive a boot.
 * Whoever is at work on the volume holds the note's flock, and so does every program that it has
 * started for that and that still lives: a note whose lock is free was left behind.
 *
 *	ctmend-active 1
 *	vmid 115
 *	volume local-lvm:vm-115-disk-0
 *	path /dev/pve/vm-115-disk-0		once it is known
 */
#ifndef CTM_TARGET_ACTIVENOTE_H
#define CTM_TARGET_ACTIVENOTE_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "target/host.h"

/** Zero-initialise. */
struct ctm_activenote {
	unsigned int vmid; /* the container whose config flock protects it */
	char *volid;
	char *path; /* host path, NULL: not known when the run was killed */
};
void ctm_activenote_done(struct ctm_activenote *note);

/**
 * Writes the note, or takes over one that was left, and holds its lock: *ret_fd, close-on-exec. The
 * caller holds the container's config flock. CTM_REFUSED: a program that a killed run has started
 * is still at work on the volume.
 */
int ctm_activenote_take(const struct ctm_host *host, const struct ctm_activenote *note, int *ret_fd,
			struct ctm_err *err);
/** Writes down where the volume is, now that it is known; fd is the one that was taken. -errno. */
int ctm_activenote_add_path(int fd, const char *path);
/** Removes the file while it is still locked, then lets go. */
void ctm_activenote_drop(const struct ctm_host *host, const char *volid, int *fd);

/** File names, owned strings, of the notes that are there; there may be no folder for them. */
struct ctm_activenote_names {
	CTM_VEC(char *) v;
};
void ctm_activenote_names_done(struct ctm_activenote_names *names);
int ctm_activenote_list(const struct ctm_host *host, struct ctm_activenote_names *ret,
			struct ctm_err *err);
/** -ENOENT: it is gone; -EBADMSG: it is none of ours, or of another version. Takes no lock. */
int ctm_activenote_read(const struct ctm_host *host, const char *name, struct ctm_activenote *ret);
/**
 * Holds the lock of a note that was left. -EWOULDBLOCK: somebody is at work; -ENOENT: it is gone.
 */
int ctm_activenote_claim(const struct ctm_host *host, const char *name, int *ret_fd);

/** The pure part. -EBADMSG for anything but one whole note; -ENOMEM. */
int ctm_activenote_parse(struct ctm_bytes text, struct ctm_activenote *ret);
/**
 * The file name for a volume id: bytes but letters, digits, "._-" as %XX. -EINVAL for
 * an empty one, -ENAMETOOLONG, -ENOMEM.
 */
int ctm_activenote_name(const char *volid, struct ctm_buf *ret);

#endif
