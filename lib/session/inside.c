/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The accounts inside a container.
 */
#include "session/inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/accounts.h"
#include "config/lines.h"
#include "target/activate.h"
#include "target/attach.h"
#include "target/guard.h"
#include "target/rootfd.h"

#define SHOWN_MAX 10 /* of one file; the rest is counted */

static const struct {
	enum ctm_accounts_file file;
	const char *path;
} files[] = {
	{ CTM_ACCOUNTS_PASSWD, "etc/passwd" },
	{ CTM_ACCOUNTS_GROUP, "etc/group" },
};

struct search {
	const struct ctm_idmap *map;
	struct ctm_plan *plan;
	const char *path;
	unsigned int n;
};

static int look_up(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg)
{
	struct search *s = arg;
	char text[160];

	if (ctm_idmap_in_ct(s->map, kind, id) || ++s->n > SHOWN_MAX) {
		return 0;
	}
	(void)snprintf(text, sizeof(text), "/%s: '%.*s' has %s %u", s->path,
		       name.len > 64 ? 64 : (int)name.len, (const char *)name.p,
		       kind == CTM_UID ? "uid" : "gid", id.v);
	return ctm_plan_note(s->plan, CTM_F_MAP_ACCOUNT, NULL, 0, text);
}

/* At most as much as a configuration file may have; what is beyond is not looked at. */
static int read_some(int fd, struct ctm_buf *ret)
{
	char chunk[16384];

	while (ret->len < CTM_CONFIG_MAX) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR) {
			continue;
		}
		if (n <= 0) {
			return n < 0 ? -errno : 0;
		}
		if (ctm_buf_add(ret, chunk, (size_t)n) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

/* A file that is not there, is none, or cannot be read, names nobody. */
static int look_at_file(int root, size_t i, struct search *s)
{
	CLEANUP_CLOSE int fd = -1;
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	char more[80];
	int r;

	if (ctm_rootfd_open_content(root, files[i].path, strlen(files[i].path), &fd) < 0) {
		return 0;
	}
	r = read_some(fd, &text);
	if (r < 0 || !text.len) {
		return r == -ENOMEM ? r : 0;
	}
	s->path = files[i].path;
	s->n = 0;
	r = ctm_accounts_each(files[i].file, (struct ctm_bytes){ text.p, text.len }, look_up, s);
	if (r == 0 && s->n > SHOWN_MAX) {
		(void)snprintf(more, sizeof(more), "/%s: and %u more", s->path, s->n - SHOWN_MAX);
		r = ctm_plan_note(s->plan, CTM_F_MAP_ACCOUNT, NULL, 0, more);
	}
	return r;
}

static int attach(struct ctm_target *target, const struct ctm_volume *rootfs,
		  const struct ctm_host *host, struct ctm_plan *plan, struct ctm_err *err)
{
	CLEANUP(ctm_guard_freep) struct ctm_guard *guard = NULL;
	CLEANUP(ctm_attached_freep) struct ctm_attached *att = NULL;
	const struct ctm_guard_opts opts = { .mode = CTM_GUARD_READ, .wait = 0 };
	struct search s = { .map = target->map, .plan = plan };
	int r;

	if (ctm_activation_needed(rootfs)) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' is not accessible, and is not activated for this",
				   rootfs->id);
	}
	r = ctm_guard_take(host, target, rootfs, &opts, &guard, err);
	if (r == 0) {
		r = ctm_attach_guarded(guard, host, target, rootfs, &att, err);
	}
	for (size_t i = 0; i < ARRAY_LEN(files) && r == 0; i++) {
		r = look_at_file(ctm_attached_root(att), i, &s);
	}
	return r;
}

int ctm_inside_accounts(struct ctm_target *target, const struct ctm_host *host,
			struct ctm_plan *plan, char **ret_note, struct ctm_err *err)
{
	const struct ctm_volume *rootfs = NULL;
	struct ctm_err why = { 0 };
	int r;

	if (!target->map || target->privileged ||
	    ctm_target_pick(target, "rootfs", &rootfs, &why) < 0) {
		return 0;
	}
	r = attach(target, rootfs, host, plan, &why);
	if (r == -ENOMEM) {
		return ctm_err_nomem(err);
	}
	if (r < 0) {
		*ret_note = strdup(why.msg);
		if (!*ret_note) {
			return ctm_err_nomem(err);
		}
	}
	return 0;
}
