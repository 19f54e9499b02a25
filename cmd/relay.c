/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Say something, and do not insist. */
#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"

#define INTERRUPT_US 50000

static const char cut_off[] = "ctmend: there was more\n";

static void on_alarm(int number)
{
	(void)number;
}

void relay_interrupt_begin(void)
{
	const struct sigaction action = { .sa_handler = on_alarm }; /* no SA_RESTART */
	const struct itimerval often = { .it_interval.tv_usec = INTERRUPT_US,
					 .it_value.tv_usec = INTERRUPT_US };
	sigset_t alarms;

	(void)sigemptyset(&alarms);
	(void)sigaddset(&alarms, SIGALRM);
	(void)sigaction(SIGALRM, &action, NULL);
	(void)sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

void relay_interrupt_end(void)
{
	const struct itimerval never = { .it_value.tv_usec = 0 };

	(void)setitimer(ITIMER_REAL, &never, NULL);
}

/* The piece for more text of this descriptor, NULL: there is no room. */
static struct relay_piece *piece_for(struct relay *relay, int fd, size_t pieces)
{
	struct relay_piece *last = relay->n > relay->said ? &relay->piece[relay->n - 1] : NULL;

	if (last && last->fd == fd && last->len < sizeof(last->text)) {
		return last;
	}
	if (relay->n >= pieces) {
		return NULL;
	}
	last = &relay->piece[relay->n++];
	last->fd = fd;
	last->len = 0;
	return last;
}

static void add(struct relay *relay, int fd, const char *text, size_t len, size_t pieces)
{
	while (len > 0) {
		struct relay_piece *piece = piece_for(relay, fd, pieces);
		size_t room = piece ? sizeof(piece->text) - piece->len : 0;
		size_t n = len < room ? len : room;

		if (!piece) {
			relay->cut = true;
			return;
		}
		memcpy(piece->text + piece->len, text, n);
		piece->len += n;
		text += n;
		len -= n;
	}
}

void relay_add(struct relay *relay, int fd, const char *text, size_t len)
{
	if (relay->cut) {
		return;
	}
	add(relay, fd, text, len, RELAY_PIECES - 1);
	if (relay->cut) {
		add(relay, fd, cut_off, strlen(cut_off), RELAY_PIECES);
	}
}

void relay_add_own(struct relay *relay, int fd, const char *text, size_t len)
{
	struct relay_piece *own = &relay->own;
	const size_t room = sizeof(own->text) - own->len;
	const size_t n = len < room ? len : room;

	own->fd = fd;
	memcpy(own->text + own->len, text, n);
	own->len += n;
}

/* False: nobody takes it, and more need not be tried. */
static bool say(const struct relay_piece *piece, size_t at, int64_t until)
{
	struct pollfd out = { .fd = piece->fd, .events = POLLOUT };

	while (at < piece->len) {
		int64_t left = until - ctm_clock_ms();
		ssize_t n;

		if (left <= 0) {
			return false;
		}
		if (poll(&out, 1, left < 100 ? (int)left : 100) == 0) {
			continue;
		}
		n = write(piece->fd, piece->text + at, piece->len - at);
		if (n < 0 && errno != EINTR && errno != EAGAIN) {
			return true; /* closed, or full: the other descriptor may be neither */
		}
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

void relay_flush(struct relay *relay, int ms)
{
	const int64_t until = ctm_clock_ms() + ms;
	bool taken = true;

	relay_interrupt_begin();
	for (; taken && relay->said < relay->n; relay->said++) {
		taken = say(&relay->piece[relay->said], 0, until);
	}
	if (taken) {
		(void)say(&relay->own, relay->own_said, until);
	}
	relay_interrupt_end();
	relay->said = relay->n;
	relay->own_said = relay->own.len;
}
