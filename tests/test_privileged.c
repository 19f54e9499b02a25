/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of privileged files: which they are, what is kept of their content, and who gets bits. */
#include "run/privileged.h"

#include <errno.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "cases.h"
#include "fakefs.h"

#define FAKE  CLEANUP(fake_done) struct fakefs
#define HOST  "what the host wrote"
#define OTHER "WHAT THE HOST WROTE"
#define LARGE (CTM_PRIVILEGED_FILE_MAX + 1)

static const struct ctm_bytes caps = { .p = "v2", .len = 2 };

static const struct {
	const char *name;
	uint32_t mode;
	bool caps;
	bool privileged;
} kinds[] = {
	{ "plain", S_IFREG | 0777, false, false },
	{ "setuid", S_IFREG | 04755, false, true },
	{ "setgid", S_IFREG | 02755, false, true },
	{ "setgid, nobody may run it", S_IFREG | 02644, false, true },
	{ "sticky", S_IFREG | 01755, false, false },
	{ "capability", S_IFREG | 0755, true, true },
	{ "directory", S_IFDIR | 06755, true, false },
	{ "FIFO", S_IFIFO | 06755, true, false },
	{ "device", S_IFCHR | 06755, false, false },
};

CASES(privileged, kinds_of_files, kinds)
{
	const struct ctm_inode_state s = { .mode = kinds[*i].mode,
					   .caps = kinds[*i].caps ? caps :
								    (struct ctm_bytes){ 0 } };

	cr_assert_eq(ctm_privileged(&s), kinds[*i].privileged, "%s", kinds[*i].name);
}

static struct fake_node *put(struct fakefs *fs, uint32_t mode, uint32_t id)
{
	size_t at = fake_add(fs, "f", mode, id, id);
	struct fake_node *n = &fs->nodes.v[at];

	n->content = (struct ctm_bytes){ HOST, strlen(HOST) };
	return n;
}

static struct ctm_entry entry_of(const struct fake_node *n)
{
	return (struct ctm_entry){
		.kind = CTM_ENTRY_SET,
		.ref = { .path = "f", .path_len = 1, .ino = n->ino },
		.before = n->state,
		.after = n->state,
	};
}

static const struct {
	const char *name;
	uint32_t before, after; /* modes */
	uint64_t holes, left;
	enum ctm_entry_content content;
} records[] = {
	{ "set-id before", 04755, 0755, 0, 1000, CTM_CONTENT_SHA256 },
	{ "set-id after", 0755, 04755, 0, 1000, CTM_CONTENT_SHA256 },
	{ "exactly what may be read", 04755, 04755, 0, 19, CTM_CONTENT_SHA256 },
	{ "more than may be read of all", 04755, 04755, 0, 18, CTM_CONTENT_CTIME },
	{ "more than may be read of one", 04755, 04755, LARGE, UINT64_MAX, CTM_CONTENT_CTIME },
	{ "not privileged", 0755, 0644, 0, 1000, CTM_CONTENT_NONE },
};

CASES(privileged, what_is_recorded, records)
{
	FAKE fs = { 0 };
	struct fake_node *n = put(&fs, S_IFREG | records[*i].before, 0);
	struct ctm_entry e = entry_of(n);
	uint64_t left = records[*i].left;
	struct sha256_ctx ctx;
	uint8_t sha256[32];

	n->holes = records[*i].holes;
	e.after.mode = S_IFREG | records[*i].after;
	cr_assert_eq(ctm_privileged_record(&fake_ops, &fs, &e, &left), 0, "%s", records[*i].name);
	cr_assert_eq(e.content, records[*i].content, "%s: %d", records[*i].name, e.content);
	cr_assert_eq(records[*i].left - left, e.content == CTM_CONTENT_SHA256 ? strlen(HOST) : 0,
		     "%s", records[*i].name);
	if (e.content == CTM_CONTENT_SHA256) {
		sha256_init(&ctx);
		sha256_update(&ctx, strlen(HOST), (const uint8_t *)HOST);
		sha256_digest(&ctx, sizeof(sha256), sha256);
		cr_assert(memcmp(e.sha256, sha256, sizeof(sha256)) == 0, "%s", records[*i].name);
		cr_assert_eq(e.size, strlen(HOST), "%s", records[*i].name);
	} else if (e.content == CTM_CONTENT_CTIME) {
		cr_assert_eq(e.ctime.tv_sec, n->ctime.tv_sec, "%s", records[*i].name);
		cr_assert_eq(e.ctime.tv_nsec, n->ctime.tv_nsec, "%s", records[*i].name);
		cr_assert_eq(e.size, strlen(HOST) + n->holes, "%s", records[*i].name);
	}
	cr_assert_eq(fs.open, 0);
}

/* No reason to leave its owner wrong. */
Test(privileged, a_content_that_cannot_be_read)
{
	FAKE fs = { .fail_at = 3, .fail_with = ENOKEY, .fail_on = false };
	struct fake_node *n = put(&fs, S_IFREG | 04755, 0);
	struct ctm_entry e = entry_of(n);
	uint64_t left = 1000;
	struct ctm_step step;

	e.after.uid.v = 100000;
	cr_assert_eq(ctm_privileged_record(&fake_ops, &fs, &e, &left), 0);
	cr_assert_eq(e.content, CTM_CONTENT_CTIME);
	cr_assert_eq(left, 1000);
	fs.calls = 0; /* open, read, and the file again */
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false);
	cr_assert_eq(step.did, CTM_DID_CHANGE, "%s", step.what);
	cr_assert(ctm_privileged(&n->state));
	cr_assert_eq(fs.open, 0);
}

/* The entry that gives the container's file back to the host, as recorded with HOST in it. */
static struct ctm_entry back_to_host(struct fakefs *fs, uint32_t mode, bool with_caps)
{
	struct fake_node *n = put(fs, S_IFREG | mode, 100000);
	struct ctm_entry e;
	uint64_t left = UINT64_MAX;

	n->state.caps = with_caps ? caps : (struct ctm_bytes){ .p = NULL };
	e = entry_of(n);
	e.after.uid.v = 0;
	e.after.gid.v = 0;
	cr_assert_eq(ctm_privileged_record(&fake_ops, fs, &e, &left), 0);
	return e;
}

static const struct {
	const char *name;
	uint32_t mode;
	bool caps;
	const char *content; /* what stands there now */
	bool writer, no_leases;
	enum ctm_did did;
	int err;
} ends[] = {
	{ "as it was", 04755, false, HOST, false, false, CTM_DID_CHANGE, 0 },
	{ "rewritten", 04755, false, OTHER, false, false, CTM_DID_CONFLICT, 0 },
	{ "longer", 04755, false, HOST "x", false, false, CTM_DID_CONFLICT, 0 },
	{ "shorter", 04755, false, "", false, false, CTM_DID_CONFLICT, 0 },
	{ "setgid, rewritten", 02755, false, OTHER, false, false, CTM_DID_CONFLICT, 0 },
	{ "capability, rewritten", 0755, true, OTHER, false, false, CTM_DID_CONFLICT, 0 },
	{ "capability", 0755, true, HOST, false, false, CTM_DID_CHANGE, 0 },
	{ "without leases", 04755, true, HOST, false, true, CTM_DID_FAIL, EOPNOTSUPP },
	{ "without leases, plain", 0755, false, HOST, false, true, CTM_DID_CHANGE, 0 },
	{ "without leases, rewritten", 04755, true, OTHER, false, true, CTM_DID_CONFLICT, 0 },
	{ "open for writing", 04755, false, HOST, true, false, CTM_DID_FAIL, ETXTBSY },
	{ "plain, rewritten", 0755, false, OTHER, true, false, CTM_DID_CHANGE, 0 },
};

CASES(privileged, what_gets_its_bits, ends)
{
	FAKE fs = { .no_leases = ends[*i].no_leases };
	struct ctm_entry e = back_to_host(&fs, ends[*i].mode, ends[*i].caps);
	struct ctm_step step;

	fs.nodes.v[0].content = (struct ctm_bytes){ ends[*i].content, strlen(ends[*i].content) };
	fs.nodes.v[0].writer = ends[*i].writer;
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, true);
	cr_assert_eq(step.did, ends[*i].did, "%s: %d %s", ends[*i].name, step.did, step.what);
	cr_assert_eq(step.err, ends[*i].err, "%s: %d", ends[*i].name, step.err);
	cr_assert(ctm_inode_state_eq(&fs.nodes.v[0].state,
				     step.did == CTM_DID_CHANGE ? &e.after : &e.before),
		  "%s", ends[*i].name);
	cr_assert(step.did == CTM_DID_CHANGE || fs.log.len == 0, "%s: %s", ends[*i].name, fs.log.p);
	cr_assert_eq(fs.open, 0);
}

Test(privileged, a_content_that_nobody_recorded)
{
	FAKE fs = { 0 };
	struct ctm_entry e = back_to_host(&fs, 04755, false);

	e.content = CTM_CONTENT_NONE;
	cr_assert_eq(ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, true).did,
		     CTM_DID_CONFLICT);
	cr_assert_eq(fs.log.len, 0);
}

static const struct {
	const char *name;
	bool no_leases; /* and to the container: to others it would not even begin */
	const char *want_at;
} races[] = {
	{ "written behind the chown", true, NULL },
	{ "wanted at the chown", false, "chown" },
	{ "wanted at the chmod", false, "chmod" },
	{ "wanted at the capability", false, "xattr" },
};

/* Somebody with a descriptor from before comes in between: the file is left without bits. */
CASES(privileged, no_longer_proven, races)
{
	FAKE fs = { .no_leases = races[*i].no_leases, .want_at = races[*i].want_at };
	struct ctm_entry e = back_to_host(&fs, 06755, true);
	const struct ctm_inode_state *s = &fs.nodes.v[0].state;
	struct ctm_step step;

	if (races[*i].no_leases) {
		fs.write_at_chown = (struct ctm_bytes){ OTHER, strlen(OTHER) };
	}
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, !races[*i].no_leases);
	cr_assert_eq(step.did, CTM_DID_FAIL, "%s", races[*i].name);
	cr_assert_eq(step.err, ETXTBSY, "%s", races[*i].name);
	cr_assert(step.half, "%s: it goes on another time", races[*i].name);
	cr_assert_not(ctm_privileged(s), "%s: %o", races[*i].name, s->mode);
	/* Then it does, if nothing was written. */
	fs.want_at = NULL;
	fs.write_at_chown = (struct ctm_bytes){ .p = NULL };
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_FAILED, !races[*i].no_leases);
	cr_assert_eq(step.did, races[*i].no_leases ? CTM_DID_CONFLICT : CTM_DID_CHANGE, "%s",
		     races[*i].name);
	cr_assert_eq(ctm_privileged(s), !races[*i].no_leases, "%s: %o", races[*i].name, s->mode);
}

/* What the container gets it could have made itself: a second comparison has to do. */
Test(privileged, without_leases_to_the_container)
{
	FAKE fs = { .no_leases = true };
	struct ctm_entry e = back_to_host(&fs, 04755, false);

	cr_assert_eq(ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, false).did,
		     CTM_DID_CHANGE);
	cr_assert(ctm_privileged(&fs.nodes.v[0].state));
}

/* A call fails, and what came back is not given bits without a proof either. */
Test(privileged, taking_back_needs_the_proof_too)
{
	FAKE fs = { .fail_op = "xattr", .fail_with = ENOSPC };
	struct ctm_entry e = back_to_host(&fs, 04755, false);
	struct ctm_step step;

	e.after.mode = S_IFREG | 0755; /* as flattening has it */
	e.after.acl_access = caps;
	fs.nodes.v[0].content = (struct ctm_bytes){ OTHER, strlen(OTHER) };
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_BEFORE, true);
	cr_assert_eq(step.did, CTM_DID_FAIL);
	cr_assert(step.half);
	cr_assert_not(ctm_privileged(&fs.nodes.v[0].state));
}

static const struct {
	const char *name;
	bool halfway, strict;
	struct timespec recorded, now;
	enum ctm_did did;
	bool marked; /* the ctime afterwards may be relied on */
} larges[] = {
	{ "untouched", false, true, { 1, 5 }, { 1, 5 }, CTM_DID_CHANGE, true },
	{ "touched", false, true, { 1, 5 }, { 1, 6 }, CTM_DID_CONFLICT, false },
	{ "touched long ago", false, true, { 2, 5 }, { 1, 5 }, CTM_DID_CONFLICT, false },
	{ "touched, repair", false, false, { 1, 5 }, { 1, 6 }, CTM_DID_CONFLICT, false },
	{ "crashed", true, true, { 1, 5 }, { 1, 5 }, CTM_DID_CONFLICT, false },
	{ "crashed, repair", true, false, { 1, 5 }, { 9, 9 }, CTM_DID_CHANGE, false },
	{ "whole seconds", false, true, { 1, 0 }, { 1, 0 }, CTM_DID_CONFLICT, false },
	{ "whole seconds, repair", false, false, { 1, 0 }, { 1, 0 }, CTM_DID_CHANGE, true },
};

CASES(privileged, large_files, larges)
{
	FAKE fs = { 0 };
	struct ctm_entry e = back_to_host(&fs, 04755, false);
	struct fake_node *n = &fs.nodes.v[0];
	struct ctm_step step;

	e.content = CTM_CONTENT_CTIME;
	e.ctime = larges[*i].recorded;
	n->ctime = larges[*i].now;
	if (larges[*i].halfway) {
		n->state.uid.v = 0;
		n->state.gid.v = 0;
		n->state.mode = S_IFREG | 0755;
	}
	step = ctm_apply_inode(&fake_ops, &fs, &e, CTM_ALLOW_CRASHED, larges[*i].strict);
	cr_assert_eq(step.did, larges[*i].did, "%s: %d", larges[*i].name, step.did);
	cr_assert_eq(step.ctime.tv_sec, larges[*i].marked ? n->ctime.tv_sec : 0, "%s",
		     larges[*i].name);
	cr_assert_eq(ctm_privileged(&n->state), step.did == CTM_DID_CHANGE || !larges[*i].halfway,
		     "%s", larges[*i].name);
}
