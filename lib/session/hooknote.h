/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes of hooks whose time did not do: <sysroot>/var/lib/ctmend/.late/TARGET, one file for each
 * target (0700 root). While it holds, the next hooks do not use up their time again.
 *
 *	ctmend-late 1
 *	config 64 hexadecimal digits		SHA-256 of the configuration
 *	root 1764543210.123456789		ctime of the volume's root; "-": it did not answer
 *	time 1764543300				when it was, in seconds since 1970
 *
 * It is a hint and no more: what cannot be read, or makes no sense, is no note.
 */
#ifndef CTM_SESSION_HOOKNOTE_H
#define CTM_SESSION_HOOKNOTE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/bytes.h"
#include "base/err.h"
#include "target/host.h"

/** A note does not hold for longer. */
#define CTM_HOOKNOTE_DAYS 7

/** Plain data, which may go through a pipe. */
struct ctm_hooknote {
	char target[NAME_MAX + 1]; /* ctm_state_name(); no part of the file's content */
	uint8_t config[32];
	bool has_root;
	struct timespec root;
	int64_t time;
};

/**
 * Whether a note that was left holds at the time now. seen: the present; seen->has_root false: the
 * volume has not answered yet, then only what is known counts. A note from the future, which a
 * clock that was set leaves, does not hold.
 */
bool ctm_hooknote_holds(const struct ctm_hooknote *left, const struct ctm_hooknote *seen,
			int64_t now);

/** -ENOENT: there is none, or none that can be read. target as in struct ctm_hooknote. */
int ctm_hooknote_read(const struct ctm_host *host, const char *target, struct ctm_hooknote *ret);
/** Puts it in the place of an older one, and removes those of other targets that hold no more. */
int ctm_hooknote_write(const struct ctm_host *host, const struct ctm_hooknote *note,
		       struct ctm_err *err);
/** There may be none. */
void ctm_hooknote_remove(const struct ctm_host *host, const char *target);

/* The pure part. */
int ctm_hooknote_format(const struct ctm_hooknote *note, struct ctm_buf *ret);
/** -EBADMSG for anything but one whole note; *ret without a target. */
int ctm_hooknote_parse(struct ctm_bytes text, struct ctm_hooknote *ret);

#endif
