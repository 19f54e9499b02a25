/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hook says to its caller, who may not listen.
 *
 * LXC reads a hook's output at most ten times, 4095 bytes each, and then waits for the hook without
 * reading (lxc/src/lxc/utils.c run_buffer); others close their end, or never read. So it is
 * collected and said in few pieces, of which there is an end, and none is waited for longer than it
 * is worth.
 */
#ifndef CTM_CMD_RELAY_H
#define CTM_CMD_RELAY_H

#include <stdbool.h>
#include <stddef.h>

/** What LXC takes at a time, and less than PIPE_BUF, so that a piece goes as a whole. */
#define RELAY_PIECE 4095
/** The last one is for the words that there was more. */
#define RELAY_PIECES 8

/** Zero-initialise. */
struct relay {
	struct relay_piece {
		int fd;
		size_t len;
		char text[RELAY_PIECE];
	} piece[RELAY_PIECES];
	size_t n;    /* pieces with text */
	size_t said; /* of them */
	bool cut;    /* there was more */

	struct relay_piece own; /* the supervisor's text, said after the others */
	size_t own_said;        /* bytes */
};

/** Adds text for the descriptor; what finds no room is dropped. */
void relay_add(struct relay *relay, int fd, const char *text, size_t len);
/**
 * The same for what the supervisor has to say itself, which has room of its own, for one descriptor
 * and once in all: what was said before has used it up.
 */
void relay_add_own(struct relay *relay, int fd, const char *text, size_t len);
/** Says what has not been said. Waits at most ms milliseconds for readers. */
void relay_flush(struct relay *relay, int ms);

/**
 * Between the two, calls that block fail with EINTR after some milliseconds, again and again:
 * write(2) to a pipe, and syslog(3).
 */
void relay_interrupt_begin(void);
void relay_interrupt_end(void);

#endif
