/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Read a superblock and put it into words. */
#include "target/forecast.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/rawvol.h"

void ctm_forecast_note(const struct ctm_sbstate *state, enum ctm_access access, char *out,
		       size_t size)
{
	char about_mount[256] = "";

	if (state->mmp == CTM_MMP_FSCK && access == CTM_WRITE) {
		(void)snprintf(
			about_mount, sizeof(about_mount),
			"a check of the file system is running or was broken off: it cannot be "
			"mounted for writing before it has been checked again");
	} else if (state->mmp == CTM_MMP_UNCLEAN && access == CTM_WRITE) {
		(void)snprintf(
			about_mount, sizeof(about_mount),
			"the file system was not unmounted cleanly: mounting it takes about %u "
			"seconds, to see that no other node uses it",
			state->mmp_wait);
	} else if (state->dirty && access == CTM_READ) {
		(void)snprintf(about_mount, sizeof(about_mount),
			       "the journal is dirty (no clean shutdown): this is the file system "
			       "without its last writes, which a repair brings in first");
	}
	(void)snprintf(out, size, "%s%s%s", about_mount,
		       about_mount[0] && state->errors ? "; " : "",
		       state->errors ?
			       "the kernel found errors in this file system earlier, it should "
			       "be checked" :
			       "");
}

int ctm_forecast_read(int fd, const char *name, struct ctm_fsprobe *probe,
		      struct ctm_sbstate *state, struct ctm_err *err)
{
	int r = ctm_fsprobe(fd, name, probe, err);

	if (r < 0) {
		return r;
	}
	r = ctm_sbstate_read(fd, probe->type, state);
	if (r < 0) {
		return ctm_err_set(err, CTM_REFUSED, r, "cannot read the superblock of '%s': %s",
				   name, strerrordesc_np(-r));
	}
	return 0;
}

int ctm_attach_forecast(const struct ctm_volume *vol, enum ctm_access access,
			struct ctm_forecast *ret, struct ctm_err *err)
{
	CLEANUP(ctm_rawvol_done) struct ctm_rawvol raw = { .fd = -1 };
	struct ctm_forecast forecast = { 0 };
	struct ctm_sbstate state = { 0 };
	struct ctm_fsprobe probe;
	int r;

	if (vol->kind == CTM_VOLUME_IMAGE || vol->kind == CTM_VOLUME_BLOCK) {
		r = ctm_rawvol_open(vol, false, &raw, err);
		r = r < 0 ? r : ctm_forecast_read(raw.fd, raw.path, &probe, &state, err);
		if (r < 0) {
			return r;
		}
	}
	forecast.dirty = state.dirty;
	forecast.wait = access == CTM_WRITE ? state.mmp_wait : 0;
	ctm_forecast_note(&state, access, forecast.note, sizeof(forecast.note));
	*ret = forecast;
	return 0;
}
