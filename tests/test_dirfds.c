/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which descriptors stay open. The numbers are no real ones: nothing here makes a system call. */
#include "scan/dirfds.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "cases.h"

#define NODES 4

struct fixture {
	struct ctm_dirfds fds;
	struct ctm_dirnode *node[NODES];
};

static void fixture_done(struct fixture *f)
{
	for (int i = 0; i < NODES; i++) {
		free(f->node[i]);
	}
}

static struct fixture make(size_t budget)
{
	struct fixture f = { .fds = { .budget = budget } };

	for (int i = 0; i < NODES; i++) {
		f.node[i] = ctm_dirnode_new(NULL, "", 0, 1, 1);
		cr_assert_not_null(f.node[i]);
	}
	return f;
}

Test(dirfds, the_oldest_idle_goes_first)
{
	CLEANUP(fixture_done) struct fixture f = make(2);

	cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[0], 100), -1);
	cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[1], 101), -1);
	ctm_dirfds_unpin(&f.fds, f.node[1]);
	ctm_dirfds_unpin(&f.fds, f.node[0]);
	cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[2], 102), 101, "idle for longer than 100");
	cr_assert_eq(f.node[1]->fd, -1);
	cr_assert_eq(f.node[0]->fd, 100);
	cr_assert_eq(f.fds.open, 2);
}

Test(dirfds, use_makes_young)
{
	CLEANUP(fixture_done) struct fixture f = make(2);

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[i], 100 + i), -1);
		ctm_dirfds_unpin(&f.fds, f.node[i]);
	}
	ctm_dirfds_pin(&f.fds, f.node[0]);
	ctm_dirfds_unpin(&f.fds, f.node[0]);
	cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[2], 102), 101);
}

Test(dirfds, pinned_ones_stay)
{
	CLEANUP(fixture_done) struct fixture f = make(1);

	cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[0], 100), -1);
	ctm_dirfds_pin(&f.fds, f.node[0]);
	cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[1], 101), -1, "over the budget, but all in use");
	ctm_dirfds_unpin(&f.fds, f.node[0]);
	cr_assert_eq(ctm_dirfds_take_oldest(&f.fds), -1, "pinned twice, given back once");
	ctm_dirfds_unpin(&f.fds, f.node[0]);
	cr_assert_eq(ctm_dirfds_take_oldest(&f.fds), 100);
	cr_assert_eq(ctm_dirfds_take_oldest(&f.fds), -1);
}

static const struct {
	const char *name;
	int take; /* of 0, 1, 2, idle since that order */
	int rest[2];
} middles[] = {
	{ "the oldest", 0, { 1, 2 } },
	{ "the one in the middle", 1, { 0, 2 } },
	{ "the youngest", 2, { 0, 1 } },
};

CASES(dirfds, any_can_be_taken, middles)
{
	CLEANUP(fixture_done) struct fixture f = make(8);

	for (int k = 0; k < 3; k++) {
		cr_assert_eq(ctm_dirfds_put(&f.fds, f.node[k], 100 + k), -1);
		ctm_dirfds_unpin(&f.fds, f.node[k]);
	}
	cr_assert_eq(ctm_dirfds_take(&f.fds, f.node[middles[*i].take]), 100 + middles[*i].take,
		     "%s", middles[*i].name);
	cr_assert_eq(ctm_dirfds_take(&f.fds, f.node[middles[*i].take]), -1, "%s: once",
		     middles[*i].name);
	for (int k = 0; k < 2; k++) {
		cr_assert_eq(ctm_dirfds_take_oldest(&f.fds), 100 + middles[*i].rest[k], "%s",
			     middles[*i].name);
	}
	cr_assert_eq(f.fds.open, 0, "%s", middles[*i].name);
	cr_assert_null(f.fds.newest, "%s", middles[*i].name);
	cr_assert_null(f.fds.oldest, "%s", middles[*i].name);
}
