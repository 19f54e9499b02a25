/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run share/pve-storage.pl, and understand how it ended. */
#include "storage/pvehelper.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/pathname.h"
#include "storage/pveplace.h"
#include "storage/pverun.h"

CTM_HOST_PATHS

/* Its exit statuses; any other is a failure with a reason. */
enum { ENDED_WELL = 0, ENDED_NO_LIBRARY = 3 };

static const char *const words[] = {
	[CTM_PVE_LOOK] = "look",
	[CTM_PVE_ATTACH] = "attach",
	[CTM_PVE_DETACH] = "detach",
};

static int no_program(const char *program, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, ENOPKG,
			    "ctmend's helper for Proxmox VE's storage library is not installed "
			    "('%s')",
			    program);

	ctm_err_hint(err, "install ctmend again, with: make install");
	return r;
}

int ctm_pvehelper_find(const char *sysroot, char **ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	if (sysroot[0] != '\0' && !ctm_pveplace_in_sysroot) {
		return ctm_err_set(err, CTM_REFUSED, ENOPKG,
				   "with --sysroot Proxmox VE's storage library is not asked, it "
				   "would answer for this host");
	}
	if (ctm_buf_addf(&path, "%s%s", sysroot, ctm_pveplace) < 0) {
		return ctm_err_nomem(err);
	}
	*ret = TAKE_PTR(path.p);
	return 0;
}

/* It runs with all our privileges, so nobody else may have written it. */
static int check_program(const char *program, struct ctm_err *err)
{
	CLEANUP_CLOSE int fd = open(program, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		return errno == ENOENT || errno == ENOTDIR ?
			       no_program(program, err) :
			       ctm_err_set(err, CTM_SYS, errno, "look at '%s'", program);
	}
	if (!S_ISREG(st.st_mode) || (st.st_uid != 0 && st.st_uid != geteuid()) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH))) {
		int r = ctm_err_set(err, CTM_REFUSED, ENOPKG,
				    "'%s' is not a file that root alone can write to, so it is "
				    "not run",
				    program);

		ctm_err_hint(err, "see who made it: ls -l %s", program);
		return r;
	}
	return 0;
}

/* The last line that says something, as it may be shown. */
static int add_reason(const struct ctm_buf *text, struct ctm_buf *ret)
{
	size_t end = text->len;
	size_t start;

	while (end > 0 && strchr("\n\r\t ", text->p[end - 1])) {
		end--;
	}
	start = end;
	while (start > 0 && text->p[start - 1] != '\n') {
		start--;
	}
	return end > start ? ctm_path_escape(ret, text->p + start, end - start) :
			     ctm_buf_addf(ret, "it gave no reason");
}

static int refuse(const struct ctm_pvecall *call, int num, const char *reason, struct ctm_err *err)
{
	static const char *const what[] = {
		[CTM_PVE_LOOK] = "find",
		[CTM_PVE_ATTACH] = "activate",
		[CTM_PVE_DETACH] = "deactivate",
	};
	const char *colon = strchr(call->volid, ':');
	int r = ctm_err_set(err, CTM_REFUSED, num,
			    "Proxmox VE's storage library cannot %s '%s': %s", what[call->verb],
			    call->volid, reason);

	ctm_err_hint(err, "see whether the storage is there, with: pvesm status --storage %.*s",
		     colon ? (int)(colon - call->volid) : 0, call->volid);
	return r;
}

static int failed(const struct ctm_pvecall *call, const struct ctm_pverun *run, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf reason = { 0 };
	char text[64];
	int r = add_reason(&run->errors, &reason);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	CTM_DEBUG("storage", "%s %s: status %d: %s", words[call->verb], call->volid, run->status,
		  reason.p);
	switch (run->status) {
	case ENDED_NO_LIBRARY:
		r = ctm_err_set(err, CTM_REFUSED, ENOPKG,
				"Proxmox VE's storage library (PVE::Storage) is not on this host");
		ctm_err_hint(err, "is this a Proxmox VE host? see: dpkg -l libpve-storage-perl");
		return r;
	case CTM_PVERUN_TIMEOUT:
		(void)snprintf(text, sizeof(text), "it took more than %u seconds", call->seconds);
		return refuse(call, ETIMEDOUT, text, err);
	case CTM_PVERUN_TOO_LONG:
		return refuse(call, 0, "its answer does not end", err);
	case CTM_PVERUN_KILLED:
		return refuse(call, 0, "its process was killed", err);
	default:
		return refuse(call, 0, reason.p, err);
	}
}

int ctm_pvehelper_call(const struct ctm_pvecall *call, struct ctm_pve_answer *ret,
		       struct ctm_err *err)
{
	CLEANUP(ctm_pverun_done) struct ctm_pverun run = { 0 };
	const char *const argv[] = { call->program, words[call->verb], call->volid, NULL };
	struct ctm_bytes text;
	int r = check_program(call->program, err);

	if (r < 0) {
		return r;
	}
	r = ctm_pverun(argv, call->keep, call->seconds, CTM_PVE_ANSWER_MAX, &run);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "run '%s'", call->program);
	}
	if (run.status != ENDED_WELL) {
		return failed(call, &run, err);
	}
	text = (struct ctm_bytes){ run.output.p, run.output.len };
	r = call->verb == CTM_PVE_DETACH ? ctm_pve_answer_parse_done(text, err) :
					   ctm_pve_answer_parse(text, ret, err);
	return r < 0 ? ctm_err_wrap(err, "'%s'", call->volid) : 0;
}
