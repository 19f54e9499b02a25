/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The system calls with which a program changes something, for the supervisor that kills it there
 * (tests/root/kill-supervisor.c).
 */
#ifndef CTM_TESTS_KILLCALLS_H
#define CTM_TESTS_KILLCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KILLCALLS_MAX 64

/** Numbers of all calls that may change something; how many. */
size_t killcalls_numbers(uint32_t ret[static KILLCALLS_MAX]);

/** A call that does change something. */
struct killcall {
	const char *name;  /* "fchownat" */
	const char *phase; /* of a run, see killcalls.c */
	int fd;            /* the tracee's descriptor that it names its object by; -1: none */
	bool on_volume;    /* changes the volume */
	bool syncs;        /* a whole file system */
};

/**
 * Whether the call that a stopped thread is about to make changes something. args: its six
 * arguments. state: the state directory. dirty: the volume was changed and not synced since.
 */
bool killcalls_look(pid_t tid, uint64_t nr, const uint64_t *args, const char *state, bool dirty,
		    struct killcall *ret);

#endif
