/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configuration, and the way to the rootfs.
 */
#include "session/surroundings.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/lint.h"
#include "target/foreign.h"
#include "target/way.h"

static int note_closed(const struct ctm_way_dir *dir, const struct ctm_target *target,
		       struct ctm_plan *plan)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	ctm_did uid = { 0 };
	ctm_did gid = { 0 };
	int r;

	/* they are there: without them nothing is closed */
	(void)ctm_idmap_to_disk(target->map, CTM_UID, (ctm_cid){ 0 }, &uid);
	(void)ctm_idmap_to_disk(target->map, CTM_GID, (ctm_cid){ 0 }, &gid);
	r = ctm_buf_addf(&text, "%s, mode %04o, owner %u:%u: uid %u, gid %u cannot enter",
			 dir->path, dir->mode, dir->uid.v, dir->gid.v, uid.v, gid.v);
	return r < 0 ? r : ctm_plan_note(plan, CTM_F_PATH_PARENT, NULL, 0, text.p);
}

int ctm_surroundings_way(const struct ctm_host *host, const struct ctm_target *target,
			 const struct ctm_volume *vol, struct ctm_plan *plan, struct ctm_err *err)
{
	CLEANUP(ctm_way_done) struct ctm_way way = { 0 };
	int r = 0;

	if (strcmp(vol->key, "rootfs") != 0) {
		return 0;
	}
	if (ctm_way_closed(host, target, vol, &way, NULL) == -ENOMEM) {
		r = -ENOMEM;
	}
	for (size_t i = 0; i < way.v.n && r == 0; i++) {
		r = note_closed(&way.v.v[i], target, plan);
	}
	return r < 0 ? ctm_err_nomem(err) : 0;
}

static int note_foreign(const struct ctm_host *host, const struct ctm_target *target,
			const struct ctm_volume *vol, struct ctm_plan *plan)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_foreign foreign;
	int r = ctm_foreign_find(host, target, vol, &foreign);

	if (r < 0 || foreign.id == 0) {
		return r;
	}
	r = ctm_foreign_words(&foreign, vol, &text);
	return r < 0 ? r : ctm_plan_note(plan, CTM_F_CONF_FOREIGN, NULL, 0, text.p);
}

int ctm_surroundings_note(const struct ctm_host *host, const struct ctm_target *target,
			  const struct ctm_volume *vol, struct ctm_plan *plan, struct ctm_err *err)
{
	int r = ctm_lint_lock(target, plan);

	r = r == 0 ? ctm_lint_sections(target, plan) : r;
	r = r == 0 ? note_foreign(host, target, vol, plan) : r;
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	return ctm_surroundings_way(host, target, vol, plan, err);
}
