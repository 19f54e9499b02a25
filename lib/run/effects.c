/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real effects: what a repair does to a volume, through target/rootfd.h. */
#include "run/effects.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "target/rootfd_file.h"
#include "target/rootfd_lease.h"

int ctm_effects_init(struct ctm_effects *fx, int root, bool whole, struct ctm_err *err)
{
	int real;
	int r = ctm_rootfd_open_dir(root, ".", &real);

	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "open the root of the volume");
	}
	*fx = (struct ctm_effects){ .root = root, .real = real, .whole = whole };
	return 0;
}

void ctm_effects_done(struct ctm_effects *fx)
{
	ctm_closep(&fx->real);
}

/* The path leads somewhere else now, or nowhere. */
static int gone(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP || r == -EXDEV ? -ESTALE : r;
}

static bool handle_eq(const struct ctm_handle *a, const struct ctm_handle *b)
{
	return a->type == b->type && a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* Whether the open inode is the one of the ref. */
static int is_same(int fd, const struct ctm_ref *ref)
{
	struct ctm_inode inode;
	struct ctm_handle handle;
	int r = ctm_rootfd_stat(fd, &inode);

	if (r == 0 && ref->ino != 0 && inode.ino != ref->ino) {
		r = -ESTALE;
	}
	if (r == 0 && ref->handle.len > 0) {
		r = ctm_rootfd_handle(fd, &handle);
		if (r == 0 && !handle_eq(&handle, &ref->handle)) {
			r = -ESTALE;
		}
	}
	return r;
}

static int fx_open(void *fs, const struct ctm_ref *ref, int *ret_h)
{
	const struct ctm_effects *fx = fs;
	CLEANUP_CLOSE int fd = -1;
	int r;

	if (fx->whole && ref->handle.len > 0) {
		return ctm_rootfd_open_handle(fx->real, &ref->handle, ret_h);
	}
	r = ctm_rootfd_open(fx->root, ref->path, ref->path_len, &fd);
	if (r < 0) {
		return gone(r);
	}
	r = is_same(fd, ref);
	if (r == 0) {
		*ret_h = TAKE_FD(fd);
	}
	return r;
}

static int fx_open_at(void *fs, int dir_h, const char *name, int *ret_h)
{
	(void)fs;
	return ctm_rootfd_open(dir_h, name, strlen(name), ret_h);
}

static void fx_close(void *fs, int h)
{
	(void)fs;
	ctm_closep(&h);
}

static int fx_stat(void *fs, int h, struct ctm_inode *ret)
{
	(void)fs;
	return ctm_rootfd_stat(h, ret);
}

static int fx_read(void *fs, int h, struct ctm_arena *arena, struct ctm_inode_state *ret)
{
	struct ctm_inode inode;
	struct ctm_inode_state s = { 0 };
	int r = ctm_rootfd_stat(h, &inode);

	(void)fs;
	if (r < 0) {
		return r;
	}
	s.mode = inode.mode;
	s.uid = inode.uid;
	s.gid = inode.gid;
	/*
	 * Links have none of these and only directories have a default ACL. A capability means
	 * something on files alone, but the kernel lets its owner put one on anything else too.
	 */
	if (!S_ISLNK(s.mode)) {
		r = ctm_rootfd_get_xattr(h, CTM_XATTR_ACL_ACCESS, arena, &s.acl_access);
	}
	if (r == 0 && S_ISDIR(s.mode)) {
		r = ctm_rootfd_get_xattr(h, CTM_XATTR_ACL_DEFAULT, arena, &s.acl_default);
	}
	if (r == 0 && !S_ISLNK(s.mode)) {
		r = ctm_rootfd_get_xattr(h, CTM_XATTR_CAPS, arena, &s.caps);
	}
	if (r == 0) {
		*ret = s;
	}
	return r;
}

static int fx_chown(void *fs, int h, ctm_did uid, ctm_did gid)
{
	(void)fs;
	return ctm_rootfd_chown(h, uid, gid);
}

static int fx_chmod(void *fs, int h, uint32_t mode)
{
	(void)fs;
	return ctm_rootfd_chmod(h, mode);
}

static int fx_set_xattr(void *fs, int h, const char *name, struct ctm_bytes value)
{
	(void)fs;
	return ctm_rootfd_set_xattr(h, name, value);
}

static int fx_set_attr(void *fs, int h, uint32_t attr)
{
	(void)fs;
	return ctm_rootfd_set_attr(h, attr);
}

static int fx_subvol(void *fs, int h, struct ctm_subvol *ret)
{
	(void)fs;
	return ctm_rootfd_subvol(h, ret);
}

static int fx_set_subvol(void *fs, int h, bool readonly)
{
	(void)fs;
	return ctm_rootfd_set_subvol(h, readonly);
}

static int fx_handle(void *fs, int h, struct ctm_handle *ret)
{
	(void)fs;
	return ctm_rootfd_handle(h, ret);
}

static int fx_set_mtime(void *fs, int h, struct timespec mtime)
{
	(void)fs;
	return ctm_rootfd_set_mtime(h, mtime);
}

static int fx_content(void *fs, const struct ctm_ref *ref, int *ret_fd)
{
	const struct ctm_effects *fx = fs;
	CLEANUP_CLOSE int fd = -1;
	struct ctm_inode inode;
	int r = ctm_rootfd_open_content(fx->root, ref->path, ref->path_len, &fd);

	if (r < 0) {
		return gone(r);
	}
	r = ctm_rootfd_stat(fd, &inode);
	if (r < 0) {
		return r;
	}
	if (!S_ISREG(inode.mode)) {
		return -EMEDIUMTYPE;
	}
	r = is_same(fd, ref);
	if (r == 0) {
		*ret_fd = TAKE_FD(fd);
	}
	return r;
}

static int fx_readable(void *fs, int h, int *ret_fd)
{
	struct ctm_inode inode;
	int r = ctm_rootfd_stat(h, &inode);

	(void)fs;
	if (r == 0 && !S_ISREG(inode.mode)) {
		r = -EMEDIUMTYPE;
	}
	return r < 0 ? r : ctm_rootfd_readable(h, ret_fd);
}

static int fx_keep_out(void *fs, int fd)
{
	(void)fs;
	return ctm_rootfd_keep_out(fd);
}

static int fx_kept_out(void *fs, int fd)
{
	(void)fs;
	return ctm_rootfd_kept_out(fd);
}

static int fx_unlink(void *fs, int dir_h, const char *name, uint64_t dev, uint64_t ino)
{
	(void)fs;
	return ctm_rootfd_unlink(dir_h, name, dev, ino);
}

/* A write takes the capability away and a chown the bits, so the order is that of a repair. */
static int fill(int fd, const struct ctm_saved *file)
{
	const struct ctm_inode_state *s = &file->state;
	const struct timespec times[2] = { file->atime, file->mtime };
	int r = file->content(file->arg, fd);

	if (r == 0) {
		r = ctm_rootfd_chown(fd, s->uid, s->gid);
	}
	if (r == 0) {
		r = ctm_rootfd_chmod(fd, s->mode);
	}
	for (size_t i = 0; r == 0 && i < file->n_xattrs; i++) {
		r = ctm_rootfd_set_xattr(fd, file->xattrs[i].name, file->xattrs[i].value);
	}
	if (r == 0) {
		/* Also when there is none: the directory's default ACL may have left one. */
		r = ctm_rootfd_set_xattr(fd, CTM_XATTR_ACL_ACCESS, s->acl_access);
	}
	if (r == 0 && !s->acl_access.p) {
		r = ctm_rootfd_chmod(fd, s->mode);
	}
	if (r == 0 && s->caps.p) {
		r = ctm_rootfd_set_xattr(fd, CTM_XATTR_CAPS, s->caps);
	}
	if (r == 0 && futimens(fd, times) < 0) {
		r = -errno;
	}
	if (r == 0 && fsync(fd) < 0) {
		r = -errno;
	}
	return r;
}

static int fx_restore(void *fs, int dir_h, const char *name, const struct ctm_saved *file)
{
	CLEANUP_CLOSE int fd = -1;
	struct ctm_inode inode;
	bool named = false;
	int r = ctm_rootfd_make_file(dir_h, name, &fd, &named);

	(void)fs;
	if (r < 0) {
		return r;
	}
	r = fill(fd, file);
	if (r == 0 && !named) {
		r = ctm_rootfd_name_file(fd, dir_h, name);
	}
	if (r < 0 && named && ctm_rootfd_stat(fd, &inode) == 0) {
		(void)ctm_rootfd_unlink(dir_h, name, inode.dev, inode.ino);
	}
	return r;
}

static int fx_sync(void *fs)
{
	const struct ctm_effects *fx = fs;

	return syncfs(fx->real) < 0 ? -errno : 0;
}

const struct ctm_ops ctm_effects_ops = {
	.open = fx_open,
	.open_at = fx_open_at,
	.close = fx_close,
	.stat = fx_stat,
	.read = fx_read,
	.chown = fx_chown,
	.chmod = fx_chmod,
	.set_xattr = fx_set_xattr,
	.set_attr = fx_set_attr,
	.subvol = fx_subvol,
	.set_subvol = fx_set_subvol,
	.handle = fx_handle,
	.set_mtime = fx_set_mtime,
	.content = fx_content,
	.readable = fx_readable,
	.keep_out = fx_keep_out,
	.kept_out = fx_kept_out,
	.unlink = fx_unlink,
	.restore = fx_restore,
	.sync = fx_sync,
};
