/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owned things are released at the end of their scope, once, and can be handed on. */
#include "base/cleanup.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(cleanup, descriptor_is_closed_and_forgotten)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int number = fd;

	cr_assert(is_open(number));
	errno = EXDEV;
	ctm_closep(&fd);
	cr_assert_eq(errno, EXDEV, "errno became %d", errno);
	cr_assert_eq(fd, -1);
	cr_assert(!is_open(number));
	errno = EXDEV;
	ctm_closep(&fd);
	cr_assert_eq(errno, EXDEV, "closing -1 is nothing, but errno became %d", errno);
}

Test(cleanup, failing_close_keeps_errno)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	cr_assert_eq(close(fd), 0);
	errno = EXDEV;
	ctm_closep(&fd);
	cr_assert_eq(errno, EXDEV, "errno became %d", errno);
	cr_assert_eq(fd, -1);
}

Test(cleanup, scope_closes_what_it_still_owns)
{
	int lost;
	int kept;
	int out;

	{
		CLEANUP_CLOSE int a = open("/dev/null", O_RDONLY | O_CLOEXEC);
		CLEANUP_CLOSE int b = open("/dev/null", O_RDONLY | O_CLOEXEC);

		lost = a;
		kept = b;
		out = TAKE_FD(b);
		cr_assert_eq(b, -1);
	}
	cr_assert_eq(out, kept);
	cr_assert(!is_open(lost));
	cr_assert(is_open(kept));
	cr_assert_eq(close(out), 0);
}

/* A second free, or none, is what AddressSanitizer sees here. */
Test(cleanup, pointers)
{
	char *out;

	{
		CLEANUP_FREE char *a = strdup("goes");
		CLEANUP_FREE char *b = strdup("stays");
		CLEANUP_FREE char *none = NULL;

		cr_assert(a && b && !none);
		out = TAKE_PTR(b);
		cr_assert_null(b);
	}
	cr_assert_str_eq(out, "stays");
	free(out);
}

Test(cleanup, stream_is_flushed_at_the_end)
{
	int pipes[2];
	char got[8] = "";

	cr_assert_eq(pipe2(pipes, O_CLOEXEC), 0);
	{
		CLEANUP_FCLOSE FILE *f = fdopen(pipes[1], "w");
		CLEANUP_FCLOSE FILE *none = NULL;

		cr_assert(f && !none);
		cr_assert_eq(fputs("hello", f), 1);
	}
	cr_assert(!is_open(pipes[1]));
	cr_assert_eq(read(pipes[0], got, sizeof(got)), 5);
	cr_assert_str_eq(got, "hello");
	cr_assert_eq(close(pipes[0]), 0);
}

Test(cleanup, array_length)
{
	const char *const words[] = { "a", "b", "c" };

	cr_assert_eq(ARRAY_LEN(words), 3);
}
