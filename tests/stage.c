/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A damaged volume in memory, the plan that cures it, and a state directory. */
#include "stage.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "must.h"
#include "run/undo.h"

static void open_state(struct stage *s)
{
	struct ctm_err err = { 0 };

	must(ctm_state_open(&s->host, "115", 0, &s->state, &err) == 0);
	s->run.state = s->state;
}

struct stage *stage_new(void)
{
	struct stage *s = calloc(1, sizeof(*s));

	must(s);
	s->dir = scratch_in_memory();
	s->host.sysroot = s->dir.path;
	s->map = ctm_idmap_new();
	must(ctm_idmap_add_default(s->map) == 0);
	(void)snprintf(s->identity.volume_id, sizeof(s->identity.volume_id), "local:115/disk.raw");
	(void)snprintf(s->identity.fstype, sizeof(s->identity.fstype), "ext4");
	s->run = (struct ctm_run){
		.ops = &fake_ops,
		.fs = &s->fs,
		.identity = &s->identity,
		.map = s->map,
		.target = "115",
		.volume = "rootfs",
		.user = "tester",
		.options = "",
	};
	open_state(s);
	return s;
}

void stage_done(struct stage **s)
{
	ctm_state_free((*s)->state);
	ctm_idmap_free((*s)->map);
	fake_done(&(*s)->fs);
	scratch_done(&(*s)->dir);
	free(*s);
}

void stage_restart(struct stage *s)
{
	ctm_state_free(s->state);
	s->state = NULL;
	s->fs.fail_at = 0;
	s->fs.open = 0;
	open_state(s);
}

static struct fake_node *add(struct stage *s, const char *path, uint32_t mode, uint32_t id)
{
	size_t at = fake_add(&s->fs, path, mode, id, id);

	return &s->fs.nodes.v[at];
}

static struct ctm_bytes text(struct stage *s, const char *t)
{
	return fake_bytes(&s->fs, t, strlen(t));
}

void stage_damage(struct stage *s)
{
	struct fake_node *n;

	(void)add(s, "", S_IFDIR | 0755, 0);
	(void)add(s, "etc", S_IFDIR | 0755, STAGE_BASE);
	(void)add(s, "etc/passwd", S_IFREG | 0644, STAGE_BASE);
	(void)add(s, "etc/shadow", S_IFREG | 0640, 42);
	(void)add(s, "usr", S_IFDIR | 0755, STAGE_BASE);
	(void)add(s, "usr/bin", S_IFDIR | 02775, 0);
	(void)add(s, "usr/bin/sudo", S_IFREG | 04755, 0);
	n = add(s, "usr/bin/wall", S_IFREG | 02755, 5);
	n->nlink = 2;
	n = add(s, "usr/bin/ping", S_IFREG | 0755, 0);
	n->state.caps = text(s, "v2");
	(void)add(s, "usr/bin/vi", S_IFLNK | 0777, 0);
	n = add(s, "srv", S_IFDIR | 01777, 33);
	n->state.acl_access = text(s, "host ids");
	n->state.acl_default = text(s, "host ids too");
	n = add(s, "srv/only-acl", S_IFREG | 04664, STAGE_BASE + 33);
	n->state.acl_access = text(s, "host ids");
	(void)add(s, "var", S_IFDIR | 0755, STAGE_BASE);
	(void)add(s, "var/lib", S_IFDIR | 0755, STAGE_BASE);
	(void)add(s, "var/lib/dpkg", S_IFDIR | 0755, 0);
	(void)add(s, "var/lib/dpkg/lock", S_IFREG | 0640, 0);
	(void)add(s, "var/partial", S_IFDIR | 0700, STAGE_BASE + 42);
	n = add(s, "var/partial/a.deb", S_IFREG | 04644, 42);
	n->content = text(s, "half a package");
	n->state.caps = text(s, "v2");
	n = add(s, "var/partial/b\xff.deb", S_IFREG | 0600, 0);
	n->content = text(s, "another half");
	n->state.acl_access = fake_bytes(&s->fs, "\2\0\0\0", 4);
	(void)add(s, "dev/null", S_IFCHR | 0666, 0);
	n = add(s, "etc/resolv.conf", S_IFREG | 04644, 0);
	n->attr = CTM_ATTR_IMMUTABLE;
	n->state.caps = text(s, "v2");
	n = add(s, "etc/log", S_IFDIR | 0755, 0);
	n->attr = CTM_ATTR_APPEND | CTM_ATTR_IMMUTABLE;
}

/* Read-only, with something to repair and something to remove. */
static void add_subvol(struct stage *s, const char *path, uint64_t dev)
{
	static const struct {
		const char *name;
		uint32_t mode;
	} inside[] = {
		{ "", S_IFDIR | 0755 },
		{ "/sudo", S_IFREG | 04755 },
		{ "/partial", S_IFDIR | 0700 },
		{ "/partial/a", S_IFREG | 0600 },
	};
	char name[64];

	for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
		(void)snprintf(name, sizeof(name), "%s%s", path, inside[i].name);
		add(s, name, inside[i].mode, 0)->dev = dev;
	}
	fake_at(&s->fs, path)->subvol = true;
	fake_at(&s->fs, path)->ro_subvol = true;
}

void stage_subvols(struct stage *s)
{
	add_subvol(s, "home/snap", 9);
	add_subvol(s, "home/snap/inner", 10);
}

void stage_random(struct stage *s, unsigned int *seed, unsigned int n)
{
	static const uint32_t types[] = { S_IFREG, S_IFREG, S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO };
	static const char *const acls[] = { "host", "mapped" };

	(void)add(s, "", S_IFDIR | 0755, rand_r(seed) % 2 ? 0 : STAGE_BASE);
	(void)add(s, "partial", S_IFDIR | 0700, rand_r(seed) % 2 ? 0 : STAGE_BASE);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t type = types[(unsigned int)rand_r(seed) % 6];
		uint32_t mode = type == S_IFLNK ? 0777 : (uint32_t)rand_r(seed) & 07777;
		uint32_t uid = (uint32_t)rand_r(seed) % 3 * 1000;
		bool partial = type == S_IFREG && rand_r(seed) % 5 == 0;
		char path[32];
		struct fake_node *x;

		(void)snprintf(path, sizeof(path), "%s%u", partial ? "partial/" : "f", i);
		x = add(s, path, type | mode, uid + (rand_r(seed) % 2 ? 0 : STAGE_BASE));
		if (rand_r(seed) % 3 == 0) {
			x->state.gid.v = (uint32_t)rand_r(seed) % 100;
		}
		if (type != S_IFLNK && !partial && rand_r(seed) % 3 == 0) {
			x->state.acl_access = text(s, acls[rand_r(seed) % 2]);
		}
		if (type == S_IFDIR && rand_r(seed) % 3 == 0) {
			x->state.acl_default = text(s, acls[rand_r(seed) % 2]);
		}
		if (type == S_IFREG && rand_r(seed) % 3 == 0) {
			x->state.caps = text(s, rand_r(seed) % 2 ? "v2" : "v3");
		}
		if (type == S_IFREG) {
			x->content = text(s, path);
		}
		if ((type == S_IFREG || type == S_IFDIR) && !partial && rand_r(seed) % 4 == 0) {
			x->attr = (uint32_t)rand_r(seed) % 4;
		}
	}
}

static ctm_did up(ctm_did id)
{
	return (ctm_did){ id.v < 65536 ? id.v + STAGE_BASE : id.v };
}

static struct ctm_bytes swap(struct stage *s, struct ctm_bytes b, char from, char to, size_t at)
{
	CLEANUP_FREE char *copy = NULL;

	if (!b.p || b.len <= at || ((const char *)b.p)[at] != from) {
		return b;
	}
	copy = malloc(b.len);
	memcpy(copy, b.p, b.len);
	copy[at] = to;
	return fake_bytes(&s->fs, copy, b.len);
}

static bool goes(const char *path)
{
	size_t len = strlen(path);

	return strstr(path, "partial/") || (len > 4 && strcmp(path + len - 5, "/lock") == 0);
}

static void hash(struct ctm_bytes content, uint8_t ret[32])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, content.len, content.p);
	sha256_digest(&ctx, 32, ret);
}

static int by_path(const void *a, const void *b)
{
	const struct ctm_action *x = a;
	const struct ctm_action *y = b;

	return ctm_path_cmp(x->path, x->path_len, y->path, y->path_len);
}

/* Subvolumes in which there is something to do. */
static void add_flips(struct stage *s, struct ctm_plan *plan)
{
	for (size_t i = 0; i < s->fs.nodes.n; i++) {
		const struct fake_node *n = &s->fs.nodes.v[i];
		const struct ctm_plan_subvol subvol = {
			.path = ctm_arena_dup(&plan->arena, n->path, strlen(n->path)),
			.path_len = strlen(n->path),
			.ino = n->ino,
		};
		bool used = false;

		for (size_t k = 0; n->ro_subvol && k < plan->actions.n; k++) {
			used |= fake_at(&s->fs, plan->actions.v[k].path)->dev == n->dev;
		}
		if (used) {
			must(ctm_vec_push(&plan->subvols, &subvol) == 0);
		}
	}
}

struct ctm_plan stage_plan(struct stage *s)
{
	struct ctm_plan plan = { .finished = true };

	for (size_t i = 0; i < s->fs.nodes.n; i++) {
		const struct fake_node *n = &s->fs.nodes.v[i];
		struct ctm_action a = {
			.kind = CTM_ACT_SET,
			.cause = CTM_F_OWN_HOST,
			.attr = n->attr,
			.path = ctm_arena_dup(&plan.arena, n->path, strlen(n->path)),
			.path_len = strlen(n->path),
			.ino = n->ino,
			.nlink = n->nlink,
			.names = 1,
			.before = n->state,
			.after = n->state,
		};

		if (n->gone) {
			continue;
		}
		a.after.uid = up(a.after.uid);
		a.after.gid = up(a.after.gid);
		a.after.acl_access = swap(s, a.after.acl_access, 'h', 'm', 0);
		a.after.acl_default = swap(s, a.after.acl_default, 'h', 'm', 0);
		a.after.caps = swap(s, a.after.caps, '2', '3', 1);
		if (S_ISREG(n->state.mode) && goes(n->path) && !s->keep) {
			a.kind = CTM_ACT_REMOVE;
			a.cause = CTM_F_PKG_PARTIAL;
			a.size = n->content.len;
			hash(n->content, a.sha256);
		} else if (ctm_inode_state_eq(&a.before, &a.after)) {
			continue;
		}
		must(ctm_vec_push(&plan.actions, &a) == 0);
	}
	add_flips(s, &plan);
	if (plan.actions.n > 0) {
		qsort(plan.actions.v, plan.actions.n, sizeof(*plan.actions.v), by_path);
	}
	return plan;
}

void stage_plan_done(struct ctm_plan *plan)
{
	ctm_vec_done(&plan->actions);
	ctm_vec_done(&plan->subvols);
	ctm_arena_done(&plan->arena);
}

char *stage_repair(struct stage *s)
{
	CLEANUP(stage_plan_done) struct ctm_plan plan = stage_plan(s);
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };

	must(ctm_repair(&s->run, &plan, STAGE_DIGEST, &out, NULL) == 0);
	must(!ctm_outcome_partial(&out));
	must(out.counts.done == plan.actions.n);
	return fake_listing(&s->fs);
}

void stage_undo(struct stage *s, const char *typed)
{
	CLEANUP(ctm_outcome_done) struct ctm_outcome out = { 0 };
	struct ctm_run_info info;

	must(ctm_undo_choose(&s->run, typed, &info, NULL) == 0);
	must(ctm_undo(&s->run, info.name, &out, NULL) == 0);
	must(!ctm_outcome_partial(&out));
	must(s->fs.open == 0);
}

void stage_expect(struct stage *s, const char *want, const char *when)
{
	CLEANUP_FREE char *now = fake_listing(&s->fs);

	if (strcmp(now, want) != 0) {
		(void)fprintf(stderr, "%s:\n%s\nwanted:\n%s\n", when, now, want);
		must(!"the volume is as listed");
	}
}

char *stage_model(struct stage *s)
{
	CLEANUP(stage_plan_done) struct ctm_plan plan = stage_plan(s);
	struct fakefs copy = s->fs;
	char *listing;

	/* Nodes are plain; only the array is copied. */
	copy.nodes.v = calloc(copy.nodes.n, sizeof(*copy.nodes.v));
	memcpy(copy.nodes.v, s->fs.nodes.v, copy.nodes.n * sizeof(*copy.nodes.v));
	for (size_t i = 0; i < plan.actions.n; i++) {
		struct fake_node *n = fake_at(&copy, plan.actions.v[i].path);

		if (plan.actions.v[i].kind == CTM_ACT_REMOVE) {
			n->gone = true;
		} else {
			n->state = plan.actions.v[i].after;
		}
	}
	listing = fake_listing(&copy);
	free(copy.nodes.v);
	return listing;
}

const struct ctm_result *stage_result(const struct ctm_outcome *out, const char *path)
{
	for (size_t i = 0; i < out->results.n; i++) {
		if (strcmp(out->results.v[i].path, path) == 0) {
			return &out->results.v[i];
		}
	}
	return NULL;
}
