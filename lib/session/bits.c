/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looking for set-id bits that were lost.
 */
#include "session/bits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "config/statoverride.h"
#include "plan/bits.h"
#include "rules/bits.h"
#include "run/content.h"
#include "run/effects.h"

#define OVERRIDES      "var/lib/dpkg/statoverride"
#define OVERRIDES_MAX  1024
#define OVERRIDES_SIZE (1U << 20)

struct looking {
	const struct ctm_selection *sel;
	struct ctm_plan *plan;
	struct ctm_effects fx;
	struct ctm_arena arena;
	CTM_VEC(struct ctm_bytes) overrides; /* paths that dpkg's record names, in the arena */
	size_t lines;
};

static void looking_done(struct looking *x)
{
	ctm_effects_done(&x->fx);
	ctm_arena_done(&x->arena);
	ctm_vec_done(&x->overrides);
}

static bool is_selected(const struct ctm_selection *sel, const char *path, size_t len)
{
	for (size_t i = 0; !sel->whole && i < sel->n_starts; i++) {
		if (ctm_path_within(path, len, sel->starts[i], strlen(sel->starts[i]))) {
			return true;
		}
	}
	return sel->whole;
}

/* All of an inode that a fact has, read through one descriptor. */
static int read_fact(struct looking *x, const char *path, size_t len, struct ctm_fact *ret)
{
	const struct ctm_ref ref = { .path = path, .path_len = len };
	struct ctm_inode_state state;
	struct ctm_inode inode;
	int h;
	int r = ctm_effects_ops.open(&x->fx, &ref, &h);

	if (r < 0) {
		return r;
	}
	r = ctm_effects_ops.stat(&x->fx, h, &inode);
	if (r == 0 && !S_ISREG(inode.mode)) {
		r = -EMEDIUMTYPE;
	}
	if (r == 0) {
		r = ctm_effects_ops.read(&x->fx, h, &x->arena, &state);
	}
	ctm_effects_ops.close(&x->fx, h);
	if (r < 0) {
		return r;
	}
	*ret = (struct ctm_fact){
		.kind = CTM_FACT_INODE,
		.path = path,
		.path_len = len,
		.mode = state.mode,
		.uid = state.uid,
		.gid = state.gid,
		.dev = inode.dev,
		.ino = inode.ino,
		.nlink = inode.nlink,
		.size = inode.size,
		.attr = inode.attr,
		.acl_access = state.acl_access,
		.acl_default = state.acl_default,
		.caps = state.caps,
	};
	return 0;
}

static int expect(struct looking *x, const char *path, size_t len, const struct ctm_expected *want)
{
	struct ctm_fact fact;
	int r;

	if (!is_selected(x->sel, path, len)) {
		return 0;
	}
	r = read_fact(x, path, len, &fact);
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	return ctm_plan_expect(x->plan, want, &fact);
}

/* A line of dpkg's record, be it about bits or about the lack of them. */
static int take_override(const struct ctm_statoverride *line, void *arg)
{
	struct looking *x = arg;
	CLEANUP(ctm_buf_done) struct ctm_buf norm = { 0 };
	struct ctm_bytes path = { .len = line->path.len };
	struct ctm_expected want = {
		.bits = line->mode & (S_ISUID | S_ISGID),
		.uid = line->uid,
		.gid = line->gid,
		.mode = line->mode,
		.recorded = true,
		.exact = line->exact,
		.what = "/" OVERRIDES,
	};
	char *typed;
	int r;

	if (x->lines++ == OVERRIDES_MAX) {
		return 1;
	}
	if (memchr(line->path.p, '\0', line->path.len)) {
		return 0;
	}
	typed = ctm_arena_dup(&x->arena, line->path.p, line->path.len);
	r = typed ? ctm_path_normalise(typed, &norm) : -ENOMEM;
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	path.p = ctm_arena_dup(&x->arena, norm.p ? norm.p : "", norm.len);
	path.len = norm.len;
	r = path.p ? ctm_vec_push(&x->overrides, &path) : -ENOMEM;
	if (r < 0 || !want.bits || want.uid.v == CTM_ID_INVALID) {
		return r;
	}
	if (want.gid.v == CTM_ID_INVALID) {
		want.gid.v = CTM_BITS_OWN_GROUP;
	}
	return expect(x, path.p, path.len, &want);
}

static int add_bytes(const void *p, size_t len, void *arg)
{
	return ctm_buf_add(arg, p, len);
}

static int look_at_overrides(struct looking *x)
{
	const struct ctm_ref ref = { .path = OVERRIDES, .path_len = strlen(OVERRIDES) };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	CLEANUP_CLOSE int fd = -1;
	uint8_t sha256[32];
	int r = ctm_effects_ops.content(&x->fx, &ref, &fd);

	if (r == 0) {
		r = ctm_content_read(fd, OVERRIDES_SIZE, add_bytes, &text, sha256);
	}
	/* dpkg wants the last line to end, and half a line would name another file */
	while (text.len > 0 && text.p[text.len - 1] != '\n') {
		text.len--;
	}
	if (r == 0 || r == -EFBIG) {
		r = ctm_statoverride_each((struct ctm_bytes){ text.p, text.len }, take_override, x);
	}
	return r == -ENOMEM ? r : 0;
}

/* What an administrator has recorded comes before what a package ships. */
static bool is_overridden(const struct looking *x, const char *path)
{
	for (size_t i = 0; i < x->overrides.n; i++) {
		if (x->overrides.v[i].len == strlen(path) &&
		    memcmp(x->overrides.v[i].p, path, x->overrides.v[i].len) == 0) {
			return true;
		}
	}
	return false;
}

static int look_at_set(struct looking *x, const struct ctm_bits_set *set)
{
	const struct ctm_ref ref = { .path = set->present_if, .path_len = strlen(set->present_if) };
	char what[80];
	int h;
	int r = 0;

	if (ctm_effects_ops.open(&x->fx, &ref, &h) < 0) {
		return 0;
	}
	ctm_effects_ops.close(&x->fx, h);
	for (size_t i = 0; r == 0 && i < set->n; i++) {
		const struct ctm_bits *row = &set->rows[i];
		const struct ctm_expected want = {
			.bits = row->bits,
			.gid = { row->gid },
			.what = what,
		};

		(void)snprintf(what, sizeof(what), "package %s of %s", row->package, set->name);
		if (!is_overridden(x, row->at)) {
			r = expect(x, row->at, strlen(row->at), &want);
		}
	}
	return r;
}

int ctm_bits_look(const struct ctm_volume *vol, const struct ctm_selection *sel,
		  struct ctm_attached *att, struct ctm_plan *plan, struct ctm_err *err)
{
	CLEANUP(looking_done)
	struct looking x = { .sel = sel, .plan = plan, .fx = { .root = -1, .real = -1 } };
	int r;

	if (strcmp(vol->mp, "/") != 0 || plan->policy.flatten) {
		return 0;
	}
	r = ctm_effects_init(&x.fx, ctm_attached_root(att), vol->kind != CTM_VOLUME_DIR, err);
	if (r < 0) {
		return r;
	}
	r = look_at_overrides(&x);
	for (size_t i = 0; r == 0 && i < ctm_bits_sets_n; i++) {
		r = look_at_set(&x, &ctm_bits_sets[i]);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}
