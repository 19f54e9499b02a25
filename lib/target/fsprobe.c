/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ask libblkid. */
#include "target/fsprobe.h"

#include <blkid.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static void free_probe(blkid_probe *pr)
{
	blkid_free_probe(*pr);
}

static const char *value(blkid_probe pr, const char *name)
{
	const char *data;

	return blkid_probe_lookup_value(pr, name, &data, NULL) == 0 ? data : "";
}

static int judge(blkid_probe pr, const char *name, struct ctm_fsprobe *ret, struct ctm_err *err)
{
	const char *type = value(pr, "TYPE");
	const char *uuid = value(pr, "UUID");

	if (strcmp(value(pr, "USAGE"), "filesystem") != 0) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s' holds no file system but %s", name,
				   type);
	}
	if (strlen(type) >= sizeof(ret->type) || strlen(uuid) >= sizeof(ret->uuid)) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%s': unknown file system '%s'", name,
				   type);
	}
	(void)snprintf(ret->type, sizeof(ret->type), "%s", type);
	(void)snprintf(ret->uuid, sizeof(ret->uuid), "%s", uuid);
	return 0;
}

/* A whole disk is a mistake that is easily made, worth a message of its own. */
static int nothing_found(blkid_probe pr, const char *name, struct ctm_err *err)
{
	int r;

	blkid_reset_probe(pr);
	if (blkid_probe_enable_superblocks(pr, 0) == 0 &&
	    blkid_probe_enable_partitions(pr, 1) == 0 && blkid_do_safeprobe(pr) == 0) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' holds a partition table (%s), no file system", name,
				   value(pr, "PTTYPE"));
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "no file system found on '%s'", name);
	ctm_err_hint(
		err,
		"if there was one, it is damaged; of a container, repair it with: pct fsck ID");
	return r;
}

/*
 * Of more than one file system libblkid 2.38 says -2, as documented; 2.41 says -1 without an errno,
 * as of anything that fails. So they are counted.
 */
static bool several_found(blkid_probe pr)
{
	int n = 0;

	blkid_reset_probe(pr);
	while (n < 2 && blkid_do_probe(pr) == 0) {
		n++;
	}
	return n > 1;
}

static int failed(blkid_probe pr, int verdict, const char *name, struct ctm_err *err)
{
	int num = errno;
	int r;

	if (verdict != -2 && !several_found(pr)) {
		return ctm_err_set(err, CTM_SYS, num ? num : EIO, "read '%s'", name);
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"'%s' carries the signatures of more than one file system", name);
	ctm_err_hint(err, "see which with: wipefs '%.200s'", name);
	return r;
}

int ctm_fsprobe(int fd, const char *name, struct ctm_fsprobe *ret, struct ctm_err *err)
{
	CLEANUP(free_probe) blkid_probe pr = blkid_new_probe();
	int r;

	if (!pr) {
		return ctm_err_nomem(err);
	}
	errno = 0;
	if (blkid_probe_set_device(pr, fd, 0, 0) < 0 ||
	    blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE |
							  BLKID_SUBLKS_UUID) < 0) {
		return ctm_err_set(err, CTM_SYS, errno ? errno : EIO, "read '%s'", name);
	}
	errno = 0;
	r = blkid_do_safeprobe(pr);
	switch (r) {
	case 0:
		return judge(pr, name, ret, err);
	case 1:
		return nothing_found(pr, name, err);
	default:
		return failed(pr, r, name, err);
	}
}
