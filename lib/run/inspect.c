/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * inspect: what only the file system knows of the files a plan would remove.
 */
#include "run/inspect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "base/cleanup.h"
#include "target/lockholder.h"

struct inspection {
	const struct ctm_ops *ops;
	void *fs;
	struct ctm_plan *plan;
	uint64_t budget; /* what is left of it */
};

/* Reads to the end, but no further than a byte beyond size: -ESTALE when it has another length. */
static int hash_content(int fd, uint64_t size, uint8_t ret[static SHA256_DIGEST_SIZE])
{
	struct sha256_ctx ctx;
	uint8_t block[65536];
	uint64_t seen = 0;

	sha256_init(&ctx);
	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n < 0) {
			return -errno;
		}
		if (n == 0) {
			break;
		}
		seen += (uint64_t)n;
		if (seen > size) {
			return -ESTALE;
		}
		sha256_update(&ctx, (size_t)n, block);
	}
	if (seen != size) {
		return -ESTALE;
	}
	sha256_digest(&ctx, SHA256_DIGEST_SIZE, ret);
	return 0;
}

/* The file stays, since it cannot be saved. */
static int keep_unsaved(struct ctm_plan *plan, size_t action, int r)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "cannot be saved, so it stays: %s",
		       r == -ESTALE ? "it is changing" : strerror(-r));
	return ctm_plan_keep_file(plan, action, CTM_F_ERR, text);
}

/* A file that is to go must be the one that was judged, readable, and within the budget. */
static int inspect_removal(struct inspection *in, size_t i)
{
	struct ctm_action *act = &in->plan->actions.v[i];
	const struct ctm_ref ref = {
		.path = act->path,
		.path_len = act->path_len,
		.dev = act->dev,
		.ino = act->ino,
	};
	CLEANUP_CLOSE int fd = -1;
	int r;

	if (act->size > in->budget) {
		return ctm_plan_keep_file(in->plan, i, CTM_F_PKG_LARGE,
					  "its owner is repaired instead");
	}
	r = in->ops->content(in->fs, &ref, &fd);
	if (r == 0) {
		r = hash_content(fd, act->size, act->sha256);
	}
	if (r < 0) {
		return keep_unsaved(in->plan, i, r);
	}
	in->budget -= act->size;
	return 0;
}

/* Somebody who works in the tree right now holds its lock, whoever the lock file belongs to. */
static int inspect_lock(struct inspection *in, const struct ctm_rule *rule)
{
	const struct ctm_ref ref = { .path = rule->at, .path_len = strlen(rule->at) };
	struct ctm_lockholder holder = { 0 };
	CLEANUP_CLOSE int fd = -1;
	bool held = false;
	char text[256];

	/* What cannot be opened as a regular file is no lock file; the plan has judged it. */
	if (in->ops->content(in->fs, &ref, &fd) < 0 ||
	    ctm_lockholder_find(fd, &held, &holder) < 0 || !held) {
		return 0;
	}
	in->plan->refuse_held = true;
	if (holder.pid) {
		(void)snprintf(text, sizeof(text), "held by process %" PRIdMAX " (%s) through %s",
			       (intmax_t)holder.pid, holder.name, holder.how);
	} else {
		(void)snprintf(text, sizeof(text),
			       "held through %s by a process that is not visible here", holder.how);
	}
	return ctm_plan_note(in->plan, CTM_F_PKG_HELD, rule->at, strlen(rule->at), text);
}

static int inspect_locks(struct inspection *in)
{
	int r = 0;

	for (size_t i = 0; i < ctm_rules_n && r == 0; i++) {
		const struct ctm_rules *set = ctm_rules_all[i];

		for (size_t k = 0; k < set->n && r == 0; k++) {
			if (set->rows[k].kind == CTM_RULE_LOCK) {
				r = inspect_lock(in, &set->rows[k]);
			}
		}
	}
	return r;
}

int ctm_inspect(const struct ctm_ops *ops, void *fs, struct ctm_plan *plan, uint64_t budget,
		struct ctm_err *err)
{
	struct inspection in = { .ops = ops, .fs = fs, .plan = plan, .budget = budget };
	size_t n = plan->actions.n;
	int r = inspect_locks(&in);

	for (size_t i = 0; i < n && r == 0; i++) {
		if (plan->actions.v[i].kind == CTM_ACT_REMOVE) {
			r = inspect_removal(&in, i);
		}
	}
	if (r == 0) {
		r = ctm_plan_settle(plan);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}
