/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listmount(2), statmount(2), mountinfo. */
#include "target/nsmounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "target/mounttab.h"

CTM_HOST_PATHS

/*
 * What <linux/mount.h> and <linux/nsfs.h> of Debian 12 do not have yet; from the kernel's
 * documentation of these calls. The numbers are the same on every architecture.
 */
#ifndef SYS_statmount
#define SYS_statmount 457
#endif
#ifndef SYS_listmount
#define SYS_listmount 458
#endif

struct mnt_request {
	uint32_t size;
	uint32_t spare;
	uint64_t mnt_id;
	uint64_t param;
	uint64_t mnt_ns_id; /* from here on: Linux 6.11 */
};

struct mnt_answer {
	uint32_t size;
	uint32_t mnt_opts;
	uint64_t mask;
	uint32_t sb_dev_major;
	uint32_t sb_dev_minor;
	uint64_t sb_magic;
	uint32_t sb_flags;
	uint32_t fs_type;
	uint64_t mnt_id;
	uint64_t mnt_parent_id;
	uint32_t mnt_id_old;
	uint32_t mnt_parent_id_old;
	uint64_t mnt_attr;
	uint64_t mnt_propagation;
	uint64_t mnt_peer_group;
	uint64_t mnt_master;
	uint64_t propagate_from;
	uint32_t mnt_root;  /* offset in str */
	uint32_t mnt_point; /* likewise */
	uint64_t later[50];
	char str[];
};
_Static_assert(sizeof(struct mnt_answer) == 512, "as the kernel has it");

#define ASK_SB_BASIC  0x1u
#define ASK_MNT_ROOT  0x8u
#define ASK_MNT_POINT 0x10u
#define ROOT_OF_NS    UINT64_MAX                /* LSMT_ROOT */
#define GET_NS_ID     _IOR(0xb7, 0x5, uint64_t) /* NS_GET_MNTNS_ID, Linux 6.11 */
#define IDS_AT_ONCE   4096
#define ANSWER_MAX    ((size_t)64 << 10)

static bool old_kernel;

void ctm_nsmounts_old_kernel(bool old)
{
	old_kernel = old;
}

static bool is_wanted(const struct ctm_nsmounts_query *query, dev_t dev)
{
	for (size_t i = 0; i < query->n_devs; i++) {
		if (query->devs[i] == dev) {
			return true;
		}
	}
	return false;
}

/* --- by system call --------------------------------------------------------------------------- */

struct lister {
	const struct ctm_nsmounts_query *query;
	ctm_nsmount_fn fn;
	void *arg;
	uint64_t ns;
	uint64_t *ids;
	struct mnt_answer *answer; /* ANSWER_MAX */
};

static void lister_done(struct lister *l)
{
	free(l->ids);
	free(l->answer);
}

/* -ENOSYS: the kernel is too old. */
static int ns_id(pid_t pid, uint64_t *ret)
{
	CLEANUP_CLOSE int fd = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return -errno;
	}
	return ioctl(fd, GET_NS_ID, ret) < 0 ? -ENOSYS : 0;
}

static int ask(const struct lister *l, uint64_t id, uint64_t what, size_t size)
{
	const struct mnt_request req = {
		.size = sizeof(req), .mnt_id = id, .param = what, .mnt_ns_id = l->ns
	};

	return syscall(SYS_statmount, &req, l->answer, size, 0) < 0 ? -errno : 0;
}

/* A mount that went away meanwhile is none. -ENOSYS: not this way. */
static int look_at(const struct lister *l, uint64_t id)
{
	struct ctm_nsmount mount;
	int r = ask(l, id, ASK_SB_BASIC, sizeof(*l->answer));

	if (r < 0) {
		return r == -ENOENT ? 0 : -ENOSYS;
	}
	mount.dev = makedev(l->answer->sb_dev_major, l->answer->sb_dev_minor);
	if (!is_wanted(l->query, mount.dev)) {
		return 0;
	}
	r = ask(l, id, ASK_MNT_ROOT | ASK_MNT_POINT, ANSWER_MAX);
	if (r == -ENOENT) {
		return 0;
	}
	if (r < 0 ||
	    (l->answer->mask & (ASK_MNT_ROOT | ASK_MNT_POINT)) != (ASK_MNT_ROOT | ASK_MNT_POINT)) {
		return -ENOSYS;
	}
	mount.root = l->answer->str + l->answer->mnt_root;
	mount.point = l->answer->str + l->answer->mnt_point;
	return l->fn(&mount, l->arg);
}

/* -ENOSYS, whatever it objects to: mountinfo is asked next, from the start. */
static int list_all(struct lister *l)
{
	struct mnt_request req = { .size = sizeof(req), .mnt_id = ROOT_OF_NS, .mnt_ns_id = l->ns };

	for (;;) {
		long n = syscall(SYS_listmount, &req, l->ids, (size_t)IDS_AT_ONCE, 0);
		int r = 0;

		if (n < 0) {
			return -ENOSYS;
		}
		for (long i = 0; i < n && r == 0; i++) {
			r = look_at(l, l->ids[i]);
		}
		if (r != 0 || n < IDS_AT_ONCE) {
			return r;
		}
		req.param = l->ids[n - 1]; /* go on behind it */
	}
}

static int by_call(pid_t pid, const struct ctm_nsmounts_query *query, ctm_nsmount_fn fn, void *arg)
{
	CLEANUP(lister_done) struct lister l = { .query = query, .fn = fn, .arg = arg };
	int r = old_kernel || query->btrfs_source ? -ENOSYS : ns_id(pid, &l.ns);

	if (r < 0) {
		return r;
	}
	l.ids = calloc(IDS_AT_ONCE, sizeof(*l.ids));
	l.answer = calloc(1, ANSWER_MAX);
	return l.ids && l.answer ? list_all(&l) : -ENOMEM;
}

/* --- by mountinfo ---------------------------------------------------------------------------- */

/* Its source is what the kernel writes for this type: the path of a device. */
static bool is_btrfs_on(const struct ctm_nsmounts_query *query, const char *source)
{
	struct stat st;

	return source && strncmp(source, "/dev/", 5) == 0 && stat(source, &st) == 0 &&
	       S_ISBLK(st.st_mode) && is_wanted(query, st.st_rdev);
}

/* One row that may matter, by the library that knows how names are written there. */
static int take_row(char *line, size_t len, const struct ctm_nsmounts_query *query, bool wanted,
		    ctm_nsmount_fn fn, void *arg)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	CLEANUP(ctm_mounttab_free_iterp) struct libmnt_iter *itr = mnt_new_iter(MNT_ITER_FORWARD);
	CLEANUP_FCLOSE FILE *f = fmemopen(line, len, "r");
	struct libmnt_fs *fs;
	struct ctm_nsmount mount;
	int r;

	if (!f || !itr) {
		return -ENOMEM;
	}
	r = ctm_mounttab_parse(f, &table);
	if (r < 0) {
		return r;
	}
	if (mnt_table_next_fs(table, itr, &fs) != 0) {
		return -EBADMSG;
	}
	if (!wanted && !is_btrfs_on(query, mnt_fs_get_source(fs))) {
		return 0;
	}
	mount = (struct ctm_nsmount){
		.dev = mnt_fs_get_devno(fs),
		.root = mnt_fs_get_root(fs),
		.point = mnt_fs_get_target(fs),
	};
	return mount.root && mount.point ? fn(&mount, arg) : -EBADMSG;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT ...", see proc(5); *ret_whole: POINT is "/" */
static bool parse_head(const char *line, dev_t *ret_dev, bool *ret_whole)
{
	uint64_t id;
	uint64_t maj;
	uint64_t min;

	if (!ctm_number_take(&line, 10, INT_MAX, &id) || !ctm_word_take(&line, " ") ||
	    !ctm_number_take(&line, 10, INT_MAX, &id) || !ctm_word_take(&line, " ") ||
	    !ctm_number_take(&line, 10, UINT_MAX, &maj) || !ctm_word_take(&line, ":") ||
	    !ctm_number_take(&line, 10, UINT_MAX, &min) || !ctm_word_take(&line, " ")) {
		return false;
	}
	*ret_dev = makedev((unsigned int)maj, (unsigned int)min);
	line += strcspn(line, " ");
	*ret_whole = ctm_word_take(&line, " / ");
	return true;
}

int ctm_nsmounts_from_text(FILE *mountinfo, const struct ctm_nsmounts_query *query,
			   ctm_nsmount_fn fn, void *arg, bool *ret_whole)
{
	CLEANUP_FREE char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	*ret_whole = false;
	errno = 0;
	while ((n = getline(&line, &cap, mountinfo)) > 0) {
		dev_t dev;
		bool whole;
		bool wanted;
		int r = 0;

		if (!parse_head(line, &dev, &whole)) {
			return -EBADMSG;
		}
		*ret_whole = *ret_whole || whole;
		wanted = is_wanted(query, dev);
		if (wanted || (query->btrfs_source && strstr(line, " - btrfs "))) {
			r = take_row(line, (size_t)n, query, wanted, fn, arg);
		}
		if (r != 0) {
			return r;
		}
		errno = 0;
	}
	if (ferror(mountinfo)) {
		return errno ? -errno : -EIO; /* the process went away in between */
	}
	return 0;
}

/* "/": the root of the namespace, where the text is that of a place in it at all. */
static bool has_ns_root(pid_t pid)
{
	char path[64];
	char root[4];

	(void)snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return readlink(path, root, sizeof(root)) == 1 && root[0] == '/';
}

static int by_mountinfo(pid_t pid, const struct ctm_nsmounts_query *query, ctm_nsmount_fn fn,
			void *arg, bool *ret_whole)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[64];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	f = fopen(path, "re");
	if (!f) {
		return -errno;
	}
	r = ctm_nsmounts_from_text(f, query, fn, arg, ret_whole);
	*ret_whole = *ret_whole && has_ns_root(pid);
	return r;
}

int ctm_nsmounts_each(pid_t pid, const struct ctm_nsmounts_query *query, ctm_nsmount_fn fn,
		      void *arg, bool *ret_whole)
{
	int r = by_call(pid, query, fn, arg);

	if (r != -ENOSYS) {
		*ret_whole = r >= 0;
		return r;
	}
	return by_mountinfo(pid, query, fn, arg, ret_whole);
}
