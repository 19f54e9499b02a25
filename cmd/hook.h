/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a status of the program means for who has called it as a hook.
 */
#ifndef CTM_CMD_HOOK_H
#define CTM_CMD_HOOK_H

/**
 * For whatever ends the program before or behind its work (a word that makes no sense, no memory):
 * 0, when the command line is a hook that a start waits for, without --strict; else status.
 */
int hook_status(int argc, char **argv, int status);

#endif
