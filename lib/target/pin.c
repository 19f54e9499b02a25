/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a path led to when the target was located. */
#include "target/pin.h"

#include <errno.h>
#include <sys/stat.h>

int ctm_pin_take(int fd, struct ctm_pin *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	*ret = (struct ctm_pin){
		.set = true,
		.type = st.st_mode & S_IFMT,
		.dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev,
		.ino = S_ISBLK(st.st_mode) ? 0 : st.st_ino,
	};
	return 0;
}

bool ctm_pin_same(const struct ctm_pin *a, const struct ctm_pin *b)
{
	return !a->set || !b->set || (a->type == b->type && a->dev == b->dev && a->ino == b->ino);
}

int ctm_pin_refuse(const char *path, struct ctm_err *err)
{
	int r = ctm_err_set(err, CTM_REFUSED, 0,
			    "'%s' leads to something else now than when it was first looked at",
			    path);

	ctm_err_hint(err, "see who can write to the directories above it, then start again");
	return r;
}

int ctm_pin_check(const struct ctm_pin *pin, int fd, const char *path, struct ctm_err *err)
{
	struct ctm_pin now;
	int r;

	if (!pin->set) {
		return 0;
	}
	r = ctm_pin_take(fd, &now);
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "look at '%s'", path);
	}
	return ctm_pin_same(pin, &now) ? 0 : ctm_pin_refuse(path, err);
}
