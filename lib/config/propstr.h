/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Property strings: "local-lvm:vm-115-disk-0,size=8G,ro=1", read by a schema as Proxmox VE
 * reads them.
 *
 * Parts are split at commas, without any quoting. A part of blanks is skipped; a part without
 * "=" is the value of the default key, at any position; the first "=" ends a key. A key that
 * the schema does not have, one that stands twice, an empty value and a value of the wrong kind
 * make the whole string invalid (pve-common JSONSchema parse_property_string).
 */
#ifndef CTM_CONFIG_PROPSTR_H
#define CTM_CONFIG_PROPSTR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"

struct ctm_prop_desc {
	const char *name;
	bool boolean; /* the value is stored as "1" or "0" */
	bool required;
	bool default_key; /* at most one of a schema */
	/* Whether the value may be; NULL: any text. */
	bool (*valid)(const char *value);
};

#define CTM_PROP_MAX 16 /* properties of a schema */

struct ctm_prop_schema {
	const struct ctm_prop_desc *v;
	size_t n;
};

/** Zero-initialise. */
struct ctm_propstr {
	struct ctm_arena arena;
	const struct ctm_prop_schema *schema;
	const char *value[CTM_PROP_MAX]; /* by the schema's index; NULL: not there */
};

/**
 * CTM_REFUSED with a sentence that names the part. *ret is to be given to ctm_propstr_done() in any
 * case.
 */
int ctm_propstr_parse(const struct ctm_prop_schema *schema, const char *text,
		      struct ctm_propstr *ret, struct ctm_err *err);
void ctm_propstr_done(struct ctm_propstr *ps);

/** Of a name that the schema has; NULL: not there. Valid until ctm_propstr_done(). */
const char *ctm_propstr_get(const struct ctm_propstr *ps, const char *name);

#endif
