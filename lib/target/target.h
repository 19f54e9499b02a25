/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: from what the user named to volumes with path and map.
 */
#ifndef CTM_TARGET_TARGET_H
#define CTM_TARGET_TARGET_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "id/idmap.h"
#include "target/host.h"

enum ctm_target_kind { CTM_TARGET_PVE, CTM_TARGET_LXC, CTM_TARGET_PATH };

enum ctm_volume_kind {
	CTM_VOLUME_DIR,   /* a directory tree: subvol, zfs, btrfs, plain */
	CTM_VOLUME_IMAGE, /* a regular file with a file system in it */
	CTM_VOLUME_BLOCK, /* a block device: LV, zvol, rbd, partition */
	CTM_VOLUME_BIND,  /* a host directory: belongs to the host, never touched */
};

struct ctm_volume {
	char *key;     /* "rootfs", "mp0" */
	char *id;      /* "local-lvm:vm-115-disk-0"; for a path target the path as typed */
	char *storage; /* storage id, NULL for a path */
	char *type;    /* storage type ("dir", "lvmthin" ...), NULL for a path */
	char *path;    /* host path (literal, never moved by --sysroot) */
	char *format;  /* "raw", "subvol"; NULL for bind */
	char *mp;      /* "/" or the mount point inside */
	enum ctm_volume_kind kind;
	bool base;       /* a template's base volume: never written */
	bool readonly;   /* ro=1 */
	char *idmap_opt; /* the volume's own idmap= value, or NULL */
	/*
	 * DIR on a path storage: the storage's own path, below which no link is followed; NULL
	 * otherwise
	 */
	char *trusted_prefix;
	/* effective: container id -> disk id; an empty one for a privileged container */
	struct ctm_idmap *map;
};

struct ctm_target {
	enum ctm_target_kind kind;
	char *name;        /* "115", "web", or the path */
	unsigned int vmid; /* CTM_TARGET_PVE */
	char *config_path; /* where the configuration was read, sysroot included; NULL for a path */
	char *lock;        /* value of lock:, NULL when none */
	char *hookscript;
	bool template;
	bool privileged; /* empty map: nothing to shift */
	/* abstract name of the command socket without the leading NUL; NULL for a path */
	char *socket;
	CTM_VEC(struct ctm_volume) volumes; /* rootfs first */
	CTM_VEC(char *) warnings;           /* what the config's parser would warn about */
};

struct ctm_target_opts {
	const char *map_spec; /* --map, for a path */
	/* --ct-config: a PVE or LXC config file whose map counts, for a path */
	const char *ct_config;
};

/**
 * Resolves and reads configuration; attaches nothing, takes no lock. CTM_REFUSED for what cannot be
 * known for sure (unknown property, storage type, map that two programs read differently),
 * CTM_USAGE for words that make no sense.
 */
int ctm_target_locate(const struct ctm_host *host, const char *name,
		      const struct ctm_target_opts *opts, struct ctm_target **ret,
		      struct ctm_err *err);
void ctm_target_free(struct ctm_target *target);
static inline void ctm_target_freep(struct ctm_target **target)
{
	ctm_target_free(*target);
}
/** The volume of this key, or NULL. */
const struct ctm_volume *ctm_target_volume(const struct ctm_target *target, const char *key);

#endif
