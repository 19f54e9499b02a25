/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of one inode on its way: the order of the calls, what is left out, what a crash leaves. */
#include <errno.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "fakefs.h"
#include "run/apply_inode.h"
#include "run/privileged.h"

#define FAKE CLEANUP(fake_done) struct fakefs
#define V2   "v2 bytes"
#define V3   "v3 bytes with root id"
#define ACL(x)                                 \
	{                                      \
		.p = (x), .len = sizeof(x) - 1 \
	}

static const struct change {
	const char *name;
	struct ctm_inode_state before, after;
	const char *log;
} changes[] = {
	{
		"plain file",
		{ .mode = S_IFREG | 0644 },
		{ .mode = S_IFREG | 0644, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\n",
	},
	{
		"only the group is wrong",
		{ .mode = S_IFREG | 0644, .uid = { 100000 } },
		{ .mode = S_IFREG | 0644, .uid = { 100000 }, .gid = { 100042 } },
		"chown 'f' 100000:100042\n",
	},
	{
		"setuid and setgid come back",
		{ .mode = S_IFREG | 06755 },
		{ .mode = S_IFREG | 06755, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\nchmod 'f' 6755\n",
	},
	{
		"setgid without group execution",
		{ .mode = S_IFREG | 02745 },
		{ .mode = S_IFREG | 02745, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\nchmod 'f' 2745\n",
	},
	{
		"a directory keeps its bits",
		{ .mode = S_IFDIR | 03775 },
		{ .mode = S_IFDIR | 03775, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\n",
	},
	{
		"sticky file",
		{ .mode = S_IFREG | 01644 },
		{ .mode = S_IFREG | 01644, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\n",
	},
	{
		"a link has no mode",
		{ .mode = S_IFLNK | 0777 },
		{ .mode = S_IFLNK | 0777, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\n",
	},
	{
		"everything at once",
		{ .mode = S_IFREG | 04755, .acl_access = ACL("0"), .caps = ACL(V2) },
		{ .mode = S_IFREG | 04755,
		  .uid = { 100000 },
		  .gid = { 100000 },
		  .acl_access = ACL("100000"),
		  .caps = ACL(V3) },
		"chown 'f' 100000:100000\nchmod 'f' 4755\nxattr 'f' system.posix_acl_access\n"
		"xattr 'f' security.capability\n",
	},
	{
		"the same capability comes back",
		{ .mode = S_IFREG | 0755, .caps = ACL(V3) },
		{ .mode = S_IFREG | 0755, .uid = { 5 }, .gid = { 6 }, .caps = ACL(V3) },
		"chown 'f' 5:6\nxattr 'f' security.capability\n",
	},
	{
		"owner is right, capability is not: no chown",
		{ .mode = S_IFREG | 04755, .caps = ACL("old root id") },
		{ .mode = S_IFREG | 04755, .caps = ACL(V3) },
		"xattr 'f' security.capability\n",
	},
	{
		"owner is right, ACLs are not: no chown",
		{ .mode = S_IFDIR | 02755, .acl_access = ACL("a"), .acl_default = ACL("b") },
		{ .mode = S_IFDIR | 02755, .acl_access = ACL("c"), .acl_default = ACL("d") },
		"xattr 'f' system.posix_acl_access\nxattr 'f' system.posix_acl_default\n",
	},
	{
		"an ACL that stays is not written",
		{ .mode = S_IFREG | 0664, .acl_access = ACL("same") },
		{ .mode = S_IFREG | 0664, .uid = { 1 }, .acl_access = ACL("same") },
		"chown 'f' 1:0\n",
	},
	{
		"flattening loses the bits",
		{ .mode = S_IFREG | 04755, .uid = { 7 }, .caps = ACL(V2) },
		{ .mode = S_IFREG | 0755, .uid = { 100000 }, .gid = { 100000 } },
		"chown 'f' 100000:100000\nchmod 'f' 0755\n",
	},
	{
		"undo of flattening brings them back, after the chown",
		{ .mode = S_IFREG | 0755, .uid = { 100000 }, .gid = { 100000 } },
		{ .mode = S_IFREG | 04755, .uid = { 7 }, .caps = ACL(V2) },
		"chown 'f' 7:0\nchmod 'f' 4755\nxattr 'f' security.capability\n",
	},
	{
		"a directory's capability survives a chown",
		{ .mode = S_IFDIR | 0755, .caps = ACL(V3) },
		{ .mode = S_IFDIR | 0755, .uid = { 5 }, .gid = { 6 }, .caps = ACL(V3) },
		"chown 'f' 5:6\n",
	},
	{
		"a directory's capability moves with its owner",
		{ .mode = S_IFDIR | 02755, .caps = ACL(V2) },
		{ .mode = S_IFDIR | 02755, .uid = { 5 }, .gid = { 6 }, .caps = ACL(V3) },
		"chown 'f' 5:6\nxattr 'f' security.capability\n",
	},
	{
		"a FIFO's capability comes back",
		{ .mode = S_IFIFO | 0644, .caps = ACL(V3) },
		{ .mode = S_IFIFO | 0644, .uid = { 5 }, .gid = { 6 }, .caps = ACL(V3) },
		"chown 'f' 5:6\nxattr 'f' security.capability\n",
	},
	{
		"a capability goes",
		{ .mode = S_IFREG | 0755, .caps = ACL(V2) },
		{ .mode = S_IFREG | 0755 },
		"xattr 'f' security.capability\n",
	},
};

/* The content is empty, and the record knows that. */
static struct ctm_entry entry_of(const struct change *c)
{
	struct ctm_entry e = {
		.kind = CTM_ENTRY_SET,
		.ref = { .path = "f", .path_len = 1, .ino = 2 },
		.before = c->before,
		.after = c->after,
	};
	struct sha256_ctx ctx;

	if (ctm_privileged(&c->before) || ctm_privileged(&c->after)) {
		e.content = CTM_CONTENT_SHA256;
		sha256_init(&ctx);
		sha256_digest(&ctx, sizeof(e.sha256), e.sha256);
	}
	return e;
}

static void put_file(struct fakefs *fs, const struct ctm_inode_state *state)
{
	size_t at = fake_add(fs, "f", state->mode, 0, 0);

	fs->nodes.v[at].state = *state;
}

static bool state_is(struct fakefs *fs, const struct ctm_inode_state *want)
{
	return ctm_inode_state_eq(&fake_at(fs, "f")->state, want);
}

CASES(apply, calls_in_order, changes)
{
	const struct change *c = &changes[*i];
	const struct ctm_entry e = entry_of(c);
	FAKE fs = { 0 };
	struct ctm_step step;

	put_file(&fs, &c->before);
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
	cr_assert_eq(step.did, CTM_DID_CHANGE, "%s: %d %s", c->name, step.did, step.what);
	cr_assert_str_eq(fs.log.p, c->log, "%s: %s", c->name, fs.log.p);
	cr_assert(state_is(&fs, &c->after), "%s", c->name);
	cr_assert_eq(fs.open, 0, "%s", c->name);

	/* A second time there is nothing to do, and nothing is done. */
	fs.log.len = 0;
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
	cr_assert_eq(step.did, CTM_DID_NOTHING, "%s", c->name);
	cr_assert_eq(fs.log.len, 0, "%s", c->name);
}

/*
 * Killed at any call, chown's two halves included: never more privileges than before with another
 * owner than in the end, and both ways out, on and back, lead where they should.
 */
CASES(apply, killed_anywhere, changes)
{
	const struct change *c = &changes[*i];
	const struct ctm_entry on = entry_of(c);

	for (unsigned int at = 1; at < 30; at++) {
		for (int torn = 0; torn < 2; torn++) {
			for (int back = 0; back < 2; back++) {
				FAKE fs = { .fail_at = at,
					    .fail_with = EIO,
					    .fail_on = true,
					    .torn_chown = torn };
				const struct ctm_inode_state *s;
				struct ctm_entry e = on;
				struct ctm_step step;
				bool owned;

				put_file(&fs, &c->before);
				(void)ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
				s = &fake_at(&fs, "f")->state;
				owned = s->uid.v == c->after.uid.v && s->gid.v == c->after.gid.v;
				cr_assert(!(s->mode & 06000) || s->mode == c->before.mode ||
						  (owned && s->mode == c->after.mode),
					  "%s, call %u: mode %o", c->name, at, s->mode);
				cr_assert(owned || ctm_bytes_eq(s->caps, c->before.caps) ||
						  !s->caps.p,
					  "%s, call %u: capability", c->name, at);
				fs.fail_at = 0;
				if (back) {
					/* As an undo would record it. */
					cr_assert(state_is(&fs, &c->before) ||
							  state_is(&fs, &c->after) ||
							  ctm_inode_halfway(&c->before, &c->after,
									    s, CTM_ALLOW_FAILED),
						  "%s, call %u", c->name, at);
					e.before = *s;
					e.after = c->before;
				}
				step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_CRASHED,
						       false);
				cr_assert_leq(step.did, CTM_DID_NOTHING, "%s, call %u: %s", c->name,
					      at, step.what);
				cr_assert(state_is(&fs, &e.after), "%s, call %u", c->name, at);
			}
		}
	}
}

static const struct {
	const char *name;
	struct ctm_inode_state now;
} strangers[] = {
	{ "another owner", { .mode = S_IFREG | 04755, .uid = { 5 }, .gid = { 5 } } },
	{ "half an owner", { .mode = S_IFREG | 04755, .uid = { 100000 } } },
	{ "another mode", { .mode = S_IFREG | 0700, .uid = { 100000 }, .gid = { 100000 } } },
	{ "mode changed before its turn", { .mode = S_IFREG | 0755 } },
	{ "another capability",
	  { .mode = S_IFREG | 0755, .uid = { 100000 }, .gid = { 100000 }, .caps = ACL("x") } },
	{ "the old capability with the new owner",
	  { .mode = S_IFREG | 0755, .uid = { 100000 }, .gid = { 100000 }, .caps = ACL(V2) } },
	{ "an ACL that came",
	  { .mode = S_IFREG | 04755, .acl_access = ACL("x"), .caps = ACL(V2) } },
	{ "another type", { .mode = S_IFDIR | 04755, .uid = { 100000 }, .gid = { 100000 } } },
};

/* Not on the way from before to after: a crash cannot have left it, so somebody changed it. */
CASES(apply, conflict, strangers)
{
	static const struct change c = {
		"",
		{ .mode = S_IFREG | 04755, .caps = ACL(V2) },
		{ .mode = S_IFREG | 04755, .uid = { 100000 }, .gid = { 100000 }, .caps = ACL(V3) },
		"",
	};
	const struct ctm_entry e = entry_of(&c);

	for (int allow = CTM_ALLOW_BEFORE; allow <= CTM_ALLOW_CRASHED; allow++) {
		FAKE fs = { 0 };
		struct ctm_step step;

		put_file(&fs, &strangers[*i].now);
		step = ctm_apply_inode(&fake_ops, &fs, &e, (enum ctm_allow)allow, false);
		cr_assert_eq(step.did, CTM_DID_CONFLICT, "%s", strangers[*i].name);
		cr_assert_str_eq(step.what, "changed");
		cr_assert_eq(fs.log.len, 0, "%s: %s", strangers[*i].name, fs.log.p);
	}
}

/* On its way, but this run was not interrupted: then it was not this run. */
Test(apply, halfway_is_a_conflict_unless_resumed)
{
	const struct change *c = &changes[2];
	const struct ctm_entry e = entry_of(c);
	FAKE fs = { 0 };
	struct ctm_inode_state now = c->after;

	now.mode = S_IFREG | 0755;
	put_file(&fs, &now);
	cr_assert_eq(ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false).did,
		     CTM_DID_CONFLICT);
	cr_assert_eq(ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_CRASHED, false).did,
		     CTM_DID_CHANGE);
	cr_assert_str_eq(fs.log.p, "chmod 'f' 6755\n", "never a second chown");
}

Test(apply, gone_and_replaced)
{
	struct ctm_entry e = entry_of(&changes[0]);
	FAKE fs = { 0 };
	struct ctm_step step;

	put_file(&fs, &changes[0].before);
	e.ref.ino = 99;
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_CRASHED, false);
	cr_assert_eq(step.did, CTM_DID_CONFLICT);
	cr_assert_str_eq(step.what, "gone");
}

static const struct {
	unsigned int call;
	const char *what;
	const char *once; /* when what comes after it works */
} failures[] = {
	{ 1, "open", "open" },
	{ 2, "read", "read" },
	/* the file, a lease, its size */
	{ 3, "read", "read" },
	{ 4, "read", "read" },
	{ 5, "read", "read" },
	{ 6, "chown", "chown" },
	/* 7 and 11 are the lease: see privileged_no_longer_proven */
	{ 8, "chmod", "chmod, taken back" },
	{ 9, "acl", "acl, taken back" },
	{ 10, "capability", "capability, taken back" },
	{ 12, "verify", "verify, taken back" },
};

/* A call of "everything at once" fails: told by its name, and it is as it was if that can be. */
CASES(apply, failure_is_named, failures)
{
	const struct change *c = &changes[7];
	const struct ctm_entry e = entry_of(c);

	for (int on = 0; on < 2; on++) {
		FAKE fs = { .fail_at = failures[*i].call, .fail_with = ENOSPC, .fail_on = on };
		struct ctm_step step;

		put_file(&fs, &c->before);
		step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
		cr_assert_eq(step.did, CTM_DID_FAIL, "%s", failures[*i].what);
		cr_assert_str_eq(step.what, on ? failures[*i].what : failures[*i].once);
		cr_assert_eq(step.err, ENOSPC);
		cr_assert_eq(fs.open, 0);
		if (!on) {
			cr_assert(state_is(&fs, &c->before), "%s", failures[*i].what);
		}
	}
}

/* --- flags ------------------------------------------------------------------------------------ */

static struct ctm_entry flagged_entry(const struct change *c)
{
	struct ctm_entry e = entry_of(c);

	e.attr = CTM_ATTR_IMMUTABLE;
	return e;
}

CASES(apply, flags_are_lifted_and_set_again, changes)
{
	const struct change *c = &changes[*i];
	const struct ctm_entry e = flagged_entry(c);
	CLEANUP(ctm_buf_done) struct ctm_buf log = { 0 };
	FAKE fs = { 0 };

	if (!S_ISREG(c->before.mode) && !S_ISDIR(c->before.mode)) {
		return; /* has no flags */
	}
	put_file(&fs, &c->before);
	fs.nodes.v[0].attr = CTM_ATTR_IMMUTABLE;
	cr_assert_eq(ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false).did,
		     CTM_DID_CHANGE, "%s", c->name);
	cr_assert(state_is(&fs, &c->after), "%s", c->name);
	cr_assert_eq(fs.nodes.v[0].attr, CTM_ATTR_IMMUTABLE);
	cr_assert_eq(ctm_buf_addf(&log, "attr 'f' 0\n%sattr 'f' 1\n", c->log), 0);
	cr_assert_str_eq(fs.log.p, log.p, "%s", c->name);
	cr_assert_eq(ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false).did,
		     CTM_DID_NOTHING, "%s", c->name);
}

static const struct {
	const char *name;
	bool done;     /* the owner is right already */
	uint32_t attr; /* that stand on it */
	enum ctm_did did;
} flagged[] = {
	{ "killed before the change", false, 0, CTM_DID_CHANGE },
	{ "killed before the flags came back", true, 0, CTM_DID_CHANGE },
	{ "another flag, before", false, CTM_ATTR_APPEND, CTM_DID_CONFLICT },
	{ "another flag, after", true, CTM_ATTR_APPEND, CTM_DID_CONFLICT },
	{ "one flag more", false, CTM_ATTR_APPEND | CTM_ATTR_IMMUTABLE, CTM_DID_CONFLICT },
};

CASES(apply, flags_as_they_are_found, flagged)
{
	const struct change *c = &changes[0];
	const struct ctm_entry e = flagged_entry(c);
	FAKE fs = { 0 };
	struct ctm_step step;

	put_file(&fs, flagged[*i].done ? &c->after : &c->before);
	fs.nodes.v[0].attr = flagged[*i].attr;
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_CRASHED, false);
	cr_assert_eq(step.did, flagged[*i].did, "%s", flagged[*i].name);
	if (step.did == CTM_DID_CHANGE) {
		cr_assert(state_is(&fs, &c->after), "%s", flagged[*i].name);
		cr_assert_eq(fs.nodes.v[0].attr, CTM_ATTR_IMMUTABLE, "%s", flagged[*i].name);
	} else {
		cr_assert_eq(fs.nodes.v[0].attr, flagged[*i].attr, "%s", flagged[*i].name);
	}
}

static const struct {
	const char *op, *what;
	unsigned int at; /* which call, 0: all of op */
	bool half;
	uint32_t attr; /* afterwards */
} flag_failures[] = {
	{ "attr", "lift flags", 0, false, CTM_ATTR_IMMUTABLE },
	{ "chown", "chown", 0, false, CTM_ATTR_IMMUTABLE },
	/* open, read, stat, attr, chown, read, attr */
	{ NULL, "set flags again", 7, true, 0 },
};

CASES(apply, flags_come_back_after_a_failure, flag_failures)
{
	const struct change *c = &changes[0];
	const struct ctm_entry e = flagged_entry(c);
	FAKE fs = { .fail_op = flag_failures[*i].op,
		    .fail_at = flag_failures[*i].at,
		    .fail_with = EIO };
	struct ctm_step step;

	put_file(&fs, &c->before);
	fs.nodes.v[0].attr = CTM_ATTR_IMMUTABLE;
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
	cr_assert_eq(step.did, CTM_DID_FAIL, "%s", flag_failures[*i].what);
	cr_assert_eq(step.err, EIO);
	cr_assert_str_eq(step.what, flag_failures[*i].what);
	cr_assert_eq(step.half, flag_failures[*i].half, "%s", flag_failures[*i].what);
	cr_assert_eq(fs.nodes.v[0].attr, flag_failures[*i].attr, "%s", flag_failures[*i].what);
	cr_assert(state_is(&fs, flag_failures[*i].half ? &c->after : &c->before), "%s",
		  flag_failures[*i].what);
}

Test(apply, immutable)
{
	const struct ctm_entry e = entry_of(&changes[0]);
	FAKE fs = { 0 };
	struct ctm_step step;

	put_file(&fs, &changes[0].before);
	fs.nodes.v[0].attr = 1;
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
	cr_assert_eq(step.did, CTM_DID_FAIL);
	cr_assert_eq(step.err, EPERM);
	cr_assert_str_eq(step.what, "chown");
}
