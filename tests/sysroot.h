/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of a host that is a scratch directory, as --sysroot has it.
 *
 *	SCRATCH(s);
 *	sysroot_file(&s, "etc/pve/lxc/115.conf", "unprivileged: 1\n");
 *
 * Paths are relative; the directories on the way are made. Whatever fails ends the test.
 */
#ifndef CTM_TESTS_SYSROOT_H
#define CTM_TESTS_SYSROOT_H

#include <stddef.h>

#include "scratch.h"

void sysroot_bytes(const struct scratch *s, const char *path, const void *p, size_t len);
void sysroot_file(const struct scratch *s, const char *path, const char *text);
void sysroot_copy(const struct scratch *s, const char *path, const char *from);
void sysroot_dir(const struct scratch *s, const char *path);
void sysroot_link(const struct scratch *s, const char *path, const char *to);

/** A file's bytes with a NUL behind them, to be freed. */
char *sysroot_read(const char *path, size_t *ret_len);

#endif
