/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Undo what killed runs have left active. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "storage/pvehelper.h"
#include "target/activate.h"
#include "target/activenote.h"
#include "target/ctalive.h"
#include "target/hostask.h"
#include "target/hostlock.h"
#include "target/inuse.h"
#include "target/locate.h"
#include "target/running.h"
#include "target/stopsignals.h"

enum state {
	STATE_IDLE,  /* nobody uses it */
	STATE_TAKEN, /* its container runs: what is active is its business now */
	STATE_BUSY,
};

static enum state container_state(const struct ctm_host *host, unsigned int vmid)
{
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };
	struct ctm_ctalive alive = { .running = false };
	bool rebooting = false;
	char name[16];

	(void)snprintf(name, sizeof(name), "%u", vmid);
	if (ctm_lxc_socket_name(CTM_PLACE_LXC, name, &socket) < 0 ||
	    ctm_ctalive(socket.p, name, &alive, NULL) < 0 ||
	    ctm_running_rebooting(host, vmid, &rebooting, NULL) < 0) {
		return STATE_BUSY;
	}
	return alive.running ? STATE_TAKEN : rebooting ? STATE_BUSY : STATE_IDLE;
}

/* No program of that run lives any more, so it will not appear late either. */
static bool is_gone(const struct ctm_activenote *note)
{
	mode_t mode;
	int r = note->path ? ctm_hostask_mode(note->path, &mode) : 0;

	return r == -ENOENT || r == -ENOTDIR;
}

/*
 * A mount, a loop device or an exclusive opener; the library and the kernel would object as well.
 */
static bool in_use(const struct ctm_activenote *note)
{
	const struct ctm_inuse_opts opts = { .exclusive = true };
	char slash[] = "/";
	struct ctm_volume volume = { .id = note->volid, .path = note->path, .mp = slash };
	mode_t mode;

	int r = note->path ? ctm_hostask_mode(note->path, &mode) : -ENOENT;

	if (r == -ETIME) {
		return true; /* whatever it is, it is not for us to undo now */
	}
	if (r < 0) {
		return false;
	}
	volume.kind = S_ISDIR(mode) ? CTM_VOLUME_DIR :
		      S_ISREG(mode) ? CTM_VOLUME_IMAGE :
				      CTM_VOLUME_BLOCK;
	return ctm_inuse_check(&volume, &opts, NULL) < 0;
}

static int detach(const struct ctm_host *host, const char *volid, int note)
{
	struct ctm_activation left = { .note = note };
	struct ctm_err err = { 0 };
	int r;

	left.volid = strdup(volid);
	if (!left.volid) {
		ctm_closep(&note);
		return -ENOMEM;
	}
	r = ctm_deactivate(host, &left, &err);
	if (r < 0) {
		CTM_DEBUG("storage", "'%s' stays active: %s", volid, err.msg);
	}
	return r;
}

static void undo(const struct ctm_host *host, const char *name)
{
	CLEANUP(ctm_activenote_done) struct ctm_activenote note = { 0 };
	CLEANUP_CLOSE int lock = -1;
	CLEANUP_CLOSE int fd = -1;

	if (ctm_activenote_read(host, name, &note) < 0 ||
	    ctm_hostlock_config(host, note.vmid, 0, &lock, NULL) < 0 ||
	    ctm_activenote_claim(host, name, &fd) < 0) {
		return;
	}
	switch (container_state(host, note.vmid)) {
	case STATE_IDLE:
		if (is_gone(&note)) {
			ctm_activenote_drop(host, note.volid, &fd);
		} else if (!in_use(&note)) {
			(void)detach(host, note.volid, TAKE_FD(fd));
		}
		break;
	case STATE_TAKEN:
		ctm_activenote_drop(host, note.volid, &fd);
		break;
	case STATE_BUSY:
		break;
	}
}

void ctm_activation_sweep(const struct ctm_host *host)
{
	CLEANUP(ctm_activenote_names_done) struct ctm_activenote_names names = { 0 };
	CLEANUP(ctm_stopsignals_release) struct ctm_stopsignals stop = { 0 };

	if (ctm_activenote_list(host, &names, NULL) < 0) {
		return;
	}
	/* each is undone under the config flock of its container */
	ctm_stopsignals_hold(&stop);
	for (size_t i = 0; i < names.v.n; i++) {
		undo(host, names.v.v[i]);
	}
}
