/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A question about the host that may never be answered, asked by a child process with a deadline.
 *
 * A call that reaches a storage which does not answer sleeps in the kernel, where no signal ends
 * it. So it is made by a child that holds nothing of ours: no lock, no loop device, none of the
 * caller's descriptors. When the deadline is over it is killed and left; should it be stuck for
 * ever, it is in nobody's way.
 */
#ifndef CTM_TARGET_BOUNDED_H
#define CTM_TARGET_BOUNDED_H

#include <stddef.h>

#include "base/bytes.h"

/**
 * The question. Runs in the child, with every signal but SIGKILL blocked; out is the only
 * descriptor that is open, and what is written to it is the answer (ctm_bounded_say()). Memory of
 * the parent is there to read. Returns 0 or a negative errno, which becomes the caller's.
 */
typedef int (*ctm_bounded_fn)(int out, void *arg);

/** Zero-initialise. */
struct ctm_bounded {
	unsigned int total_ms;  /* the deadline; 0: none */
	unsigned int silent_ms; /* given up when nothing was said for so long; 0: no such limit */
	/* Called about once in a second while the answer is waited for; may be NULL. */
	void (*tick)(void *arg);
	void *tick_arg;
};

/**
 * Asks, and collects what was said in ret, which the caller frees; it has what had been said until
 * then on an error, too.
 *
 * -ETIME: given up. -EPIPE: the child ended without an answer. -EFBIG: more than 16 MiB were said.
 * Anything else: the question's own error, or that of fork(2) and pipe(2).
 */
int ctm_bounded_ask(ctm_bounded_fn fn, void *arg, const struct ctm_bounded *limits,
		    struct ctm_buf *ret);

/** Writes the whole of it. -errno. */
int ctm_bounded_say(int out, const void *p, size_t len);

#endif
