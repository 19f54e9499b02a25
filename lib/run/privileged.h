/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Privileged files: regular files whose set-id bits or capability lend somebody's power to whoever
 * runs them. What is in them belongs to what a record knows, and they get their bits, or a
 * capability, from a record only with that content: between two runs the file was somebody else's,
 * who may have written anything into it and set the mode again.
 *
 *	record    the content's SHA-256 before the first change, or, for what is too large to be
 *	          read in every run, the ctime of the inode: any write changes it, and so does a
 *	          rename.
 *	          Behind a sync of the volume the ctime that the run left is marked; what was not
 *	          marked because a crash came before is not known, and left when it is taken back
 *	apply     nobody has it open for writing, nor can until it is over (a lease); the content is
 *	          compared; chown(2), which takes the bits away; mode, ACLs, capability; and nobody
 *	          has tried to write meanwhile. Whatever else comes out leaves no bits.
 *
 * A write by anybody without CAP_FSETID takes the bits away, one through a shared mapping does not:
 * hence the lease. On a file system without leases who has such a mapping can write behind whatever
 * comparison is the last: there no file gets bits that goes to others than the container, and one
 * that does go to it has its content compared a second time, behind the chown.
 */
#ifndef CTM_RUN_PRIVILEGED_H
#define CTM_RUN_PRIVILEGED_H

#include <stdbool.h>
#include <stdint.h>

#include "run/apply_inode.h"
#include "run/entry.h"
#include "run/journal_header.h"
#include "run/ops.h"

#define CTM_PRIVILEGED_FILE_MAX ((uint64_t)64 << 20)  /* bytes of a file that are read */
#define CTM_PRIVILEGED_RUN_MAX  ((uint64_t)256 << 20) /* of all files of a run */

bool ctm_privileged(const struct ctm_inode_state *state);
/** Whether the run of this record moves files to others than the container it is about. */
bool ctm_privileged_strict(const struct ctm_run_header *header);

/**
 * Fills in what the record of a SET entry, one of whose states is privileged, knows of the content:
 * .content and what belongs to it. left: bytes that may still be read in this run. A content that
 * cannot be read is known by the ctime. -ESTALE: the inode is gone, or the file is growing.
 */
int ctm_privileged_record(const struct ctm_ops *ops, void *fs, struct ctm_entry *entry,
			  uint64_t *left);

/** The content of one file, proven while its owner changes. ctm_proof_done() ends it. */
struct ctm_proof {
	const struct ctm_ops *ops;
	void *fs;
	const struct ctm_entry *entry;
	int fd;     /* of the file, readable; -1: it is not privileged at all */
	bool held;  /* by a lease */
	bool known; /* it is the recorded one, and not only supposed to be */
	bool lost;  /* the content is another, or somebody may write it */
};
#define CTM_PROOF_NONE ((struct ctm_proof){ .fd = -1 })

/**
 * Whether the open inode, which is in the state now, may be given the after state of the entry, as
 * far as its content goes: CTM_DID_CHANGE; CTM_DID_CONFLICT ("changed"), CTM_DID_FAIL (ETXTBSY:
 * open for writing; EOPNOTSUPP: strict, and writers cannot be kept out). Nothing changes. Where the
 * after state is not privileged, any content may.
 *
 * strict: the inode of a CTM_CONTENT_CTIME entry that is on its way already, after a crash, is
 * taken for changed, because nothing tells what its ctime was then. Not so where the way leads from
 * the host to the container whose record it is: there its owner gets no more than he could take.
 */
struct ctm_step ctm_proof_begin(const struct ctm_ops *ops, void *fs, int h,
				const struct ctm_entry *entry, const struct ctm_inode_state *now,
				bool strict, struct ctm_proof *ret);
/**
 * Whether it still holds, for what is to be given this state: 0, -ETXTBSY or another errno. To be
 * called behind the chown, and again behind all that was given. proof NULL: of nothing privileged.
 */
int ctm_proof_holds(struct ctm_proof *proof, const struct ctm_inode_state *state);
void ctm_proof_done(struct ctm_proof *proof);

/** As ctm_proof_begin(), for a preview: without regard to who has it open. */
struct ctm_step ctm_privileged_look(const struct ctm_ops *ops, void *fs, int h,
				    const struct ctm_entry *entry,
				    const struct ctm_inode_state *now, bool strict);

#endif
