/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --from-map: ids on disk were written under another map than the volume's.
 *
 * Where that map's disk side and the volume's overlap, an id does not tell whether it was moved
 * already. The records do: a run that was interrupted is finished from its record and nothing is
 * planned anew, and a second run over a first one is refused.
 */
#ifndef CTM_SESSION_FROMMAP_H
#define CTM_SESSION_FROMMAP_H

#include "session/session.h"

/**
 * For a volume without a map: with --from-map, or a run of such that has to be finished, every id
 * is to be itself, and exam->back is set.
 */
int ctm_frommap_adopt(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		      struct ctm_err *err);

/**
 * Sets exam->from to the map by which ids are to be read now: NULL without --from-map, and while a
 * run with --from-map has to be finished, which a note then says. CTM_REFUSED when what an earlier
 * run has moved would be moved once more.
 */
int ctm_frommap_decide(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		       struct ctm_err *err);

#endif
