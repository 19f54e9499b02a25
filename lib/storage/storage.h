/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Storage types: from a volume id to a path on the host, as Proxmox VE's storage plugins
 * compute it.
 *
 * One file for each way of computing, one row for each type. Nothing is looked at, activated or
 * mounted. What these files do not know (a type of a third party, where the cluster of an rbd pool
 * is) stays open: Proxmox VE's own library says it later (storage/pvehelper.h).
 * Facts: pve-storage 9.1 src/PVE/Storage/ (parse_volname, filesystem_path, path).
 */
#ifndef CTM_STORAGE_STORAGE_H
#define CTM_STORAGE_STORAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "config/storagecfg.h"

enum ctm_volume_kind {
	CTM_VOLUME_DIR,   /* a directory tree: subvol, zfs, btrfs, plain */
	CTM_VOLUME_IMAGE, /* a regular file with a file system in it */
	CTM_VOLUME_BLOCK, /* a block device: LV, zvol, rbd, partition */
	CTM_VOLUME_BIND,  /* a host directory: belongs to the host, never touched */
};

/** Zero-initialise; what it holds is owned. */
struct ctm_storage_volume {
	const struct ctm_storage *storage; /* borrowed from the configuration */
	char *path;                        /* NULL: see by_pve */
	const char *format;                /* "raw" or "subvol"; static; NULL: see by_pve */
	enum ctm_volume_kind kind;
	/*
	 * Only Proxmox VE's library knows the path; of a type that is not in the table format, kind
	 * (here BLOCK) and base too.
	 */
	bool by_pve;
	/* Whether Proxmox VE's library can make the volume appear when it is not there. */
	bool activates;
	/*
	 * rbd: "POOL[/NAMESPACE]/IMAGE", which udev links below /dev/rbd-pve/FSID/. by_pve says
	 * whether the cluster is another one than that of /etc/pve/ceph.conf.
	 */
	char *rbd_image;
	/* Where a mount must be for the volume to be itself, not a folder below it; or NULL. */
	char *mount_root;
	bool base;            /* a template's base volume */
	char *trusted_prefix; /* DIR on a path storage: the storage's own path; else NULL */
};
void ctm_storage_volume_done(struct ctm_storage_volume *volume);

#define CTM_STORAGE_REQUIRED_MAX 3

struct ctm_storage_type {
	const char *name;
	/* Properties without which PVE drops the section. */
	const char *required[CTM_STORAGE_REQUIRED_MAX];
	/* Why a volume there cannot be worked on; NULL when it can. */
	const char *refusal;
	/* What to do instead; NULL when there is no refusal. */
	const char *hint;
	/* For ctm_storage_volume. */
	bool activates;
	/* name: what stands behind the colon. Fills in all that is not said here. */
	int (*resolve)(const struct ctm_storage *storage, const char *name,
		       struct ctm_storage_volume *ret, struct ctm_err *err);
};

extern const struct ctm_storage_type *const ctm_storage_types[];
extern const size_t ctm_storage_types_n;
/** NULL for a type that is not in the table. */
const struct ctm_storage_type *ctm_storage_type_find(const char *name);

/**
 * "local-lvm:vm-115-disk-0". CTM_REFUSED: no such storage, a type that is refused, a section that
 * lacks what it needs, a name that the type does not take, a format that no container has. *ret
 * belongs to ctm_storage_volume_done() in any case.
 */
int ctm_storage_resolve(const struct ctm_storagecfg *cfg, const char *volid,
			struct ctm_storage_volume *ret, struct ctm_err *err);

/**
 * CTM_REFUSED when the storage is disabled, or is not for this node. node NULL: unknown, any is
 * taken. PVE computes the path all the same, but activates nothing.
 */
int ctm_storage_usable(const struct ctm_storage *storage, const char *node, struct ctm_err *err);

/** For resolve functions: CTM_REFUSED with a hint, "'NAME' is no container volume ...". */
int ctm_storage_bad_name(const struct ctm_storage *storage, const char *name, struct ctm_err *err);

#endif
