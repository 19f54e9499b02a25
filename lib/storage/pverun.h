/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program run as storage/pvehelper.h needs it: apart from us in all that it could inherit, and
 * for a limited time.
 */
#ifndef CTM_STORAGE_PVERUN_H
#define CTM_STORAGE_PVERUN_H

#include "base/bytes.h"

/** How much of the end of standard error is kept. */
#define CTM_PVERUN_ERRORS 4096

/* In the place of an exit status. */
#define CTM_PVERUN_KILLED   (-1) /* it died of a signal */
#define CTM_PVERUN_TIMEOUT  (-2)
#define CTM_PVERUN_TOO_LONG (-3)

/** Zero-initialise. */
struct ctm_pverun {
	struct ctm_buf output;
	struct ctm_buf errors;
	int status; /* exit status, or one of the above */
};

static inline void ctm_pverun_done(struct ctm_pverun *run)
{
	ctm_buf_done(&run->output);
	ctm_buf_done(&run->errors);
}

/**
 * Runs argv[0], an absolute path, until it has ended; what it started and left behind is not waited
 * for. Its environment has PATH, LC_ALL=C and LVM_SUPPRESS_FD_WARNINGS; its signals are reset; of
 * our descriptors it gets keep as its descriptor 3 (-1: none).
 *
 * When seconds are over, or it has written more than max bytes, its process group is asked to end
 * and then killed. Negative errno when it could not be run at all.
 */
int ctm_pverun(const char *const argv[], int keep, unsigned int seconds, size_t max,
	       struct ctm_pverun *ret);

#endif
