/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What all configuration files have in common: lines, blanks, limits, and warnings with a line
 * number.
 *
 * The parsers of this folder are pure: bytes in, structures out. They follow programs written
 * in Perl (Proxmox VE) and C (LXC) to the letter, so a blank is what those take for one.
 */
#ifndef CTM_CONFIG_LINES_H
#define CTM_CONFIG_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

/** pmxcfs takes no larger file (pve-cluster memdb.h); nobody writes a larger LXC configuration. */
#define CTM_CONFIG_MAX       ((size_t)1 << 20)
#define CTM_CONFIG_LINES_MAX 100000u

/** A walk over the lines of a text, split at "\n" alone. Zero-initialise and set text. */
struct ctm_lines {
	struct ctm_bytes text;
	size_t pos;
	unsigned int no; /* number of the line last handed out, from 1 */
};

/** The next line without its newline; false at the end. An empty last line does not count. */
bool ctm_lines_next(struct ctm_lines *lines, struct ctm_bytes *ret);

/**
 * CTM_REFUSED for what no configuration file is: over CTM_CONFIG_MAX bytes, over the line
 * limit, a NUL.
 */
int ctm_lines_check(struct ctm_bytes text, struct ctm_err *err);

/** Perl's \s for bytes: blank, \t \n \v \f \r. */
bool ctm_is_space(char c);

/** Without such blanks at the front, at the end, or both. */
struct ctm_bytes ctm_trim_front(struct ctm_bytes in);
struct ctm_bytes ctm_trim_back(struct ctm_bytes in);
struct ctm_bytes ctm_trim(struct ctm_bytes in);

/** Case is ignored for ASCII letters. */
bool ctm_bytes_is(struct ctm_bytes in, const char *text);
bool ctm_bytes_is_nocase(struct ctm_bytes in, const char *text);
bool ctm_bytes_starts(struct ctm_bytes in, const char *prefix);

/**
 * The words that Proxmox VE reads as a boolean, in any case: 1 on yes true, 0 off no false.
 * Else -1.
 */
int ctm_bool_word(struct ctm_bytes in);

/** What a parser would warn about. text lives in the arena of its owner. */
struct ctm_config_warning {
	unsigned int line;
	const char *text;
};
struct ctm_config_warnings {
	struct ctm_config_warning *v;
	size_t n;
	size_t cap;
};

/** -ENOMEM. */
int ctm_config_warn(struct ctm_config_warnings *warnings, struct ctm_arena *arena,
		    unsigned int line, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
