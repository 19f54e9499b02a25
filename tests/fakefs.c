/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A volume in memory, with the kernel's side effects. */
#include "fakefs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "id/acl.h"
#include "id/fcaps.h"
#include "must.h"

#define DEV 7

void fake_done(struct fakefs *fs)
{
	for (size_t i = 0; i < fs->nodes.n; i++) {
		free(fs->nodes.v[i].path);
	}
	ctm_vec_done(&fs->nodes);
	ctm_arena_done(&fs->arena);
	ctm_buf_done(&fs->log);
}

size_t fake_add(struct fakefs *fs, const char *path, uint32_t mode, uint32_t uid, uint32_t gid)
{
	struct fake_node n = {
		.path = strdup(path),
		.state = { .mode = mode, .uid = { uid }, .gid = { gid } },
		.ino = fs->nodes.n + 2,
		.nlink = 1,
		.mtime = { .tv_sec = 1000 + (time_t)fs->nodes.n, .tv_nsec = 5 },
		.atime = { .tv_sec = 900 },
		.ctime = { .tv_sec = 2000, .tv_nsec = 7 },
		.content = { .p = "", .len = 0 },
	};

	must(ctm_vec_push(&fs->nodes, &n) == 0);
	return fs->nodes.n - 1;
}

struct fake_node *fake_at(struct fakefs *fs, const char *path)
{
	for (size_t i = 0; i < fs->nodes.n; i++) {
		if (!fs->nodes.v[i].gone && strcmp(fs->nodes.v[i].path, path) == 0) {
			return &fs->nodes.v[i];
		}
	}
	return NULL;
}

struct ctm_bytes fake_bytes(struct fakefs *fs, const void *p, size_t len)
{
	struct ctm_bytes out = { .p = NULL };

	must(ctm_arena_bytes(&fs->arena, (struct ctm_bytes){ p, len }, &out) == 0);
	return out;
}

static void list_bytes(struct ctm_buf *out, struct ctm_bytes b)
{
	(void)ctm_buf_addf(out, b.p ? " " : " -");
	for (size_t i = 0; i < b.len; i++) {
		(void)ctm_buf_addf(out, "%02x", ((const unsigned char *)b.p)[i]);
	}
}

static int by_path(const void *a, const void *b)
{
	return strcmp((*(struct fake_node *const *)a)->path, (*(struct fake_node *const *)b)->path);
}

char *fake_listing(struct fakefs *fs)
{
	struct ctm_buf out = { 0 };
	struct fake_node **v = calloc(fs->nodes.n + 1, sizeof(struct fake_node *));
	size_t n = 0;

	for (size_t i = 0; i < fs->nodes.n; i++) {
		if (!fs->nodes.v[i].gone) {
			v[n++] = &fs->nodes.v[i];
		}
	}
	qsort(v, n, sizeof(struct fake_node *), by_path);
	for (size_t i = 0; i < n; i++) {
		const struct fake_node *x = v[i];

		(void)ctm_buf_addf(&out, "'%s' %o %u:%u %lld.%ld", x->path, x->state.mode,
				   x->state.uid.v, x->state.gid.v, (long long)x->mtime.tv_sec,
				   x->mtime.tv_nsec);
		list_bytes(&out, x->state.acl_access);
		list_bytes(&out, x->state.acl_default);
		list_bytes(&out, x->state.caps);
		list_bytes(&out, S_ISREG(x->state.mode) ? x->content : (struct ctm_bytes){ 0 });
		if (x->subvol) {
			(void)ctm_buf_addf(&out, " subvolume%s", x->ro_subvol ? " ro" : "");
		}
		if (x->attr) {
			(void)ctm_buf_addf(&out, " flags %u", x->attr);
		}
		(void)ctm_buf_addf(&out, "\n");
	}
	free(v);
	return out.p;
}

/* --- faults --- */

/* 0, or what this call fails with. */
static int call(struct fakefs *fs)
{
	fs->calls++;
	if (fs->die && fs->calls == fs->fail_at) {
		longjmp(*fs->die, 1);
	}
	if (fs->fail_at != 0 &&
	    (fs->calls == fs->fail_at || (fs->fail_on && fs->calls > fs->fail_at))) {
		return -fs->fail_with;
	}
	return 0;
}

static uint64_t dev_of(const struct fake_node *n)
{
	return n->dev ? n->dev : DEV;
}

static bool in_readonly(const struct fakefs *fs, int h)
{
	for (size_t i = 0; i < fs->nodes.n; i++) {
		if (fs->nodes.v[i].ro_subvol &&
		    dev_of(&fs->nodes.v[i]) == dev_of(&fs->nodes.v[h])) {
			return true;
		}
	}
	return false;
}

static int change(struct fakefs *fs, int h, const char *op)
{
	int r = call(fs);

	if (r == 0 && fs->fail_op && strcmp(fs->fail_op, op) == 0) {
		r = -fs->fail_with;
	}

	if (r == 0 && (fs->readonly || (strcmp(op, "subvol") != 0 && in_readonly(fs, h)))) {
		r = -EROFS;
	}
	if (r == 0 && fs->nodes.v[h].attr && strcmp(op, "attr") != 0) {
		r = -EPERM;
	}
	if (r == 0) {
		fs->nodes.v[h].ctime.tv_sec = 3000 + fs->calls;
		fs->wanted |= fs->want_at && strcmp(fs->want_at, op) == 0;
	}
	return r;
}

/* --- operations --- */

static int found(struct fakefs *fs, const struct fake_node *n, int *ret_h)
{
	*ret_h = (int)(n - fs->nodes.v);
	fs->open++;
	return 0;
}

static struct fake_node *by_handle(struct fakefs *fs, const struct ctm_handle *handle)
{
	uint64_t ino;

	memcpy(&ino, handle->bytes, sizeof(ino));
	for (size_t i = 0; i < fs->nodes.n; i++) {
		if (!fs->nodes.v[i].gone && fs->nodes.v[i].ino == ino) {
			return &fs->nodes.v[i];
		}
	}
	return NULL;
}

static struct fake_node *by_ref(struct fakefs *fs, const struct ctm_ref *ref)
{
	struct fake_node *n;
	char *path;

	if (ref->handle.len > 0) {
		return by_handle(fs, &ref->handle);
	}
	path = strndup(ref->path, ref->path_len);
	n = fake_at(fs, path);
	free(path);
	return n && ref->ino != 0 && n->ino != ref->ino ? NULL : n;
}

static int fk_open(void *p, const struct ctm_ref *ref, int *ret_h)
{
	struct fakefs *fs = p;
	const struct fake_node *n = by_ref(fs, ref);
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	return n ? found(fs, n, ret_h) : -ESTALE;
}

static char *child(const struct fakefs *fs, int dir_h, const char *name)
{
	struct ctm_buf path = { 0 };
	const char *dir = fs->nodes.v[dir_h].path;

	(void)ctm_buf_addf(&path, "%s%s%s", dir, *dir ? "/" : "", name);
	return path.p;
}

static int fk_open_at(void *p, int dir_h, const char *name, int *ret_h)
{
	struct fakefs *fs = p;
	char *path = child(fs, dir_h, name);
	const struct fake_node *n = fake_at(fs, path);
	int r = call(fs);

	free(path);
	if (r < 0) {
		return r;
	}
	return n ? found(fs, n, ret_h) : -ENOENT;
}

static void fk_close(void *p, int h)
{
	struct fakefs *fs = p;

	must(h >= 0);
	fs->open--;
}

static int fk_stat(void *p, int h, struct ctm_inode *ret)
{
	struct fakefs *fs = p;
	const struct fake_node *n = &fs->nodes.v[h];
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	*ret = (struct ctm_inode){
		.mode = n->state.mode,
		.uid = n->state.uid,
		.gid = n->state.gid,
		.dev = dev_of(n),
		.ino = n->ino,
		.rdev = n->rdev,
		.nlink = n->nlink,
		.size = n->content.len + n->holes,
		.attr = n->attr,
		.mtime = n->mtime,
		.atime = n->atime,
		.ctime = n->ctime,
	};
	return 0;
}

static int fk_read(void *p, int h, struct ctm_arena *arena, struct ctm_inode_state *ret)
{
	struct fakefs *fs = p;
	struct ctm_inode_state s = fs->nodes.v[h].state;
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	/* Copies, so that a value that is used too long is seen by the sanitizer. */
	must(ctm_arena_bytes(arena, s.acl_access, &s.acl_access) == 0);
	must(ctm_arena_bytes(arena, s.acl_default, &s.acl_default) == 0);
	must(ctm_arena_bytes(arena, s.caps, &s.caps) == 0);
	*ret = s;
	return 0;
}

static int fk_chown(void *p, int h, ctm_did uid, ctm_did gid)
{
	struct fakefs *fs = p;
	struct ctm_inode_state *s = &fs->nodes.v[h].state;
	int r;

	if (fs->torn_chown && fs->calls + 1 == fs->fail_at && !S_ISDIR(s->mode)) {
		s->caps = (struct ctm_bytes){ .p = NULL };
	}
	r = change(fs, h, "chown");
	if (r < 0) {
		return r;
	}
	if (uid.v == CTM_ID_INVALID || gid.v == CTM_ID_INVALID) {
		return -EINVAL;
	}
	s->uid = uid;
	s->gid = gid;
	if (fs->write_at_chown.p) {
		struct ctm_bytes b = fs->write_at_chown;

		fs->nodes.v[h].content = b;
		must(fs->shown_h == h && pwrite(fs->shown_fd, b.p, b.len, 0) == (ssize_t)b.len);
	}
	if (!S_ISDIR(s->mode)) {
		s->caps = (struct ctm_bytes){ .p = NULL };
		s->mode &= ~(uint32_t)S_ISUID;
		if (s->mode & S_IXGRP) {
			s->mode &= ~(uint32_t)S_ISGID;
		}
	}
	(void)ctm_buf_addf(&fs->log, "chown '%s' %u:%u\n", fs->nodes.v[h].path, uid.v, gid.v);
	return 0;
}

static int fk_chmod(void *p, int h, uint32_t mode)
{
	struct fakefs *fs = p;
	struct fake_node *n = &fs->nodes.v[h];
	int r = change(fs, h, "chmod");

	if (r == 0 && S_ISLNK(n->state.mode)) {
		r = -EOPNOTSUPP;
	}
	if (r < 0) {
		return r;
	}
	n->state.mode = (n->state.mode & S_IFMT) | (mode & 07777);
	(void)ctm_buf_addf(&fs->log, "chmod '%s' %04o\n", n->path, mode);
	return 0;
}

static int fk_set_xattr(void *p, int h, const char *name, struct ctm_bytes value)
{
	struct fakefs *fs = p;
	struct fake_node *n = &fs->nodes.v[h];
	struct ctm_bytes *at = strcmp(name, CTM_XATTR_ACL_ACCESS) == 0  ? &n->state.acl_access :
			       strcmp(name, CTM_XATTR_ACL_DEFAULT) == 0 ? &n->state.acl_default :
									  &n->state.caps;
	int r = change(fs, h, "xattr");

	if (r < 0) {
		return r;
	}
	if (at == &n->state.caps) {
		must(strcmp(name, CTM_XATTR_CAPS) == 0);
	}
	*at = fake_bytes(fs, value.p, value.len);
	(void)ctm_buf_addf(&fs->log, "xattr '%s' %s\n", n->path, name);
	return 0;
}

static int fk_set_attr(void *p, int h, uint32_t attr)
{
	struct fakefs *fs = p;
	struct fake_node *n = &fs->nodes.v[h];
	int r = change(fs, h, "attr");

	if (r < 0) {
		return r;
	}
	if (!S_ISREG(n->state.mode) && !S_ISDIR(n->state.mode)) {
		return -EMEDIUMTYPE;
	}
	n->attr = attr;
	(void)ctm_buf_addf(&fs->log, "attr '%s' %u\n", n->path, attr);
	return 0;
}

static int fk_subvol(void *p, int h, struct ctm_subvol *ret)
{
	struct fakefs *fs = p;
	const struct fake_node *n = &fs->nodes.v[h];
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	if (!n->subvol) {
		return -ENOTTY;
	}
	*ret = (struct ctm_subvol){ .readonly = n->ro_subvol, .received = n->received };
	return 0;
}

static int fk_set_subvol(void *p, int h, bool readonly)
{
	struct fakefs *fs = p;
	struct fake_node *n = &fs->nodes.v[h];
	int r = change(fs, h, "subvol");

	if (r < 0) {
		return r;
	}
	if (!n->subvol) {
		return -ENOTTY;
	}
	n->ro_subvol = readonly;
	(void)ctm_buf_addf(&fs->log, "subvol '%s' %s\n", n->path, readonly ? "ro" : "rw");
	return 0;
}

static int fk_handle(void *p, int h, struct ctm_handle *ret)
{
	struct fakefs *fs = p;
	struct ctm_handle out = { .type = 1, .len = 8 };
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	memcpy(out.bytes, &fs->nodes.v[h].ino, sizeof(uint64_t));
	*ret = fs->no_handles ? (struct ctm_handle){ .len = 0 } : out;
	return 0;
}

static int fk_set_mtime(void *p, int h, struct timespec mtime)
{
	struct fakefs *fs = p;
	int r = change(fs, h, "mtime");

	if (r < 0) {
		return r;
	}
	fs->nodes.v[h].mtime = mtime;
	(void)ctm_buf_addf(&fs->log, "mtime '%s' %lld\n", fs->nodes.v[h].path,
			   (long long)mtime.tv_sec);
	return 0;
}

static int fk_content(void *p, const struct ctm_ref *ref, int *ret_fd)
{
	struct fakefs *fs = p;
	struct ctm_ref by_path = *ref;
	const struct fake_node *n;
	int fd;
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	by_path.handle.len = 0;
	n = by_ref(fs, &by_path);
	if (!n) {
		return -ESTALE;
	}
	if (!S_ISREG(n->state.mode)) {
		return -EMEDIUMTYPE;
	}
	fd = memfd_create("content", MFD_CLOEXEC);
	must(write(fd, n->content.p, n->content.len) == (ssize_t)n->content.len);
	*ret_fd = fd;
	return 0;
}

static int fk_readable(void *p, int h, int *ret_fd)
{
	struct fakefs *fs = p;
	const struct fake_node *n = &fs->nodes.v[h];
	int fd;
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	if (!S_ISREG(n->state.mode)) {
		return -EMEDIUMTYPE;
	}
	fd = memfd_create("content", MFD_CLOEXEC);
	must(pwrite(fd, n->content.p, n->content.len, 0) == (ssize_t)n->content.len);
	fs->shown_fd = fd;
	fs->shown_h = h;
	*ret_fd = fd;
	return 0;
}

static int fk_keep_out(void *p, int fd)
{
	struct fakefs *fs = p;
	int r = call(fs);

	if (r < 0) {
		return r;
	}
	fs->wanted = false;
	if (fs->no_leases) {
		return -EOPNOTSUPP;
	}
	must(fd == fs->shown_fd);
	return fs->nodes.v[fs->shown_h].writer ? -ETXTBSY : 0;
}

static int fk_kept_out(void *p, int fd)
{
	struct fakefs *fs = p;
	int r = call(fs);

	(void)fd;
	if (r < 0) {
		return r;
	}
	return fs->wanted ? -ETXTBSY : 0;
}

static void touch_dir(struct fakefs *fs, int dir_h)
{
	fs->nodes.v[dir_h].mtime = (struct timespec){ .tv_sec = 5000 + fs->now++ };
}

static int fk_unlink(void *p, int dir_h, const char *name, uint64_t dev, uint64_t ino)
{
	struct fakefs *fs = p;
	char *path = child(fs, dir_h, name);
	struct fake_node *n = fake_at(fs, path);
	int r = change(fs, dir_h, "unlink");

	free(path);
	if (r < 0) {
		return r;
	}
	if (!n || n->ino != ino || dev != dev_of(n) || !S_ISREG(n->state.mode)) {
		return -ESTALE;
	}
	n->gone = true;
	touch_dir(fs, dir_h);
	(void)ctm_buf_addf(&fs->log, "unlink '%s'\n", n->path);
	return 0;
}

static struct ctm_bytes read_back(struct fakefs *fs, int fd)
{
	struct stat st;
	struct ctm_bytes out;
	char *p;

	must(fstat(fd, &st) == 0);
	p = malloc((size_t)st.st_size + 1);
	must(pread(fd, p, (size_t)st.st_size, 0) == st.st_size);
	out = fake_bytes(fs, p, (size_t)st.st_size);
	free(p);
	return out;
}

static int fk_restore(void *p, int dir_h, const char *name, const struct ctm_saved *file)
{
	struct fakefs *fs = p;
	char *path = child(fs, dir_h, name);
	int r = change(fs, dir_h, "restore");
	int fd = memfd_create("restore", MFD_CLOEXEC);

	if (r == 0 && fake_at(fs, path)) {
		r = -EEXIST;
	}
	if (r == 0) {
		r = file->content(file->arg, fd);
	}
	if (r == 0) {
		const struct ctm_inode_state *s = &file->state;
		size_t at = fake_add(fs, path, s->mode, s->uid.v, s->gid.v);
		struct fake_node *n = &fs->nodes.v[at];

		n->content = read_back(fs, fd);
		n->mtime = file->mtime;
		n->atime = file->atime;
		n->state.acl_access = fake_bytes(fs, s->acl_access.p, s->acl_access.len);
		n->state.caps = fake_bytes(fs, s->caps.p, s->caps.len);
		touch_dir(fs, dir_h);
		(void)ctm_buf_addf(&fs->log, "restore '%s'\n", path);
	}
	(void)close(fd);
	free(path);
	return r;
}

static int fk_sync(void *p)
{
	struct fakefs *fs = p;
	int r = call(fs);

	if (r == 0) {
		(void)ctm_buf_addf(&fs->log, "sync\n");
	}
	return r;
}

const struct ctm_ops fake_ops = {
	.open = fk_open,
	.open_at = fk_open_at,
	.close = fk_close,
	.stat = fk_stat,
	.read = fk_read,
	.chown = fk_chown,
	.chmod = fk_chmod,
	.set_xattr = fk_set_xattr,
	.set_attr = fk_set_attr,
	.subvol = fk_subvol,
	.set_subvol = fk_set_subvol,
	.handle = fk_handle,
	.set_mtime = fk_set_mtime,
	.content = fk_content,
	.readable = fk_readable,
	.keep_out = fk_keep_out,
	.kept_out = fk_kept_out,
	.unlink = fk_unlink,
	.restore = fk_restore,
	.sync = fk_sync,
};
