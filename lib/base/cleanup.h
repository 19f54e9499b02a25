/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Owned resources release themselves at the end of their scope.
 */
#ifndef CTM_BASE_CLEANUP_H
#define CTM_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

static inline void ctm_freep(void *p)
{
	free(*(void **)p);
}

/** Closes and sets to -1; accepts -1. Keeps errno. */
void ctm_closep(int *fd);

static inline void ctm_fclosep(FILE **f)
{
	if (*f) {
		(void)fclose(*f);
	}
}

#define CLEANUP_FREE   CLEANUP(ctm_freep)
#define CLEANUP_CLOSE  CLEANUP(ctm_closep)
#define CLEANUP_FCLOSE CLEANUP(ctm_fclosep)

/** Hands ownership on: returns the value and leaves nothing behind. */
#define TAKE_PTR(p)                   \
	({                            \
		__auto_type p_ = (p); \
		(p) = NULL;           \
		p_;                   \
	})
#define TAKE_FD(fd)             \
	({                      \
		int fd_ = (fd); \
		(fd) = -1;      \
		fd_;            \
	})

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
