/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP while inodes are changed: stop behind the one at hand.
 */
#ifndef CTM_CMD_STOP_H
#define CTM_CMD_STOP_H

#include <stdbool.h>

#include "run/stop.h"

/**
 * Sets the handlers and returns what is to stand in struct ctm_session_opts. A signal that is
 * ignored (nohup) stays so; a second one ends the process at once, as any does while nothing is
 * changed.
 */
struct ctm_stop *stop_on_signals(void);
/** The same for one signal, also where it was ignored. */
void stop_on_signal(int number);
/** Whether one came: nothing else is begun. */
bool stop_asked(void);

#endif
