/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a place in the tree to the rule that names it: a trie over the components of all rows.
 *
 * It is built once, from the tables, into memory of fixed size, so that no walk can fail or race
 * for it; tests/test_rules.c finds every row through it and so notices when the memory is too
 * small.
 */
#include <pthread.h>
#include <string.h>

#include "rules/rules.h"

#define NODES_MAX 256

struct ctm_rule_node {
	const char *name; /* one component of a row, not terminated */
	size_t len;
	const struct ctm_rule_node *child; /* the first of those below */
	const struct ctm_rule_node *next;  /* beside this one */
	const struct ctm_rule *rule;       /* what stands exactly here */
	const struct ctm_rules *set;
	const struct ctm_rule *any; /* "*" below this directory */
	const struct ctm_rules *any_set;
};

static struct ctm_rule_node nodes[NODES_MAX];
static size_t nodes_n = 1; /* the root */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct ctm_rule_node *child_of(const struct ctm_rule_node *at, const char *name,
					    size_t len)
{
	for (const struct ctm_rule_node *c = at->child; c; c = c->next) {
		if (c->len == len && memcmp(c->name, name, len) == 0) {
			return c;
		}
	}
	return NULL;
}

static struct ctm_rule_node *grow(struct ctm_rule_node *at, const char *name, size_t len)
{
	const struct ctm_rule_node *known = child_of(at, name, len);
	struct ctm_rule_node *node;

	if (known) {
		return &nodes[known - nodes];
	}
	if (nodes_n == NODES_MAX) {
		return NULL;
	}
	node = &nodes[nodes_n++];
	*node = (struct ctm_rule_node){ .name = name, .len = len, .next = at->child };
	at->child = node;
	return node;
}

static void add_row(const struct ctm_rules *set, const struct ctm_rule *rule)
{
	struct ctm_rule_node *at = &nodes[0];
	const char *name = rule->at;

	while (at) {
		size_t len = strcspn(name, "/");

		if (name[len] == '\0' && len == 1 && *name == '*') {
			at->any = rule;
			at->any_set = set;
			return;
		}
		at = grow(at, name, len);
		if (at && name[len] == '\0') {
			at->rule = rule;
			at->set = set;
			return;
		}
		name += len + 1;
	}
}

static void build(void)
{
	for (size_t i = 0; i < ctm_rules_n; i++) {
		for (size_t k = 0; k < ctm_rules_all[i]->n; k++) {
			add_row(ctm_rules_all[i], &ctm_rules_all[i]->rows[k]);
		}
	}
}

const struct ctm_rule_node *ctm_rules_root(void)
{
	/* it fails only for a bad argument */
	(void)pthread_once(&once, build);
	return &nodes[0];
}

const struct ctm_rule_node *ctm_rules_down(const struct ctm_rule_node *at, const char *name,
					   size_t len)
{
	const struct ctm_rule_node *to = at ? child_of(at, name, len) : NULL;

	return to && (to->child || to->any) ? to : NULL;
}

static const struct ctm_rule *find(const struct ctm_rule_node *at, const char *name, size_t len,
				   const struct ctm_rules **ret_set)
{
	const struct ctm_rule_node *to = at ? child_of(at, name, len) : NULL;

	if (to && to->rule) {
		*ret_set = to->set;
		return to->rule;
	}
	if (at && at->any && len > 0) {
		*ret_set = at->any_set;
		return at->any;
	}
	return NULL;
}

const struct ctm_rule *ctm_rules_entry(const struct ctm_rule_node *at, const char *name, size_t len)
{
	const struct ctm_rules *set;

	return find(at, name, len, &set);
}

const struct ctm_rule *ctm_rules_match(const char *path, size_t len,
				       const struct ctm_rules **ret_set)
{
	const struct ctm_rule_node *at = ctm_rules_root();
	const struct ctm_rules *set = NULL;
	const struct ctm_rule *rule;
	const char *slash;

	while (at && (slash = memchr(path, '/', len))) {
		at = ctm_rules_down(at, path, (size_t)(slash - path));
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	rule = find(at, path, len, &set);
	if (rule && ret_set) {
		*ret_set = set;
	}
	return rule;
}
