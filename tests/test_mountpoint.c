/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of rootfs and mpN.
 */
#include "config/mountpoint.h"

#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static const struct {
	const char *name;
	bool rootfs;
	const char *text;
	const char *volume, *mp, *idmap;
	enum ctm_mount_class class;
	bool ro;
} good[] = {
	{ "rootfs", true, "local-lvm:vm-115-disk-0,size=8G", "local-lvm:vm-115-disk-0", "/", NULL,
	  CTM_MOUNT_VOLUME, false },
	{ "all of rootfs", true,
	  "a:b,size=8GiB,acl=1,mountoptions=noatime;discard,"
	  "idmap=passthrough,ro=1,quota=0,replicate=0,shared=1",
	  "a:b", "/", "passthrough", CTM_MOUNT_VOLUME, true },
	{ "mount point", false, "mp=/srv,backup=1,keepattrs=1,a:b", "a:b", "/srv", NULL,
	  CTM_MOUNT_VOLUME, false },
	{ "bind", false, "/srv/share,mp=/srv/share", "/srv/share", "/srv/share", NULL,
	  CTM_MOUNT_BIND, false },
	{ "device", false, "/dev/sdb1,mp=/x", "/dev/sdb1", "/x", NULL, CTM_MOUNT_DEVICE, false },
	{ "the folder /dev itself", false, "/dev,mp=/x", "/dev", "/x", NULL, CTM_MOUNT_BIND,
	  false },
	{ "names with dots", false, "/srv/..a/.b/c..,mp=/.x", "/srv/..a/.b/c..", "/.x", NULL,
	  CTM_MOUNT_BIND, false },
	{ "size in bytes", true, "a:b,size=1024", "a:b", "/", NULL, CTM_MOUNT_VOLUME, false },
	{ "broken size", true, "a:b,size=0.5T", "a:b", "/", NULL, CTM_MOUNT_VOLUME, false },
	{ "an idmap is text here", true, "a:b,idmap=u:0:0:1", "a:b", "/", "u:0:0:1",
	  CTM_MOUNT_VOLUME, false },
};
CASES(mountpoint, good, good)
{
	CLEANUP(ctm_mountpoint_done) struct ctm_mountpoint mp = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_mountpoint_parse(good[*i].rootfs, good[*i].text, &mp, &err), 0, "%s: %s",
		     good[*i].name, err.msg);
	cr_assert_str_eq(mp.volume, good[*i].volume, "%s", good[*i].name);
	cr_assert_str_eq(mp.mp, good[*i].mp, "%s", good[*i].name);
	cr_assert_eq(mp.class, good[*i].class, "%s", good[*i].name);
	cr_assert_eq(mp.ro, good[*i].ro, "%s", good[*i].name);
	cr_assert(good[*i].idmap ? mp.idmap && strcmp(mp.idmap, good[*i].idmap) == 0 : !mp.idmap,
		  "%s", good[*i].name);
}

static const struct {
	const char *name;
	bool rootfs;
	const char *text;
	const char *error;
} bad[] = {
	{ "rootfs has no mp", true, "a:b,mp=/", "unknown property 'mp'" },
	{ "rootfs has no backup", true, "a:b,backup=1", "unknown property 'backup'" },
	{ "mount point without mp", false, "a:b", "'mp' is missing" },
	{ "no volume", false, "mp=/x", "'volume' is missing" },
	{ "a newer property", true, "a:b,compress=1", "unknown property 'compress'" },
	{ "dot in the middle", false, "/a/./b,mp=/x", "'volume' has the bad value" },
	{ "two dots in the middle", false, "/a/../b,mp=/x", "'volume' has the bad value" },
	{ "two dots at the end", false, "a:b,mp=/x/..", "'mp' has the bad value" },
	{ "dot at the end", false, "a:b,mp=/x/.", "'mp' has the bad value" },
	{ "two dots in front", false, "../b,mp=/x", "'volume' has the bad value" },
	{ "size without a number", true, "a:b,size=G", "'size' has the bad value" },
	{ "size in words", true, "a:b,size=8 GB", "'size' has the bad value" },
	{ "unknown mount option", true, "a:b,mountoptions=noatime;future",
	  "'mountoptions' has the bad value" },
	{ "empty mount option", true, "a:b,mountoptions=noatime;",
	  "'mountoptions' has the bad value" },
};
CASES(mountpoint, bad, bad)
{
	CLEANUP(ctm_mountpoint_done) struct ctm_mountpoint mp = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_lt(ctm_mountpoint_parse(bad[*i].rootfs, bad[*i].text, &mp, &err), 0, "%s",
		     bad[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", bad[*i].name);
	cr_assert_not_null(strstr(err.msg, bad[*i].error), "%s: %s", bad[*i].name, err.msg);
}
