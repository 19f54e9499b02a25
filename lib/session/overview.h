/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list: what can be said of a container in one line.
 */
#ifndef CTM_SESSION_OVERVIEW_H
#define CTM_SESSION_OVERVIEW_H

#include "run/history.h"
#include "session/session.h"
#include "target/inventory.h"

/** Zero-initialise. Strings are owned unless they are static; NULL: there is none, or not known. */
struct ctm_overview {
	char *name;
	char *hostname;
	const char *state; /* "running", "stopped", "rebooting", "template"; static */
	char *lock;
	char *storage;  /* of the rootfs */
	char *volume;   /* id of the rootfs, or its path */
	char *map;      /* "0:100000:65536", "privileged", "root 100000:100000, 6 ranges" */
	char *config;   /* codes of what configuration and records show without a look */
	char *findings; /* codes and counts of a check, "clean"; NULL: not looked */
	bool ha;        /* the HA manager may start it */
	bool replicated;
	bool interrupted; /* a run of it has no end */
	size_t runs;
	bool repaired;
	struct ctm_run_info last; /* its newest repair, if .repaired */
	bool work;                /* a check found a fault or a choice */
	/* The first thing that could not be found out; code CTM_OK: everything was. */
	struct ctm_err err;
};
void ctm_overview_done(struct ctm_overview *overview);

/** All containers of the host. */
struct ctm_overviews {
	CTM_VEC(struct ctm_overview) v;
	struct ctm_err missing; /* as in ctm_inventory */
	/* Why nothing is known of any repair; code CTM_OK: nothing is wrong with the records. */
	struct ctm_err records;
};
void ctm_overviews_done(struct ctm_overviews *overviews);

/**
 * One after the other; what is wrong with one is in its .err and stops no other. look: checks each
 * of them, which attaches its rootfs; else no volume is touched. CTM_SYS: out of memory, or what
 * holds for all of them cannot be read.
 */
int ctm_session_overviews(const struct ctm_session_opts *opts, bool look, struct ctm_overviews *ret,
			  struct ctm_err *err);

#endif
