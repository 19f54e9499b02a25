/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run tools. */
#include "mkimage.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

void run_in(const char *dir, const char *command)
{
	char line[2048];
	int n = snprintf(line, sizeof(line),
			 "cd '%s' && PATH=$PATH:/usr/sbin:/sbin && { %s; } >/dev/null 2>&1", dir,
			 command);

	cr_assert(n > 0 && (size_t)n < sizeof(line), "the command is too long");
	cr_assert_eq(system(line), 0, "%s", command);
}
