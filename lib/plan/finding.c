/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The wording of every finding, in one table.
 */
#include "plan/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const struct ctm_finding_info table[CTM_F_N] = {
	[CTM_F_RUN_RECORDS] = {
		.code = "run.records",
		.severity = CTM_CHOICE,
		.title = "the directory of the records cannot be trusted",
		.why = "Records are believed when a run is finished or taken back, so their "
		       "directories must be real ones that only root may write to. As they are, "
		       "none is read: whether a run was interrupted is not known, and repair and "
		       "undo are refused.",
		.next = "look at what is there, then use the command that stands beside it",
	},
	[CTM_F_RUN_DAMAGED] = {
		.code = "run.damaged",
		.severity = CTM_CHOICE,
		.title = "the record of a run is damaged",
		.why = "It cannot tell any more what the run changed, so the run can be neither "
		       "finished nor taken back. Where it may be unfinished, nothing else is "
		       "repaired while the record is there.",
		.next = "put the run's files back from a backup of /var/lib/ctmend, or else move "
			"them aside with the command that names the run; ctmend explain "
			"run.damaged says what is lost by that",
	},
	[CTM_F_RUN_NEWER] = {
		.code = "run.newer",
		.severity = CTM_CHOICE,
		.title = "a newer ctmend has recorded a run",
		.why = "Its record has a form that this program does not know. Whether the run is "
		       "finished is not known either, so nothing is repaired on top of it.",
		.next = "use the ctmend that made it, or a newer one; where there is none, move "
			"the record aside with the command that names the run; ctmend explain "
			"run.newer says what is lost by that",
	},
	[CTM_F_RUN_UNFINISHED] = {
		.code = "run.unfinished",
		.severity = CTM_FAULT,
		.title = "a run was interrupted and has not been finished",
		.why = "A repair or an undo was killed, stopped, or lost its host in the middle. "
		       "Its record holds what every inode was and is to be, so that it can be "
		       "finished or taken back; until then nothing else is done to the volume.",
		.next = "ctmend repair TARGET finishes it, ctmend undo TARGET takes it back",
	},
	[CTM_F_CONF_SECTION] = {
		.code = "conf.section",
		.severity = CTM_CHOICE,
		.title = "what decides the id map stands in a section that is not in force",
		.why = "Only what stands above the first [section] is the container's present "
		       "state. A line that was added at the end of a file with snapshots belongs "
		       "to the last snapshot, and the container goes without it.",
		.next = "move the line above the first [section] of the configuration if it is "
		        "meant for the container as it is now; the volume is then right as it is",
	},
	[CTM_F_CONF_FOREIGN] = {
		.code = "conf.foreign",
		.severity = CTM_CHOICE,
		.title = "the volume belongs to another guest",
		.why = "Its name has that guest's id, and that guest's configuration has it, too. "
		       "The lock of this container keeps nobody from starting the other one on it, "
		       "and two guests on one volume destroy it. ctmend changes nothing there.",
		.next = "take the volume out of the configuration that is not to have it; then "
		        "name the container that keeps it",
	},
	[CTM_F_CONF_LOCK] = {
		.code = "conf.lock",
		.severity = CTM_CHOICE,
		.title = "the container's configuration is locked",
		.why = "A \"lock:\" line says that a backup, snapshot, migration or mount is at "
		       "work, or that one died. ctmend repairs nothing under it and never "
		       "removes it.",
		.next = "see whether that task still runs; if it does not: pct unlock ID (after "
		        "a mount: pct unmount ID), then try again",
	},
	[CTM_F_CONF_SNAPSHOT] = {
		.code = "conf.snapshot",
		.severity = CTM_INFO,
		.title = "a snapshot was taken under another id map",
		.why = "The present map alone counts for the volume as it is now. A rollback "
		       "brings back the map and the files of that time together; files that were "
		       "written under that map and are still here have its ids.",
	},
	[CTM_F_CONF_UNKNOWN] = {
		.code = "conf.unknown",
		.severity = CTM_INFO,
		.title = "lines of the configuration that Proxmox VE does not take",
		.why = "They are left out, or kept as mere text, with a warning in its log. A "
		       "misspelt key is easily missed: the container runs without it.",
	},
	[CTM_F_PATH_PARENT] = {
		.code = "path.parent",
		.severity = CTM_CHOICE,
		.title = "the container's root cannot enter a directory above its root file system",
		.why = "On its way to the root file system the container is no longer the host's "
		       "root, so every directory must let the mapped root pass. The container "
		       "does not start. ctmend changes nothing above a volume.",
		.next = "let others pass, without letting them list: chmod o+x DIRECTORY",
	},
	[CTM_F_MAP_OVERLAP] = {
		.code = "map.overlap",
		.severity = CTM_CHOICE,
		.title = "ranges of the map overlap",
		.why = "One id would have two places. The kernel takes no such map, so the "
		       "container does not start, and no owner can be told from it.",
		.next = "correct the lxc.idmap lines: each range starts where the one before it "
		        "ends, on both sides",
	},
	[CTM_F_MAP_HOLE] = {
		.code = "map.hole",
		.severity = CTM_CHOICE,
		.title = "the map leaves out ids of the container",
		.why = "An id that no range holds cannot own anything inside: chown to it fails, "
		       "and so does a package or an archive that brings it along.",
		.next = "add a range for the ids that are left out, or make the one before it "
		        "longer",
	},
	[CTM_F_MAP_PUNCH] = {
		.code = "map.punch",
		.severity = CTM_CHOICE,
		.title = "ids passed through to the host displace others, or are root's",
		.why = "The range behind a passed-through id has to go on as if nothing was left "
		       "out; where it does not, all its ids are other ones on disk than before. "
		       "And a root that is passed through is the host's root.",
		.next = "correct the lxc.idmap lines: behind an id N that is passed through go on "
		        "with N+1 on both sides, such as: u 1001 101001 64535",
	},
	[CTM_F_MAP_SUBID] = {
		.code = "map.subid",
		.severity = CTM_CHOICE,
		.title = "root may not use these ids for a map",
		.why = "LXC sets a map by newuidmap and newgidmap, which give out only what "
		       "/etc/subuid and /etc/subgid grant. Without the line the container does not "
		       "start.",
		.next = "add the lines that are missing, each as it stands here",
	},
	[CTM_F_MAP_ASYM] = {
		.code = "map.asym",
		.severity = CTM_INFO,
		.title = "uids and gids are mapped differently",
		.why = "That is allowed, and meant where a group of the host is passed through. "
		       "Otherwise one of the two was forgotten when the other was changed.",
	},
	[CTM_F_MAP_ACCOUNT] = {
		.code = "map.account",
		.severity = CTM_INFO,
		.title = "accounts inside have ids that the map does not hold",
		.why = "The container's passwd or group names ids that no file of it can have. "
		       "Whoever uses such an account inside gets errors; the files on disk are "
		       "right.",
	},
	[CTM_F_TREE_HOST] = {
		.code = "tree.host",
		.severity = CTM_CHOICE,
		.title = "more than half of the volume has the host's ids",
		.why = "This is not damage here and there: the image was never shifted, or the "
		       "container was privileged and its flag was changed. Nothing at all is "
		       "repaired until you say that the whole volume is to be converted.",
		.next = "make a backup or a snapshot, then: ctmend repair --convert TARGET; or "
		        "correct the container's \"unprivileged\" flag or id map if that is what "
		        "is wrong",
	},
	[CTM_F_TREE_FIX] = {
		.code = "tree.fix",
		.severity = CTM_CHOICE,
		.title = "--fix would move more than half of the volume",
		.why = "Where most of a volume is on other ids than its map, the map is as "
		       "likely to be wrong as the files. Nothing at all is repaired until you "
		       "say that the whole volume is to be converted.",
		.next = "look at the map first (ctmend map TARGET); if the files are wrong, make a "
		        "backup or a snapshot, then repeat the command with --convert",
	},
	[CTM_F_TREE_MAPPED] = {
		.code = "tree.mapped",
		.severity = CTM_CHOICE,
		.title = "the volume is shifted, but the configuration maps no ids",
		.why = "The files belong to an unprivileged container, the configuration says "
		       "privileged. Shifting them back would be the wrong cure in nearly every "
		       "case.",
		.next = "put \"unprivileged: 1\" into the current section of the configuration, "
		        "above the first [snapshot]",
	},
	[CTM_F_PKG_HELD] = {
		.code = "pkg.held",
		.severity = CTM_CHOICE,
		.title = "a process holds a package manager's lock",
		.why = "Somebody works in this root file system right now, through a mount or a "
		       "chroot. A repair beside it could break the package database, so it is "
		       "refused.",
		.next = "let that process finish, or end it, then try again",
	},
	[CTM_F_PKG_LOCK] = {
		.code = "pkg.lock",
		.severity = CTM_FAULT,
		.title = "stale locks left by a run on the host",
		.why = "A package manager that ran as the host's root made or replaced these "
		       "lock files. The container's root may not open them, so its own package "
		       "manager stops with \"Permission denied\". Of some managers (pacman, dnf) "
		       "the file itself is the lock, and stays when they die. No process holds "
		       "them.",
	},
	[CTM_F_PKG_CACHE] = {
		.code = "pkg.cache",
		.severity = CTM_FAULT,
		.title = "stale package caches, written on the host or damaged",
		.why = "The container's package manager may not replace them, or would trip over "
		       "their content. They hold nothing of their own and are built again when "
		       "needed.",
	},
	[CTM_F_PKG_PARTIAL] = {
		.code = "pkg.partial",
		.severity = CTM_FAULT,
		.title = "unfinished downloads left by a run on the host",
		.why = "The container's package manager cannot continue or replace a download "
		       "that belongs to the host. It fetches it again.",
	},
	[CTM_F_PKG_LARGE] = {
		.code = "pkg.large",
		.severity = CTM_INFO,
		.title = "too large to keep a copy of, so not removed",
		.why = "Removed files are kept on the host for undo, within limits, so that a "
		       "container cannot fill the host's disk. What goes beyond them stays and "
		       "only gets its owner.",
		.next = "a cache: once the container runs, inside it: apt-get clean; something "
			"else at a lock's path: look at it, and remove it if nobody needs it",
	},
	[CTM_F_OWN_FROM] = {
		.code = "own.from",
		.severity = CTM_FAULT,
		.title = "on the map that --from-map names, moved to the container's",
		.title_id = { "", " is on the map that --from-map names" },
		.why = "Whoever asks for it says that these ids were written under another map. "
		       "Each is read by that map as the container's id, and stored as the "
		       "present map stores it.",
	},
	[CTM_F_OWN_HOST] = {
		.code = "own.host",
		.severity = CTM_FAULT,
		.title = "written from the host, ids outside the map",
		.title_id = { "written from the host, ", " is outside the map" },
		.why = "These ids are the container's own, stored without the shift that its map "
		       "demands: a chroot, a copy or an unpacked archive on the host makes such "
		       "files. Inside they belong to \"nobody\", and not even root can change "
		       "them there.",
	},
	[CTM_F_OWN_DEVICE] = {
		.code = "own.device",
		.severity = CTM_CHOICE,
		.title = "nodes of devices of the host, ids outside the map",
		.title_id = { "nodes of devices of the host, ", " is outside the map" },
		.why = "Whoever owns the node of a disk can use it wherever devices are allowed. A "
		       "container cannot make such a node, so the host's root has made it, and "
		       "to put its owner right would hand the device over.",
		.next = "remove the node if the container does not need it; if it does: ctmend "
		        "repair --fix device TARGET",
	},
	[CTM_F_OWN_HOLE] = {
		.code = "own.hole",
		.severity = CTM_CHOICE,
		.title = "written under another map of this container",
		.title_id = { "", " belongs to another map of this container" },
		.why = "The id map was changed after these were written: the ids were right "
		       "under Proxmox VE's default map or under that of a snapshot, and mean "
		       "nobody under the present one. Either the map or the files are out of "
		       "date.",
		.next = "see what changed in the map (ctmend map TARGET) and correct its lines; "
		        "or move the files to the present map: ctmend repair --fix hole TARGET",
	},
	[CTM_F_OWN_TWICE] = {
		.code = "own.twice",
		.severity = CTM_CHOICE,
		.title = "shifted more than once, the base was added twice",
		.title_id = { "", " was shifted more than once, the base was added twice" },
		.why = "A tool that shifts ids ran again over files that it had shifted before, "
		       "after it was interrupted, or once for each name of a hard link. Inside "
		       "they belong to \"nobody\".",
		.next = "look at some of them; to take the surplus away: ctmend repair --fix "
		        "twice TARGET",
	},
	[CTM_F_OWN_BASE] = {
		.code = "own.base",
		.severity = CTM_CHOICE,
		.title = "owned by ids on another base",
		.title_id = { "", " is on another base" },
		.why = "These ids are whole and in order, but counted from another base than "
		       "the map's: the files came from another host or container, or the map "
		       "was changed afterwards. Inside they belong to \"nobody\".",
		.next = "if the files are wrong: ctmend repair --fix base TARGET, or --from-map "
		        "with the base that is named here; if the map is: put the old one into "
		        "the configuration",
	},
	[CTM_F_OWN_OVERFLOW] = {
		.code = "own.overflow",
		.severity = CTM_CHOICE,
		.title = "owned by 65534, the id that stands for all unmapped ones",
		.title_id = { "", " stands for all ids that a map does not hold" },
		.why = "Whoever reads a tree through a map sees what the map does not hold as "
		       "65534, and a backup or a copy writes that down. Whose the files were is "
		       "lost; only the account \"nobody\" owns such files rightly.",
		.next = "restore the owners from elsewhere (the package inside, an older "
		        "backup); if they are to be nobody's, and are not yet: ctmend repair "
		        "--fix overflow TARGET",
	},
	[CTM_F_OWN_BEYOND] = {
		.code = "own.beyond",
		.severity = CTM_CHOICE,
		.title = "owned by ids that fit neither the container nor its map",
		.title_id = { "", " fits neither the container nor its map" },
		.why = "No rule says whose files these are, so they stay as they are: an archive "
		       "that carried foreign ids, another container's range, or an account of a "
		       "directory service. Inside they belong to \"nobody\".",
		.next = "widen the container's map so that it holds the ids, or change the owner "
		        "by hand",
	},
	[CTM_F_ACL_FROM] = {
		.code = "acl.from",
		.severity = CTM_FAULT,
		.title = "ACL entries on the map that --from-map names",
		.title_id = { "ACL entries for ", " are on the map that --from-map names" },
		.why = "Access lists name users and groups by ids, and these move with the owners.",
	},
	[CTM_F_ACL_HOST] = {
		.code = "acl.host",
		.severity = CTM_FAULT,
		.title = "ACL entries written from the host, ids outside the map",
		.title_id = { "ACL entries written from the host, ", " is outside the map" },
		.why = "An access list names a user or group by an id that was not shifted, so "
		       "it grants nothing to whom it means, and setfacl inside fails. A default "
		       "entry hands the fault on to every new file.",
	},
	[CTM_F_ACL_HOLE] = {
		.code = "acl.hole",
		.severity = CTM_CHOICE,
		.title = "ACL entries written under another map of this container",
		.title_id = { "ACL entries for ", " belong to another map of this container" },
		.why = "The id map was changed after these lists were written, and the entries "
		       "grant nothing to whom they mean.",
		.next = "see what changed in the map (ctmend map TARGET); or move the entries to "
		        "the present map: ctmend repair --fix hole TARGET",
	},
	[CTM_F_ACL_TWICE] = {
		.code = "acl.twice",
		.severity = CTM_CHOICE,
		.title = "ACL entries that were shifted more than once",
		.title_id = { "ACL entries for ", " were shifted more than once" },
		.why = "A tool that shifts ids ran again over lists that it had shifted before, "
		       "and the entries grant nothing to whom they mean.",
		.next = "see them with getfacl -n; to take the surplus away: ctmend repair --fix "
		        "twice TARGET",
	},
	[CTM_F_ACL_BASE] = {
		.code = "acl.base",
		.severity = CTM_CHOICE,
		.title = "ACL entries whose ids are on another base",
		.title_id = { "ACL entries for ", " are on another base" },
		.why = "The entries count from another base than the map's, as the files of "
		       "another host or container do, and grant nothing to whom they mean.",
		.next = "see them with getfacl -n; if the files are wrong: ctmend repair --fix "
		        "base TARGET, or --from-map with the base that is named here",
	},
	[CTM_F_ACL_OVERFLOW] = {
		.code = "acl.overflow",
		.severity = CTM_CHOICE,
		.title = "ACL entries for 65534, the id that stands for all unmapped ones",
		.title_id = { "ACL entries for ", " stand for ids that a map did not hold" },
		.why = "A backup or a copy that was made through the map wrote them down so. "
		       "Whom they meant is lost.",
		.next = "see them with getfacl -n, and set them anew or remove them; if nobody "
		        "is meant: ctmend repair --fix overflow TARGET",
	},
	[CTM_F_ACL_BEYOND] = {
		.code = "acl.beyond",
		.severity = CTM_CHOICE,
		.title = "ACL entries whose ids fit neither the container nor its map",
		.title_id = { "ACL entries for ", " fit neither the container nor its map" },
		.why = "No rule says whom these entries mean, so they stay as they are. Inside, "
		       "setfacl may fail on such a file.",
		.next = "see them with getfacl -n, and remove them with setfacl -x if they mean "
		        "nobody",
	},
	[CTM_F_ACL_MERGE] = {
		.code = "acl.merge",
		.severity = CTM_CHOICE,
		.title = "two ACL entries would become one",
		.why = "The list names a user or group twice, by the host's id and by the "
		       "shifted one, perhaps with different rights. Which of the two is meant "
		       "cannot be known, so the list stays as it is.",
		.next = "see both entries with getfacl -n, and remove the wrong one with setfacl "
		        "-x",
	},
	[CTM_F_CAP_ROOT] = {
		.code = "cap.root",
		.severity = CTM_FAULT,
		.title = "file capabilities bound to a root that is outside the map",
		.title_id = { "file capabilities bound to root ", ", which is outside the map" },
		.why = "A capability counts only where its root id is the container's, so these "
		       "programs have lost theirs inside.",
	},
	[CTM_F_CAP_BEYOND] = {
		.code = "cap.beyond",
		.severity = CTM_CHOICE,
		.title = "file capabilities bound to a root that fits nothing",
		.title_id = { "file capabilities bound to root ", ", which fits nothing" },
		.why = "The capability was given in another user namespace. It has no effect in "
		       "this container, and whose it is cannot be known, so it stays as it is.",
		.next = "once the container runs, give it anew inside with setcap, or install "
		        "the package again",
	},
	[CTM_F_BITS_LOST] = {
		.code = "bits.lost",
		.severity = CTM_INFO,
		.title = "programs without the setuid, setgid or capability that they should have",
		.why = "A chown takes these away, so an earlier repair by other means did. The "
		       "owners are right, and nothing on the disk shows what was there: it is "
		       "known from the distribution's packages, or from dpkg's record of modes "
		       "that an administrator has set.",
		.next = "once the container runs, install the packages named here again, one by "
		        "one, inside it (on Debian: apt-get install --reinstall PACKAGE); what "
		        "/var/lib/dpkg/statoverride has comes back with --fix bits",
	},
	[CTM_F_FLATTEN] = {
		.code = "flatten",
		.severity = CTM_FAULT,
		.title = "given to the container's root, as --flatten asks",
		.title_id = { "", " becomes the container's root, as --flatten asks" },
		.why = "Every inode of the selection gets one owner, as chown -R would do it. "
		       "What the owners were is lost, and setuid, setgid and capabilities of "
		       "what changes go too.",
	},
	[CTM_F_ATTR_FLAG] = {
		.code = "attr.flag",
		.severity = CTM_CHOICE,
		.title = "immutable or append-only, so it cannot be changed",
		.why = "The kernel refuses every change of such an inode (EPERM), also to root. "
		       "Somebody set the flag on purpose, so it is lifted only when asked, and "
		       "set again.",
		.next = "see the flags with lsattr -d; ctmend repair --fix flags lifts them, "
		        "repairs, and sets them again",
	},
	[CTM_F_ATTR_ROSUBVOL] = {
		.code = "attr.rosubvol",
		.severity = CTM_CHOICE,
		.title = "read-only btrfs subvolume with entries that need a change",
		.why = "Nothing in such a subvolume can be changed (EROFS), also by root. It is "
		       "usually a snapshot that somebody took, and meant to stay as it is.",
		.next = "leave it if it is a backup; ctmend repair --fix rosubvol makes it "
		        "writable, repairs, and makes it read-only again",
	},
	[CTM_F_LINK_OUTSIDE] = {
		.code = "link.outside",
		.severity = CTM_CHOICE,
		.title = "hard links with names outside the volume",
		.why = "The inode has more names than the volume shows. The others lie elsewhere "
		       "on the host's file system, and a new owner here would be a new owner "
		       "there.",
		.next = "find them on that file system with: find DIR -xdev -inum N; then break "
		        "the link with a copy, or change the owner by hand",
	},
	[CTM_F_MOUNT_BELOW] = {
		.code = "mount.below",
		.severity = CTM_INFO,
		.title = "something else is mounted here, it was not entered",
		.why = "What is mounted below the root file system is a volume of its own, "
		       "perhaps with a map of its own, or belongs to the host.",
	},
	[CTM_F_PATH_LINK] = {
		.code = "path.link",
		.severity = CTM_CHOICE,
		.title = "a symbolic link is in the way, nothing behind it was looked at",
		.why = "A link in a container's tree may lead anywhere, also out of it, so none "
		       "is followed.",
		.next = "name the real path with --path, or look at the whole volume",
	},
	[CTM_F_PKG_UNFINISHED] = {
		.code = "pkg.unfinished",
		.severity = CTM_INFO,
		.title = "an interrupted run of dpkg waits to be finished",
		.why = "dpkg keeps the journal of an interrupted run here and needs it. It is "
		       "never removed.",
		.next = "after the repair start the container, then inside it: dpkg --configure "
		        "-a",
	},
	[CTM_F_ERR] = {
		.code = "err",
		.severity = CTM_CHOICE,
		.title = "could not be read, or not be understood",
		.why = "What cannot be read cannot be judged, so nothing is said about it and "
		       "nothing is changed. The rest was looked at all the same.",
		.next = "look at the entry by its path and the reason given; for input/output "
		        "errors check the file system first (pct fsck ID)",
	},
};

const struct ctm_finding_info *ctm_finding_info(enum ctm_finding_code code)
{
	return &table[(size_t)code < ARRAY_LEN(table) ? code : CTM_F_ERR];
}

const char *ctm_finding_name(const struct ctm_finding *finding, char buf[static 32])
{
	const char *code = ctm_finding_info(finding->code)->code;
	const char *name;

	if (finding->code != CTM_F_ERR || finding->err == 0) {
		return code;
	}
	name = strerrorname_np(finding->err);
	if (name) {
		(void)snprintf(buf, 32, "%s.%s", code, name);
	} else {
		(void)snprintf(buf, 32, "%s.%d", code, finding->err);
	}
	return buf;
}

/* The one id of this kind, in *ret; -1 when there is none, 1 when there are several, 0. */
static int single_id(const struct ctm_finding *findings, size_t n, struct ctm_spill *spill,
		     int kind, uint32_t *ret)
{
	int r = -1;

	for (size_t i = 0; i < n; i++) {
		ctm_spill_pass(spill);
		if (findings[i].kind != kind) {
			continue;
		}
		if (r == 0 && findings[i].id != *ret) {
			return 1;
		}
		*ret = findings[i].id;
		r = 0;
	}
	return r;
}

int ctm_finding_title(struct ctm_buf *out, const struct ctm_finding *findings, size_t n,
		      struct ctm_spill *spill)
{
	const struct ctm_finding_info *info = ctm_finding_info(findings[0].code);
	const char *kind = "uid";
	uint32_t id = 0;
	int r;

	if (!info->title_id[0]) {
		return ctm_buf_addf(out, "%s", info->title);
	}
	r = single_id(findings, n, spill, CTM_UID, &id);
	if (r < 0) {
		kind = "gid";
		r = single_id(findings, n, spill, CTM_GID, &id);
	}
	if (r != 0) {
		return ctm_buf_addf(out, "%s", info->title);
	}
	return ctm_buf_addf(out, "%s%s %" PRIu32 "%s", info->title_id[0], kind, id,
			    info->title_id[1]);
}
