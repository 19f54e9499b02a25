/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ask Proxmox VE's storage library for a volume. */
#include "target/activate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "storage/pvehelper.h"
#include "target/activenote.h"
#include "target/hostfile.h"

CTM_HOST_PATHS

/* --- what is there -------------------------------------------------------------------------- */

bool ctm_volume_present(const struct ctm_volume *volume)
{
	mode_t mode;
	int r;

	if (!volume->path) {
		return false;
	}
	if (volume->mount_root && !ctm_hostfile_is_mount(volume->mount_root)) {
		return false;
	}
	r = ctm_hostfile_mode(volume->path, &mode);
	return r != -ENOENT && r != -ENOTDIR;
}

bool ctm_activation_needed(const struct ctm_volume *volume)
{
	return (volume->by_pve || volume->activates) && !ctm_volume_present(volume);
}

/* --- ask the library ------------------------------------------------------------------------ */

static int call(const struct ctm_host *host, enum ctm_pve_verb verb, const char *volid, int note,
		struct ctm_pve_answer *ret, struct ctm_err *err)
{
	CLEANUP_FREE char *program = NULL;
	struct ctm_pvecall one = {
		.verb = verb,
		.volid = volid,
		.keep = note,
		.seconds = CTM_PVE_SECONDS,
	};
	int r = ctm_pvehelper_find(host->sysroot ? host->sysroot : "", &program, err);

	if (r < 0) {
		return r;
	}
	one.program = program;
	CTM_DEBUG("storage", "%s %s %s", program,
		  verb == CTM_PVE_LOOK   ? "look" :
		  verb == CTM_PVE_ATTACH ? "attach" :
					   "detach",
		  volid);
	return ctm_pvehelper_call(&one, ret, err);
}

/* Nobody is there to activate it: what a person can do. */
static int unavailable(const struct ctm_volume *volume, int r, struct ctm_err *err)
{
	const char *type = volume->type ? volume->type : "";

	if (volume->path) {
		(void)ctm_err_wrap(err, "'%s' does not exist", volume->path);
	} else {
		(void)ctm_err_wrap(err, "'%s' cannot be found", volume->id);
	}
	if (r != -ENOPKG) {
		return r;
	}
	if (strncmp(type, "lvm", 3) == 0 && volume->path) {
		ctm_err_hint(err, "activate the volume with: lvchange -ay -K %s",
			     strncmp(volume->path, "/dev/", 5) == 0 ? volume->path + 5 :
								      volume->path);
	} else if (strcmp(type, "zfspool") == 0) {
		ctm_err_hint(err, "see: zfs list -o name,mounted,mountpoint");
	} else if (volume->storage) {
		ctm_err_hint(err, "make it accessible, see: pvesm status --storage %s",
			     volume->storage);
	}
	return r;
}

/* --- what it answered ----------------------------------------------------------------------- */

/* Of a third party's storage the path alone tells what kind of volume it is. */
static int set_kind(struct ctm_volume *volume, struct ctm_err *err)
{
	const bool subvol = strcmp(volume->format, "subvol") == 0;
	mode_t mode;
	int r = ctm_hostfile_mode(volume->path, &mode);

	if (r < 0) {
		return ctm_err_set(err, r == -ENOENT ? CTM_REFUSED : CTM_SYS, r,
				   "'%s' does not exist, although '%s' has been activated",
				   volume->path, volume->id);
	}
	if (subvol && S_ISDIR(mode)) {
		volume->kind = CTM_VOLUME_DIR;
	} else if (!subvol && S_ISBLK(mode)) {
		volume->kind = CTM_VOLUME_BLOCK;
	} else if (!subvol && S_ISREG(mode)) {
		volume->kind = CTM_VOLUME_IMAGE;
	} else {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' of '%s' is not what a volume of the format '%s' is",
				   volume->path, volume->id, volume->format);
	}
	return 0;
}

static int fill_in(const struct ctm_pve_answer *answer, struct ctm_volume *volume,
		   struct ctm_err *err)
{
	if (!answer->path) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "Proxmox VE's storage library has no path on this host for '%s'",
				   volume->id);
	}
	free(volume->path);
	free(volume->format);
	volume->path = strdup(answer->path);
	volume->format = strdup(answer->format);
	volume->base = volume->base || answer->base;
	if (!volume->path || !volume->format) {
		return ctm_err_nomem(err);
	}
	return set_kind(volume, err);
}

int ctm_activation_apply(const struct ctm_activation *active, struct ctm_volume *volume,
			 struct ctm_err *err)
{
	const bool rbd = volume->type && strcmp(volume->type, "rbd") == 0;
	const struct ctm_pve_answer *answer = &active->answer;

	if (!active->volid || !volume->id || strcmp(active->volid, volume->id) != 0) {
		return ctm_err_set(
			err, CTM_REFUSED, 0,
			"the configuration was changed meanwhile: '%s' is not accessible",
			volume->id);
	}
	if (ctm_volume_present(volume)) {
		return 0;
	}
	if (!volume->by_pve && !rbd) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' does not exist, although '%s' has been activated",
				   volume->mount_root ? volume->mount_root : volume->path,
				   volume->id);
	}
	return fill_in(answer, volume, err);
}

/* --- activate ------------------------------------------------------------------------------- */

static bool is_missing(const char *path)
{
	mode_t mode;
	int r = path ? ctm_hostfile_mode(path, &mode) : 0;

	return r == -ENOENT || r == -ENOTDIR;
}

/* The library was asked in vain; perhaps it has done a part, or is still at it. */
static void give_up(const struct ctm_host *host, const char *volid, const char *path, int r,
		    int *note)
{
	if (*note < 0) {
		return;
	}
	if (r == -ENOPKG ||
	    (r != -ETIMEDOUT &&
	     (call(host, CTM_PVE_DETACH, volid, *note, NULL, NULL) == 0 || is_missing(path)))) {
		ctm_activenote_drop(host, volid, note);
	}
	ctm_closep(note);
}

/* Whether it is active already: only the library knows, for what only it can find. */
static int look(const struct ctm_host *host, const struct ctm_volume *volume,
		struct ctm_pve_answer *ret, struct ctm_err *err)
{
	return volume->by_pve ? call(host, CTM_PVE_LOOK, volume->id, -1, ret, err) : 0;
}

int ctm_activation_find(const struct ctm_host *host, struct ctm_volume *volume, struct ctm_err *err)
{
	CLEANUP(ctm_pve_answer_done) struct ctm_pve_answer answer = { 0 };
	int r = call(host, CTM_PVE_LOOK, volume->id, -1, &answer, err);

	return r < 0 ? unavailable(volume, r, err) : fill_in(&answer, volume, err);
}

static int take_note(const struct ctm_host *host, unsigned int vmid, struct ctm_volume *volume,
		     char *path, int *note, struct ctm_err *err)
{
	const struct ctm_activenote text = { .vmid = vmid, .volid = volume->id, .path = path };

	return ctm_activenote_take(host, &text, note, err);
}

/* The note says what is so: nothing where it was active before, else where the volume is. */
static int settle_note(const struct ctm_host *host, unsigned int vmid, struct ctm_volume *volume,
		       bool known, struct ctm_activation *active, struct ctm_err *err)
{
	int r = 0;

	if (active->answer.active) {
		ctm_activenote_drop(host, volume->id, &active->note);
	} else if (active->note < 0) {
		/* it was active when we looked */
		r = take_note(host, vmid, volume, active->answer.path, &active->note, err);
	} else if (!known && active->answer.path) {
		r = ctm_activenote_add_path(active->note, active->answer.path);
		r = r < 0 ? ctm_err_set(err, CTM_SYS, r, "note where '%s' is", volume->id) : 0;
	}
	return r;
}

int ctm_activate(const struct ctm_host *host, unsigned int vmid, struct ctm_volume *volume,
		 struct ctm_activation *ret, struct ctm_err *err)
{
	CLEANUP(ctm_pve_answer_done) struct ctm_pve_answer before = { 0 };
	struct ctm_activation active = { .note = -1 };
	char *path = volume->path;
	int r = look(host, volume, &before, err);

	if (r < 0) {
		return unavailable(volume, r, err);
	}
	path = path ? path : before.path;
	active.volid = strdup(volume->id);
	if (!active.volid) {
		return ctm_err_nomem(err);
	}
	r = before.active ? 0 : take_note(host, vmid, volume, path, &active.note, err);
	if (r == 0) {
		r = call(host, CTM_PVE_ATTACH, volume->id, active.note, &active.answer, err);
		if (r < 0) {
			r = unavailable(volume, r, err);
			give_up(host, volume->id, path, r, &active.note);
		}
	}
	r = r < 0 ? r : settle_note(host, vmid, volume, path != NULL, &active, err);
	r = r < 0 ? r : ctm_activation_apply(&active, volume, err);
	if (r < 0) {
		(void)ctm_deactivate(host, &active, NULL);
		return r;
	}
	*ret = active;
	return 0;
}

int ctm_deactivate(const struct ctm_host *host, struct ctm_activation *active, struct ctm_err *err)
{
	int r = 0;

	if (active->note >= 0) {
		r = call(host, CTM_PVE_DETACH, active->volid, active->note, NULL, err);
		if (r == 0) {
			ctm_activenote_drop(host, active->volid, &active->note);
		}
	}
	ctm_closep(&active->note);
	ctm_pve_answer_done(&active->answer);
	free(active->volid);
	*active = (struct ctm_activation){ .note = -1 };
	return r;
}
