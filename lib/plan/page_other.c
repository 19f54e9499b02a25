/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of errors, and of what looks like an ownership fault and is none.
 */
#include "base/cleanup.h"
#include "plan/page.h"

#define AN_ERROR                                                                                   \
	"An error of one entry: exit status 1 of check and diff, 4 of a repair. The rest is done " \
	"all "                                                                                     \
	"the same."
#define NO_FINDING "No finding: nothing on disk is wrong."
#define LEFT       "The entry is left as it is. Repair again when the reason is gone."

static const struct ctm_page_row rows[] = {
	/* the general page comes first: its wording is the finding's */
	{
		.code = "err",
		.how = "The kernel refused to read or change an entry. The code carries the "
		       "error's name, "
		       "such as err.EIO; some have a page of their own.",
		.repair = LEFT,
		.look = { { "dmesg", "what the kernel says of the device" },
			  { "ctmend check -v TARGET", "every entry with its reason" } },
	},
	{
		.code = "err.EACCES",
		.title = "permission denied",
		.severity = AN_ERROR,
		.why = "The host's root was refused. On a local file system that does not happen; "
		       "a server "
		       "(NFS, CIFS) decides by itself.",
		.how = "The export squashes root, or a security module of the host forbids it.",
		.repair = LEFT,
		.look = { { "findmnt -T PATH", "file system and mount options" },
			  { "dmesg | grep -i denied", "refusals of a security module" } },
		.next = "work on the server's own file system, or export it with no_root_squash",
	},
	{
		.code = "err.EIO",
		.title = "input/output error",
		.severity = AN_ERROR,
		.why = "The device or the file system failed to deliver. Owners are the smaller "
		       "problem.",
		.how = "A failing disk, a damaged image, or a file system that needs a check.",
		.repair = LEFT,
		.look = { { "dmesg", "what the kernel says of the device" },
			  { "pct fsck ID", "checks the file system of a stopped container" } },
		.next = "make a copy of the image first, then pct fsck ID",
	},
	{
		.code = "err.EOPNOTSUPP",
		.title = "not supported by the file system",
		.severity = AN_ERROR,
		.why = "A list or capability was to be written where the file system stores none.",
		.how = "ACLs are switched off: acltype=off on ZFS, noacl as a mount option.",
		.repair = LEFT,
		.look = { { "findmnt -T PATH", "file system and mount options" },
			  { "zfs get acltype DATASET", "whether a dataset stores ACLs" } },
		.next = "switch ACLs on, then repair again",
	},
	{
		.code = "err.EPERM",
		.title = "operation not permitted",
		.severity = AN_ERROR,
		.why = "The ids are not the reason. Also where apt or chown says this inside a "
		       "container "
		       "whose ids are all right, look for what else can refuse: the file system, "
		       "its "
		       "mount options, a flag of the inode, or the confinement of the container.",
		.how = "Immutable or append-only inodes; NFS and CIFS, whose server decides; FUSE; "
		       "an "
		       "AppArmor or seccomp profile; a map that does not hold the wanted id. apt "
		       "must also "
		       "be run as root: as a user it says \"Permission denied\" of its lock, which "
		       "is "
		       "healthy.",
		.repair = LEFT,
		.look = { { "lsattr -d PATH", "flags of the inode" },
			  { "findmnt -T PATH", "file system and mount options" },
			  { "dmesg | grep -i denied", "refusals of a security module" } },
		.next = "find what refuses, one by one: flag, mount option, profile, id outside "
			"the map",
	},
	{
		.code = "err.EROFS",
		.title = "read-only file system",
		.severity = AN_ERROR,
		.why = "Nothing can be changed there.",
		.how = "A mount point with ro=1, a read-only snapshot or subvolume, or a file "
		       "system that "
		       "the kernel has made read-only after an error.",
		.repair = "Nothing is changed; said once, not for each entry.",
		.look = { { "findmnt -T PATH", "the mount option" },
			  { "dmesg", "errors before it" } },
		.next = "make it writable, then repair again",
	},
	{
		.code = "err.ESTALE",
		.title = "not the file that was looked at",
		.severity = AN_ERROR,
		.why = "Between looking and changing somebody replaced or changed the entry, so "
		       "what was "
		       "planned does not fit it any more.",
		.how = "Somebody works in the tree at the same time.",
		.repair = LEFT,
		.look = { { "findmnt -S DEVICE", "where else the volume is mounted" } },
		.next = "see who has the volume mounted, then repair again",
	},
	{
		.code = "mount.idmapped",
		.title = "the volume is seen through an idmapped mount",
		.severity = "Refused: exit status 3, nothing is changed.",
		.why = "Such a mount shows other owners than are stored, so a damaged tree looks "
		       "healthy "
		       "there, or a healthy one damaged.",
		.how = "The container's runtime, or Proxmox VE for a mount point with idmap=, "
		       "mounted it so.",
		.repair = "Refused. The owners on disk are seen where the volume is mounted "
			  "without a map.",
		.look = { { "findmnt -o TARGET,OPTIONS -T PATH", "the option \"idmapped\"" } },
		.next = "name the directory or device where it is mounted without a map",
	},
	{
		.code = "own.nobody",
		.title = "owned by the container's own \"nobody\"",
		.severity = NO_FINDING,
		.why = "Disk id base + 65534 is the container's user 65534, and whoever runs as "
		       "that user "
		       "makes such files. In small number they are right. Inside, also every id "
		       "that the "
		       "map does not hold is shown as nobody: ctmend check tells the two apart.",
		.how = "A service that runs as nobody, or an image that has such a user.",
		.repair = "Nothing. A hundred and more of them, and one in a hundred of the "
			  "volume, are "
			  "own.overflow: then a backup was made through the map.",
		.look = { { "ctmend check -v TARGET", "how many there are" },
			  { "ctmend map TARGET 65534", "what nobody is on disk" } },
	},
};

const struct ctm_page_table ctm_pages_other = { rows, ARRAY_LEN(rows) };
