/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An empty directory of its own for a test. */
#include "scratch.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "must.h"

static struct scratch below(const char *base)
{
	struct scratch s;

	(void)snprintf(s.path, sizeof(s.path), "%s/ctmend-test.XXXXXX", base);
	must(mkdtemp(s.path));
	s.fd = open(s.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(s.fd >= 0);
	return s;
}

struct scratch scratch_new(void)
{
	const char *base = getenv("TMPDIR");

	return below(base ? base : "/tmp");
}

struct scratch scratch_in_memory(void)
{
	return access("/dev/shm", W_OK) == 0 ? below("/dev/shm") : scratch_new();
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void scratch_done(struct scratch *s)
{
	(void)close(s->fd);
	(void)nftw(s->path, drop, 16, FTW_DEPTH | FTW_PHYS);
}
