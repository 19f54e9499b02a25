/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a path led to when the target was located.
 *
 * A run resolves its target several times: to see who uses it, to read, to write. Where others may
 * write to a directory on the way, each time could lead elsewhere. The pin says which object was
 * meant first; whatever is opened later by the same path must be that one.
 */
#ifndef CTM_TARGET_PIN_H
#define CTM_TARGET_PIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/** Zero-initialised: not set, and anything is right. */
struct ctm_pin {
	bool set;
	uint32_t type; /* S_IFMT part of st_mode */
	uint64_t dev;  /* of a block device its own number, else that of its file system */
	uint64_t ino;  /* 0 for a block device, whose node udev may make anew */
};

/** Of what the descriptor names. Negative errno. */
int ctm_pin_take(int fd, struct ctm_pin *ret);
/** Whether both name one thing, or one of them is not set. */
bool ctm_pin_same(const struct ctm_pin *a, const struct ctm_pin *b);
/** CTM_REFUSED when the descriptor names another thing than the pin; path is for the message. */
int ctm_pin_check(const struct ctm_pin *pin, int fd, const char *path, struct ctm_err *err);
/** That refusal. */
int ctm_pin_refuse(const char *path, struct ctm_err *err);

#endif
