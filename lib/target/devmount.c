/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mount a device by its descriptor alone. */
#include "target/devmount.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "base/log.h"

/*
 * Linux 6.6: fails with EBUSY when the file system is mounted already. glibc 2.36 does not know
 * it.
 */
#define CMD_CREATE_EXCL ((enum fsconfig_command)8)

#define OPTIONS 2

struct option {
	const char *key;
	const char *value; /* NULL: a flag */
};

/*
 * What keeps the log of each type unreplayed. btrfs has changed the word: Linux 5.9 has
 * "rescue=nologreplay", 6.9 took the old one away. nouuid: another file system of this UUID may
 * be mounted, clones have the same one.
 */
static const struct fs_row {
	const char *type;
	const char *driver;
	struct option read[OPTIONS];
	struct option read_old[OPTIONS]; /* when the kernel does not take the first */
	struct option write[OPTIONS];
	const char *checker;
} table[] = {
	/*
	 * The ext4 driver takes all three, and noload from each only under this name. What to do on
	 * errors stands in the superblock as well, and can be to panic: not for a volume to
	 * decide. To go on is what mkfs writes there; an entry that fails is told of, the rest
	 * is done.
	 */
	{ .type = "ext2",
	  .driver = "ext4",
	  .read = { { .key = "noload" }, { .key = "errors", .value = "continue" } },
	  .write = { { .key = "errors", .value = "continue" } },
	  .checker = "e2fsck -fn" },
	{ .type = "ext3",
	  .driver = "ext4",
	  .read = { { .key = "noload" }, { .key = "errors", .value = "continue" } },
	  .write = { { .key = "errors", .value = "continue" } },
	  .checker = "e2fsck -fn" },
	{ .type = "ext4",
	  .driver = "ext4",
	  .read = { { .key = "noload" }, { .key = "errors", .value = "continue" } },
	  .write = { { .key = "errors", .value = "continue" } },
	  .checker = "e2fsck -fn" },
	{ .type = "xfs",
	  .driver = "xfs",
	  .read = { { .key = "norecovery" }, { .key = "nouuid" } },
	  .write = { { .key = "nouuid" } },
	  .checker = "xfs_repair -n" },
	{ .type = "btrfs",
	  .driver = "btrfs",
	  .read = { { .key = "rescue", .value = "nologreplay" } },
	  .read_old = { { .key = "nologreplay" } },
	  .checker = "btrfs check --readonly" },
};

static const struct fs_row *find_row(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (strcmp(table[i].type, type) == 0) {
			return &table[i];
		}
	}
	return NULL;
}

const char *ctm_devmount_checker(const char *type)
{
	const struct fs_row *row = find_row(type);

	return row ? row->checker : NULL;
}

/* The kernel's own words about a failure ("e ext4: ..."), the last ones; "" when it has none. */
static void kernel_says(int context, char *out, size_t size)
{
	char line[200];
	ssize_t n;

	out[0] = '\0';
	while ((n = read(context, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		line[strcspn(line, "\n")] = '\0';
		CTM_DEBUG("attach", "kernel: %s", line);
		if (line[0] == 'e' && line[1] == ' ') {
			(void)snprintf(out, size, " (%s)", line + 2);
		}
	}
}

static int set_options(int context, const struct option *options)
{
	for (size_t i = 0; i < OPTIONS && options[i].key; i++) {
		enum fsconfig_command how = options[i].value ? FSCONFIG_SET_STRING :
							       FSCONFIG_SET_FLAG;

		if (fsconfig(context, how, options[i].key, options[i].value, 0) < 0) {
			return -errno;
		}
	}
	return 0;
}

/* Everything up to the superblock. */
static int create(int context, const char *device, const struct option *options, bool writable)
{
	int r;

	if (fsconfig(context, FSCONFIG_SET_STRING, "source", device, 0) < 0) {
		return -errno;
	}
	if (!writable && fsconfig(context, FSCONFIG_SET_FLAG, "ro", NULL, 0) < 0) {
		return -errno;
	}
	r = set_options(context, options);
	if (r < 0) {
		return r;
	}
	if (writable) {
		if (fsconfig(context, CMD_CREATE_EXCL, NULL, NULL, 0) == 0) {
			return 0;
		}
		if (errno != EOPNOTSUPP) {
			return -errno;
		}
	}
	return fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0 ? -errno : 0;
}

static int mount_with(const struct fs_row *row, const char *device, const struct option *options,
		      bool writable, int *ret, struct ctm_err *err)
{
	const unsigned int attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
				  MOUNT_ATTR_NOATIME | (writable ? 0 : MOUNT_ATTR_RDONLY);
	CLEANUP_CLOSE int context = fsopen(row->driver, FSOPEN_CLOEXEC);
	char says[256];
	int root;
	int r;

	if (context < 0) {
		return ctm_err_set(err, CTM_REFUSED, errno, "this kernel cannot mount %s",
				   row->type);
	}
	r = create(context, device, options, writable);
	if (r < 0) {
		kernel_says(context, says, sizeof(says));
		return ctm_err_set(err, CTM_REFUSED, r, "cannot mount the %s on '%s': %s%s",
				   row->type, device, strerrordesc_np(-r), says);
	}
	root = fsmount(context, FSMOUNT_CLOEXEC, attr);
	if (root < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "mount the %s on '%s'", row->type, device);
	}
	*ret = root;
	return 0;
}

int ctm_devmount(const char *device, const char *type, bool writable, int *ret, struct ctm_err *err)
{
	const struct fs_row *row = find_row(type);
	int r;

	if (!row) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' holds %s, which this program does not mount", device,
				   type);
	}
	r = mount_with(row, device, writable ? row->write : row->read, writable, ret, err);
	if (r == -EINVAL && !writable && row->read_old[0].key) {
		r = mount_with(row, device, row->read_old, writable, ret, err);
	}
	return r;
}
