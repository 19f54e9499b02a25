/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug lines by category, off and free by default: CTM_DEBUG=walk,attach or CTM_DEBUG=all.
 * The library logs nothing else; what users must see travels in return values.
 */
#ifndef CTM_BASE_LOG_H
#define CTM_BASE_LOG_H

#include <stdbool.h>

/**
 * Where a line goes; the default drops it. cat is a literal such as "attach"; line has no newline
 * and no control bytes. Called from any thread.
 */
typedef void (*ctm_log_fn)(const char *cat, const char *line, void *arg);

/**
 * Before any other thread runs. categories: comma-separated, "all" for all, NULL or "" for none;
 * the first 250 bytes are copied. fn NULL switches everything off.
 */
void ctm_log_set(ctm_log_fn fn, void *arg, const char *categories);
bool ctm_log_on(const char *cat);
/** Drops the line when the category is off; keeps errno; a line ends after 1023 bytes. */
void ctm_log(const char *cat, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define CTM_DEBUG(cat, ...)                        \
	do {                                       \
		if (ctm_log_on(cat)) {             \
			ctm_log(cat, __VA_ARGS__); \
		}                                  \
	} while (0)

#endif
