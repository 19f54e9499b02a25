/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --volume: one volume of a target, or all that are its own.
 */
#include "volumes.h"

#include <string.h>

#include "base/cleanup.h"
#include "exit.h"
#include "session/volumes.h"
#include "stop.h"
#include "term.h"

bool volumes_all(const struct options *opts)
{
	return opts->session.volume && strcmp(opts->session.volume, "all") == 0;
}

int volumes_each(const struct options *opts, const char *name,
		 int (*fn)(const struct options *opts, const char *name, void *arg), void *arg)
{
	CLEANUP(ctm_volume_keys_done) struct ctm_volume_keys keys = { 0 };
	struct options one = *opts;
	struct ctm_pin pin = { .set = false };
	int worst = EXIT_CLEAN;
	size_t i;

	one.session.pin = &pin;
	if (!volumes_all(opts)) {
		return fn(&one, name, arg);
	}
	if (ctm_session_volumes(name, &opts->session, &keys, NULL) < 0) {
		/* there is no such target, or no memory: the reason is that of its rootfs */
		one.session.volume = NULL;
		return fn(&one, name, arg);
	}
	for (i = 0; i < keys.v.n && !stop_asked(); i++) {
		int status;

		one.session.volume = keys.v.v[i];
		status = fn(&one, name, arg);
		worst = status > worst ? status : worst;
	}
	return term_stopped("volume", keys.v.n - i, worst);
}

void volumes_error(const struct options *opts, const char *name, const struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf label = { 0 };

	if (!opts->session.volume ||
	    ctm_buf_addf(&label, "%s %s", name, opts->session.volume) < 0) {
		term_error(name, err);
		return;
	}
	term_error(label.p, err);
}
