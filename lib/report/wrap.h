/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running text for a terminal.
 */
#ifndef CTM_REPORT_WRAP_H
#define CTM_REPORT_WRAP_H

#include <stdio.h>

/**
 * Writes lead and text, broken at blanks so that no line is wider than width columns unless one
 * word is; every line stands behind indent. For texts of our own: a byte counts as a column.
 */
void ctm_wrap(FILE *out, const char *indent, const char *lead, size_t width, const char *text);

#endif
