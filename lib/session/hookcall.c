/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hook was called with.
 */
#include "session/hookcall.h"

#include <string.h>

#include "base/cleanup.h"

static bool is_pre_start(const char *word)
{
	return strcmp(word, "pre-start") == 0;
}

/* A phase that Proxmox VE or LXC may have tomorrow is none of our business either. */
static int idle(const char *name, struct ctm_hook_call *ret)
{
	*ret = (struct ctm_hook_call){ .form = CTM_HOOK_IDLE, .name = name };
	return 0;
}

static int read_lxc(const char *name, const char *section, const char *type,
		    const struct ctm_hook_env *env, struct ctm_hook_call *ret, struct ctm_err *err)
{
	if (strcmp(section, "lxc") != 0 || !is_pre_start(type)) {
		return idle(name, ret);
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

	if (argc == 2 && is_pre_start(argv[1])) {
		*ret = (struct ctm_hook_call){ .form = CTM_HOOK_PVE, .name = argv[0] };
		return 0;
	}
	if (argc == 2) {
		return idle(argv[0], ret);
	}
	if (argc > 2) {
		return read_lxc(argv[0], argv[1], argv[2], env, ret, err);
	}
	if (argc == 0 && env->name && env->type) {
		return read_lxc(env->name, env->section ? env->section : "lxc", env->type, env, ret,
				err);
	}
	r = ctm_err_set(err, CTM_USAGE, 0, "not called as a hook");
	ctm_err_hint(
		err,
		"in a hook script: ctmend hook \"$@\"; for LXC: lxc.hook.pre-start = ctmend hook");
	return r;
}

/* Where the command stands: behind options, and words that may be their values. */
static int find_command(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "hook") == 0) {
			return i;
		}
		if (argv[i][0] != '-' && argv[i - (i > 1)][0] != '-') {
			break;
		}
	}
	return -1;
}

/* Options may be cut short as far as no other one begins like that (getopt_long(3)). */
static bool is_strict(const char *word)
{
	static const char option[] = "--strict";
	const size_t len = strlen(word);

	return len >= strlen("--st") && len <= strlen(option) && strncmp(word, option, len) == 0;
}

bool ctm_hook_call_is(int argc, char *const *argv, const struct ctm_hook_env *env, bool *ret_strict)
{
	const int at = find_command(argc, argv);
	bool two_words = false;
	bool strict = false;

	if (at < 0) {
		return false;
	}
	for (int i = at + 1; i < argc; i++) {
		strict |= is_strict(argv[i]);
		two_words |= i > at + 1 && argv[i][0] != '-' && argv[i - 1][0] != '-';
	}
	*ret_strict = strict;
	return two_words || (env->name && env->config);
}
