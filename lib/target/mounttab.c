/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of mounts, read strictly. */
#include "target/mounttab.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"

CTM_HOST_PATHS

/* Without a callback libmount skips what it does not understand. */
static int stop_at_bad_line(struct libmnt_table *table, const char *file, int line)
{
	(void)table;
	(void)file;
	(void)line;
	return -EBADMSG;
}

int ctm_mounttab_parse(FILE *stream, struct libmnt_table **ret)
{
	CLEANUP(ctm_mounttab_unrefp) struct libmnt_table *table = mnt_new_table();
	int r;

	if (!table) {
		return -ENOMEM;
	}
	r = mnt_table_set_parser_errcb(table, stop_at_bad_line);
	if (r < 0) {
		return r;
	}
	errno = 0;
	r = mnt_table_parse_stream(table, stream, "mountinfo");
	if (r != 0) {
		return r < 0 && r != -1 ? r : -EBADMSG;
	}
	if (ferror(stream)) {
		return errno ? -errno : -EIO; /* the process went away in between */
	}
	*ret = TAKE_PTR(table);
	return 0;
}

int ctm_mounttab_read(const char *file, struct libmnt_table **ret)
{
	CLEANUP_FCLOSE FILE *stream = fopen(file, "re");

	return stream ? ctm_mounttab_parse(stream, ret) : -errno;
}

int ctm_mounttab_by_id(struct libmnt_table *table, uint64_t id, struct libmnt_fs **ret)
{
	CLEANUP(ctm_mounttab_free_iterp) struct libmnt_iter *itr = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;

	if (!itr) {
		return -ENOMEM;
	}
	while (mnt_table_next_fs(table, itr, &fs) == 0) {
		if (mnt_fs_get_id(fs) >= 0 && (uint64_t)mnt_fs_get_id(fs) == id) {
			*ret = fs;
			return 0;
		}
	}
	return -ENOENT;
}

bool ctm_mounttab_idmapped(struct libmnt_fs *fs)
{
	const char *options = mnt_fs_get_vfs_options(fs);

	return options && mnt_optstr_get_option(options, "idmapped", NULL, NULL) == 0;
}

/* Both absolute; "/" holds everything. */
static bool within(const char *path, const char *dir)
{
	return ctm_path_within(path + 1, strlen(path + 1), dir + 1, strlen(dir + 1));
}

int ctm_mounttab_inside(struct libmnt_fs *fs, const char *path, struct ctm_buf *ret)
{
	const char *root = mnt_fs_get_root(fs);
	const char *target = mnt_fs_get_target(fs);
	const char *rest;

	if (!root || !target || root[0] != '/' || target[0] != '/' || path[0] != '/' ||
	    !within(path, target)) {
		return -EXDEV;
	}
	rest = path + (strcmp(target, "/") == 0 ? 0 : strlen(target));
	rest = strcmp(rest, "/") == 0 ? "" : rest;
	if (strcmp(root, "/") == 0) {
		return ctm_buf_addf(ret, "%s", *rest ? rest : "/");
	}
	return ctm_buf_addf(ret, "%s%s", root, rest);
}

bool ctm_mounttab_shows(struct libmnt_fs *fs, const char *dir)
{
	const char *root = mnt_fs_get_root(fs);

	return root && root[0] == '/' && within(root, dir);
}

int ctm_mounttab_each_below(struct libmnt_table *table, const char *dir,
			    int (*fn)(const char *path, void *arg), void *arg)
{
	CLEANUP(ctm_mounttab_free_iterp) struct libmnt_iter *itr = mnt_new_iter(MNT_ITER_FORWARD);
	const size_t len = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	struct libmnt_fs *fs;
	int r = 0;

	if (!itr) {
		return -ENOMEM;
	}
	while (r == 0 && mnt_table_next_fs(table, itr, &fs) == 0) {
		const char *target = mnt_fs_get_target(fs);
		/* of mounts on top of each other one is enough */
		bool again = mnt_table_find_target(table, target, MNT_ITER_FORWARD) != fs;

		if (!again && within(target, dir) && strlen(target) > len + 1) {
			r = fn(target + len + 1, arg);
		}
	}
	return r;
}
