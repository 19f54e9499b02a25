/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fixed places of the host, movable by --sysroot.
 */
#include "target/host.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

int ctm_host_path(const struct ctm_host *host, struct ctm_buf *ret, const char *fmt, ...)
{
	CLEANUP_FREE char *tail = NULL;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&tail, fmt, ap);
	va_end(ap);
	if (r < 0) {
		tail = NULL;
		return -ENOMEM;
	}
	return ctm_buf_addf(ret, "%s%s", host->sysroot ? host->sysroot : "", tail);
}
