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

#include "base/pathname.h"
#include "rules/rules.h"

#define NODES_MAX 512

struct ctm_rule_node {
	const char *name; /* one component of a row, not terminated */
	size_t len;
	const char *star;                  /* in name: where the "*" is, or NULL */
	const struct ctm_rule_node *child; /* the first of those below, in the order of rows */
	const struct ctm_rule_node *next;  /* beside this one */
	const struct ctm_rule *rule;       /* what stands exactly here */
	const struct ctm_rules *set;
};

static struct ctm_rule_node nodes[NODES_MAX];
static size_t nodes_n = 1; /* the root */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool fits(const struct ctm_rule_node *node, const char *name, size_t len)
{
	size_t before;
	size_t behind;

	if (!node->star) {
		return node->len == len && memcmp(node->name, name, len) == 0;
	}
	before = (size_t)(node->star - node->name);
	behind = node->len - before - 1;
	return len > before + behind && memcmp(node->name, name, before) == 0 &&
	       memcmp(node->star + 1, name + len - behind, behind) == 0;
}

enum what { WITH_RULE, WITH_CHILD };

/* A component in full comes before all patterns. */
static const struct ctm_rule_node *search(const struct ctm_rule_node *at, const char *name,
					  size_t len, enum what what)
{
	const struct ctm_rule_node *found = NULL;

	for (const struct ctm_rule_node *c = at ? at->child : NULL; c; c = c->next) {
		if ((what == WITH_RULE ? c->rule != NULL : c->child != NULL) &&
		    (!found || !c->star) && fits(c, name, len)) {
			found = c;
		}
	}
	return found;
}

/* The node for this component of a row; made when no row has had it. */
static struct ctm_rule_node *grow(struct ctm_rule_node *at, const char *name, size_t len)
{
	struct ctm_rule_node *last = NULL;
	struct ctm_rule_node *node;

	for (const struct ctm_rule_node *c = at->child; c; c = c->next) {
		last = &nodes[c - nodes];
		if (last->len == len && memcmp(last->name, name, len) == 0) {
			return last;
		}
	}
	if (nodes_n == NODES_MAX) {
		return NULL;
	}
	node = &nodes[nodes_n++];
	*node = (struct ctm_rule_node){ .name = name, .len = len, .star = memchr(name, '*', len) };
	if (last) {
		last->next = node;
	} else {
		at->child = node;
	}
	return node;
}

static void add_row(const struct ctm_rules *set, const struct ctm_rule *rule)
{
	struct ctm_rule_node *at = &nodes[0];
	const char *name = rule->at;

	while (at) {
		size_t len = strcspn(name, "/");

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
	return search(at, name, len, WITH_CHILD);
}

const struct ctm_rule *ctm_rules_entry(const struct ctm_rule_node *at, const char *name, size_t len)
{
	const struct ctm_rule_node *to = search(at, name, len, WITH_RULE);

	return to ? to->rule : NULL;
}

const struct ctm_rule *ctm_rules_match(const char *path, size_t len,
				       const struct ctm_rules **ret_set)
{
	const struct ctm_rule_node *at = ctm_rules_root();
	const char *slash;

	while (at && (slash = memchr(path, '/', len))) {
		at = ctm_rules_down(at, path, (size_t)(slash - path));
		len -= (size_t)(slash + 1 - path);
		path = slash + 1;
	}
	at = search(at, path, len, WITH_RULE);
	if (!at) {
		return NULL;
	}
	if (ret_set) {
		*ret_set = at->set;
	}
	return at->rule;
}

bool ctm_rules_never(const char *path, size_t len)
{
	for (size_t i = 0; i < ctm_rules_n; i++) {
		for (size_t k = 0; k < ctm_rules_all[i]->n_never; k++) {
			const char *dir = ctm_rules_all[i]->never[k];

			if (ctm_path_within(path, len, dir, strlen(dir))) {
				return true;
			}
		}
	}
	return false;
}
