/* SPDX-License-Identifier: GPL-3.0-or-later */
/* List a container's volumes. */
#include "session/volumes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "session/examine.h"

void ctm_volume_keys_done(struct ctm_volume_keys *keys)
{
	for (size_t i = 0; i < keys->v.n; i++) {
		free(keys->v.v[i]);
	}
	ctm_vec_done(&keys->v);
}

static int add_key(struct ctm_volume_keys *keys, const char *key)
{
	char *copy = strdup(key);
	int r = copy ? ctm_vec_push(&keys->v, &copy) : -ENOMEM;

	if (r < 0) {
		free(copy);
	}
	return r;
}

int ctm_session_volumes(const char *name, const struct ctm_session_opts *opts,
			struct ctm_volume_keys *ret, struct ctm_err *err)
{
	CLEANUP(ctm_target_freep) struct ctm_target *target = NULL;
	CLEANUP(ctm_volume_keys_done) struct ctm_volume_keys keys = { 0 };
	struct ctm_target_opts target_opts = opts->target;
	int r;

	target_opts.keep_refused = true;
	r = ctm_target_locate(&opts->host, name, &target_opts, &target, err);
	if (r < 0) {
		return r;
	}
	for (size_t i = 0; i < target->volumes.n; i++) {
		const struct ctm_volume *vol = &target->volumes.v[i];

		/* a rootfs that is the host's is refused by name */
		if ((i == 0 || !vol->host) && add_key(&keys, vol->key) < 0) {
			return ctm_err_nomem(err);
		}
	}
	*ret = keys;
	keys = (struct ctm_volume_keys){ 0 };
	return 0;
}

static int note_host(struct ctm_exam *exam, const struct ctm_volume *vol)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = ctm_buf_addf(&text, "%s at %s is '%s' of the host: it is never touched", vol->key,
			     vol->mp, vol->id);

	return r < 0 ? r : ctm_exam_note(exam, text.p);
}

static int note_others(struct ctm_exam *exam)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r = 0;

	for (size_t i = 0; i < exam->target->volumes.n && r == 0; i++) {
		const struct ctm_volume *vol = &exam->target->volumes.v[i];

		if (vol == exam->volume || vol->host) {
			continue;
		}
		r = ctm_buf_addf(&text, "%s%s", text.len ? ", " : "not looked at: ", vol->key);
		if (r == 0 && vol->mp) {
			r = ctm_buf_addf(&text, " (%s)", vol->mp);
		}
	}
	if (r < 0 || !text.len) {
		return r;
	}
	r = ctm_buf_addf(&text, "; see --volume");
	return r < 0 ? r : ctm_exam_note(exam, text.p);
}

int ctm_volumes_note(struct ctm_exam *exam, const struct ctm_session_opts *opts,
		     struct ctm_err *err)
{
	int r = 0;

	if (exam->volume != &exam->target->volumes.v[0]) {
		return 0;
	}
	for (size_t i = 1; i < exam->target->volumes.n && r == 0; i++) {
		if (exam->target->volumes.v[i].host) {
			r = note_host(exam, &exam->target->volumes.v[i]);
		}
	}
	if (r == 0 && !opts->volume) {
		r = note_others(exam);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}
