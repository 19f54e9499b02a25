/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a container's configuration says against using a volume. */
#include "target/guard_config.h"

#include "config/pctlock.h"

int ctm_guard_label(const struct ctm_target *target, struct ctm_buf *ret)
{
	switch (target->kind) {
	case CTM_TARGET_PVE:
		return ctm_buf_addf(ret, "CT %u", target->vmid);
	case CTM_TARGET_LXC:
		return ctm_buf_addf(ret, "container '%s'", target->name);
	case CTM_TARGET_PATH:
		break;
	}
	return ctm_buf_addf(ret, "'%s'", target->name);
}

static int check_lock(const char *label, const struct ctm_target *target, struct ctm_err *err)
{
	const struct ctm_pctlock *lock;
	int r;

	if (!target->lock || !target->lock[0]) {
		return 0;
	}
	lock = ctm_pctlock(target->lock);
	r = ctm_err_set(err, CTM_REFUSED, 0, "%s is locked (%s): %s", label, target->lock,
			lock->means);
	ctm_err_hint(err, "%s; then: pct %s %s", lock->look, lock->verb, target->name);
	return r;
}

int ctm_guard_config(const char *label, bool change, const struct ctm_target *target,
		     const struct ctm_volume *vol, struct ctm_err *err)
{
	if (vol->kind == CTM_VOLUME_BIND) {
		return ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' of %s is a directory of the host and not the container's own",
			vol->path, label);
	}
	if (!change) {
		return 0;
	}
	if (target->template) {
		return ctm_err_set(err, CTM_REFUSED, 0, "%s is a template", label);
	}
	if (vol->base) {
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' is the base volume of a template; its clones stand on it",
				   vol->id);
	}
	return check_lock(label, target, err);
}
