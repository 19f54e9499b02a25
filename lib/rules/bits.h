/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that a distribution ships with setuid, setgid or a capability: by these the loss of one
 * is noticed (bits.lost). One table for each distribution; a row names its package, because the
 * cure is to install that one again.
 *
 * The tables are short on purpose. Who is not sure that every release of a distribution has the bit
 * leaves the program out: a program without its bit by design (ping, mostly) is no finding. They
 * report, and nothing is ever set by them.
 *
 * The database of rpm knows the modes of all its files and is not asked: what reads it (sqlite,
 * Berkeley DB, ndb, and rpm's own headers in them) opens files by name, in a directory that the
 * container's root writes, and was not made for content of an enemy.
 */
#ifndef CTM_RULES_BITS_H
#define CTM_RULES_BITS_H

#include <stddef.h>
#include <stdint.h>

/** As a group: one that was made for the program and so has no known number; any but root's. */
#define CTM_BITS_OWN_GROUP UINT32_MAX

struct ctm_bits {
	const char *at;      /* relative */
	uint32_t bits;       /* S_ISUID or S_ISGID; 0: a capability, or setuid in its place */
	uint32_t gid;        /* container id of its group; the owner is root */
	const char *package; /* that has it */
};

struct ctm_bits_set {
	const char *name;            /* "Debian" */
	const char *present_if;      /* path that exists in a root of this distribution alone */
	const struct ctm_bits *rows; /* sorted by .at */
	size_t n;
};

extern const struct ctm_bits_set ctm_bits_sets[];
extern const size_t ctm_bits_sets_n;

#endif
