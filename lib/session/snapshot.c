/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Is there a reason for a snapshot? */
#include "session/snapshot.h"

#include "base/cleanup.h"
#include "session/examine.h"

/* The number of the container, if it is one that pct knows. */
static int find_id(const char *name, const struct ctm_session_opts *opts, unsigned int *ret,
		   struct ctm_err *err)
{
	CLEANUP(ctm_exam_freep) struct ctm_exam *exam = NULL;
	int r = ctm_exam_new(name, opts, &exam, err);

	if (r < 0) {
		return r;
	}
	if (exam->target->kind != CTM_TARGET_PVE) {
		return ctm_err_set(err, CTM_USAGE, 0, "--snapshot is for containers of Proxmox VE");
	}
	*ret = exam->target->vmid;
	return 0;
}

int ctm_session_snapshot(const char *name, const struct ctm_session_opts *opts, const char *digest,
			 char ret[static CTM_SNAPSHOT_NAME_MAX], struct ctm_err *err)
{
	unsigned int vmid = 0;
	bool due = false;
	int r = find_id(name, opts, &vmid, err);

	if (r == 0) {
		r = ctm_snapshot_possible(&opts->host, err);
	}
	if (r == 0) {
		r = ctm_session_repair_due(name, opts, digest, &due, err);
	}
	if (r < 0) {
		return r;
	}
	ret[0] = '\0';
	if (!due) {
		return 0;
	}
	if (opts->notice) {
		opts->notice("pct takes a snapshot of the container", opts->callback_arg);
	}
	return ctm_snapshot_take(&opts->host, vmid, ret, err);
}
