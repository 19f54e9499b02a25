/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which file systems are this kernel's alone; of FUSE see tests/root/303-room.sh. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/localfs.h"

Test(localfs, memory_is)
{
	CLEANUP_CLOSE int fd = memfd_create("x", MFD_CLOEXEC);

	cr_assert(ctm_localfs(fd));
}

Test(localfs, what_is_not_known_is_not)
{
	CLEANUP_CLOSE int fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_not(ctm_localfs(fd));
	cr_assert_not(ctm_localfs(-1));
}
