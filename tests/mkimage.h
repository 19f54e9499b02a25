/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small file systems in image files, made and damaged by the tools of e2fsprogs; no root needed.
 */
#ifndef CTM_TESTS_MKIMAGE_H
#define CTM_TESTS_MKIMAGE_H

/**
 * Runs a shell's command in the directory ("mke2fs -q -t ext4 -O mmp image 8M"), with the system's
 * administration tools in its PATH; the test fails when the command does.
 */
void run_in(const char *dir, const char *command);

#endif
