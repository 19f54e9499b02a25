/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/dirvol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

/* store/115/vol/, store/116 -> 115, other -> store, and a file */
static void make_tree(const struct scratch *s)
{
	cr_assert_eq(mkdirat(s->fd, "store", 0755), 0);
	cr_assert_eq(mkdirat(s->fd, "store/115", 0755), 0);
	cr_assert_eq(mkdirat(s->fd, "store/115/vol", 0755), 0);
	cr_assert_eq(symlinkat("115", s->fd, "store/116"), 0);
	cr_assert_eq(symlinkat("vol", s->fd, "store/115/link"), 0);
	cr_assert_eq(symlinkat("store", s->fd, "other"), 0);
	cr_assert_eq(mknodat(s->fd, "store/115/file", S_IFREG | 0644, 0), 0);
}

static const struct {
	const char *prefix; /* both below the scratch directory */
	const char *path;
	const char *says; /* NULL: opens store/115/vol */
} rows[] = {
	{ "store", "store/115/vol", NULL },
	{ "store/", "store/115/vol", NULL },
	{ "store", "store//115/vol", NULL },
	{ "other", "other/115/vol", NULL }, /* the storage's own path is the admin's */
	{ NULL, "store/115/vol", NULL },
	{ NULL, "store/115/vol/", NULL },
	{ NULL, "store/116/vol", NULL }, /* what a person typed, the last component excepted */
	{ "store", "store/116/vol", "a symbolic link stands in the way" },
	{ "store", "store/115/link", "a symbolic link stands in the way" },
	{ NULL, "store/115/link", "a symbolic link stands in the way" },
	{ NULL, "store/115/link/", "a symbolic link stands in the way" },
	{ "store", "store/115/file", "is not a directory" },
	{ NULL, "store/115/file", "is not a directory" },
	{ "store", "store/117/vol", "does not exist" },
	{ NULL, "store/115/gone", "does not exist" },
	{ "store", "storehouse", "Invalid argument" },
	{ "store", "store/115/../../other", "Invalid cross-device link" },
};
CASES(dirvol, open, rows)
{
	SCRATCH(s);
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	struct ctm_err err = { 0 };
	char prefix[512];
	char path[512];
	const struct ctm_volume vol = { .path = path,
					.trusted_prefix = rows[*i].prefix ? prefix : NULL };
	struct stat want;
	struct stat got;
	int r;

	make_tree(&s);
	(void)snprintf(prefix, sizeof(prefix), "%s/%s", s.path,
		       rows[*i].prefix ? rows[*i].prefix : "");
	(void)snprintf(path, sizeof(path), "%s/%s", s.path, rows[*i].path);
	r = ctm_dirvol_open(&vol, &dir, &err);
	if (rows[*i].says) {
		cr_assert_lt(r, 0, "%s", rows[*i].path);
		cr_assert_not_null(strstr(err.msg, rows[*i].says), "%s: %s", rows[*i].path,
				   err.msg);
		cr_assert_eq(dir.fd, -1, "%s", rows[*i].path);
		return;
	}
	cr_assert_eq(r, 0, "%s: %s", rows[*i].path, err.msg);
	cr_assert_eq(fstatat(s.fd, "store/115/vol", &want, 0), 0);
	cr_assert_eq(fstat(dir.fd, &got), 0);
	cr_assert(got.st_ino == want.st_ino && got.st_dev == want.st_dev, "%s", rows[*i].path);
	cr_assert(dir.ino == want.st_ino && dir.st_dev == want.st_dev, "%s", rows[*i].path);
	(void)snprintf(path, sizeof(path), "%s/store/115/vol", s.path);
	cr_assert_str_eq(dir.path, path);
	cr_assert(strlen(dir.inside) > 0 && dir.inside[0] == '/', "%s", dir.inside);
	cr_assert_not_null(strstr(dir.inside, "/store/115/vol"), "%s", dir.inside);
	cr_assert_eq(strncmp(dir.path, dir.mount_point, strlen(dir.mount_point)), 0);
}

/* What ctm_dirvol_open() may find, and what it means. */
static const struct {
	const char *name;
	const char *type; /* of the storage */
	const char *id;
	struct {
		const char *fstype;
		const char *source;
		const char *inside;
		uint64_t ino;
		bool idmapped;
	} dir;
	const char *says; /* NULL: is taken */
} proofs[] = {
	{ "ext4", NULL, "/ct", { .fstype = "ext4" }, NULL },
	{ "tmpfs", NULL, "/ct", { .fstype = "tmpfs" }, NULL },
	{ "nfs", "nfs", "nas:115/subvol-115-disk-0.subvol", { .fstype = "nfs4" }, NULL },
	{ "proc", NULL, "/ct", { .fstype = "proc" }, "'/ct' is on proc" },
	{ "cgroup2", NULL, "/ct", { .fstype = "cgroup2" }, "'/ct' is on cgroup2" },
	{ "devtmpfs", NULL, "/ct", { .fstype = "devtmpfs" }, "'/ct' is on devtmpfs" },
	{ "overlay", NULL, "/ct", { .fstype = "overlay" }, "'/ct' is on an overlay" },
	{ "fuse",
	  NULL,
	  "/ct",
	  { .fstype = "fuse.sshfs" },
	  "'/ct' is on a FUSE file system (fuse.sshfs)" },
	{ "fuseblk", NULL, "/ct", { .fstype = "fuseblk" }, "'/ct' is on a FUSE file system" },
	{ "idmapped",
	  NULL,
	  "/ct",
	  { .fstype = "ext4", .idmapped = true },
	  "'/ct' is on an idmapped mount" },
	{ "zfs",
	  "zfspool",
	  "tank:subvol-115-disk-0",
	  { .fstype = "zfs", .source = "rpool/data/subvol-115-disk-0", .inside = "/" },
	  NULL },
	{ "zfs clone",
	  "zfspool",
	  "tank:basevol-9-disk-0/subvol-115-disk-0",
	  { .fstype = "zfs", .source = "rpool/data/subvol-115-disk-0", .inside = "/" },
	  NULL },
	{ "zfs dataset of another volume",
	  "zfspool",
	  "tank:subvol-115-disk-0",
	  { .fstype = "zfs", .source = "rpool/data/subvol-116-disk-0", .inside = "/" },
	  "'/ct' is not the dataset 'subvol-115-disk-0' but a place on 'rpool/" },
	{ "zfs dataset of a longer name",
	  "zfspool",
	  "tank:subvol-115-disk-0",
	  { .fstype = "zfs", .source = "rpool/data/x-subvol-115-disk-0", .inside = "/" },
	  "is not the dataset" },
	{ "zfs dataset that is not mounted",
	  "zfspool",
	  "tank:subvol-115-disk-0",
	  { .fstype = "zfs", .source = "rpool/data", .inside = "/subvol-115-disk-0" },
	  "is not the dataset" },
	{ "a directory in a dataset",
	  "zfspool",
	  "tank:subvol-115-disk-0",
	  { .fstype = "zfs", .source = "rpool/data/subvol-115-disk-0", .inside = "/x" },
	  "is not the dataset" },
	{ "zfs storage on another file system",
	  "zfspool",
	  "tank:subvol-115-disk-0",
	  { .fstype = "ext4", .source = "/dev/sda/subvol-115-disk-0", .inside = "/" },
	  "is not the dataset" },
	{ "btrfs", "btrfs", "b:115/vm-115-disk-0", { .fstype = "btrfs", .ino = 256 }, NULL },
	{ "btrfs, no subvolume",
	  "btrfs",
	  "b:115/vm-115-disk-0",
	  { .fstype = "btrfs", .ino = 300 },
	  "'/ct' is not a btrfs subvolume" },
	{ "btrfs storage on another file system",
	  "btrfs",
	  "b:115/vm-115-disk-0",
	  { .fstype = "ext4", .ino = 256 },
	  "'/ct' is not a btrfs subvolume" },
};
static char *unconst(const char *text)
{
	return (char *)(uintptr_t)text;
}

CASES(dirvol, prove, proofs)
{
	char path[] = "/ct";
	const struct ctm_volume vol = {
		.path = path,
		.id = unconst(proofs[*i].id),
		.type = unconst(proofs[*i].type),
	};
	const struct ctm_dirvol dir = {
		.fstype = unconst(proofs[*i].dir.fstype),
		.source = unconst(proofs[*i].dir.source ? proofs[*i].dir.source : ""),
		.inside = unconst(proofs[*i].dir.inside ? proofs[*i].dir.inside : ""),
		.mount_point = path,
		.ino = proofs[*i].dir.ino,
		.idmapped = proofs[*i].dir.idmapped,
	};
	struct ctm_err err = { 0 };
	int r;

	r = ctm_dirvol_prove(&vol, &dir, &err);
	if (proofs[*i].says) {
		cr_assert_eq(err.code, CTM_REFUSED, "%s", proofs[*i].name);
		cr_assert_not_null(strstr(err.msg, proofs[*i].says), "%s: %s", proofs[*i].name,
				   err.msg);
	} else {
		cr_assert_eq(r, 0, "%s: %s", proofs[*i].name, err.msg);
	}
}

Test(dirvol, the_host_itself_is_none)
{
	char path[] = "/";
	const struct ctm_volume vol = { .path = path, .id = path };
	CLEANUP(ctm_dirvol_done) struct ctm_dirvol dir = { .fd = -1 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_dirvol_open(&vol, &dir, &err), 0, "%s", err.msg);
	cr_assert_str_eq(dir.path, "/");
	free(dir.fstype);
	dir.fstype = strdup("ext4"); /* whatever it is here */
	cr_assert_eq(ctm_dirvol_prove(&vol, &dir, &err), -EPERM);
	cr_assert_str_eq(err.msg, "'/' is the root directory of this host, not a container");
}

/* What lies in a folder where the storage should be mounted is not the volume. */
Test(dirvol, where_something_must_be_mounted)
{
	SCRATCH(s);
	char path[512];
	char proc[] = "/proc";
	struct ctm_volume vol = { .path = path, .id = path, .storage = proc };
	struct ctm_err err = { 0 };

	(void)snprintf(path, sizeof(path), "%s/images", s.path);
	cr_assert_eq(ctm_dirvol_prove_mounted(&vol, &err), 0, "nothing must be");
	vol.mount_root = s.path;
	cr_assert_eq(ctm_dirvol_prove_mounted(&vol, &err), -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_not_null(strstr(err.msg, "nothing is mounted at"), "%s", err.msg);
	vol.mount_root = proc;
	cr_assert_eq(ctm_dirvol_prove_mounted(&vol, &err), 0, "%s", err.msg);
	/* a dataset has a better proof */
	vol.mount_root = path;
	cr_assert_eq(ctm_dirvol_prove_mounted(&vol, &err), 0, "%s", err.msg);
}

static const struct {
	const char *name;
	const char *dir;  /* made as a directory */
	const char *link; /* made as a link to one */
	bool ok;
} roots[] = {
	{ "etc", "etc", NULL, true },
	{ "usr", "usr", NULL, true },
	{ "usr beside a link", "usr", "etc", true },
	{ "nothing", NULL, NULL, false },
	{ "something else", "home", NULL, false },
	{ "etc is a link", NULL, "etc", false },
};
CASES(dirvol, prove_rootfs, roots)
{
	SCRATCH(s);
	char path[] = "/ct";
	const struct ctm_volume vol = { .path = path };
	struct ctm_err err = { 0 };

	if (roots[*i].dir) {
		cr_assert_eq(mkdirat(s.fd, roots[*i].dir, 0755), 0);
	}
	if (roots[*i].link) {
		cr_assert_eq(symlinkat("/etc", s.fd, roots[*i].link), 0);
	}
	cr_assert_eq(ctm_dirvol_prove_rootfs(&vol, s.fd, &err), roots[*i].ok ? 0 : -EPERM, "%s",
		     roots[*i].name);
}
