/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attach and let go of a loop device. */
#include "target/loopdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"

CTM_HOST_PATHS

/*
 * Others grab free loop devices as well; whoever asks the kernel this often and loses is being
 * played with.
 */
#define TRIES 64

#define NODE_LEN 64

static void pause_ms(unsigned int ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* devtmpfs makes the node at once, udev on a system without it does not. */
static int open_node(unsigned int num, bool writable)
{
	char node[NODE_LEN];

	(void)snprintf(node, sizeof(node), "/dev/loop%u", num);
	for (unsigned int i = 0;; i++) {
		int fd = open(node, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);

		if (fd >= 0) {
			return fd;
		}
		if (errno != ENOENT || i == 10) {
			return -errno;
		}
		pause_ms(50);
	}
}

/*
 * The kernel counts every attachment of a disk. Whoever attaches next gets the lowest free
 * number, which is likely to be the one that we have just given back.
 */
static uint64_t read_seq(unsigned int num)
{
	CLEANUP_FCLOSE FILE *f = NULL;
	char path[NODE_LEN];
	char line[32];

	(void)snprintf(path, sizeof(path), "/sys/block/loop%u/diskseq", num);
	f = fopen(path, "re");
	return f && fgets(line, sizeof(line), f) ? strtoull(line, NULL, 10) : 0;
}

/* One attempt; -EBUSY: somebody else was faster. */
static int try_attach(int ctl, const struct loop_config *config, bool writable,
		      struct ctm_loop *ret)
{
	CLEANUP_CLOSE int fd = -1;
	CLEANUP_CLOSE int keep = -1;
	struct stat st;
	int num = ioctl(ctl, LOOP_CTL_GET_FREE);

	if (num < 0) {
		return -errno;
	}
	fd = open_node((unsigned int)num, writable);
	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &st) < 0 || ioctl(fd, LOOP_CONFIGURE, config) < 0) {
		return -errno;
	}
	/*
	 * Kernels without BLK_DEV_WRITE_MOUNTED mount nothing that somebody has open for writing.
	 */
	keep = open_node((unsigned int)num, false);
	if (keep < 0) {
		return keep;
	}
	*ret = (struct ctm_loop){ .fd = TAKE_FD(keep),
				  .num = (unsigned int)num,
				  .dev = st.st_rdev,
				  .seq = read_seq((unsigned int)num) };
	return 0;
}

/* The kernel's word on what the device stands on. */
static int prove(const struct ctm_loop *loop, int backing, bool writable, struct ctm_err *err)
{
	struct loop_info64 info;
	struct stat st;
	bool same;

	if (fstat(backing, &st) < 0 || ioctl(loop->fd, LOOP_GET_STATUS64, &info) < 0) {
		return ctm_err_set(err, CTM_SYS, errno, "read the state of /dev/loop%u", loop->num);
	}
	same = info.lo_device == st.st_dev && info.lo_inode == st.st_ino &&
	       (!S_ISBLK(st.st_mode) || info.lo_rdevice == st.st_rdev);
	if (!same || !(info.lo_flags & LO_FLAGS_AUTOCLEAR) ||
	    (!writable && !(info.lo_flags & LO_FLAGS_READ_ONLY))) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "/dev/loop%u does not stand on the volume it was made for",
				   loop->num);
	}
	return 0;
}

int ctm_loop_attach(int backing, const char *name, bool writable, struct ctm_loop *ret,
		    struct ctm_err *err)
{
	CLEANUP_CLOSE int ctl = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	struct ctm_loop loop = { .fd = -1 };
	struct loop_config config = {
		.fd = (unsigned int)backing,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | (writable ? 0 : LO_FLAGS_READ_ONLY),
	};
	int r = -EBUSY;

	if (ctl < 0) {
		r = ctm_err_set(err, CTM_SYS, errno, "open /dev/loop-control");
		ctm_err_hint(err, "load the driver: modprobe loop");
		return r;
	}
	(void)snprintf((char *)config.info.lo_file_name, sizeof(config.info.lo_file_name), "%s",
		       name);
	for (unsigned int i = 0; r == -EBUSY && i < TRIES; i++) {
		r = try_attach(ctl, &config, writable, &loop);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "attach a loop device to '%s'", name);
	}
	CTM_DEBUG("loop", "/dev/loop%u on '%s'%s", loop.num, name, writable ? "" : ", read-only");
	r = prove(&loop, backing, writable, err);
	if (r < 0) {
		ctm_loop_release(&loop);
		return r;
	}
	*ret = loop;
	return 0;
}

void ctm_loop_release(struct ctm_loop *loop)
{
	ctm_closep(&loop->fd);
}

int ctm_loop_wait_cleared(const struct ctm_loop *loop, unsigned int ms)
{
	char bound[NODE_LEN];

	/* To open the device would keep it alive; sysfs tells as well. */
	(void)snprintf(bound, sizeof(bound), "/sys/block/loop%u/loop/backing_file", loop->num);
	for (unsigned int waited = 0; access(bound, F_OK) == 0; waited += 10) {
		if (read_seq(loop->num) != loop->seq) {
			return 0; /* attached anew, by somebody else */
		}
		if (waited >= ms) {
			return -ETIMEDOUT;
		}
		pause_ms(10);
	}
	return 0;
}
