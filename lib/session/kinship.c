/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other maps that ids of a volume may come from.
 */
#include "session/kinship.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/ctmap.h"
#include "config/mountmap.h"
#include "config/subid.h"
#include "target/hostfile.h"
#include "target/inventory.h"

void ctm_kinship_free(struct ctm_kinship *kinship)
{
	if (!kinship) {
		return;
	}
	for (size_t i = 0; i < kinship->maps.n; i++) {
		ctm_idmap_free((struct ctm_idmap *)kinship->maps.v[i].map);
	}
	ctm_vec_done(&kinship->maps);
	ctm_vec_done(&kinship->bases);
	ctm_arena_done(&kinship->arena);
	free(kinship);
}

static void kinship_freep(struct ctm_kinship **kinship)
{
	ctm_kinship_free(*kinship);
}

/* Takes the map over, unless it is the volume's own. */
static int add_map(struct ctm_kinship *k, const struct ctm_volume *volume, struct ctm_idmap *map,
		   const char *name)
{
	struct ctm_kin_map one = { .map = map };
	int r;

	if (!volume->map || ctm_idmap_eq(map, volume->map)) {
		ctm_idmap_free(map);
		return 0;
	}
	one.name = ctm_arena_dup(&k->arena, name, strlen(name));
	r = one.name ? ctm_vec_push(&k->maps, &one) : -ENOMEM;
	if (r < 0) {
		ctm_idmap_free(map);
	}
	return r;
}

/* The map that the volume would have with this one of the container and this property. */
static int add_effective(struct ctm_kinship *k, const struct ctm_volume *volume,
			 const struct ctm_idmap *map, const char *option, const char *name)
{
	struct ctm_err err = { 0 };
	struct ctm_idmap *own = NULL;
	int r;

	if (ctm_idmap_empty(map, CTM_UID) && ctm_idmap_empty(map, CTM_GID)) {
		return 0;
	}
	r = ctm_mountmap(map, option, &own, &err);
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	return add_map(k, volume, own, name);
}

static int add_section(struct ctm_kinship *k, const struct ctm_target *target,
		       const struct ctm_volume *volume, const struct ctm_pctsection *section)
{
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };
	char name[160] = "the pending section";
	int r = ctm_ctmap_from_pct(section, target->pct_major, &ctmap, &err);

	if (r < 0 || ctmap.privileged) {
		return r == -ENOMEM ? r : 0;
	}
	if (section->kind == CTM_PCT_SNAPSHOT) {
		(void)snprintf(name, sizeof(name), "the snapshot section [%.120s]", section->name);
	}
	return add_effective(k, volume, ctmap.map, volume->idmap_opt, name);
}

int ctm_kinship_new(const struct ctm_target *target, const struct ctm_volume *volume,
		    struct ctm_kinship **ret)
{
	CLEANUP(kinship_freep) struct ctm_kinship *k = calloc(1, sizeof(*k));
	int r = k ? 0 : -ENOMEM;

	if (r == 0 && volume->idmap_opt && target->map) {
		r = add_effective(k, volume, target->map, NULL, "the container's own map");
	}
	for (size_t i = 1; i < target->conf.sections.n && r == 0; i++) {
		r = add_section(k, target, volume, &target->conf.sections.v[i]);
	}
	if (r < 0) {
		return r;
	}
	k->kin.maps = k->maps.v;
	k->kin.n_maps = k->maps.n;
	*ret = TAKE_PTR(k);
	return 0;
}

/* One container's configuration, which need not be in order. */
static int add_container(struct ctm_kinship *k, const struct ctm_host *host, const char *name)
{
	const struct ctm_target_opts opts = { .keep_refused = true };
	CLEANUP(ctm_target_freep) struct ctm_target *other = NULL;
	struct ctm_err err = { 0 };
	const char *owner;
	char text[160];
	int r = ctm_target_locate(host, name, &opts, &other, &err);

	if (r < 0 || !other->map || other->privileged) {
		return r == -ENOMEM ? r : 0;
	}
	(void)snprintf(text, sizeof(text), "container %.120s", name);
	owner = ctm_arena_dup(&k->arena, text, strlen(text));
	if (!owner) {
		return -ENOMEM;
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(other->map, kind, &n);

		for (size_t i = 0; i < n; i++) {
			const struct ctm_kin_base base = { kind, v[i], owner };

			/* what it passes through is the host's */
			if (v[i].ct != v[i].disk && ctm_vec_push(&k->bases, &base) < 0) {
				return -ENOMEM;
			}
		}
	}
	return 0;
}

struct granted {
	struct ctm_kinship *kinship;
	enum ctm_idkind kind;
	const char *owner;
};

/* A long grant is for many containers: its first ids alone are somebody's for sure. */
static int add_grant(uint32_t first, uint32_t count, void *arg)
{
	const struct granted *granted = arg;
	const struct ctm_kin_base base = {
		.kind = granted->kind,
		.range = { 0, first,
			   count < CTM_IDMAP_DEFAULT_LEN ? count : CTM_IDMAP_DEFAULT_LEN },
		.owner = granted->owner,
	};

	return ctm_vec_push(&granted->kinship->bases, &base);
}

static int add_grants(struct ctm_kinship *k, const struct ctm_host *host, enum ctm_idkind kind)
{
	static const char *const places[] = { "/etc/subuid", "/etc/subgid" };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct granted granted = { k, kind, places[kind] };
	struct ctm_err err = { 0 };
	int r = ctm_host_path(host, &path, "%s", places[kind]);

	if (r < 0 || !ctm_hostfile_exists(path.p)) {
		return r;
	}
	r = ctm_hostfile_read(path.p, &text, &err);
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	return ctm_subid_each((struct ctm_bytes){ text.p, text.len }, add_grant, &granted);
}

int ctm_kinship_add_bases(struct ctm_kinship *k, const struct ctm_host *host,
			  const struct ctm_target *target)
{
	CLEANUP(ctm_inventory_done) struct ctm_inventory all = { 0 };
	struct ctm_err err = { 0 };
	int r = k->has_bases ? 0 : ctm_inventory_read(host, &all, &err);

	for (size_t i = 0; i < all.names.n && r == 0; i++) {
		if (strcmp(all.names.v[i], target->name) != 0) {
			r = add_container(k, host, all.names.v[i]);
		}
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0 && !k->has_bases; kind++) {
		r = add_grants(k, host, kind);
	}
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	k->has_bases = true;
	k->kin.bases = k->bases.v;
	k->kin.n_bases = k->bases.n;
	return 0;
}
