/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Begin and end of every change, in the system's log (ident "ctmend").
 */
#ifndef CTM_CMD_SYSLOG_LINE_H
#define CTM_CMD_SYSLOG_LINE_H

/** "repair of 115 by alice: begin". name is escaped; who is the user behind sudo. */
void syslog_begin(const char *verb, const char *name);
void syslog_end(const char *verb, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/** The same without asking who it is, which can mean to wait for a server. */
void syslog_plain(const char *verb, const char *name, const char *text);

#endif
