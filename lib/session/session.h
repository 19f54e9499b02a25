/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session: the stages of the pipeline in their order, for one volume of one target.
 *
 *	locate -> guard -> attach -> scan -> plan -> inspect	ctm_examine()
 *	       -> record -> apply -> verify			ctm_session_repair()
 */
#ifndef CTM_SESSION_SESSION_H
#define CTM_SESSION_SESSION_H

#include <stdbool.h>

#include "base/err.h"
#include "plan/diagnosis.h"
#include "plan/plan.h"
#include "run/outcome.h"
#include "run/repair.h"
#include "run/stop.h"
#include "run/undo.h"
#include "target/attach.h"
#include "target/guard.h"
#include "target/target.h"

struct ctm_deadline;
struct ctm_watch;

/** A container that is being started, by a process that waits for us. */
struct ctm_starting {
	/*
	 * Whoever starts it does so without Proxmox VE's lock (vzdump after a backup in stop mode,
	 * remote migration); the watch of the hook has it now.
	 */
	bool unlocked;
	const char *config; /* LXC_CONFIG_FILE, or NULL for a hook script of Proxmox VE */
	const char *rootfs; /* LXC_ROOTFS_PATH, or NULL likewise */
};

/** What the user asked for; strings are borrowed. Zero-initialised: the defaults but for wait. */
struct ctm_session_opts {
	struct ctm_host host;
	struct ctm_target_opts target;
	/*
	 * For calls on one target that belong together, such as a look and the repair that was
	 * agreed to: the first sets it to what a path leads to, and for the others anything else is
	 * refused. NULL: each call for itself.
	 */
	struct ctm_pin *pin;
	const char *volume;       /* key of the volume; NULL: rootfs */
	bool scope_required;      /* the required directories alone */
	const char *const *paths; /* normalised relative paths */
	size_t n_paths;
	enum ctm_clean clean;
	unsigned int fix; /* set of enum ctm_fix */
	bool flatten;
	bool convert;
	const char *from_map; /* map that ids on disk were written under; NULL: none */
	bool no_content;      /* remove nothing on grounds of its content (hook) */
	bool hook;            /* it is a hook that asks, not a person */
	unsigned int jobs;    /* 0: number of processors */
	unsigned int wait;    /* seconds for locks */
	const char *words;    /* the options that mattered, for the record; NULL: none */
	/*
	 * TMPDIR: where what is too much for the memory goes. NULL: /var/tmp; for a repair the
	 * state directory, when it is there.
	 */
	const char *tmpdir;
	/* Called by whoever starts the container (session/hook.h); NULL otherwise. */
	const struct ctm_starting *starting;
	struct ctm_stop *stop;               /* set by a signal handler (run/stop.h), or NULL */
	const struct ctm_watch *watch;       /* of a hook (session/watch.h), or NULL */
	const struct ctm_deadline *deadline; /* of a hook (session/deadline.h); NULL: none */
	/* Called now and then from the caller's thread while inodes are changed; may be NULL. */
	ctm_progress_fn progress;
	/* One sentence about what takes long, before it does; may be NULL. */
	void (*notice)(const char *text, void *arg);
	void *callback_arg; /* of both */
};

/** A volume looked at: everything a report needs. Owns all its parts. */
struct ctm_exam {
	struct ctm_target *target;
	const struct ctm_volume *volume; /* in target */
	struct ctm_plan
		*plan; /* NULL when there is nothing to judge by (no map) or nothing to shift */
	struct ctm_kinship *kin; /* other maps that ids may come from (session/kinship.h) */
	struct ctm_idmap *from;  /* --from-map, where it applies (session/frommap.h) */
	bool back;               /* the volume has no map of its own, every id is itself */
	/* Of the plan; its text is NULL without one, in a start and for a repair under its lock. */
	struct ctm_diagnosis diagnosis;
	struct ctm_scan_totals seen; /* without a plan: what was counted */
	struct ctm_identity identity;
	struct ctm_buf identity_text;
	char digest[33];
	char fstype[32];
	/* While it is being read under a lock: asked whether to give way. Borrowed, else NULL. */
	struct ctm_guard *guard;
	bool running;
	bool to_repair; /* it is made by a repair, not for a report */
	bool dirty;     /* the journal holds writes that were not seen */
	bool alone;     /* a hook has it, raw, mounted for writing: nobody else can have a file */
	/* the run that the plan finishes first, "" for none (session/unfinished.h) */
	char unfinished[CTM_RUN_NAME_MAX];
	bool unfinished_hook;          /* a hook made it */
	struct ctm_err unfinished_err; /* why it cannot be finished; code CTM_OK: it can */
	CTM_VEC(char *) notes;         /* sentences a person should read */
};

void ctm_exam_free(struct ctm_exam *exam);
static inline void ctm_exam_freep(struct ctm_exam **exam)
{
	ctm_exam_free(*exam);
}

/**
 * Looks at a volume, read-only. Whatever was attached and locked is given back before it returns.
 * Errors as of the stages; CTM_REFUSED means that nothing could be said for sure.
 */
int ctm_examine(const char *name, const struct ctm_session_opts *opts, struct ctm_exam **ret,
		struct ctm_err *err);

/**
 * Whether the plan of an exam may be carried out: CTM_REFUSED without a map, for tree.host and for
 * a held lock;
 * -ESTALE, CTM_REFUSED, when digest is given and is not the plan's.
 */
int ctm_exam_agree(const struct ctm_exam *exam, const char *digest, struct ctm_err *err);

/** What a repair or an undo did, and what is there now. Zero-initialise. */
struct ctm_done {
	struct ctm_exam *exam; /* repair: the plan that was carried out; undo: the volume alone */
	struct ctm_outcome finished; /* repair: an interrupted run that was finished first */
	struct ctm_outcome run; /* entry by entry; run.run is "" when there was nothing to do */
	struct ctm_plan *left;  /* repair: the verifying scan */
	bool started;           /* the container was started meanwhile; exam has a note of it */
};

void ctm_done_free(struct ctm_done *done);

/** Whether a repair left something that a person must see to: exit status 4. */
bool ctm_done_partly(const struct ctm_done *done);

/**
 * Whether ctm_session_repair() with the same arguments would change anything now: it does all that
 * that does before its first change, and lets the lock go again. Errors as there.
 */
int ctm_session_repair_due(const char *name, const struct ctm_session_opts *opts,
			   const char *digest, bool *ret, struct ctm_err *err);

/**
 * Takes the lock, plans again, and repairs if the new plan is the wanted one; verifies by a second
 * scan.
 *
 * digest: the plan that was agreed to, or NULL for any (--yes). When the plan has another one:
 * -ESTALE, CTM_REFUSED, and ret->exam has the new plan to show. Nothing was changed on any error
 * that is not CTM_SYS or CTM_CORRUPT; with these ret->run tells how far it came.
 */
int ctm_session_repair(const char *name, const struct ctm_session_opts *opts, const char *digest,
		       struct ctm_done *ret, struct ctm_err *err);

/**
 * Takes a run back: typed is its name or number, NULL the newest that can be. Without opts->volume
 * that is one of any volume of the target.
 */
int ctm_session_undo(const char *name, const struct ctm_session_opts *opts, const char *typed,
		     struct ctm_done *ret, struct ctm_err *err);

/**
 * What that undo would do, entry by entry, from a read-only volume: fn as in ctm_undo_plan().
 * ret->run has what would be left. ret_run: the run that was chosen; it is set before fn
 * is called.
 */
int ctm_session_undo_preview(const char *name, const struct ctm_session_opts *opts,
			     const char *typed, ctm_undo_fn fn, void *arg,
			     struct ctm_run_info *ret_run, struct ctm_done *ret,
			     struct ctm_err *err);

#endif
