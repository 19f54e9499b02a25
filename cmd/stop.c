/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals while inodes are changed.
 */
#include "stop.h"

#include <stddef.h>

#include "base/cleanup.h"

static struct ctm_stop stop;

static void on_signal(int number)
{
	if (stop.applying && !stop.asked) {
		stop.asked = 1;
		return;
	}
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

void stop_on_signal(int number)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

struct ctm_stop *stop_on_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct sigaction old;

		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
			stop_on_signal(numbers[i]);
		}
	}
	return &stop;
}

bool stop_asked(void)
{
	return stop.asked;
}
