/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a mount of an image or a device will be like, from the superblock alone.
 */
#ifndef CTM_TARGET_FORECAST_H
#define CTM_TARGET_FORECAST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "target/fsprobe.h"
#include "target/sbstate.h"
#include "target/target.h"

enum ctm_access { CTM_READ, CTM_WRITE };

/** What a person should know before ctm_attach(). */
struct ctm_forecast {
	unsigned int wait; /* seconds a read-write mount waits for MMP; 0: none */
	bool dirty;        /* the journal is to be replayed: a reader sees the disk without it */
	char note[384];    /* one sentence, "" when there is nothing to say */
};

/** All zero for directories. CTM_REFUSED when there is no such volume or no file system in it. */
int ctm_attach_forecast(const struct ctm_volume *vol, enum ctm_access access,
			struct ctm_forecast *ret, struct ctm_err *err);

/** The parts of it. The file system on fd, which messages call name, and its state. */
int ctm_forecast_read(int fd, const char *name, struct ctm_fsprobe *probe,
		      struct ctm_sbstate *state, struct ctm_err *err);
/** What a person should know of a state, "" for a clean one. */
void ctm_forecast_note(const struct ctm_sbstate *state, enum ctm_access access, char *out,
		       size_t size);

#endif
