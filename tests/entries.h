/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Entries of every shape for tests of the record, and their comparison.
 */
#ifndef CTM_TESTS_ENTRIES_H
#define CTM_TESTS_ENTRIES_H

#include "run/entry.h"

extern const struct ctm_entry sample_entries[];
extern const size_t sample_entries_n;

/* Fails the test with the row's name when they differ in any field that a record keeps. */
void entries_equal(const struct ctm_entry *want, const struct ctm_entry *got, const char *name);

#endif
