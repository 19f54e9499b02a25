/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal: colour, one question, a progress line. Silent where there is no terminal.
 */
#ifndef CTM_CMD_TERM_H
#define CTM_CMD_TERM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "options.h"

/**
 * Whether the report may use colour: --color, NO_COLOR (https://no-color.org), a terminal at
 * stdout.
 */
bool term_color(const struct options *opts);

/** Whether a question can be asked and answered: stdin and stderr are terminals. */
bool term_can_ask(void);
/** Asks on stderr; only "y" or "yes" is a yes. */
bool term_ask(const char *question);

/**
 * A ctm_session_opts progress callback: a line on the terminal at stderr that overwrites itself.
 * Like the next two it never waits for the terminal: it is called while a lock is held.
 */
void term_progress(uint64_t done, uint64_t total, void *arg);
/** A ctm_session_opts notice callback: the sentence, on a terminal. */
void term_notice(const char *text, void *arg);
/** Removes the progress line. */
void term_progress_end(void);

/**
 * "ctmend: ..." and a newline, on stderr: the one way for words that come from elsewhere, which a
 * terminal must not obey. What would act on it or hide is escaped (ctm_text_escape()); what is
 * escaped already stays as it is.
 */
void term_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void term_vsay(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/** "ctmend: NAME: message" and the next step, on stderr. */
void term_error(const char *name, const struct ctm_err *err);
/** Appends those lines to ret instead. -ENOMEM. */
int term_error_lines(const char *name, const struct ctm_err *err, struct ctm_buf *ret);
/**
 * Says that somebody asked to stop before so many of what ("target") were begun, when there are
 * any. Returns the exit status, which is then EXIT_PARTLY or more.
 */
int term_stopped(const char *what, size_t left, int status);

/** The exit status that an error of the library means. */
int term_status(const struct ctm_err *err);

#endif
