/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of what lies around the ids: configuration, the way to the volume, maps, flags, links.
 */
#include "base/cleanup.h"
#include "plan/page.h"

#define THE_MAP                                                                    \
	{                                                                          \
		"ctmend map TARGET", "the map in force, and what is wrong with it" \
	}
#define ONE_ID                                                                   \
	{                                                                        \
		"ctmend map TARGET ID", "what an id is on both sides of the map" \
	}
#define SECTIONS                                                                               \
	{                                                                                      \
		"grep -n -e unprivileged -e idmap -e '^\\[' /etc/pve/lxc/ID.conf", "where it " \
										   "stands"    \
	}
#define NOT_FILES "Nothing: it is no matter of files. The lines are yours to correct."

static const struct ctm_page_row rows[] = {
	{
		.code = "run.records",
		.how = "Its mode or owner was changed, or a file or a symbolic link was put in its "
		       "place: by hand, by a backup that was restored, or to keep the records on "
		       "another disk. For the latter, mount that disk's directory there.",
		.repair = "Refused, and so is undo. check looks at the volume all the same.",
		.look = { { "ls -ld /var/lib/ctmend /var/lib/ctmend/*", "owner and mode, or a "
									"link" } },
	},
	{
		.code = "run.damaged",
		.how = "A failing disk, a file system that lost what was written, or somebody "
		       "edited or removed a file of the record. A power cut does not do it.",
		.repair =
			"Refused where the run may be unfinished. history --set-aside moves the "
			"record to the directory set-aside beside it, unchanged, and repair and "
			"undo of other runs go on. What that run changed can then no longer be "
			"taken back, and what it removed lies in removed.tar alone, which bsdtar "
			"reads. What an interrupted run had half done stays: check shows what is "
			"still wrong with the ids, but an inode that was given its owner just then "
			"may lack setuid, setgid or a capability, which only bits.lost can hint "
			"at. That a run with --from-map moved ids is not known any more either.",
		.look = { { "ctmend history TARGET", "the runs, and what is damaged" },
			  { "ctmend history --set-aside TARGET RUN", "moves that record aside" },
			  { "ctmend check TARGET", "afterwards: what is wrong still" } },
	},
	{
		.code = "run.newer",
		.how = "A newer ctmend was installed here and taken away again, or a record was "
		       "brought here from another host. A failing disk that changed the number of "
		       "the format looks the same.",
		.repair = "Refused where the run may be unfinished. history --set-aside moves the "
			  "record to the directory set-aside beside it, unchanged, and repair and "
			  "undo of other runs go on. What that run changed can then no longer be "
			  "taken back; run.damaged says what else is lost by that.",
		.look = { { "ctmend --version", "what is installed" },
			  { "ctmend history TARGET", "the runs" },
			  { "ctmend history --set-aside TARGET RUN", "moves that record aside" } },
	},
	{
		.code = "run.unfinished",
		.how = "The process was killed, the host lost its power, or a change and its "
		       "taking back failed both.",
		.repair = "The run is finished first, from its record; what was planned then is "
			  "done now. A container's start finishes only a run of its own hook.",
		.look = { { "ctmend history TARGET", "the runs, and which of them is not "
						     "finished" },
			  { "ctmend history TARGET RUN", "what that run changes" },
			  { "ctmend undo TARGET", "takes it back instead" } },
	},
	{
		.code = "conf.section",
		.how = "An editor or a script appended the line to a file that ends with a "
		       "snapshot's "
		       "section.",
		.repair = "Refused where the container is privileged by it; the files are right.",
		.look = { SECTIONS },
	},
	{
		.code = "conf.foreign",
		.how = "A line was copied from another configuration, or edited by hand to get at "
		       "the files of another guest; a restore under another id went half way. A "
		       "volume whose name has another id is none when no guest of that id has it.",
		.repair = "Refused, and so are undo and the hook. To share files between "
			  "containers use a directory of the host as a mount point.",
		.look = { { "grep -rn VOLUME /etc/pve/nodes", "all that have it, snapshots "
							      "included" },
			  { "pct config ID", "the configuration of a container" },
			  { "qm config ID", "that of a VM" } },
	},
	{
		.code = "conf.lock",
		.how = "Proxmox VE sets the lock for the time of a task. One that was killed, or a "
		       "mount "
		       "that failed, leaves it.",
		.repair = "Refused while the line is there.",
		.look = { { "pvesh get /nodes/localhost/tasks --vmid ID", "tasks of the "
									  "container" },
			  { "findmnt -R /var/lib/lxc/ID", "whether it is mounted" },
			  { "pct unlock ID", "removes the lock, when nothing is at work" } },
	},
	{
		.code = "conf.snapshot",
		.how = "The map was changed after the snapshot was taken.",
		.repair = "Nothing; files that still have ids of that map are own.hole.",
		.look = { SECTIONS, THE_MAP },
	},
	{
		.code = "conf.unknown",
		.how = "A misspelt key, or one of a newer version.",
		.repair = NOT_FILES,
		.look = { { "pct config ID --current", "what Proxmox VE makes of the file" } },
	},
	{
		.code = "path.parent",
		.how = "A directory that was made with mode 0700 or 0770 above a root file system "
		       "whose root "
		       "is, on the host, nobody special. Privileged containers start all the same.",
		.repair = "Never changed. The volume itself is repaired, and the message stays "
			  "until the "
			  "directory lets the container pass.",
		.look = { { "namei -l PATH", "owner and mode of every directory on the way" },
			  { "chmod o+x DIRECTORY", "lets others pass and not list" } },
	},
	{
		.code = "map.overlap",
		.how = "A line was pasted in, or a count is wrong.",
		.repair = NOT_FILES,
		.look = { THE_MAP },
	},
	{
		.code = "map.hole",
		.how = "A range is too short, or nothing follows an id that is passed through. "
		       "Packages, "
		       "container images and directory services bring ids of 65536 and more, and a "
		       "map of "
		       "65536 ids holds none of these: docker says \"lchown: invalid argument\", "
		       "tar "
		       "\"Cannot change ownership\".",
		.repair = "Nothing: no file can have such an id. Widen the map, and grant root the "
			  "ids in "
			  "/etc/subuid and /etc/subgid; ctmend map prints the range for an id.",
		.look = { ONE_ID, THE_MAP, { "cat /etc/subuid /etc/subgid", "what root may map" } },
	},
	{
		.code = "map.punch",
		.how = "The lines around an id that is passed through do not add up.",
		.repair = NOT_FILES " Files that were right under the old map are own.hole under "
				    "the new "
				    "one.",
		.look = { THE_MAP, ONE_ID },
	},
	{
		.code = "map.subid",
		.how = "The map was widened, and the grant was not.",
		.repair = NOT_FILES,
		.look = { { "grep root: /etc/subuid /etc/subgid", "what root may map" }, THE_MAP },
	},
	{
		.code = "map.asym",
		.how = "A group was passed through, or only one of two lines was changed.",
		.repair = NOT_FILES,
		.look = { THE_MAP },
	},
	{
		.code = "map.account",
		.how = "A directory service or a package inside gave out ids that are larger than "
		       "the map. "
		       "Such accounts can own nothing.",
		.repair = "Nothing: no id on disk is wrong, and the names of a container are never "
			  "believed.",
		.look = { ONE_ID, THE_MAP },
	},
	{
		.code = "attr.flag",
		.how = "chattr +i or +a, from the host. In a container nobody can set or clear it.",
		.repair = "Left as it is. --fix flags lifts the flag, repairs and sets it again.",
		.look = { { "lsattr -d PATH", "the flags" } },
	},
	{
		.code = "attr.rosubvol",
		.how = "btrfs subvolume snapshot -r, by snapper, timeshift or a backup. Inside the "
		       "volume it is a directory like any other.",
		.repair = "Left as it is. --fix rosubvol makes it writable, repairs and makes it "
			  "read-only again, but not what btrfs receive has made: the next "
			  "increment relies on it.",
		.look = { { "btrfs property get -t subvol PATH ro", "whether it is read-only" },
			  { "btrfs subvolume show PATH", "where it comes from" } },
	},
	{
		.code = "link.outside",
		.how = "A backup or a deduplication on the host's file system linked the file, or "
		       "names of "
		       "it were moved out of the volume.",
		.repair = "Left as it is. --fix link changes the owner, here and there.",
		.look = { { "find DIR -xdev -inum N", "all names on that file system" } },
	},
	{
		.code = "mount.below",
		.how = "A mount point of the container, or somebody's bind mount, is mounted on "
		       "the host.",
		.repair = "Not entered. Volumes of the container are reached by --volume.",
		.look = { { "findmnt -R PATH", "what is mounted there" } },
	},
	{
		.code = "path.link",
		.how = "The path that was given leads through a link, as /var/run does to /run.",
		.repair = "Nothing behind the link is looked at.",
		.look = { { "namei PATH", "where the link is and leads" } },
	},
};

const struct ctm_page_table ctm_pages_around = { rows, ARRAY_LEN(rows) };
