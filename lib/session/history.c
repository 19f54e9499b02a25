/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs recorded for a target.
 */
#include "session/history.h"

#include <errno.h>

#include "base/cleanup.h"
#include "run/state.h"

int ctm_session_history(const char *name, const struct ctm_session_opts *opts,
			struct ctm_history *ret, struct ctm_err *err)
{
	CLEANUP(ctm_state_freep) struct ctm_state *state = NULL;
	CLEANUP(ctm_buf_done) struct ctm_buf dir = { 0 };
	int r = ctm_state_name(ctm_target_kind_of(&opts->host, name), name, &dir);

	if (r < 0) {
		return r == -ENOMEM ? ctm_err_nomem(err) :
				      ctm_err_set(err, CTM_SYS, r, "'%s'", name);
	}
	r = ctm_state_open_read(&opts->host, dir.p, &state, err);
	if (r == -ENOENT) {
		*ret = (struct ctm_history){ 0 };
		return 0;
	}
	return r < 0 ? r : ctm_history_read(state, ret, err);
}
