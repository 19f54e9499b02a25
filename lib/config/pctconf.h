/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/lxc/ID.conf, read as Proxmox VE reads it.
 *
 * The grammar is that of pve-container's parse_pct_config (the same in PVE 7, 8 and 9), traps
 * included: what looks like a section but is none, the last of two keys wins, a known key with
 * a bad value is warned about and kept as text, what cannot be parsed is warned about and
 * skipped. Only sections[0] is the container's present state.
 */
#ifndef CTM_CONFIG_PCTCONF_H
#define CTM_CONFIG_PCTCONF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "config/lines.h"

enum ctm_pctsection_kind {
	CTM_PCT_CURRENT,
	CTM_PCT_PENDING, /* applied at the next start */
	CTM_PCT_SNAPSHOT,
};

struct ctm_pctentry {
	const char *key;
	const char *value; /* booleans as "1" and "0", unless the word was none */
	unsigned int line;
};

struct ctm_pctsection {
	enum ctm_pctsection_kind kind;
	const char *name;  /* of the snapshot; "" otherwise */
	unsigned int line; /* of the header; 0 for the current state */
	CTM_VEC(struct ctm_pctentry)
	keys; /* in the file's order; of two with one key the later counts */
	CTM_VEC(struct ctm_pctentry) lxc; /* raw keys ("lxc.idmap") that PVE takes, all of them */
	const char *snapstate;            /* "prepare", "delete", or NULL */
	const char *remove;               /* value of delete: of the pending section, or NULL */
};

/** Zero-initialise; strings live in the arena. */
struct ctm_pctconf {
	struct ctm_arena arena;
	CTM_VEC(struct ctm_pctsection) sections;
	struct ctm_config_warnings warnings;
};

/**
 * CTM_REFUSED when text is no configuration file at all (ctm_lines_check()) or has over 1000
 * sections. Whatever else is wrong with it is a warning. ctm_pctconf_done() in any case.
 */
int ctm_pctconf_parse(struct ctm_bytes text, struct ctm_pctconf *ret, struct ctm_err *err);
void ctm_pctconf_done(struct ctm_pctconf *conf);

/** The entry that counts for an ordinary key, or NULL. */
const struct ctm_pctentry *ctm_pctconf_find(const struct ctm_pctsection *section, const char *key);
/** Its value, or NULL. */
const char *ctm_pctconf_get(const struct ctm_pctsection *section, const char *key);
/** Whether PVE takes the value for true: any text but "" and "0", also "maybe". */
bool ctm_pctconf_flag(const struct ctm_pctsection *section, const char *key);
/** The current state. */
const struct ctm_pctsection *ctm_pctconf_current(const struct ctm_pctconf *conf);

#endif
