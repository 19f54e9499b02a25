/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which number a confined process becomes. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "must.h"
#include "scan/spare_id.h"

static struct ctm_bytes text(const char *s)
{
	return (struct ctm_bytes){ s, strlen(s) };
}

/* Accounts with all numbers of the range but those from first on. */
static char *all_below(uint32_t first, char buf[static 1024])
{
	size_t n = 0;

	for (uint32_t id = CTM_SPARE_FIRST; id < first; id++) {
		n += (size_t)snprintf(buf + n, 1024 - n, "u%u:x:%u:1::/:/bin/sh\n", id, id);
	}
	return buf;
}

static const struct {
	const char *name;
	const char *passwd;
	const char *group;
	uint32_t last; /* of the range, that a neighbour on this machine has not */
} rows[] = {
	{ "an account's user", "a:x:65533:5::/:/bin/sh\n", "", 65534 },
	{ "an account's first group", "a:x:5:65533::/:/bin/sh\n", "", 65534 },
	{ "a group", "", "a:x:65533:\n", 65534 },
	{ "nobody's", "nobody:x:65534:65534::/:/bin/sh\n", "nogroup:x:65534:\n", 65533 },
};

CASES(spare_id, accounts, rows)
{
	char buf[1024];
	char passwd[2048];

	(void)snprintf(passwd, sizeof(passwd), "%s%s", all_below(65533, buf), rows[*i].passwd);
	cr_assert_eq(ctm_spare_id(text(passwd), text(rows[*i].group)), rows[*i].last, "%s",
		     rows[*i].name);
}

/* A process of that user could send signals. */
Test(spare_id, processes)
{
	char buf[1024];
	int ready[2];
	int status;
	char c;
	pid_t pid;

	if (geteuid() != 0) {
		cr_skip("only root can become somebody else");
	}
	(void)all_below(65532, buf);
	cr_assert_eq(ctm_spare_id(text(buf), text("")), 65532);
	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		must(setuid(65532) == 0);
		must(write(ready[1], "x", 1) == 1);
		(void)pause();
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &c, 1), 1);
	cr_assert_eq(ctm_spare_id(text(buf), text("")), 65533);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
}

Test(spare_id, of_this_host)
{
	const uint32_t id = ctm_spare_id_host();

	cr_assert(id >= CTM_SPARE_FIRST && id <= CTM_SPARE_NONE, "%u", id);
}
