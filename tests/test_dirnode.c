/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths of nodes, and when they go. */
#include "scan/dirnode.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

/*
 * A chain from the root down; each node but the first took over the caller's reference on its
 * parent.
 */
static struct ctm_dirnode *chain(const char *name, uint32_t depth)
{
	struct ctm_dirnode *node = ctm_dirnode_new(NULL, "", 0, 1, 2);

	for (uint32_t i = 0; node && i < depth; i++) {
		node = ctm_dirnode_new(node, name, strlen(name), 1, 3 + i);
	}
	cr_assert_not_null(node);
	return node;
}

static struct ctm_dirnode *up(struct ctm_dirnode *node, uint32_t levels)
{
	while (levels-- > 0) {
		node = node->parent;
	}
	return node;
}

static void drop(struct ctm_dirnode **node)
{
	struct ctm_dirnode *dead = NULL;

	ctm_dirnode_unref(*node, &dead);
	while (dead) {
		struct ctm_dirnode *next = dead->next;

		free(dead);
		dead = next;
	}
}

Test(dirnode, path_of_the_root_is_empty)
{
	CLEANUP(drop) struct ctm_dirnode *root = chain("", 0);
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	cr_assert_eq(ctm_dirnode_path(root, root, &path), 0);
	cr_assert_eq(path.len, 0);
}

Test(dirnode, path_from_any_height)
{
	CLEANUP(drop) struct ctm_dirnode *node = chain("ab", 4);

	for (uint32_t levels = 0; levels <= 4; levels++) {
		CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
		const struct ctm_dirnode *above = up(node, levels);

		/* The part above is the caller's to have there: mark it to see that it stays. */
		cr_assert_eq(ctm_buf_add(&path, "XXXXXXXXXXX", above->path_len), 0);
		cr_assert_eq(ctm_dirnode_path(node, above, &path), 0);
		cr_assert_eq(path.len, 11);
		for (uint32_t k = 0; k < 11; k++) {
			const char want = k < above->path_len ? 'X' : "ab/ab/ab/ab"[k];

			cr_assert_eq(path.p[k], want, "%u levels: %s", levels, path.p);
		}
		cr_assert_eq(path.p[11], '\0');
	}
}

static const struct {
	const char *name;
	size_t name_len;
	uint32_t depth;
} deep[] = {
	{ "one", 1, 1 },
	{ "a whole step", 1, CTM_DIRNODE_STEP },
	{ "a step and one", 1, CTM_DIRNODE_STEP + 1 },
	{ "many short names", 2, 5000 },
	{ "long names", 255, 5000 },
	{ "16 components of 255 are just below PATH_MAX", 255, 16 },
};

CASES(dirnode, steps_lead_down, deep)
{
	char name[256] = { 0 };
	CLEANUP(drop)
	struct ctm_dirnode *node = chain(memset(name, 'n', deep[*i].name_len), deep[*i].depth);
	CLEANUP(ctm_buf_done) struct ctm_buf step = { 0 };
	struct ctm_dirnode *at = up(node, deep[*i].depth);
	uint32_t steps = 0;

	cr_assert_null(at->parent);
	while (at != node) {
		struct ctm_dirnode *reached = NULL;
		uint32_t components;

		cr_assert_eq(ctm_dirnode_step(at, node, &step, &reached), 0);
		components = reached->depth - at->depth;
		cr_assert(components >= 1 && components <= CTM_DIRNODE_STEP, "%s", deep[*i].name);
		cr_assert_lt(step.len, PATH_MAX, "%s", deep[*i].name);
		cr_assert_eq(step.len, components * (deep[*i].name_len + 1) - 1, "%s",
			     deep[*i].name);
		cr_assert_eq(step.p[step.len], '\0', "%s", deep[*i].name);
		cr_assert(step.p[0] == 'n' && step.p[step.len - 1] == 'n', "%s", deep[*i].name);
		cr_assert_eq(up(node, node->depth - reached->depth), reached, "%s: off the way",
			     deep[*i].name);
		at = reached;
		cr_assert_leq(++steps, deep[*i].depth, "%s", deep[*i].name);
	}
}

Test(dirnode, a_parent_lives_as_long_as_its_children)
{
	struct ctm_dirnode *parent = chain("p", 1);
	struct ctm_dirnode *one = ctm_dirnode_new(parent, "one", 3, 1, 10);
	struct ctm_dirnode *two = ctm_dirnode_new(parent, "two", 3, 1, 11);
	struct ctm_dirnode *dead = NULL;

	parent->refs++;
	ctm_dirnode_unref(one, &dead);
	cr_assert_eq(dead, one);
	cr_assert_null(one->next);
	cr_assert_eq(parent->refs, 1);
	ctm_dirnode_unref(two, &dead);
	/* The topmost is in front: what is below it comes behind. */
	cr_assert_eq(dead->depth, 0);
	cr_assert_eq(dead->next, parent);
	cr_assert_eq(parent->next, two);
	cr_assert_eq(two->next, one);
	while (dead) {
		struct ctm_dirnode *next = dead->next;

		free(dead);
		dead = next;
	}
}
