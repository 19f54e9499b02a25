/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pages of what is wrong with the ids of a tree: owners, ACL entries, capabilities, the whole.
 */
#include "base/cleanup.h"
#include "plan/page.h"

#define EVERY_ENTRY                                                                      \
	{                                                                                \
		"ctmend check -v TARGET", "every entry, and the ids of the whole volume" \
	}
#define THE_MAP                                                                    \
	{                                                                          \
		"ctmend map TARGET", "the map in force, and what is wrong with it" \
	}
#define ONE_ID                                                                   \
	{                                                                        \
		"ctmend map TARGET ID", "what an id is on both sides of the map" \
	}
#define THE_ACL                                                          \
	{                                                                \
		"getfacl -n PATH", "the entries of one inode as numbers" \
	}
#define THE_CAPS                                                                   \
	{                                                                          \
		"getcap -n PATH", "the capability with the root id it is bound to" \
	}
#define EVERY_CHANGE                                                        \
	{                                                                   \
		"ctmend diff TARGET", "each change before anything is made" \
	}

#define ACL_MOVE                                                                                   \
	"Access and default lists are rewritten entry by entry; the file's mode, which holds the " \
	"mask, stays."

static const struct ctm_page_row rows[] = {
	{
		.code = "tree.host",
		.how = "An image was made or unpacked on the host and never shifted, or the "
		       "container "
		       "ran as a privileged one and \"unprivileged\" was switched on afterwards: "
		       "the "
		       "flag changes the map, not the files.",
		.repair = "Nothing at all is changed, locks and caches neither. With --convert "
			  "every id "
			  "goes through the map; bits, ACLs and capabilities are kept.",
		.look = { EVERY_ENTRY, THE_MAP },
	},
	{
		.code = "tree.fix",
		.how = "A generated or mistyped lxc.idmap, a map that was changed for a container "
		       "in use, "
		       "or a volume of another container.",
		.repair = "Nothing is changed. With --convert beside --fix the files are moved; if "
			  "the map "
			  "is what is wrong, correct its lines and change no file.",
		.look = { THE_MAP, EVERY_ENTRY },
	},
	{
		.code = "tree.mapped",
		.how = "The line \"unprivileged: 1\" was lost, or stands in the section of a "
		       "snapshot, "
		       "which does not count.",
		.repair = "Refused: the files are right, the configuration is not.",
		.look = { { "grep -n -e unprivileged -e '^\\[' /etc/pve/lxc/ID.conf", "the flag, "
										      "and the "
										      "section "
										      "that it "
										      "stands "
										      "in" } },
	},
	{
		.code = "own.from",
		.how = "The container was restored or copied from elsewhere, or its map was "
		       "changed, and "
		       "--from-map says which map its files still have.",
		.repair = "Every id on the disk side of that map moves to where the container's "
			  "map has "
			  "it. Where the ranges of both overlap, a second run is refused.",
		.look = { EVERY_CHANGE, ONE_ID },
	},
	{
		.code = "own.host",
		.how = "A chroot, a copy, an archive unpacked or a package installed by the host's "
		       "root "
		       "while the container was stopped; a tool that shifts ids and left out "
		       "links, "
		       "devices or odd names; files that a privileged container left behind.",
		.repair = "Each id is stored where the map has it: 0 becomes 100000, 42 becomes "
			  "100042. "
			  "Set-id bits, ACLs, capabilities and times are kept.",
		.look = { EVERY_CHANGE, EVERY_ENTRY, ONE_ID },
	},
	{
		.code = "own.device",
		.how = "A root file system was copied from a machine with its /dev, a chroot on "
		       "the host made its nodes, or somebody put the node of a disk there on "
		       "purpose. "
		       "The nodes of every container (null, zero, full, random, urandom, tty, "
		       "console, ptmx, pts, fuse) and whiteouts are not meant.",
		.repair = "They stay as they are, whichever option would move their ids. --fix "
			  "device, or --convert, moves them with the rest; a node that the map "
			  "owns already is none.",
		.look = { { "stat -c '%n %t:%T %U:%G %a' PATH",
			    "which device it is, in hexadecimal" },
			  EVERY_ENTRY },
	},
	{
		.code = "own.hole",
		.how = "Lines of lxc.idmap were added, removed or mistyped after the files "
		       "existed. Where "
		       "most of a volume is concerned, the map is wrong and not the files.",
		.repair = "Left as it is. --fix hole moves each id to where the present map has "
			  "it; more "
			  "than half of a volume needs --convert as well.",
		.look = { THE_MAP,
			  ONE_ID,
			  { "grep -n -e idmap -e '^\\[' /etc/pve/lxc/ID.conf", "the lines of the "
									       "map, and the "
									       "sections they "
									       "stand in" } },
	},
	{
		.code = "own.twice",
		.how = "A shift was started again after it had been stopped half way, or it "
		       "changed a hard "
		       "link once for each of its names. In a container inside the container such "
		       "ids are "
		       "right, and there they are never called so.",
		.repair = "Left as it is. --fix twice takes away the surplus, inode by inode.",
		.look = { EVERY_ENTRY,
			  ONE_ID,
			  { "stat -c '%n %u:%g %h' PATH", "owner and number of names of an "
							  "inode" } },
	},
	{
		.code = "own.base",
		.how = "A volume was taken over from another host or container whose map starts "
		       "elsewhere; "
		       "isolated maps were switched on or off; two containers share the volume.",
		.repair = "Left as it is. --fix base moves all bases that are listed, --from-map "
			  "only the "
			  "one that it names. A volume that another container uses wants one map "
			  "for both, "
			  "or an idmap on the mount.",
		.look = { EVERY_ENTRY,
			  THE_MAP,
			  { "grep -H idmap /etc/pve/lxc/*.conf", "which container has such a "
								 "base" } },
	},
	{
		.code = "own.overflow",
		.how = "Whoever looks through a map sees every owner that it does not hold as "
		       "65534, and a "
		       "backup or copy made that way has lost who it was.",
		.repair = "Left as it is: the owner cannot be told from the disk. --fix overflow "
			  "gives such "
			  "inodes to the container's own \"nobody\".",
		.look = { EVERY_ENTRY,
			  { "pct exec ID -- dpkg -S PATH", "the package that a file is of; install "
							   "that package again, inside, by "
							   "name" } },
	},
	{
		.code = "own.beyond",
		.how = "An archive with the ids of whoever packed it (tar as root keeps them), an "
		       "account of "
		       "a directory service with a large id, a nested container, or another "
		       "container's "
		       "range.",
		.repair = "Left as it is. --from-map u:0:ID:1,g:0:ID:1 says whose an id is; or the "
			  "map is "
			  "widened so that it holds the id. The report has the lines for that.",
		.look = { ONE_ID,
			  EVERY_ENTRY,
			  { "getent passwd ID", "whether the host or a directory knows the "
						"account" } },
	},
	{
		.code = "acl.from",
		.how = "The lists were written under the map that --from-map names.",
		.repair = ACL_MOVE,
		.look = { THE_ACL, EVERY_CHANGE },
	},
	{
		.code = "acl.host",
		.how = "setfacl on the host, a copy that took the lists along, or a shift that "
		       "moved owners "
		       "alone. systemd makes such lists below /var/log/journal.",
		.repair = ACL_MOVE,
		.look = { THE_ACL, EVERY_CHANGE },
	},
	{
		.code = "acl.hole",
		.how = "Lines of lxc.idmap were changed after the lists were written.",
		.repair = "Left as it is; moved together with owners by --fix hole. " ACL_MOVE,
		.look = { THE_ACL, THE_MAP },
	},
	{
		.code = "acl.twice",
		.how = "A shift ran again over lists that it had done before.",
		.repair = "Left as it is; moved together with owners by --fix twice. " ACL_MOVE,
		.look = { THE_ACL, EVERY_ENTRY },
	},
	{
		.code = "acl.base",
		.how = "The volume came from a host or container with another base, and whoever "
		       "shifted it "
		       "since left the lists out.",
		.repair = "Left as it is; moved together with owners by --fix base or "
			  "--from-map. " ACL_MOVE,
		.look = { THE_ACL, EVERY_ENTRY },
	},
	{
		.code = "acl.overflow",
		.how = "A backup or copy read the lists through a map that did not hold the ids in "
		       "them.",
		.repair = "Left as it is; --fix overflow lets them mean the container's "
			  "\"nobody\".",
		.look = { THE_ACL },
	},
	{
		.code = "acl.beyond",
		.how = "The list came along with a foreign archive, or names an account of a "
		       "directory "
		       "service.",
		.repair = "Left as it is, and the rest of the list as well as it can be: entries "
			  "that have "
			  "a place are moved.",
		.look = { THE_ACL, ONE_ID },
	},
	{
		.code = "acl.merge",
		.how = "An entry was set by the host's root and the same one by the container's.",
		.repair = "The list is left as it is; the owner is repaired all the same.",
		.look = { THE_ACL },
	},
	{
		.code = "cap.root",
		.how = "The file was copied from another container, or its owner was shifted by a "
		       "tool that "
		       "leaves capabilities alone.",
		.repair = "The root id goes through the map as a uid does. A capability without a "
			  "root id "
			  "(revision 2) on a file that is shifted becomes one of this container.",
		.look = { THE_CAPS, EVERY_CHANGE },
	},
	{
		.code = "cap.beyond",
		.how = "The file came from a container with a map of its own, perhaps a nested "
		       "one.",
		.repair = "Left as it is.",
		.look = { THE_CAPS, ONE_ID },
	},
	{
		.code = "bits.lost",
		.how = "A chown -R over the tree, or a converter that sets owners last. What "
		       "should be "
		       "there is known from the well-known programs of Debian, Fedora, openSUSE, "
		       "Arch, "
		       "Alpine and Void, and from dpkg's statoverride database. A program that "
		       "goes "
		       "without by design, as ping mostly does, is not named.",
		.repair = "Left. --fix bits sets what dpkg-statoverride has recorded by number or "
			  "for "
			  "root, if owner and permissions are those of the record, and the file "
			  "has one "
			  "name; never what only a package has.",
		.look = { { "stat -c '%a %u:%g' PATH", "the mode as it is" },
			  { "pct exec ID -- dpkg -S PATH", "the package that the file is from" },
			  { "pct exec ID -- dpkg-statoverride --list", "what is recorded" } },
	},
	{
		.code = "flatten",
		.how = "It is no damage: --flatten asks for it.",
		.repair = "Owner and group become the container's root. Repair without --flatten "
			  "keeps "
			  "every user apart and loses nothing.",
		.look = { EVERY_CHANGE },
	},
};

const struct ctm_page_table ctm_pages_owner = { rows, ARRAY_LEN(rows) };
