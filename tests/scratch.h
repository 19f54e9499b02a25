/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An empty directory of its own for a test, gone with all that is in it when its scope ends.
 */
#ifndef CTM_TESTS_SCRATCH_H
#define CTM_TESTS_SCRATCH_H

struct scratch {
	char path[256];
	int fd;
};

#define SCRATCH(name) __attribute__((cleanup(scratch_done))) struct scratch name = scratch_new()

struct scratch scratch_new(void);
/* Where a sync costs nothing, if there is such a place. */
struct scratch scratch_in_memory(void);
void scratch_done(struct scratch *s);

#endif
