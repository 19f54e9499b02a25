/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Included before every source that clang-tidy looks at, and nowhere else.
 *
 * The static analyser does not know that errno is positive after a call has failed. For it "return
 * -errno" may be a success with all results unset, and it warns at every caller. Here errno is one
 * of a few numbers. (A range of numbers does not help: version 14 does not negate ranges.)
 */
#include <errno.h>

extern int ctm_analyzer_any(void);

static inline int *ctm_analyzer_errno(void)
{
	static int number;

	switch (ctm_analyzer_any()) {
	case 0:
		number = ENOENT;
		break;
	case 1:
		number = EINTR;
		break;
	case 2:
		number = EOPNOTSUPP;
		break;
	default:
		number = EIO;
		break;
	}
	return &number;
}

#undef errno
#define errno (*ctm_analyzer_errno())
