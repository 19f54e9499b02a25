/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hook was called with.
 */
#include "session/hookcall.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const pve_phases[] = { "pre-start", "post-start", "pre-stop", "post-stop" };

static const char *const lxc_types[] = {
	"pre-start", "start-host", "pre-mount", "mount", "autodev",
	"start",     "stop",       "post-stop", "clone", "destroy",
};

static bool is_one_of(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(word, list[i]) == 0) {
			return true;
		}
	}
	return false;
}

static int read_pve(char *const *argv, struct ctm_hook_call *ret, struct ctm_err *err)
{
	if (!is_one_of(argv[1], pve_phases, ARRAY_LEN(pve_phases))) {
		return ctm_err_set(err, CTM_USAGE, 0,
				   "'%s' is no phase of a Proxmox VE hook script", argv[1]);
	}
	*ret = (struct ctm_hook_call){
		.form = strcmp(argv[1], "pre-start") == 0 ? CTM_HOOK_PVE : CTM_HOOK_IDLE,
		.name = argv[0],
	};
	return 0;
}

static int read_lxc(const char *name, const char *type, const struct ctm_hook_env *env,
		    struct ctm_hook_call *ret, struct ctm_err *err)
{
	if (!is_one_of(type, lxc_types, ARRAY_LEN(lxc_types))) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no type of an LXC hook", type);
	}
	if (strcmp(type, "pre-start") != 0) {
		*ret = (struct ctm_hook_call){ .form = CTM_HOOK_IDLE, .name = name };
		return 0;
	}
	if (!env->config || !env->rootfs) {
		return ctm_err_set(err, CTM_USAGE, 0,
				   "LXC_CONFIG_FILE and LXC_ROOTFS_PATH are not set");
	}
	*ret = (struct ctm_hook_call){
		.form = CTM_HOOK_LXC,
		.name = name,
		.config = env->config,
		.rootfs = env->rootfs,
	};
	return 0;
}

int ctm_hook_call_read(int argc, char *const *argv, const struct ctm_hook_env *env,
		       struct ctm_hook_call *ret, struct ctm_err *err)
{
	int r;

	if (argc == 2) {
		return read_pve(argv, ret, err);
	}
	if (argc == 3 && strcmp(argv[1], "lxc") == 0) {
		return read_lxc(argv[0], argv[2], env, ret, err);
	}
	if (argc == 0 && env->name && env->type) {
		return read_lxc(env->name, env->type, env, ret, err);
	}
	r = ctm_err_set(err, CTM_USAGE, 0, "not called as a hook");
	ctm_err_hint(
		err,
		"in a hook script: ctmend hook \"$@\"; for LXC: lxc.hook.pre-start = ctmend hook");
	return r;
}
