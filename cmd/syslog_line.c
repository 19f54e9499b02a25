/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Begin and end of every change, in the system's log.
 */
#include "syslog_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "base/pathname.h"
#include "run/repair.h"

static void line(const char *verb, const char *name, const char *text)
{
	struct ctm_buf safe = { 0 };
	char user[64];

	ctm_run_user(user);
	if (ctm_buf_addf(&safe, "%s of ", verb) == 0 &&
	    ctm_path_escape(&safe, name, strlen(name)) == 0 && ctm_buf_addf(&safe, " by ") == 0 &&
	    ctm_path_escape(&safe, user, strlen(user)) == 0 && ctm_buf_addf(&safe, ": ") == 0 &&
	    ctm_text_escape(&safe, text, strlen(text)) == 0) {
		openlog("ctmend", LOG_PID, LOG_USER);
		syslog(LOG_NOTICE, "%s", safe.p);
		closelog();
	}
	ctm_buf_done(&safe);
}

void syslog_plain(const char *verb, const char *name, const char *text)
{
	struct ctm_buf safe = { 0 };

	if (ctm_path_escape(&safe, name, strlen(name)) == 0 && ctm_buf_addf(&safe, ": ") == 0 &&
	    ctm_text_escape(&safe, text, strlen(text)) == 0) {
		openlog("ctmend", LOG_PID, LOG_USER);
		syslog(LOG_NOTICE, "%s of %s", verb, safe.p);
		closelog();
	}
	ctm_buf_done(&safe);
}

void syslog_begin(const char *verb, const char *name)
{
	line(verb, name, "begin");
}

void syslog_end(const char *verb, const char *name, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line(verb, name, text);
}
