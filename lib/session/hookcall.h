/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a hook was called with: Proxmox VE's hook scripts and LXC's hooks hand over different words.
 */
#ifndef CTM_SESSION_HOOKCALL_H
#define CTM_SESSION_HOOKCALL_H

#include <stdbool.h>

#include "base/err.h"

enum ctm_hook_form {
	CTM_HOOK_IDLE, /* a phase in which there is nothing to do */
	CTM_HOOK_PVE,  /* "<vmid> pre-start" (PVE::GuestHelpers exec_hookscript) */
	CTM_HOOK_LXC,  /* lxc.hook.pre-start (lxc.container.conf(5), CONTAINER HOOKS) */
};

/** LXC's environment; any may be NULL. */
struct ctm_hook_env {
	const char *name;    /* LXC_NAME */
	const char *type;    /* LXC_HOOK_TYPE, with lxc.hook.version = 1 */
	const char *config;  /* LXC_CONFIG_FILE */
	const char *rootfs;  /* LXC_ROOTFS_PATH */
	const char *section; /* LXC_HOOK_SECTION, with lxc.hook.version = 1: "lxc", "net" */
};

/** Strings are borrowed from the words and the environment. */
struct ctm_hook_call {
	enum ctm_hook_form form;
	const char *name;
	const char *config; /* CTM_HOOK_LXC */
	const char *rootfs; /* CTM_HOOK_LXC */
};

/**
 * Two words are Proxmox VE's, more ("<name> <section> <type> ...") LXC's hook version 0, none LXC's
 * version 1. Every phase, type and section but LXC's and Proxmox VE's pre-start is idle, those that
 * are not known too. CTM_USAGE: no call of a hook, or LXC's environment is not there.
 */
int ctm_hook_call_read(int argc, char *const *argv, const struct ctm_hook_env *env,
		       struct ctm_hook_call *ret, struct ctm_err *err);

/**
 * Whether a whole command line (argv[0] included), in which something may be wrong, is a hook that
 * a start waits for, rather than what a person types: "hook" and two words that stand together, or
 * LXC's environment. *ret_strict, then: whether it asks for --strict.
 */
bool ctm_hook_call_is(int argc, char *const *argv, const struct ctm_hook_env *env,
		      bool *ret_strict);

#endif
