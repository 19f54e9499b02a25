/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: from what the user named to volumes with path and map.
 */
#ifndef CTM_TARGET_TARGET_H
#define CTM_TARGET_TARGET_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "config/pctconf.h"
#include "id/idmap.h"
#include "storage/storage.h"
#include "target/host.h"
#include "target/pin.h"

enum ctm_target_kind { CTM_TARGET_PVE, CTM_TARGET_LXC, CTM_TARGET_PATH };

struct ctm_volume {
	char *key;     /* "rootfs", "mp0" */
	char *id;      /* "local-lvm:vm-115-disk-0"; for a path target the path as typed */
	char *storage; /* storage id, NULL for a path */
	char *type;    /* storage type ("dir", "lvmthin" ...), NULL for a path */
	/* Host path (literal, never moved by --sysroot); NULL: see refusal and by_pve. */
	char *path;
	struct ctm_pin pin; /* of a path target: what path led to; another thing is refused */
	char *format;       /* "raw", "subvol"; NULL for a bind mount, for a path, and see by_pve */
	char *mp;           /* "/" or the mount point inside */
	enum ctm_volume_kind kind;
	bool host;       /* a directory or device of the host itself (bind mount): never touched */
	bool base;       /* a template's base volume: never written */
	bool readonly;   /* ro=1 */
	bool unshifted;  /* disk ids are container ids (privileged, passthrough) */
	char *idmap_opt; /* the volume's own idmap= value, or NULL */
	/*
	 * DIR on a path storage: the storage's own path, below which no link is followed; else NULL
	 */
	char *trusted_prefix;
	/*
	 * Where a mount must be for the volume to be itself (nfs, cifs, a zfs dataset,
	 * is_mountpoint), or NULL
	 */
	char *mount_root;
	/*
	 * Proxmox VE's storage library alone knows where it is: path is NULL until it was asked
	 * (target/activate.h), and of a type of a third party kind (BLOCK until then), format and
	 * base too.
	 */
	bool by_pve;
	bool activates; /* that library can make it appear when it is not there */
	/*
	 * Effective: container id -> disk id; empty for a privileged container, container ids as
	 * disk ids for idmap=passthrough; NULL when there is none (no_map, refusal).
	 */
	struct ctm_idmap *map;
	/*
	 * Why this volume cannot be worked on, and what to do; NULL when it can. Such a volume is
	 * here to be named in reports: its other fields may be NULL, ctm_target_pick() hands out
	 * none.
	 */
	char *refusal;
	char *hint;
};

struct ctm_target {
	enum ctm_target_kind kind;
	char *name;        /* "115", "web", or the path */
	unsigned int vmid; /* CTM_TARGET_PVE */
	char *node;        /* CTM_TARGET_PVE: this node's name, NULL when unknown */
	/*
	 * Major version of the host's pve-container, where a section of the configuration has
	 * lxc.id_map (config/ctmap.h); 0: not known, or not needed
	 */
	unsigned int pct_major;
	char *config_path; /* where the map was read, sysroot included; or NULL */
	char *lock;        /* value of lock:, NULL when none */
	char *hookscript;
	bool template;
	bool privileged; /* empty map: nothing to shift */
	bool no_map;     /* a path without --map and --ct-config: only to be looked at */
	char *socket; /* abstract name of the command socket, its leading NUL left out; or NULL */
	struct ctm_idmap
		*map; /* the container's own: container id -> host id; NULL: none or not readable */
	CTM_VEC(char *)
	idmap; /* the same as the configuration has it: "u 0 100000 65536", in its order */
	CTM_VEC(struct ctm_volume) volumes; /* rootfs first, then by number */
	CTM_VEC(char *) warnings;           /* what the config's parser would warn about */
	struct ctm_pctconf
		conf; /* CTM_TARGET_PVE: all of the configuration, snapshots included; else empty */
};

struct ctm_target_opts {
	const char *map_spec; /* --map, for a path */
	const char
		*ct_config; /* --ct-config: a PVE or LXC config file whose map counts, for a path */
	/*
	 * A rootfs that cannot be worked on does not fail the call but carries its refusal, for
	 * those who show what there is or want another volume.
	 */
	bool keep_refused;
};

/**
 * Resolves and reads configuration; attaches nothing, takes no lock. CTM_REFUSED for what cannot be
 * known for sure (unknown property, storage type, map that two programs read differently),
 * CTM_USAGE for words that make no sense. A mount point that cannot be worked on carries its
 * refusal, the rootfs fails the call unless opts say otherwise. opts NULL: the defaults.
 */
int ctm_target_locate(const struct ctm_host *host, const char *name,
		      const struct ctm_target_opts *opts, struct ctm_target **ret,
		      struct ctm_err *err);
/** How a name would be read, whether or not there is such a target. */
enum ctm_target_kind ctm_target_kind_of(const struct ctm_host *host, const char *name);
/** Whether this id of Proxmox VE is a VM's, on whatever node; false when that cannot be told. */
bool ctm_target_is_vm(const struct ctm_host *host, unsigned int vmid);

/**
 * The target of a container whose start has called us from lxc.hook.pre-start: config is LXC's
 * LXC_CONFIG_FILE, rootfs its LXC_ROOTFS_PATH. A Proxmox VE container has its rootfs mounted
 * there already and its map in Proxmox VE's configuration; a plain one is what config says.
 */
int ctm_target_locate_starting(const struct ctm_host *host, const char *name, const char *config,
			       const char *rootfs, struct ctm_target **ret, struct ctm_err *err);
void ctm_target_free(struct ctm_target *target);
static inline void ctm_target_freep(struct ctm_target **target)
{
	ctm_target_free(*target);
}
/** The volume of this key, or NULL; it may carry a refusal unless it is the rootfs. */
const struct ctm_volume *ctm_target_volume(const struct ctm_target *target, const char *key);
/**
 * The volume of this key if it can be worked on; CTM_REFUSED with the reason, CTM_USAGE for no
 * such key.
 */
int ctm_target_pick(const struct ctm_target *target, const char *key, const struct ctm_volume **ret,
		    struct ctm_err *err);

#endif
