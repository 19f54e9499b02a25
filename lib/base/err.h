/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors that carry a sentence: a negative errno for code, a fixed buffer for people.
 */
#ifndef CTM_BASE_ERR_H
#define CTM_BASE_ERR_H

#include <stddef.h>

/** What kind of failure it is, where errno cannot say; decides the exit status. */
enum ctm_code {
	CTM_OK = 0,
	CTM_SYS,     /* a system call failed: .num has the errno */
	CTM_USAGE,   /* the caller's words are wrong */
	CTM_REFUSED, /* nothing was changed, on purpose: running, locked, not provable */
	CTM_CORRUPT, /* a file of our own is damaged */
	CTM_PARTIAL, /* some entries failed, the rest was done */
};

/**
 * An error in the making. Zero-initialised it means success. Filling it never allocates, so running
 * out of memory can be reported. Every function that takes one accepts NULL.
 */
struct ctm_err {
	enum ctm_code code;
	int num;        /* positive errno, 0 when there is none */
	char msg[512];  /* "outer: inner: reason", lower-case start, no full stop */
	char hint[640]; /* what to do next ("stop it with: pct stop 115"), or ""; two paths fit */
};

/**
 * Fills *err with a message; strerror(num) is appended when num is not 0 and code is CTM_SYS.
 * @num may be given positive or negative. Returns the negative errno to hand on: -num, or where num
 * is 0: -EINVAL for CTM_USAGE, -EPERM for CTM_REFUSED, -EBADMSG for CTM_CORRUPT, else -EIO.
 * An earlier message and its hint are replaced; they may be among the arguments. What is too long
 * is cut with "..."; the reason stays.
 */
int ctm_err_set(struct ctm_err *err, enum ctm_code code, int num, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/**
 * Prepends "prefix: " to the message that is there. Returns the same errno ctm_err_set() gave, -EIO
 * when there is none (err NULL or not set). Where both do not fit, the prefix is cut.
 */
int ctm_err_wrap(struct ctm_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Sets the next step; replaces an earlier one. */
void ctm_err_hint(struct ctm_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Shorthand for -ENOMEM with its message. */
int ctm_err_nomem(struct ctm_err *err);

#endif
