/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/storage.cfg, read as Proxmox VE reads it.
 *
 * Grammar: pve-common SectionConfig.pm parse_config, pve-storage Plugin.pm. A section ends at
 * an empty line alone; a header before that is no header; the first of two properties and the
 * last of two sections counts. Which types there are and what each one needs is not known here:
 * storage/storage.h.
 */
#ifndef CTM_CONFIG_STORAGECFG_H
#define CTM_CONFIG_STORAGECFG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "config/lines.h"

struct ctm_storage_prop {
	const char *key;
	const char *value; /* "" for a key that stands alone, such as "disable" */
	unsigned int line;
};

struct ctm_storage {
	const char *id;
	const char *type;  /* lower case */
	unsigned int line; /* 0: the built-in definition of "local" */
	CTM_VEC(struct ctm_storage_prop) props;
};

/** Zero-initialise; strings live in the arena. */
struct ctm_storagecfg {
	struct ctm_arena arena;
	CTM_VEC(struct ctm_storage) storages; /* "local" is always one of them */
	struct ctm_config_warnings warnings;
};

/**
 * CTM_REFUSED when text is no configuration file at all (ctm_lines_check()) or has over 1000
 * sections. ctm_storagecfg_done() in any case. An absent file is an empty text.
 */
int ctm_storagecfg_parse(struct ctm_bytes text, struct ctm_storagecfg *ret, struct ctm_err *err);
void ctm_storagecfg_done(struct ctm_storagecfg *cfg);

const struct ctm_storage *ctm_storagecfg_find(const struct ctm_storagecfg *cfg, const char *id);
/** A property's value, "" when the key stands alone, NULL when it is not there. */
const char *ctm_storage_prop(const struct ctm_storage *storage, const char *key);
/** A key alone, or with a value that is a word for true. */
bool ctm_storage_flag(const struct ctm_storage *storage, const char *key);

/**
 * Whether this is how a storage is called: a letter, then letters, digits, "-_.", a letter or
 * digit last.
 */
bool ctm_storage_id_valid(struct ctm_bytes id);

#endif
