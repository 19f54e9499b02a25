/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One name of an inode, looked at through our own descriptors. */
#include "run/inspect_name.h"

int ctm_inspect_name(void *arg, const char *path, size_t len, uint64_t dev, uint64_t ino)
{
	const struct ctm_inspect_names *in = arg;
	const struct ctm_ref ref = { .path = path, .path_len = len, .ino = ino };
	struct ctm_inode inode = { 0 };
	int h;
	int r = in->ops->open(in->fs, &ref, &h);

	if (r < 0) {
		return 0;
	}
	r = in->ops->stat(in->fs, h, &inode);
	in->ops->close(in->fs, h);
	return r == 0 && inode.dev == dev && inode.ino == ino;
}
