/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ask for locks and their holders. */
#include "target/lockholder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "target/bounded.h"
#include "target/locktable.h"
#include "target/mounttab.h"
#include "target/rootfd.h"

CTM_HOST_PATHS

/* Without a process more; of the names of holders, which are worth no more waiting, in all. */
#define SEARCH_MS 3000

/*
 * Who has what open is read from /proc/PID/fdinfo and from the texts of the links in /proc/PID/fd.
 * To stat such a link would ask the file system behind it, which may be any of this host's, also
 * one that does not answer.
 */

/* A file, in the words of the kernel's tables. */
struct file {
	dev_t st_dev;
	dev_t dev;     /* of the file system, where that is another number (btrfs); else st_dev */
	bool any_anon; /* the number of its file system is not to be had: any without a device */
	uint64_t ino;
	char name[NAME_MAX + 1]; /* last component of its path as we see it, "" for none */
};

struct search {
	struct file file;
	bool opener; /* to have it open is enough */
	bool above;  /* only who started us */
	pid_t first; /* asked before the others; 0: nobody */
	pid_t self;
	pid_t found;
	int out; /* where each process is told of; -1: nowhere */
};

/* --- the file --------------------------------------------------------------------------------- */

static void read_name(const char *link, char *ret, size_t size)
{
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	const char *slash;

	ret[0] = '\0';
	if (n <= 0) {
		return;
	}
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash) {
		(void)snprintf(ret, size, "%s", slash + 1);
	}
}

/*
 * Of these the number in the kernel's tables is not st_dev. It stands in mountinfo, where a
 * detached mount as ours has no row.
 */
static bool has_other_number(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && ((unsigned long)fs.f_type == BTRFS_SUPER_MAGIC ||
					 (unsigned long)fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

static int describe(int fd, struct file *ret)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	struct libmnt_fs *fs = NULL;
	struct ctm_inode inode;
	struct stat st;
	char link[64];

	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	ret->st_dev = st.st_dev;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	read_name(link, ret->name, sizeof(ret->name));
	if (!has_other_number(fd)) {
		return 0;
	}
	if (ctm_rootfd_stat(fd, &inode) == 0 &&
	    ctm_mounttab_read("/proc/self/mountinfo", &table) == 0 &&
	    ctm_mounttab_by_id(table, inode.mnt_id, &fs) == 0) {
		ret->dev = mnt_fs_get_devno(fs);
	} else {
		ret->any_anon = true;
	}
	return 0;
}

static bool is_file(const struct file *file, dev_t dev, uint64_t ino)
{
	return ino == file->ino &&
	       (dev == file->st_dev || dev == file->dev || (file->any_anon && major(dev) == 0));
}

/* --- one descriptor of a process -------------------------------------------------------------- */

struct fdinfo {
	bool has_ino; /* kernels before 5.19 do not say it */
	uint64_t ino;
	uint64_t mnt_id;
	bool locks; /* the file that is searched for */
};

static bool read_fdinfo(pid_t pid, const char *fd, const struct file *file, struct fdinfo *ret)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[320];
	char line[256];

	*ret = (struct fdinfo){ 0 };
	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *p = line;
		struct ctm_lock_row row;

		line[strcspn(line, "\n")] = '\0';
		if (ctm_word_take(&p, "mnt_id:\t")) {
			(void)ctm_number_take(&p, 10, INT_MAX, &ret->mnt_id);
		} else if (ctm_word_take(&p, "ino:\t")) {
			ret->has_ino = ctm_number_take(&p, 10, UINT64_MAX, &ret->ino) ||
				       ret->has_ino;
		} else if (ctm_word_take(&p, "lock:\t") && ctm_lock_row_parse(p, strlen(p), &row)) {
			ret->locks = ret->locks || is_file(file, row.dev, row.ino);
		}
	}
	return f != NULL;
}

/* The number of the file system below a mount, as the process sees it. */
static bool dev_of_mount(pid_t pid, uint64_t mnt_id, dev_t *ret)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = NULL;
	struct libmnt_fs *fs = NULL;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	if (ctm_mounttab_read(path, &table) < 0 || ctm_mounttab_by_id(table, mnt_id, &fs) < 0) {
		return false;
	}
	*ret = mnt_fs_get_devno(fs);
	return true;
}

static bool has_open(pid_t pid, const char *fd, const struct file *file, const struct fdinfo *info)
{
	char link[320];
	char name[NAME_MAX + 1];
	dev_t dev;

	if (info->has_ino && info->ino != file->ino) {
		return false;
	}
	if (info->has_ino && dev_of_mount(pid, info->mnt_id, &dev)) {
		return is_file(file, dev, info->ino);
	}
	/* a mount of another namespace, or of none: what it is called has to do */
	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%s", (int)pid, fd);
	read_name(link, name, sizeof(name));
	return name[0] != '\0' && strcmp(name, file->name) == 0;
}

/* --- the search ------------------------------------------------------------------------------- */

static void closedirp(DIR **dir)
{
	if (*dir) {
		(void)closedir(*dir);
	}
}

/* A process that ends meanwhile, or that we may not look into, is none that we can name. */
static int look_at(pid_t pid, void *arg)
{
	CLEANUP(closedirp) DIR *dir = NULL;
	struct search *search = arg;
	const struct dirent *entry;
	char path[64];

	if (pid == search->self || pid == getpid()) {
		return 0;
	}
	if (search->out >= 0 && ctm_bounded_say(search->out, ".", 1) < 0) {
		return -EPIPE;
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		struct fdinfo info;

		if (entry->d_name[0] != '.' &&
		    read_fdinfo(pid, entry->d_name, &search->file, &info) &&
		    (search->opener ? has_open(pid, entry->d_name, &search->file, &info) :
				      info.locks)) {
			search->found = pid;
			return 1;
		}
	}
	return 0;
}

static int look_above(struct search *search)
{
	pid_t at = search->self;
	int r = 0;

	while (r == 0 && ctm_procs_parent(at, &at) == 0 && at > 0) {
		r = look_at(at, search);
	}
	return r;
}

/* In a child (target/bounded.h). */
static int look(int out, void *arg)
{
	struct search *search = arg;
	int r;

	search->out = search->opener ? out : -1;
	r = search->first > 0 ? look_at(search->first, search) : 0;

	r = r != 0 ? r : search->above ? look_above(search) : ctm_procs_each(look_at, search);
	return r < 0 ? r : ctm_bounded_say(out, &search->found, sizeof(search->found));
}

/* search->found: 0 when nobody is. The answer ends in it. */
static int search_for(struct search *search, const struct ctm_bounded *limits)
{
	CLEANUP(ctm_buf_done) struct ctm_buf answer = { 0 };
	int r;

	search->self = getpid();
	r = ctm_bounded_ask(look, search, limits, &answer);
	if (r < 0 || answer.len < sizeof(search->found)) {
		return r < 0 ? r : -EPIPE;
	}
	memcpy(&search->found, answer.p + answer.len - sizeof(search->found),
	       sizeof(search->found));
	return 0;
}

/* Who has called for a lock on the file stands in the table; the lock may be another's by now. */
static int take_caller(const struct ctm_lock_row *row, void *arg)
{
	struct search *search = arg;

	if (row->waits || row->pid <= 0 || !is_file(&search->file, row->dev, row->ino)) {
		return 0;
	}
	search->first = row->pid;
	return 1;
}

static int find_holder(int fd, pid_t *ret)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	const struct ctm_bounded in_all = { .total_ms = SEARCH_MS };
	struct search search = { .opener = false };
	int r = describe(fd, &search.file);

	if (r == 0 && ctm_locktable_read(&text) == 0) {
		(void)ctm_locktable_each((struct ctm_bytes){ text.p, text.len }, take_caller,
					 &search);
	}
	r = r < 0 ? r : search_for(&search, &in_all);
	*ret = r == 0 ? search.found : 0;
	return r == -ETIME ? 0 : r;
}

int ctm_lockholder_above(int fd, bool *ret)
{
	const struct ctm_bounded in_all = { .total_ms = SEARCH_MS };
	struct search search = { .above = true };
	int r = describe(fd, &search.file);

	r = r < 0 ? r : search_for(&search, &in_all);
	if (r == 0) {
		*ret = search.found > 0;
	}
	return r;
}

/* --- whether there is a lock ------------------------------------------------------------------ */

/* Somebody else's lock of either kind of fcntl(2), anywhere in the file. */
static int ask_fcntl(int fd, bool *ret_held, pid_t *ret_pid)
{
	static const int questions[] = { F_GETLK, F_OFD_GETLK };

	for (size_t i = 0; i < ARRAY_LEN(questions); i++) {
		struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

		if (fcntl(fd, questions[i], &lock) < 0) {
			return -errno;
		}
		if (lock.l_type != F_UNLCK) {
			*ret_held = true;
			*ret_pid = lock.l_pid > 0 ? lock.l_pid : 0; /* -1: of an open file */
			return 0;
		}
	}
	return 0;
}

/* There is no way to ask for a flock but to take it. */
static int ask_flock(int fd, bool *ret_held)
{
	int r = flock(fd, LOCK_EX | LOCK_NB);

	if (r < 0 && errno == EBADF) {
		r = flock(fd,
			  LOCK_SH | LOCK_NB); /* NFS wants a writable descriptor for the other */
	}
	if (r == 0) {
		return flock(fd, LOCK_UN) < 0 ? -errno : 0;
	}
	if (errno != EWOULDBLOCK) {
		return -errno;
	}
	*ret_held = true;
	return 0;
}

int ctm_lockholder_find(int fd, bool *ret_held, struct ctm_lockholder *ret)
{
	struct ctm_lockholder holder = { .how = "fcntl", .name = "?" };
	bool held = false;
	int r = ask_fcntl(fd, &held, &holder.pid);

	if (r == 0 && !held) {
		holder.how = "flock";
		r = ask_flock(fd, &held);
	}
	if (r == 0 && held && holder.pid == 0) {
		r = find_holder(fd, &holder.pid);
	}
	if (r < 0) {
		return r;
	}
	if (held) {
		if (holder.pid > 0) {
			ctm_procs_name(holder.pid, holder.name);
		}
		*ret = holder;
	}
	*ret_held = held;
	return 0;
}

int ctm_lockholder_opener(int fd, unsigned int within_ms, bool *ret_held,
			  struct ctm_lockholder *ret)
{
	const struct ctm_bounded limits = { .total_ms = within_ms, .silent_ms = SEARCH_MS };
	struct ctm_lockholder holder = { .how = "open", .name = "?" };
	struct search search = { .opener = true };
	int r = describe(fd, &search.file);

	r = r < 0 ? r : search_for(&search, &limits);
	if (r < 0) {
		return r;
	}
	holder.pid = search.found;
	if (holder.pid > 0) {
		ctm_procs_name(holder.pid, holder.name);
		*ret = holder;
	}
	*ret_held = holder.pid > 0;
	return 0;
}
