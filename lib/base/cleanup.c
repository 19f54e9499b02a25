/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owned descriptors release themselves at the end of their scope.
 */
#include "base/cleanup.h"

#include <errno.h>

void ctm_closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0) {
		/* Linux frees the number even when close() fails: never close it again */
		(void)close(*fd);
		*fd = -1;
	}
	errno = saved;
}
