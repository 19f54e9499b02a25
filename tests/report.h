/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A finished exam of a small damaged container, and a report's text, for tests of the views.
 */
#ifndef CTM_TESTS_REPORT_H
#define CTM_TESTS_REPORT_H

#include <stdio.h>

#include "report/report.h"

/**
 * CT 115 with the default map: a stale lock, a setuid program with a capability, an ACL, a hostile
 * name, an immutable file, an id that fits nothing. The caller frees it.
 */
struct ctm_exam *damaged_exam(void);
/** The same container with one file that nothing but a person can decide about. */
struct ctm_exam *undecided_exam(void);
/** The same container with nothing wrong. */
struct ctm_exam *clean_exam(void);

/** What a view writes, to be freed; fails the test when the view fails. */
char *text_of(int (*view)(FILE *, const struct ctm_report *), const struct ctm_report *rep);

#endif
