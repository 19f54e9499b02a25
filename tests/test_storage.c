/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From volume ids to paths. The paths are what "pvesm path" prints for such a storage.cfg.
 */
#include "storage/storage.h"

#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "storage/volname.h"
#include "sysroot.h"

static const char config[] =
	"dir: plain\n\tpath /srv/plain/\n\n"
	"dir: moved\n\tpath /srv/m\n\tcontent-dirs backup=b,images=vm/img;iso=i\n\n"
	"dir: slash\n\tpath /srv/m\n\tcontent-dirs images=/img\n\n"
	"dir: out\n\tpath /srv/m\n\tcontent-dirs images=a/../../b\n\n"
	"dir: odd\n\tpath /srv/a b\n\n"
	"dir: rel\n\tpath srv\n\n"
	"dir: up\n\tpath /srv/../etc\n\n"
	"dir: bare\n\tcontent rootdir\n\n"
	"nfs: nas\n\tserver x\n\texport /e\n\n"
	"cifs: win\n\tserver x\n\tshare s\n\tpath /mnt/win\n\n"
	"cifs: half\n\tserver x\n\n"
	"btrfs: bt\n\tpath /mnt/bt\n\tcontent-dirs images=x\n\n"
	"lvm: thick\n\tvgname vg-1\n\n"
	"lvmthin: thin\n\tvgname pve\n\tthinpool data\n\n"
	"lvmthin: poolless\n\tvgname pve\n\n"
	"lvm: dots\n\tvgname ..\n\n"
	"zfspool: tank\n\tpool tank/ct\n\tmountpoint /mnt/tank/ct/\n\n"
	"zfspool: rp\n\tpool rpool/data\n\n"
	"zfspool: legacy\n\tpool rpool/data\n\tmountpoint legacy\n\n"
	"zfspool: climb\n\tpool rpool\n\tmountpoint /a/../b\n\n"
	"zfspool: top\n\tpool rpool\n\tmountpoint /\n\n"
	"zfspool: twist\n\tpool rpool/../data\n\n"
	"rbd: ceph\n\tpool p\n\tkrbd 1\n\n"
	"rbd: far\n\tpool p\n\tnamespace ns1\n\tmonhost 192.0.2.1\n\n"
	"rbd: bare-rbd\n\n"
	"rbd: odd-pool\n\tpool a/b\n\n"
	"rbd: odd-space\n\tpool p\n\tnamespace ..\n\n"
	"dir: usb\n\tpath /mnt/usb/\n\tis_mountpoint yes\n\n"
	"dir: usb2\n\tpath /mnt/usb/sub\n\tis_mountpoint /mnt/usb\n\n"
	"dir: flag\n\tpath /mnt/flag\n\tis_mountpoint\n\n"
	"dir: none\n\tpath /mnt/none\n\tis_mountpoint no\n\n"
	"dir: wrong\n\tpath /mnt/wrong\n\tis_mountpoint maybe\n\n"
	"btrfs: btm\n\tpath /mnt/btm\n\tis_mountpoint 1\n\n"
	"cephfs: cfs\n\n"
	"iscsi: san\n\n"
	"zfs: overiscsi\n\n"
	"pbs: pbs1\n\n"
	"fancyfs: third\n\tpath /srv\n\n";

static const struct {
	const char *volid;
	const char *path;
	const char *format;
	enum ctm_volume_kind kind;
	bool base;
	const char *prefix;
} good[] = {
	{ "local:101/vm-101-disk-1.raw", "/var/lib/vz/images/101/vm-101-disk-1.raw", "raw",
	  CTM_VOLUME_IMAGE, false, NULL },
	{ "plain:115/subvol-115-disk-0.subvol", "/srv/plain/images/115/subvol-115-disk-0.subvol",
	  "subvol", CTM_VOLUME_DIR, false, "/srv/plain" },
	{ "plain:114/base-114-disk-0.raw", "/srv/plain/images/114/base-114-disk-0.raw", "raw",
	  CTM_VOLUME_IMAGE, true, NULL },
	{ "plain:114/base-114-disk-0.raw/115/vm-115-disk-0.raw",
	  "/srv/plain/images/115/vm-115-disk-0.raw", "raw", CTM_VOLUME_IMAGE, false, NULL },
	{ "plain:115/own-name.raw", "/srv/plain/images/115/own-name.raw", "raw", CTM_VOLUME_IMAGE,
	  false, NULL },
	{ "moved:115/vm-115-disk-0.raw", "/srv/m/vm/img/115/vm-115-disk-0.raw", "raw",
	  CTM_VOLUME_IMAGE, false, NULL },
	{ "slash:115/vm-115-disk-0.raw", "/srv/m/img/115/vm-115-disk-0.raw", "raw",
	  CTM_VOLUME_IMAGE, false, NULL },
	{ "nas:115/vm-115-disk-0.raw", "/mnt/pve/nas/images/115/vm-115-disk-0.raw", "raw",
	  CTM_VOLUME_IMAGE, false, NULL },
	{ "nas:115/subvol-115-disk-0.subvol", "/mnt/pve/nas/images/115/subvol-115-disk-0.subvol",
	  "subvol", CTM_VOLUME_DIR, false, "/mnt/pve/nas" },
	{ "win:115/vm-115-disk-0.raw", "/mnt/win/images/115/vm-115-disk-0.raw", "raw",
	  CTM_VOLUME_IMAGE, false, NULL },
	{ "bt:115/subvol-115-disk-0.subvol", "/mnt/bt/images/115/subvol-115-disk-0.subvol",
	  "subvol", CTM_VOLUME_DIR, false, "/mnt/bt" },
	{ "bt:115/vm-115-disk-0.raw", "/mnt/bt/images/115/vm-115-disk-0/disk.raw", "raw",
	  CTM_VOLUME_IMAGE, false, NULL },
	{ "thick:vm-115-disk-0", "/dev/vg-1/vm-115-disk-0", "raw", CTM_VOLUME_BLOCK, false, NULL },
	{ "thin:vm-115-disk-0", "/dev/pve/vm-115-disk-0", "raw", CTM_VOLUME_BLOCK, false, NULL },
	{ "thin:base-114-disk-0", "/dev/pve/base-114-disk-0", "raw", CTM_VOLUME_BLOCK, true, NULL },
	{ "tank:subvol-104-disk-0", "/mnt/tank/ct/subvol-104-disk-0", "subvol", CTM_VOLUME_DIR,
	  false, NULL },
	{ "rp:subvol-104-disk-0", "/rpool/data/subvol-104-disk-0", "subvol", CTM_VOLUME_DIR, false,
	  NULL },
	{ "rp:basevol-104-disk-0", "/rpool/data/basevol-104-disk-0", "subvol", CTM_VOLUME_DIR, true,
	  NULL },
	{ "rp:basevol-104-disk-0/subvol-105-disk-0", "/rpool/data/subvol-105-disk-0", "subvol",
	  CTM_VOLUME_DIR, false, NULL },
	{ "rp:vm-104-disk-0", "/dev/zvol/rpool/data/vm-104-disk-0", "raw", CTM_VOLUME_BLOCK, false,
	  NULL },
	{ "rp:base-104-disk-0", "/dev/zvol/rpool/data/base-104-disk-0", "raw", CTM_VOLUME_BLOCK,
	  true, NULL },
	{ "top:subvol-104-disk-0", "/subvol-104-disk-0", "subvol", CTM_VOLUME_DIR, false, NULL },
	{ "legacy:vm-104-disk-0", "/dev/zvol/rpool/data/vm-104-disk-0", "raw", CTM_VOLUME_BLOCK,
	  false, NULL },
};

static int resolve(const char *volid, struct ctm_storagecfg *cfg, struct ctm_storage_volume *ret,
		   struct ctm_err *err)
{
	cr_assert_eq(ctm_storagecfg_parse((struct ctm_bytes){ config, sizeof(config) - 1 }, cfg,
					  err),
		     0);
	cr_assert_eq(cfg->warnings.n, 0);
	return ctm_storage_resolve(cfg, volid, ret, err);
}

CASES(storage, path, good)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume volume = { 0 };
	struct ctm_err err = { 0 };
	const char *colon = strchr(good[*i].volid, ':');

	cr_assert_eq(resolve(good[*i].volid, &cfg, &volume, &err), 0, "%s: %s", good[*i].volid,
		     err.msg);
	cr_assert_str_eq(volume.path, good[*i].path, "%s", good[*i].volid);
	cr_assert_str_eq(volume.format, good[*i].format, "%s", good[*i].volid);
	cr_assert_eq(volume.kind, good[*i].kind, "%s", good[*i].volid);
	cr_assert_eq(volume.base, good[*i].base, "%s", good[*i].volid);
	cr_assert(good[*i].prefix ? volume.trusted_prefix &&
					    strcmp(volume.trusted_prefix, good[*i].prefix) == 0 :
				    !volume.trusted_prefix,
		  "%s", good[*i].volid);
	cr_assert_eq(strncmp(volume.storage->id, good[*i].volid, (size_t)(colon - good[*i].volid)),
		     0);
}

static const struct {
	const char *volid;
	const char *error;
} bad[] = {
	{ "vm-115-disk-0", "is no volume id" },
	{ "plain:", "is no volume id" },
	{ ":vm-115-disk-0", "is no volume id" },
	{ "x:vm-115-disk-0", "is no volume id" },
	{ "gone:vm-115-disk-0", "storage 'gone' of 'gone:vm-115-disk-0' is not in storage.cfg" },
	{ "third:vm 115", "is no volume id" },
	{ "third:vm\033115", "is no volume id" },
	{ "ceph:vm-115-disk/0", "is no container volume" },
	{ "ceph:vm-115-disk-0@snap", "is no container volume" },
	{ "ceph:vm-115", "is no container volume" },
	{ "ceph:image", "is no container volume" },
	{ "ceph:vm-114-disk-0/vm-115-disk-0", "is no container volume" },
	{ "odd-pool:vm-115-disk-0", "names no pool: 'a/b'" },
	{ "odd-space:vm-115-disk-0", "names no namespace: '..'" },
	{ "wrong:115/vm-115-disk-0.raw", "is_mountpoint is no path: 'maybe'" },
	{ "cfs:vm-115-disk-0", "of type 'cephfs': Proxmox VE keeps no container volumes there" },
	{ "san:vm-115-disk-0", "of type 'iscsi': " },
	{ "overiscsi:vm-115-disk-0", "of type 'zfs': " },
	{ "pbs1:backup", "of type 'pbs': " },
	{ "bare:115/vm-115-disk-0.raw", "lacks the property 'path'" },
	{ "half:115/vm-115-disk-0.raw", "lacks the property 'share'" },
	{ "poolless:vm-115-disk-0", "lacks the property 'thinpool'" },
	{ "odd:115/vm-115-disk-0.raw", "has a path that Proxmox VE does not take" },
	{ "rel:115/vm-115-disk-0.raw", "has a path that Proxmox VE does not take" },
	{ "up:115/vm-115-disk-0.raw", "has a path that Proxmox VE does not take" },
	{ "out:115/vm-115-disk-0.raw", "content-dirs leads out" },
	{ "dots:vm-115-disk-0", "names no volume group" },
	{ "twist:subvol-115-disk-0", "names no zfs pool" },
	{ "legacy:subvol-115-disk-0", "no directory as its mountpoint: 'legacy'" },
	{ "climb:subvol-115-disk-0", "no directory as its mountpoint: '/a/../b'" },
	{ "plain:115/vm-115-disk-0.qcow2", "has the format 'qcow2'" },
	{ "plain:115/vm-115-disk-0.vmdk", "has the format 'vmdk'" },
	{ "thick:vm-115-disk-0.qcow2", "has the format 'qcow2'" },
	{ "plain:115/vm-115-disk-0", "is no container volume" },
	{ "plain:115/.raw", "is no container volume" },
	{ "plain:vm-115-disk-0.raw", "is no container volume" },
	{ "plain:115/a b.raw", "is no container volume" },
	{ "plain:115/../../etc/x.raw", "is no container volume" },
	{ "plain:115/a.raw/116/../x.raw", "is no container volume" },
	{ "plain:1234567890/vm-1-disk-0.raw", "is no container volume" },
	{ "plain:snippets/x.sh", "is no container volume" },
	{ "plain:115/a.raw/116", "is no container volume" },
	{ "thick:base-115-disk-0", "is no container volume" },
	{ "thick:../sda", "is no container volume" },
	{ "thick:vm-115-", "is no container volume" },
	{ "thin:vm-x-disk", "is no container volume" },
	{ "thin:vm-115-a/b", "is no container volume" },
	{ "thin:vm-115-disk_", "is no container volume" },
	{ "rp:subvol-115-disk/../../etc", "is no container volume" },
	{ "rp:subvol-115", "is no container volume" },
	{ "rp:vm-1-a/subvol-115-disk-0", "is no container volume" },
	{ "rp:subvol-115-disk-0@snap", "is no container volume" },
	{ "rp:data", "is no container volume" },
};
CASES(storage, refusal, bad)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume volume = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_lt(resolve(bad[*i].volid, &cfg, &volume, &err), 0, "%s", bad[*i].volid);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", bad[*i].volid);
	cr_assert_not_null(strstr(err.msg, bad[*i].error), "%s: %s", bad[*i].volid, err.msg);
}

/* The sections of the sample that no container of the samples uses. */
Test(storage, edges_of_the_sample)
{
	static const struct {
		const char *volid;
		const char *path; /* NULL: refused */
	} rows[] = {
		{ "one:115/a.raw", "/srv/one/images/115/a.raw" },
		{ "two:115/a.raw", "/srv/two/images/115/a.raw" },
		{ "glued:115/a.raw", NULL },
		{ "spaced:115/a.raw", "/srv/spaced/images/115/a.raw" },
		{ "flat:115/a.raw", NULL },
		{ "local:115/a.raw", "/var/lib/vz/images/115/a.raw" },
		{ "twice:115/a.raw", "/srv/second/images/115/a.raw" },
		{ "x:115/a.raw", NULL },
	};
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	size_t len;
	CLEANUP_FREE char *text = sysroot_read("fixtures/parse/pve/storage-edge.cfg", &len);

	cr_assert_eq(ctm_storagecfg_parse((struct ctm_bytes){ text, len }, &cfg, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume volume = { 0 };
		struct ctm_err err = { 0 };
		int r = ctm_storage_resolve(&cfg, rows[i].volid, &volume, &err);

		cr_assert_eq(r == 0, rows[i].path != NULL, "%s: %s", rows[i].volid, err.msg);
		cr_assert(r < 0 || strcmp(volume.path, rows[i].path) == 0, "%s: %s", rows[i].volid,
			  volume.path);
	}
}

/* Where a mount must be for the volume to be itself, and who can make it appear. */
Test(storage, mounts_and_activation)
{
	static const struct {
		const char *volid;
		const char *mount_root;
		bool activates;
	} rows[] = {
		{ "plain:115/vm-115-disk-0.raw", NULL, false },
		{ "usb:115/vm-115-disk-0.raw", "/mnt/usb", false },
		{ "usb2:115/subvol-115-disk-0.subvol", "/mnt/usb", false },
		{ "flag:115/vm-115-disk-0.raw", "/mnt/flag", false },
		{ "none:115/vm-115-disk-0.raw", NULL, false },
		{ "bt:115/vm-115-disk-0.raw", NULL, false },
		{ "btm:115/vm-115-disk-0.raw", "/mnt/btm", false },
		{ "nas:115/vm-115-disk-0.raw", "/mnt/pve/nas", true },
		{ "win:115/vm-115-disk-0.raw", "/mnt/win", true },
		{ "rp:subvol-104-disk-0", "/rpool/data/subvol-104-disk-0", true },
		{ "rp:vm-104-disk-0", NULL, true },
		{ "thick:vm-115-disk-0", NULL, true },
		{ "thin:vm-115-disk-0", NULL, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
		CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume volume = { 0 };
		struct ctm_err err = { 0 };

		cr_assert_eq(resolve(rows[i].volid, &cfg, &volume, &err), 0, "%s: %s",
			     rows[i].volid, err.msg);
		cr_assert_eq(volume.activates, rows[i].activates, "%s", rows[i].volid);
		cr_assert_eq(volume.mount_root == NULL, rows[i].mount_root == NULL, "%s",
			     rows[i].volid);
		cr_assert(!volume.mount_root || strcmp(volume.mount_root, rows[i].mount_root) == 0,
			  "%s: %s", rows[i].volid, volume.mount_root);
		cr_assert_not(volume.by_pve, "%s", rows[i].volid);
	}
}

/* Images of Ceph, and what a plugin of a third party may call its volumes. */
Test(storage, without_a_path)
{
	static const struct {
		const char *volid;
		const char *image; /* NULL: no rbd */
		bool by_pve;
		bool base;
	} rows[] = {
		{ "ceph:vm-115-disk-0", "p/vm-115-disk-0", false, false },
		{ "ceph:base-114-disk-0", "p/base-114-disk-0", false, true },
		{ "ceph:base-114-disk-0/vm-115-disk-0", "p/vm-115-disk-0", false, false },
		{ "bare-rbd:vm-115-disk-0", "rbd/vm-115-disk-0", false, false },
		{ "far:vm-115-disk-0", "p/ns1/vm-115-disk-0", true, false },
		{ "third:vm-115-disk-0", NULL, true, false },
		{ "third:any/name:it@likes", NULL, true, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
		CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume volume = { 0 };
		struct ctm_err err = { 0 };

		cr_assert_eq(resolve(rows[i].volid, &cfg, &volume, &err), 0, "%s: %s",
			     rows[i].volid, err.msg);
		cr_assert_null(volume.path, "%s", rows[i].volid);
		cr_assert(volume.activates, "%s", rows[i].volid);
		cr_assert_eq(volume.by_pve, rows[i].by_pve, "%s", rows[i].volid);
		cr_assert_eq(volume.base, rows[i].base, "%s", rows[i].volid);
		cr_assert_eq(volume.rbd_image == NULL, rows[i].image == NULL, "%s", rows[i].volid);
		cr_assert(!rows[i].image || strcmp(volume.rbd_image, rows[i].image) == 0, "%s: %s",
			  rows[i].volid, volume.rbd_image);
		cr_assert_eq(volume.format == NULL, rows[i].image == NULL, "%s", rows[i].volid);
	}
}

static const struct {
	const char *name;
	const char *text;
	const char *node;
	const char *error; /* NULL: usable */
} usable[] = {
	{ "plain", "dir: one\n\tpath /a\n", "pve1", NULL },
	{ "disabled", "dir: one\n\tdisable\n", "pve1", "is disabled" },
	{ "not disabled", "dir: one\n\tdisable 0\n", "pve1", NULL },
	{ "this node", "dir: one\n\tnodes pve2,pve1\n", "pve1", NULL },
	{ "another node", "dir: one\n\tnodes pve2,pve11\n", "pve1", "is not for node 'pve1'" },
	{ "node unknown", "dir: one\n\tnodes pve2\n", NULL, NULL },
};
CASES(storage, usable, usable)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	struct ctm_err err = { 0 };
	int r;

	cr_assert_eq(
		ctm_storagecfg_parse((struct ctm_bytes){ usable[*i].text, strlen(usable[*i].text) },
				     &cfg, NULL),
		0);
	r = ctm_storage_usable(ctm_storagecfg_find(&cfg, "one"), usable[*i].node, &err);
	cr_assert_eq(r == 0, usable[*i].error == NULL, "%s: %s", usable[*i].name, err.msg);
	cr_assert(r == 0 || (err.code == CTM_REFUSED && strstr(err.msg, usable[*i].error) &&
			     err.hint[0]),
		  "%s: %s", usable[*i].name, err.msg);
}

Test(storage, every_row_is_whole)
{
	cr_assert_gt(ctm_storage_types_n, 0);
	for (size_t i = 0; i < ctm_storage_types_n; i++) {
		const struct ctm_storage_type *type = ctm_storage_types[i];

		cr_assert(type->name && type->name[0], "row %zu", i);
		cr_assert(i == 0 || strcmp(ctm_storage_types[i - 1]->name, type->name) < 0,
			  "%s: order", type->name);
		cr_assert_eq(ctm_storage_type_find(type->name), type, "%s", type->name);
		cr_assert_neq(type->resolve == NULL, type->refusal == NULL,
			      "%s: either works or says why not", type->name);
		cr_assert_eq(type->refusal == NULL, type->hint == NULL, "%s: a refusal has a hint",
			     type->name);
	}
}

static const struct {
	const char *volid;
	const char *last;
	unsigned int guest;
} names[] = {
	{ "tank:115/vm-115-disk-0.raw", "vm-115-disk-0.raw", 115 },
	{ "tank:114/base-114-disk-0.raw/115/vm-116-disk-0.raw", "vm-116-disk-0.raw", 116 },
	{ "zfs:basevol-114-disk-0/subvol-116-disk-1", "subvol-116-disk-1", 116 },
	{ "zfs:basevol-114-disk-0", "basevol-114-disk-0", 114 },
	{ "lvm:vm-116-disk-0", "vm-116-disk-0", 116 },
	{ "lvm:base-116-disk-0", "base-116-disk-0", 116 },
	{ "lvm:data", "data", 0 },
	{ "lvm:vm-116", "vm-116", 0 },
	{ "lvm:vm--disk", "vm--disk", 0 },
	{ "lvm:vm-99999999999-disk-0", "vm-99999999999-disk-0", 0 },
	{ "/dev/sdb1", "sdb1", 0 },
};
CASES(storage, names, names)
{
	cr_assert_str_eq(ctm_volname_last(names[*i].volid), names[*i].last);
	cr_assert_eq(ctm_volname_guest(names[*i].last), names[*i].guest, "%s", names[*i].volid);
}
