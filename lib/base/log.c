/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug lines by category. The one piece of global state of the library: set before the first
 * thread starts, only read afterwards.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static struct {
	ctm_log_fn fn;
	void *arg;
	char categories[256]; /* ",walk,attach," so that a search finds whole names; "" is off */
	bool all;
} sink;

void ctm_log_set(ctm_log_fn fn, void *arg, const char *categories)
{
	sink.fn = fn;
	sink.arg = arg;
	sink.categories[0] = '\0';
	sink.all = false;
	if (fn && categories && *categories) {
		(void)snprintf(sink.categories, sizeof(sink.categories), ",%s,", categories);
		sink.all = strstr(sink.categories, ",all,") != NULL;
	}
}

bool ctm_log_on(const char *cat)
{
	size_t len;
	const char *at;

	if (sink.all || sink.categories[0] == '\0') {
		return sink.all;
	}
	len = strlen(cat);
	at = sink.categories;
	while ((at = strstr(at, cat)) != NULL) {
		if (at[-1] == ',' && at[len] == ',') {
			return true;
		}
		at++;
	}
	return false;
}

void ctm_log(const char *cat, const char *fmt, ...)
{
	int saved = errno;
	char line[1024];
	va_list ap;

	if (!ctm_log_on(cat)) {
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* a forgotten escape must not reach a terminal */
	for (char *c = line; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f) {
			*c = '?';
		}
	}
	sink.fn(cat, line, sink.arg);
	errno = saved;
}
