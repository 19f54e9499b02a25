/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A damaged volume in memory, the plan that cures it, and a state directory for the records of its
 * repairs.
 */
#ifndef CTM_TESTS_STAGE_H
#define CTM_TESTS_STAGE_H

#include "fakefs.h"
#include "run/repair.h"
#include "scratch.h"

#define STAGE_BASE 100000

struct stage {
	struct scratch dir; /* sysroot of the state directory */
	struct fakefs fs;
	struct ctm_host host;
	struct ctm_state *state;
	struct ctm_identity identity;
	struct ctm_idmap *map;
	struct ctm_run run;
	bool keep; /* the plan removes nothing, but cures its owner */
};

#define STAGE(name) __attribute__((cleanup(stage_done))) struct stage *name = stage_new()

/* An empty volume. */
struct stage *stage_new(void);
void stage_done(struct stage **s);

/*
 * Files of every kind that a repair meets, below a root that is right: setuid, setgid, ACLs,
 * capabilities, links, directories, locks and leftovers to be removed.
 */
void stage_damage(struct stage *s);
/* Two read-only subvolumes with damage of their own, one in the other. */
void stage_subvols(struct stage *s);
/* Random inodes, some right, some wrong, some to be removed. */
void stage_random(struct stage *s, unsigned int *seed, unsigned int n);

/*
 * What cures it: ids below 65536 move up by STAGE_BASE, so do the names in ACLs ("h" to "m") and
 * capabilities ("v2" to "v3"); files called lock or below partial/ go. Free with stage_plan_done().
 */
struct ctm_plan stage_plan(struct stage *s);
void stage_plan_done(struct ctm_plan *plan);

/* Repairs what is wrong now; the listing after it. Nothing may be left. */
char *stage_repair(struct stage *s);
/* Takes the run back (NULL: the default one). Nothing may be left. */
void stage_undo(struct stage *s, const char *typed);
/* The listing that a repair should end in, computed beside it. */
char *stage_model(struct stage *s);
/* The volume is as listed; else both are shown, with when. */
void stage_expect(struct stage *s, const char *want, const char *when);
/* What was told of this path, or NULL. */
const struct ctm_result *stage_result(const struct ctm_outcome *out, const char *path);

#define STAGE_DIGEST "00112233445566778899aabbccddeeff"

/* Ends the program that held the lock and starts another one. */
void stage_restart(struct stage *s);

#endif
