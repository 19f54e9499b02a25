/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a plan lies that is too much for the memory. */
#include "session/room.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/localfs.h"

CTM_HOST_PATHS

/* One that is not there is left to fail with its name: it was meant. */
static bool is_foreign(const char *dir)
{
	CLEANUP_CLOSE int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && !ctm_localfs(fd);
}

int ctm_room_dir(const struct ctm_exam *exam, const struct ctm_session_opts *opts,
		 struct ctm_buf *ret, struct ctm_err *err)
{
	int r;

	if (opts->tmpdir && !is_foreign(opts->tmpdir)) {
		r = ctm_buf_addf(ret, "%s", opts->tmpdir);
		return r < 0 ? ctm_err_nomem(err) : 0;
	}
	r = ctm_host_path(&opts->host, ret, "%s", CTM_PLACE_STATE);
	if (r == 0 && (!exam->to_repair || access(ret->p, W_OK) < 0)) {
		ret->len = 0;
		r = ctm_buf_addf(ret, "/var/tmp");
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_room_err(const struct ctm_plan *plan, int r, struct ctm_err *err)
{
	int why = r == -ENOMEM ? ctm_plan_no_room(plan) : 0;

	if (why == 0) {
		return r;
	}
	if (why == -EMEDIUMTYPE) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"the plan is too large for the memory, and '%s' is on a file system that "
			"others than this kernel may write",
			ctm_spill_dir(plan->spill));
		ctm_err_hint(err, "set TMPDIR to a directory on a local disk");
		return r;
	}
	r = ctm_err_set(err, CTM_REFUSED, why,
			"so much is wrong, or at such long paths, that there is no room for the "
			"plan in '%s'",
			ctm_spill_dir(plan->spill));
	ctm_err_hint(err, "make room there, set TMPDIR to another directory, or look at one "
			  "directory after the other, with --path");
	return r;
}
