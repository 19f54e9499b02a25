/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal: colour, one question, a progress line.
 */
#include "term.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "exit.h"

CTM_HOST_PATHS

static bool progress_shown;

/*
 * The terminal once more, opened by ourselves, for what is written while a lock is held: one that
 * is stopped (Ctrl-S) must not stop us. O_NONBLOCK on standard error itself would be everybody's
 * who shares it. -1: there is no terminal.
 */
static int own_terminal(void)
{
	static int fd = -2;

	if (fd == -2) {
		fd = isatty(STDERR_FILENO) ?
			     open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) :
			     -1;
	}
	return fd;
}

/* What does not fit is lost. */
static void put(const char *text)
{
	const int fd = own_terminal();
	ssize_t n = fd >= 0 ? write(fd, text, strlen(text)) : 0;

	(void)n;
}

bool term_color(const struct options *opts)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	switch (opts->color) {
	case COLOR_ALWAYS:
		return true;
	case COLOR_NEVER:
		return false;
	case COLOR_AUTO:
		break;
	}
	if (no_color && no_color[0]) {
		return false;
	}
	return isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

bool term_can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool term_ask(const char *question)
{
	struct ctm_buf safe = { 0 };
	char line[16];
	size_t len;

	if (ctm_text_escape(&safe, question, strlen(question)) < 0) {
		ctm_buf_done(&safe);
		return false;
	}
	fprintf(stderr, "%s [y/N] ", safe.p);
	ctm_buf_done(&safe);
	(void)fflush(stderr);
	if (!fgets(line, sizeof(line), stdin)) {
		fputc('\n', stderr);
		return false;
	}
	len = strcspn(line, "\n");
	if (line[len] == '\0') {
		/* The rest of a long line is no answer to the next question. */
		for (int c = getchar(); c != '\n' && c != EOF; c = getchar()) {
		}
		return false;
	}
	line[len] = '\0';
	return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
}

void term_progress(uint64_t done, uint64_t total, void *arg)
{
	static struct timespec last;
	struct timespec now;
	char line[96];

	(void)arg;
	if (own_terminal() < 0) {
		return;
	}
	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (progress_shown && now.tv_sec == last.tv_sec && now.tv_nsec - last.tv_nsec < 100000000) {
		return;
	}
	last = now;
	progress_shown = true;
	(void)snprintf(line, sizeof(line), "\r\033[K%" PRIu64 " of %" PRIu64 " changes", done,
		       total);
	put(line);
}

void term_notice(const char *text, void *arg)
{
	struct ctm_buf safe = { 0 };
	char line[512];

	(void)arg;
	term_progress_end();
	if (ctm_text_escape(&safe, text, strlen(text)) == 0) {
		(void)snprintf(line, sizeof(line), "ctmend: %s\n", safe.p);
		put(line);
	}
	ctm_buf_done(&safe);
}

void term_progress_end(void)
{
	if (progress_shown) {
		put("\r\033[K");
		progress_shown = false;
	}
}

static void put_safe(const char *text)
{
	struct ctm_buf line = { 0 };

	if (ctm_text_escape(&line, text, strlen(text)) < 0) {
		fputs("ctmend: not enough memory\n", stderr);
	} else {
		fprintf(stderr, "ctmend: %s\n", line.p);
	}
	ctm_buf_done(&line);
}

void term_vsay(const char *fmt, va_list ap)
{
	char *text = NULL;

	term_progress_end();
	if (vasprintf(&text, fmt, ap) < 0) {
		fputs("ctmend: not enough memory\n", stderr);
		return;
	}
	put_safe(text);
	free(text);
}

void term_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	term_vsay(fmt, ap);
	va_end(ap);
}

static int add_line(const char *name, const char *text, struct ctm_buf *ret)
{
	int r = ctm_buf_addf(ret, "ctmend: ");

	r = r < 0 ? r : ctm_path_escape(ret, name, strlen(name));
	r = r < 0 ? r : ctm_buf_addf(ret, ": ");
	r = r < 0 ? r : ctm_text_escape(ret, text, strlen(text));
	return r < 0 ? r : ctm_buf_addf(ret, "\n");
}

int term_error_lines(const char *name, const struct ctm_err *err, struct ctm_buf *ret)
{
	int r = add_line(name, err->msg, ret);

	return r == 0 && err->hint[0] ? add_line(name, err->hint, ret) : r;
}

void term_error(const char *name, const struct ctm_err *err)
{
	struct ctm_buf lines = { 0 };

	term_progress_end();
	if (term_error_lines(name, err, &lines) < 0) {
		fputs("ctmend: not enough memory\n", stderr);
	} else {
		fputs(lines.p, stderr);
	}
	ctm_buf_done(&lines);
}

int term_stopped(const char *what, size_t left, int status)
{
	if (left == 0) {
		return status;
	}
	term_progress_end();
	fprintf(stderr, "ctmend: stopped: %zu %s%s not looked at\n", left, what,
		left == 1 ? " was" : "s were");
	return status > EXIT_PARTLY ? status : EXIT_PARTLY;
}

int term_status(const struct ctm_err *err)
{
	switch (err->code) {
	case CTM_OK:
		return EXIT_CLEAN;
	case CTM_USAGE:
		return EXIT_USAGE;
	case CTM_REFUSED:
		return EXIT_REFUSED;
	case CTM_PARTIAL:
		return EXIT_PARTLY;
	case CTM_SYS:
	case CTM_CORRUPT:
		break;
	}
	return EXIT_FAILED;
}
