/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Property strings, read by a schema as Proxmox VE reads them.
 */
#include "config/propstr.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "config/lines.h"

static size_t find(const struct ctm_prop_schema *schema, struct ctm_bytes name)
{
	size_t i = 0;

	while (i < schema->n && !ctm_bytes_is(name, schema->v[i].name)) {
		i++;
	}
	return i;
}

static int store(struct ctm_propstr *ps, size_t i, struct ctm_bytes value, struct ctm_err *err)
{
	const struct ctm_prop_desc *desc = &ps->schema->v[i];

	if (ps->value[i]) {
		return ctm_err_set(err, CTM_REFUSED, 0, "property '%s' stands there twice",
				   desc->name);
	}
	if (desc->boolean) {
		int word = ctm_bool_word(value);

		if (word < 0) {
			return ctm_err_set(err, CTM_REFUSED, 0,
					   "property '%s' is neither 0 nor 1: '%.*s'", desc->name,
					   (int)value.len, (const char *)value.p);
		}
		ps->value[i] = word ? "1" : "0";
		return 0;
	}
	ps->value[i] = ctm_arena_dup(&ps->arena, value.p, value.len);
	if (!ps->value[i]) {
		return ctm_err_nomem(err);
	}
	if (desc->valid && !desc->valid(ps->value[i])) {
		return ctm_err_set(err, CTM_REFUSED, 0, "property '%s' has the bad value '%s'",
				   desc->name, ps->value[i]);
	}
	return 0;
}

static int add_part(struct ctm_propstr *ps, struct ctm_bytes part, struct ctm_err *err)
{
	const struct ctm_prop_schema *schema = ps->schema;
	const char *p = part.p;
	const char *eq = memchr(p, '=', part.len);
	struct ctm_bytes key = { .p = p };
	size_t i;

	if (!eq) {
		for (i = 0; i < schema->n; i++) {
			if (schema->v[i].default_key) {
				return store(ps, i, part, err);
			}
		}
		return ctm_err_set(err, CTM_REFUSED, 0, "'%.*s' has no key", (int)part.len, p);
	}
	key.len = (size_t)(eq - p);
	if (key.len == 0 || key.len + 1 == part.len) {
		return ctm_err_set(err, CTM_REFUSED, 0, "'%.*s' lacks a key or a value",
				   (int)part.len, p);
	}
	i = find(schema, key);
	if (i == schema->n) {
		return ctm_err_set(err, CTM_REFUSED, 0, "unknown property '%.*s'", (int)key.len, p);
	}
	return store(ps, i, (struct ctm_bytes){ .p = eq + 1, .len = part.len - key.len - 1 }, err);
}

int ctm_propstr_parse(const struct ctm_prop_schema *schema, const char *text,
		      struct ctm_propstr *ret, struct ctm_err *err)
{
	int r;

	assert(schema->n <= CTM_PROP_MAX);
	ret->schema = schema;
	for (const char *p = text;;) {
		size_t len = strcspn(p, ",");
		struct ctm_bytes part = { .p = p, .len = len };

		if (ctm_trim(part).len > 0) {
			r = add_part(ret, part, err);
			if (r < 0) {
				return r;
			}
		}
		if (p[len] == '\0') {
			break;
		}
		p += len + 1;
	}
	for (size_t i = 0; i < schema->n; i++) {
		if (schema->v[i].required && !ret->value[i]) {
			return ctm_err_set(err, CTM_REFUSED, 0, "property '%s' is missing",
					   schema->v[i].name);
		}
	}
	return 0;
}

void ctm_propstr_done(struct ctm_propstr *ps)
{
	ctm_arena_done(&ps->arena);
	*ps = (struct ctm_propstr){ 0 };
}

const char *ctm_propstr_get(const struct ctm_propstr *ps, const char *name)
{
	size_t i = find(ps->schema, (struct ctm_bytes){ .p = name, .len = strlen(name) });

	assert(i < ps->schema->n);
	return ps->value[i];
}
