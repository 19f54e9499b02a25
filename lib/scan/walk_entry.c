/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One entry of the working directory: what it is, and whether it matters.
 *
 * A healthy entry costs one statx(2) and one llistxattr(2) and no memory. FIFOs, sockets and
 * devices are never opened; of regular files only those at a path of a rule are.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs_tree.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "scan/walk_state.h"

CTM_TREE_CALLS

/* The kernel allocates what it is offered, so little is offered first. */
#define FIRST_TRY 512

/* What was found out about an entry beyond its inode. */
struct attrs {
	struct ctm_bytes acl_access;
	struct ctm_bytes acl_default;
	struct ctm_bytes caps;
};

static uint64_t stx_dev(const struct statx *stx)
{
	return makedev(stx->stx_dev_major, stx->stx_dev_minor);
}

/* At *at, where there is room for any value. Gone since it was listed: not there. */
static int get_value(const char *entry, const char *attr, char **at, struct ctm_bytes *ret)
{
	ssize_t n = lgetxattr(entry, attr, *at, FIRST_TRY);

	if (n < 0 && errno == ERANGE) {
		n = lgetxattr(entry, attr, *at, CTM_FEED_VALUE_MAX);
	}
	if (n < 0) {
		return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
	}
	*ret = (struct ctm_bytes){ .p = *at, .len = (size_t)n };
	*at += n;
	return 0;
}

static int get_values(struct ctm_worker *w, const char *entry, size_t list_len, bool is_dir,
		      struct attrs *ret)
{
	char *at = w->values;
	int r = 0;

	/* Each is asked for once, and has its room: a crafted image may list a name again. */
	for (size_t i = 0; r == 0 && i < list_len; i += strlen(w->list + i) + 1) {
		const char *attr = w->list + i;

		if (strcmp(attr, CTM_XATTR_CAPS) == 0 && !ret->caps.p) {
			r = get_value(entry, attr, &at, &ret->caps);
		} else if (strcmp(attr, CTM_XATTR_ACL_ACCESS) == 0 && !ret->acl_access.p) {
			r = get_value(entry, attr, &at, &ret->acl_access);
		} else if (is_dir && strcmp(attr, CTM_XATTR_ACL_DEFAULT) == 0 &&
			   !ret->acl_default.p) {
			r = get_value(entry, attr, &at, &ret->acl_default);
		}
	}
	return r;
}

/*
 * Asked for the length alone the kernel needs no buffer, and nearly always there is nothing.
 * -ENOENT: the entry is gone.
 */
static int get_attrs(struct ctm_worker *w, const char *entry, uint32_t mode, struct attrs *ret)
{
	ssize_t n;

	if (S_ISLNK(mode) || w->no_xattrs) {
		return 0;
	}
	n = llistxattr(entry, NULL, 0);
	if (n > 0) {
		n = llistxattr(entry, w->list, FIRST_TRY);
		if (n < 0 && errno == ERANGE) {
			n = llistxattr(entry, w->list, CTM_WALK_LIST_MAX);
		}
	}
	if (n > 0) {
		w->list[n - 1] = '\0';
		return get_values(w, entry, (size_t)n, S_ISDIR(mode), ret);
	}
	if (n < 0 && errno == EOPNOTSUPP) {
		/* What holds for a file or a directory holds for the file system. */
		w->no_xattrs = S_ISREG(mode) || S_ISDIR(mode);
		return 0;
	}
	return n < 0 ? -errno : 0;
}

/*
 * The first bytes of a regular file. Should something else have taken its place since statx(2):
 * O_NONBLOCK does not wait for the other end of a FIFO, and devices do not act on a mount with
 * nodev.
 */
static int get_head(struct ctm_worker *w, const char *entry, char *head, struct ctm_bytes *ret)
{
	/* The working directory; by its descriptor, for the sake of the filter (scan/confine.h). */
	const int dir = w->fd >= 0 ? w->fd : w->anchor->fd;
	CLEANUP_CLOSE int fd = ctm_walk_openat(w, dir, entry, O_RDONLY | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode) || st.st_dev != stx_dev(&w->stx) || st.st_ino != w->stx.stx_ino) {
		return -ESTALE;
	}
	do {
		n = pread(fd, head, CTM_HEAD_LEN, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		return -errno;
	}
	*ret = (struct ctm_bytes){ .p = head, .len = (size_t)n };
	return 0;
}

bool ctm_walk_is_mount(const struct ctm_walk *walk, const struct statx *stx)
{
	return (stx->stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0 ||
	       (walk->has_mnt_id && stx->stx_mnt_id != walk->mnt_id);
}

bool ctm_walk_is_elsewhere(const struct ctm_walk *walk, const struct statx *stx)
{
	return walk->req->one_subvolume && walk->is_btrfs && S_ISDIR(stx->stx_mode) &&
	       stx_dev(stx) != walk->root->dev;
}

struct ctm_dirnode *ctm_walk_child_node(struct ctm_worker *w, struct ctm_dirnode *dir,
					const char *name, size_t len)
{
	struct ctm_dirnode *node =
		ctm_dirnode_new(dir, name, len, stx_dev(&w->stx), w->stx.stx_ino);

	if (node && dir->rule) {
		node->rule = ctm_rules_down(dir->rule, name, len);
	}
	return node;
}

/* A sub-directory is entered later; the root itself has its node already. */
static int remember(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len)
{
	struct ctm_dirnode *node;

	if (len == 0) {
		ctm_walk_found(w, dir);
		return 0;
	}
	if (dir->depth >= CTM_WALK_DEPTH_MAX ||
	    dir->path_len + 1 + len > CTM_FEED_PATH_MAX - CTM_FEED_NAME_MAX) {
		return ctm_walk_error(w, dir->shown, "", 0, ENAMETOOLONG, CTM_OP_DEEP);
	}
	node = ctm_walk_child_node(w, dir, name, len);
	if (!node) {
		return -ENOMEM;
	}
	ctm_walk_found(w, node);
	return 0;
}

/* An entry that may matter: the whole of it as a fact. */
static int judge(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len,
		 unsigned int off, bool ruled, const struct attrs *attrs)
{
	const struct statx *stx = &w->stx;
	struct ctm_fact fact = {
		.kind = CTM_FACT_INODE,
		.mode = stx->stx_mode,
		.uid = { stx->stx_uid },
		.gid = { stx->stx_gid },
		.dev = stx_dev(stx),
		.ino = stx->stx_ino,
		.rdev = makedev(stx->stx_rdev_major, stx->stx_rdev_minor),
		.nlink = stx->stx_nlink,
		.size = stx->stx_size,
		.acl_access = attrs->acl_access,
		.acl_default = attrs->acl_default,
		.caps = attrs->caps,
	};
	char head[CTM_HEAD_LEN];
	int r;

	if (!ctm_sieve_wants(&w->sieve, &fact, off, ruled)) {
		return 0;
	}
	fact.attr = (stx->stx_attributes & STATX_ATTR_IMMUTABLE ? CTM_ATTR_IMMUTABLE : 0) |
		    (stx->stx_attributes & STATX_ATTR_APPEND ? CTM_ATTR_APPEND : 0);
	if (ruled && S_ISREG(fact.mode)) {
		r = get_head(w, name, head, &fact.head);
		if (r < 0 && r != -ENOENT) {
			r = ctm_walk_error(w, dir, name, len, -r, "read");
			if (r < 0) {
				return r;
			}
		}
	}
	return ctm_walk_tell(w, dir, name, len, &fact);
}

int ctm_walk_stat(const char *name, struct statx *ret)
{
	return statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		     STATX_BASIC_STATS | STATX_MNT_ID, ret) < 0 ?
		       -errno :
		       0;
}

/* What concerns the inode itself; the descent is the caller's. */
static int inspect(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len)
{
	const struct statx *stx = &w->stx;
	const ctm_did uid = { stx->stx_uid };
	const ctm_did gid = { stx->stx_gid };
	const unsigned int off = ctm_sieve_owner(&w->sieve, uid, gid);
	const bool ruled = len > 0 && dir->rule && ctm_rules_entry(dir->rule, name, len);
	struct attrs attrs = { 0 };

	ctm_tally_inode(&w->tally, &w->sieve, off, stx->stx_mode, stx->stx_nlink, uid, gid);
	if (ctm_sieve_needs_attrs(&w->sieve, ruled)) {
		int r = get_attrs(w, name, stx->stx_mode, &attrs);

		if (r < 0) {
			return r == -ENOENT ? 0 : ctm_walk_error(w, dir, name, len, -r, "xattr");
		}
	}
	if (off == 0 && !ruled && !w->sieve.all && !attrs.acl_access.p && !attrs.acl_default.p &&
	    !attrs.caps.p) {
		return 0;
	}
	return judge(w, dir, name, len, off, ruled, &attrs);
}

/*
 * Where a snapshot was taken of a subvolume with another one inside, it has an empty directory in
 * the other one's place. That is no inode: the kernel makes it up, with the time of the day and an
 * owner of its choice, and forgets what it is changed to.
 */
static bool is_made_up(const struct ctm_walk *walk, const struct statx *stx)
{
	return walk->is_btrfs && stx->stx_ino == BTRFS_EMPTY_SUBVOL_DIR_OBJECTID;
}

/*
 * The root of a FUSE that its owner keeps to himself (no allow_other, or another user namespace)
 * tells us nothing but that it is a mount.
 */
static bool is_closed_mount(const struct ctm_walk *walk, const char *name)
{
	struct statx stx;

	return statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0,
		     &stx) == 0 &&
	       ctm_walk_is_mount(walk, &stx);
}

int ctm_walk_entry(struct ctm_worker *w, struct ctm_dirnode *dir, const char *name, size_t len)
{
	int r = ctm_walk_stat(name, &w->stx);

	ctm_pulse_beat(w->pulse);
	if (r == -EACCES && is_closed_mount(w->walk, name)) {
		struct ctm_fact fact = { .kind = CTM_FACT_MOUNT };

		w->tally.entries++;
		return ctm_walk_tell(w, dir, name, len, &fact);
	}
	if (r < 0) {
		/* Gone since its name was read: a running container lives on. */
		return r == -ENOENT ? 0 : ctm_walk_error(w, dir, name, len, -r, "stat");
	}
	w->tally.entries++;
	if (len > 0 && ctm_walk_is_mount(w->walk, &w->stx)) {
		struct ctm_fact fact = { .kind = CTM_FACT_MOUNT };

		return ctm_walk_tell(w, dir, name, len, &fact);
	}
	if (is_made_up(w->walk, &w->stx)) {
		return 0;
	}
	if (ctm_walk_is_elsewhere(w->walk, &w->stx)) {
		w->tally.subvolumes++;
		return 0;
	}
	r = inspect(w, dir, name, len);
	if (r < 0 || !S_ISDIR(w->stx.stx_mode)) {
		return r;
	}
	return remember(w, dir, name, len);
}
