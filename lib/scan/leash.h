/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What ends a walk whose process has gone astray: it says nothing and gets nowhere, it computes
 * without end, or it grows. All three are beyond what any healthy tree needs, of any size.
 */
#ifndef CTM_SCAN_LEASH_H
#define CTM_SCAN_LEASH_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/** Seconds without a new entry, longer than a disk tries to read a bad block. */
#define CTM_LEASH_SILENCE 120u

/**
 * How far the walk has come: a counter of each of its threads, in memory that both processes have,
 * so that telling costs no system call. The parent only looks whether a number has changed.
 */
struct ctm_pulse {
	_Alignas(64) atomic_uint_fast64_t beats; /* a cache line for each thread */
};

/** n counters, all 0; NULL with errno. */
struct ctm_pulse *ctm_pulse_new(unsigned int n);
void ctm_pulse_free(struct ctm_pulse *pulse, unsigned int n);
/** The sum of all; it wraps. */
uint64_t ctm_pulse_sum(const struct ctm_pulse *pulse, unsigned int n);
/** By the one thread whose counter it is. */
static inline void ctm_pulse_beat(struct ctm_pulse *pulse)
{
	atomic_store_explicit(&pulse->beats,
			      atomic_load_explicit(&pulse->beats, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

struct ctm_leash {
	rlim_t cpu; /* seconds of all threads together; then SIGXCPU, and a little later SIGKILL */
	rlim_t memory; /* bytes of private writable memory (RLIMIT_DATA); then there is no more */
};

/**
 * What a walk of that file system may take at most, many times what any did in practice; root: a
 * descriptor of it. From statfs(2): 100 us for each used inode, and 1 ms for each 4 KiB in use, in
 * which there may be a hundred names of an inode; a day where it says nothing. -errno
 */
int ctm_leash_for(int root, unsigned int threads, struct ctm_leash *ret);
/**
 * Gives it to a process (0: this one) for good: it cannot take it off, once it is not root. Limits
 * that it has already and that are tighter stay. -errno
 */
int ctm_leash_put(pid_t pid, const struct ctm_leash *leash);

#endif
