/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a test's own tools rely on. Criterion's assertions talk to its runner and may only be used
 * in the process of the test itself; this one also in what it forks.
 */
#ifndef CTM_TESTS_MUST_H
#define CTM_TESTS_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define must(condition)                                                                     \
	do {                                                                                \
		if (!(condition)) {                                                         \
			(void)fprintf(stderr, "%s:%d: must hold: %s\n", __FILE__, __LINE__, \
				      #condition);                                          \
			abort();                                                            \
		}                                                                           \
	} while (0)

#endif
