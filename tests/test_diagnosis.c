/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What happened to a volume. Each row is a state that somebody reported, with the cause that a
 * person who knows the story would name.
 */
#include "plan/diagnosis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "facts.h"
#include "scan/totals.h"

#define DEF      "0:100000:65536"
#define ROWS_MAX 64

/* "d0755 0:0 opt/app": type (file when absent), mode, owner, path; "2* " in front: two names. */
static struct ctm_fact fact_from(const char *line, size_t len, char store[static 256])
{
	static const struct {
		char letter;
		uint32_t type;
	} types[] = {
		{ 'd', S_IFDIR },  { 'l', S_IFLNK }, { 'p', S_IFIFO },
		{ 's', S_IFSOCK }, { 'c', S_IFCHR }, { '-', S_IFREG },
	};
	uint32_t type = S_IFREG;
	unsigned int nlink = 0;
	unsigned int mode;
	unsigned int uid;
	unsigned int gid;
	int at = 0;
	struct ctm_fact fact;

	cr_assert_lt(len, 256);
	memcpy(store, line, len);
	store[len] = '\0';
	line = store;
	if (line[1] == '*') {
		nlink = (unsigned int)(line[0] - '0');
		line += 3;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (line[0] == types[i].letter) {
			type = types[i].type;
			line++;
			break;
		}
	}
	cr_assert_eq(sscanf(line, "%o %u:%u %n", &mode, &uid, &gid, &at), 3, "%s", store);
	fact = fact_of(strcmp(line + at, ".") == 0 ? "" : line + at, type | mode, uid, gid);
	fact.nlink = nlink ? nlink : fact.nlink;
	return fact;
}

static void count(const struct ctm_idmap *map, const struct ctm_fact *facts, size_t n,
		  unsigned int healthy, struct ctm_scan_totals *ret)
{
	const struct ctm_scan_request req = { .map = map };
	struct ctm_tally tally = { 0 };
	struct ctm_sieve sieve;
	ctm_did root = { 0 };

	ctm_sieve_init(&sieve, &req);
	(void)ctm_idmap_to_disk(map, CTM_UID, (ctm_cid){ 0 }, &root);
	for (size_t i = 0; i < n + healthy; i++) {
		ctm_did uid = i < n ? facts[i].uid : root;
		ctm_did gid = i < n ? facts[i].gid : root;

		ctm_tally_inode(&tally, &sieve, ctm_sieve_owner(&sieve, uid, gid),
				i < n ? facts[i].mode : S_IFREG | 0644, i < n ? facts[i].nlink : 1,
				uid, gid);
	}
	cr_assert_eq(ctm_tally_finish(&tally, ret), 0);
	ctm_tally_done(&tally);
}

static const struct ctm_pkgfiles_found nano = {
	.looked = 8,
	.listed = 4,
	.own = 2,
	.names = { "nano", "sudo" },
	.n_names = 2,
	.packages = 2,
	.lists = true,
};
static const struct ctm_pkgfiles_found nothing = { .looked = 8, .lists = true };

struct row {
	const char *name;
	const char *map; /* NULL: DEF */
	const char *tree;
	const char *acl; /* of the first fact, or NULL */
	unsigned int healthy;
	const struct ctm_pkgfiles_found *packages;
	const char *privileged_in;
	bool mount_point;
	const char *other;          /* the map of a snapshot's section, or NULL */
	enum ctm_finding_code note; /* one that no fact carries; 0: none */
	const char *cause;
	const char *sentence;       /* how it begins */
	enum ctm_finding_code code; /* of the group that is looked at; CTM_F_N: none */
	const char *group_cause;
	const char *evidence; /* all of it; NULL: none */
	const char *says;     /* a part of note or lines, or NULL */
};

static const struct row rows[] = {
	{ .name = "A1 the whole tree is the host's",
	  .tree = "d0755 0:0 .\n0640 0:42 etc/shadow\n4755 0:0 usr/bin/sudo\n2755 0:101 "
		  "usr/bin/crontab",
	  .cause = "never-shifted",
	  .sentence = "the volume was never shifted, or the container was privileged and its "
		      "flag was changed: 4 of "
		      "4 "
		      "inodes (100 %) have uid and gid of the host",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "never-shifted" },
	{ .name = "A1 with a snapshot that is privileged",
	  .tree = "d0755 0:0 .\n0640 0:42 etc/shadow",
	  .privileged_in = "the section [before]",
	  .cause = "flag-flipped",
	  .sentence = "the container's privileged flag was changed: 2 of 2 inodes",
	  .code = CTM_F_TREE_HOST,
	  .group_cause = "flag-flipped",
	  .evidence = "the container is privileged in the section [before]" },
	{ .name = "A2 the top is right, the rest is not",
	  .map = "0:165536:65536",
	  .tree = "0644 1200:1200 opt/app/run\n0644 0:0 etc/hosts\n0644 0:0 etc/passwd",
	  .healthy = 1,
	  .cause = "never-shifted",
	  .sentence = "the volume was never shifted, or the container was privileged and its "
		      "flag was changed: 3 of "
		      "4",
	  .code = CTM_F_TREE_HOST,
	  .group_cause = "never-shifted" },
	{ .name = "A3 and a directory above is closed",
	  .tree = "d0755 0:0 .\n0644 0:0 etc/hosts",
	  .note = CTM_F_PATH_PARENT,
	  .cause = "never-shifted",
	  .sentence = "the volume was never shifted, or the container was privileged and its "
		      "flag was changed: 2 of "
		      "2 "
		      "inodes (100 %) have uid and gid of the host; a directory above it does not "
		      "let "
		      "the container in",
	  .code = CTM_F_PATH_PARENT,
	  .group_cause = "surroundings" },
	{ .name = "A4 data moved in",
	  .tree = "d0755 0:0 opt/app/store\n0644 0:0 opt/app/store/a\n0600 1001:1001 "
		  "opt/app/store/b",
	  .healthy = 100,
	  .packages = &nothing,
	  .cause = "copied-in",
	  .sentence = "files were copied in from the host: 3 of 103 inodes have the host's ids",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "copied-in",
	  .evidence = "all are in /opt/app/store",
	  .says = "1 of them may be read by their owner or group alone: a backup" },
	{ .name = "A5 one file",
	  .tree = "0644 0:0 etc/hosts",
	  .healthy = 100,
	  .cause = "copied-in",
	  .sentence = "/etc/hosts was written from the host",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "copied-in",
	  .evidence = "it is the only one: /etc/hosts" },
	{ .name = "A6 web content on another base",
	  .map = "0:325124096:65536",
	  .tree = "d2750 33:33 srv/www\n0640 0:33 srv/www/a.php",
	  .acl = "u::rwx,u:33:rwx,g::r-x,m::rwx,o::---",
	  .healthy = 100,
	  .cause = "copied-in",
	  .sentence = "files were copied in from the host: 2 of 102 inodes",
	  .code = CTM_F_ACL_HOST,
	  .group_cause = "copied-in" },
	{ .name = "A7 a layer that no backup can read",
	  .tree = "d0750 1000:1000 var/lib/docker/overlay2/L/diff/home/ubuntu\n"
		  "c0000 0:0 var/lib/docker/overlay2/L/diff/etc/gone",
	  .healthy = 100,
	  .cause = "copied-in",
	  .sentence = "files were copied in from the host: 2 of 102 inodes",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "copied-in",
	  .evidence = "all are below /var/lib/docker/overlay2/L/diff",
	  .says = "1 of them may be read by their owner or group alone: a backup, which reads "
		  "through "
		  "the map, misses them or ends there" },
	{ .name = "A8 what shell loops leave behind",
	  .tree = "l0777 0:0 etc/localtime\np0600 0:0 run/initctl\ns0666 0:0 var/run/x.sock\n"
		  "c0666 0:0 var/spool/postfix/dev/null\n0644 0:0 srv/trailing \n"
		  "0644 0:0 srv/back\\slash\n0644 0:0 srv/new\tline\nl0777 100:100 srv/dangling",
	  .healthy = 100,
	  .packages = &nothing,
	  .cause = "converter-skipped",
	  .sentence = "a tool that shifts ids left some out: 8 of 108 inodes have the host's ids",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "converter-skipped",
	  .evidence = "5 are links, FIFOs, sockets or devices, 3 have a blank, quote or backslash "
		      "in "
		      "the path" },
	{ .name = "A8 links alone",
	  .tree = "l0777 0:0 etc/localtime\nl0777 0:0 bin",
	  .healthy = 100,
	  .cause = "converter-skipped",
	  .sentence = "a tool that shifts ids left some out: 2 of 102",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "converter-skipped",
	  .evidence = "all are links, FIFOs, sockets or devices" },
	{ .name = "a package manager in a chroot",
	  .tree = "0755 0:0 usr/bin/nano\nd0755 0:0 usr/share/nano\n0644 0:0 usr/share/nano/c\n"
		  "4755 0:0 usr/bin/sudo\n0644 0:0 var/lib/dpkg/status\n0644 0:0 var/log/dpkg.log\n"
		  "0644 0:0 etc/ld.so.cache\nl0777 0:0 etc/alternatives/editor",
	  .healthy = 100,
	  .packages = &nano,
	  .cause = "package-run",
	  .sentence = "a package manager was run from the host: 8 of 108 inodes have the host's "
		      "ids",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "package-run",
	  .evidence = "6 of 8 paths are files of packages (nano, sudo) and of the package manager "
		      "itself" },
	{ .name = "here and there, and nothing tells",
	  .tree = "0644 0:0 etc/hosts\n0644 0:0 usr/local/x\n0644 0:0 var/y",
	  .healthy = 100,
	  .packages = &nothing,
	  .cause = "unknown",
	  .sentence = "somebody worked in it as the host's root: 3 of 103 inodes have the host's "
		      "ids",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "unknown" },
	{ .name = "PVE: the top alone",
	  .tree = "d0755 0:0 .",
	  .healthy = 100,
	  .cause = "pve-root-owner",
	  .sentence = "Proxmox VE (pve-container 6.0.19) gave the top directory to the host's "
		      "root: 1",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "pve-root-owner",
	  .evidence = "the top directory alone is wrong" },
	{ .name = "B1 uids on another base",
	  .tree = "d0755 165536:100000 .\n0640 165536:100042 etc/shadow\n"
		  "d2755 165542:100012 var/cache/man",
	  .healthy = 0,
	  .cause = "other-host",
	  .sentence = "files came from another host or container, or from an earlier map: 3 of 3 "
		      "inodes "
		      "have ids on another base",
	  .code = CTM_F_OWN_BASE,
	  .group_cause = "other-host",
	  .evidence = "base 165536, uid of 3 inodes: --from-map u:0:165536:65536,g:0:100000:65536",
	  .says = "lxc.idmap: u 0 165536 65536\nlxc.idmap: g 0 100000 65536\n" },
	{ .name = "B2 two old bases and the host's",
	  .map = "0:1000000:65536",
	  .tree = "0644 1065536:1065536 home/a\n0644 1066536:1066536 home/b\n0644 1131072:1131072 "
		  "srv/x\n"
		  "0644 0:0 root/new",
	  .healthy = 100,
	  .cause = "other-host",
	  .sentence = "files came from another host or container, or from an earlier map: 3 of 104",
	  .code = CTM_F_OWN_BASE,
	  .group_cause = "other-host",
	  .evidence = "base 1065536, uid of 2 inodes, gid of 2 inodes: --from-map 0:1065536:65536; "
		      "base 1131072, uid of 1 inode, gid of 1 inode: --from-map 0:1131072:65536" },
	{ .name = "B3 a rescued tree",
	  .tree = "d0755 165536:165536 .\n0640 165536:165578 etc/shadow",
	  .cause = "other-host",
	  .sentence = "files came from another host or container, or from an earlier map: 2 of 2",
	  .code = CTM_F_OWN_BASE,
	  .group_cause = "other-host",
	  .evidence = "base 165536, uid of 2 inodes, gid of 2 inodes: --from-map 0:165536:65536",
	  .says = "if the files are right and the map is not, the configuration wants the old "
		  "map" },
	{ .name = "B5 the converter ran twice",
	  .tree = "0644 200000:200000 etc/hostname\n0640 200000:200042 etc/shadow\n"
		  "4755 200000:200000 usr/bin/su",
	  .healthy = 100,
	  .cause = "converter-twice",
	  .sentence = "a tool that shifts ids added the base twice: 3 of 103 inodes have ids that "
		      "were "
		      "shifted again",
	  .code = CTM_F_OWN_TWICE,
	  .group_cause = "converter-twice" },
	{ .name = "B5 hard links once for each name",
	  .tree = "2* 0644 200033:200033 srv/a\n2* 0644 200000:200042 srv/b",
	  .healthy = 100,
	  .cause = "converter-twice",
	  .sentence = "a tool that shifts ids added the base twice: 2 of",
	  .code = CTM_F_OWN_TWICE,
	  .group_cause = "converter-twice",
	  .evidence = "all are hard links, shifted once for each name" },
	{ .name = "B6 a nested container under too small a map",
	  .tree = "d0755 200000:200000 var/lib/lxc/inner/rootfs\n"
		  "0644 200033:200033 var/lib/lxc/inner/rootfs/x",
	  .healthy = 100,
	  .cause = "nested-container",
	  .sentence = "a container inside this one needs a larger map: 2 of 102 inodes have ids "
		      "that the "
		      "map does not hold",
	  .code = CTM_F_OWN_BEYOND,
	  .group_cause = "nested-container",
	  .says = "lxc.idmap: u 0 100000 165536\nlxc.idmap: g 0 100000 165536\n"
		  "/etc/subuid: root:100000:165536\n/etc/subgid: root:100000:165536\n" },
	{ .name = "B7 a hole was punched afterwards",
	  .map = "u:0:100000:33,u:33:33:1,u:34:100034:65502,g:0:100000:33,g:33:33:1,g:34:100034:"
		 "65502",
	  .tree = "d2770 100033:100033 var/www/data\n0640 100033:100033 var/www/data/c.php",
	  .healthy = 100,
	  .cause = "map-changed",
	  .sentence = "the id map was changed after files were written: 2 of 102 inodes have ids "
		      "of "
		      "another map",
	  .code = CTM_F_OWN_HOLE,
	  .group_cause = "map-changed",
	  .evidence = "all ids fit the default map" },
	{ .name = "B8 a home that was passed through",
	  .tree = "d0755 1000:1000 home/u\n0600 1000:1000 home/u/.ssh/id",
	  .healthy = 100,
	  .other = "u:0:100000:1000,u:1000:1000:1,u:1001:101001:64535,"
		   "g:0:100000:1000,g:1000:1000:1,g:1001:101001:64535",
	  .cause = "map-changed",
	  .sentence = "the id map was changed after files were written: 2 of 102 inodes have the "
		      "host's",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "map-changed",
	  .evidence = "all ids fit the section [before]" },
	{ .name = "B8 and nothing says so",
	  .tree = "d0755 1000:1000 home/u\n0600 1000:1000 home/u/.ssh/id",
	  .healthy = 100,
	  .cause = "copied-in",
	  .sentence = "files were copied in from the host: 2 of 102",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "copied-in",
	  .evidence = "all are in /home/u" },
	{ .name = "B9 a mount point of another container",
	  .tree = "d0755 300000:300000 .\n0644 300000:300000 a",
	  .mount_point = true,
	  .cause = "other-host",
	  .sentence = "files came from another host or container",
	  .code = CTM_F_OWN_BASE,
	  .group_cause = "other-host",
	  .evidence = "base 300000, uid of 2 inodes, gid of 2 inodes: --from-map 0:300000:65536",
	  .says = "a volume that several containers use wants one map for all of them, or idmap=" },
	{ .name = "B10 a generated map was pasted in",
	  .map = "u:0:0:1026,u:1026:1026:1,u:1027:101027:64509,g:0:0:1026,g:1026:1026:1,g:1027:"
		 "101027:64509",
	  .tree = "d0755 100000:100000 .\n0644 100000:100000 etc/sudo.conf\n0640 100000:100042 "
		  "etc/shadow",
	  .cause = "map-wrong",
	  .sentence = "the map is wrong and not the files: 3 of 3 inodes have ids of another map",
	  .code = CTM_F_OWN_HOLE,
	  .group_cause = "map-wrong",
	  .evidence = "3 of 3 inodes fit the default map, and not the configuration",
	  .says = "lxc.idmap: u 0 100000 65536\nlxc.idmap: g 0 100000 65536\n" },
	{ .name = "C1 a journal with unshifted lists",
	  .tree = "d2755 100000:100101 var/log/journal",
	  .acl = "u::rwx,g::r-x,g:4:r-x,g:10:r-x,m::r-x,o::r-x",
	  .healthy = 100,
	  .cause = "converter-skipped",
	  .sentence = "a tool that shifts ids left some out: owners are right, but access lists of "
		      "1 "
		      "inode are not",
	  .code = CTM_F_ACL_HOST,
	  .group_cause = "converter-skipped",
	  .evidence = "the owners are right, the access lists are not" },
	{ .name = "C6 groups lost: the leftovers alone",
	  .tree = "p0600 0:0 run/initctl\ns0666 0:0 var/run/x.sock\n0640 100000:100000 etc/shadow",
	  .healthy = 100,
	  .cause = "converter-skipped",
	  .sentence = "a tool that shifts ids left some out: 2 of 103",
	  .code = CTM_F_OWN_HOST,
	  .group_cause = "converter-skipped",
	  .evidence = "all are links, FIFOs, sockets or devices" },
	{ .name = "C6 and C7 nothing but the wrong account",
	  .tree = "0640 100000:100000 etc/shadow\nd0750 100107:100112 etc/redis",
	  .healthy = 100,
	  .cause = "none",
	  .sentence = "clean: every id of 102 inodes belongs to the map (ids are checked, not who "
		      "should "
		      "own what)",
	  .code = CTM_F_N },
	{ .name = "D1 the flag in a section that is not in force",
	  .tree = "0644 100000:100000 etc/hosts",
	  .note = CTM_F_CONF_SECTION,
	  .cause = "flag-misplaced",
	  .sentence = "what decides the id map stands in a section that is not in force: TEXT",
	  .code = CTM_F_CONF_SECTION,
	  .group_cause = "flag-misplaced" },
	{ .name = "D2 the flag is gone",
	  .tree = "0644 100000:100000 etc/hosts",
	  .note = CTM_F_TREE_MAPPED,
	  .cause = "flag-flipped",
	  .sentence = "the files are shifted, but the configuration says privileged: TEXT",
	  .code = CTM_F_TREE_MAPPED,
	  .group_cause = "flag-flipped" },
	{ .name = "E1 a vendor's archive",
	  .tree = "0755 1029054284:100000 opt/vendor/bin/tool\n0755 1029054284:100000 "
		  "opt/vendor/bin/b",
	  .healthy = 100,
	  .cause = "foreign-id",
	  .sentence = "an archive or a directory service brought ids that the map does not hold: 2 "
		      "of 102",
	  .code = CTM_F_OWN_BEYOND,
	  .group_cause = "foreign-id",
	  .says = "lxc.idmap: u 0 100000 1028954285\nlxc.idmap: g 0 100000 65536\n"
		  "/etc/subuid: root:100000:1028954285\n/etc/subgid: root:100000:65536\n" },
	{ .name = "F1 immutable files from the host",
	  .tree = "0644 0:0 home/admin/conf\n0644 0:0 home/admin/other",
	  .healthy = 100,
	  .note = CTM_F_ATTR_FLAG,
	  .cause = "copied-in",
	  .sentence = "files were copied in from the host: 2 of 102",
	  .code = CTM_F_ATTR_FLAG,
	  .group_cause = "unknown" },
	{ .name = "G1 nobody is really nobody",
	  .tree = "0644 165534:165534 srv/app/a\n0644 165534:165534 srv/app/b",
	  .healthy = 1000,
	  .cause = "none",
	  .sentence = "clean: ",
	  .code = CTM_F_N },
	{ .name = "G2 closed parents",
	  .tree = "0644 100000:100000 etc/hosts",
	  .note = CTM_F_PATH_PARENT,
	  .cause = "surroundings",
	  .sentence = "the container's root cannot enter a directory above its root file system: "
		      "TEXT",
	  .code = CTM_F_PATH_PARENT,
	  .group_cause = "surroundings" },
	{ .name = "G4 a healthy lock",
	  .tree = "0640 100000:100000 var/cache/apt/archives/lock",
	  .healthy = 100,
	  .cause = "none",
	  .sentence = "clean: ",
	  .code = CTM_F_N },
	{ .name = "G6 a lock of Proxmox VE",
	  .tree = "0644 0:0 etc/hosts",
	  .healthy = 100,
	  .note = CTM_F_CONF_LOCK,
	  .cause = "copied-in",
	  .sentence = "/etc/hosts was written from the host; its configuration is locked",
	  .code = CTM_F_CONF_LOCK,
	  .group_cause = "surroundings" },
	{ .name = "a stale lock and nothing else",
	  .tree = "0640 0:0 var/lib/dpkg/lock",
	  .healthy = 100,
	  .cause = "package-run",
	  .sentence = "1 stale file of package managers is in the way; all ids are right",
	  .code = CTM_F_PKG_LOCK,
	  .group_cause = "package-run" },
	{ .name = "relics of a backup",
	  .tree = "0644 65534:65534 etc/a\n0644 65534:65534 etc/b",
	  .healthy = 100,
	  .cause = "backup-through-map",
	  .sentence = "a backup or a copy was made through the map: 2 of 102 inodes belong to "
		      "nobody any",
	  .code = CTM_F_OWN_OVERFLOW,
	  .group_cause = "backup-through-map" },
};

static void check_row(const struct row *row, const struct ctm_plan *plan)
{
	const struct ctm_evidence evidence = {
		.packages = row->packages,
		.privileged_in = row->privileged_in,
		.mount_point = row->mount_point,
	};
	CLEANUP(ctm_diagnosis_done) struct ctm_diagnosis d = { 0 };
	const struct ctm_diagnosed *group;
	const char *note;

	cr_assert_eq(ctm_diagnose(plan, &evidence, &d), 0);
	cr_assert_str_eq(ctm_cause_word(d.cause), row->cause, "%s: %s", row->name,
			 ctm_cause_word(d.cause));
	cr_assert_eq(strncmp(d.text, row->sentence, strlen(row->sentence)), 0, "%s: %s", row->name,
		     d.text);
	cr_assert_eq(d.code == CTM_F_N, row->code == CTM_F_N, "%s", row->name);
	group = ctm_diagnosis_of(&d, row->code);
	if (row->code == CTM_F_N) {
		cr_assert_null(group);
		return;
	}
	cr_assert_not_null(group, "%s: no such group", row->name);
	cr_assert_str_eq(ctm_cause_word(group->cause), row->group_cause, "%s: %s", row->name,
			 ctm_cause_word(group->cause));
	cr_assert_str_eq(group->evidence ? group->evidence : "", row->evidence ? row->evidence : "",
			 "%s: '%s'", row->name, group->evidence);
	note = group->note && row->says ? strstr(group->note, row->says) : NULL;
	cr_assert(!row->says || note || (group->lines && strcmp(group->lines, row->says) == 0),
		  "%s: note '%s', lines '%s'", row->name, group->note, group->lines);
}

CASES(diagnosis, reported, rows)
{
	static const bool rules_on[16] = { [0 ... 15] = true };
	static char store[ROWS_MAX][256];
	static unsigned char acl[128];
	const struct row *row = &rows[*i];
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = map_of(row->map ? row->map : DEF);
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *other = row->other ? map_of(row->other) : NULL;
	const struct ctm_kin_map kin_map = { other, "the section [before]" };
	const struct ctm_kin kin = { .maps = &kin_map, .n_maps = other ? 1 : 0 };
	struct ctm_policy policy = {
		.map = map, .kin = &kin, .rules_on = rules_on, .raw_volume = true
	};
	CLEANUP(ctm_planp_free) struct ctm_plan *plan = NULL;
	struct ctm_scan_totals totals;
	struct ctm_fact facts[ROWS_MAX];
	size_t n = 0;

	for (const char *p = row->tree; *p; n++) {
		size_t len = strcspn(p, "\n");

		facts[n] = fact_from(p, len, store[n]);
		p += len + (p[len] == '\n');
	}
	if (row->acl) {
		facts[0].acl_access = acl_of(row->acl, acl);
	}
	cr_assert_eq(ctm_plan_new(&policy, &plan), 0);
	count(map, facts, n, row->healthy, &totals);
	for (size_t k = 0; k < n; k++) {
		cr_assert_eq(ctm_plan_fact(&facts[k], plan), 0);
	}
	ctm_plan_totals(plan, &totals, NULL);
	if (row->note) {
		cr_assert_eq(ctm_plan_note(plan, row->note, NULL, 0, "TEXT"), 0);
	}
	cr_assert_eq(ctm_plan_finish(plan), 0);
	check_row(row, plan);
}

Test(diagnosis, words_are_apart)
{
	for (int a = 0; a < CTM_CAUSE_N; a++) {
		const char *word = ctm_cause_word((enum ctm_cause)a);

		cr_assert(word && strspn(word, "abcdefghijklmnopqrstuvwxyz-") == strlen(word));
		for (int b = 0; b < a; b++) {
			cr_assert_str_neq(word, ctm_cause_word((enum ctm_cause)b));
		}
	}
}
