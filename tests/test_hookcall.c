/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words and environment of hooks: PVE::GuestHelpers exec_hookscript, lxc.container.conf(5). */
#include "session/hookcall.h"

#include <string.h>

#include "cases.h"

#define LXC_ENV                                                    \
	{                                                          \
		"web", NULL, "/var/lib/lxc/web/config", "/srv/web" \
	}

static const struct {
	const char *name;
	int argc;
	const char *argv[4];
	struct ctm_hook_env env;
	enum ctm_code code;
	enum ctm_hook_form form;
	const char *target;
} rows[] = {
	{ "PVE pre-start", 2, { "115", "pre-start" }, { 0 }, CTM_OK, CTM_HOOK_PVE, "115" },
	{ "PVE post-start", 2, { "115", "post-start" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE pre-stop", 2, { "115", "pre-stop" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE post-stop", 2, { "115", "post-stop" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE, no such phase", 2, { "115", "prestart" }, { 0 }, CTM_USAGE, CTM_HOOK_IDLE, NULL },
	{ "PVE words win over the environment",
	  2,
	  { "115", "pre-start" },
	  LXC_ENV,
	  CTM_OK,
	  CTM_HOOK_PVE,
	  "115" },
	{ "LXC version 0", 3, { "web", "lxc", "pre-start" }, LXC_ENV, CTM_OK, CTM_HOOK_LXC, "web" },
	{ "LXC version 0, other hook",
	  3,
	  { "web", "lxc", "mount" },
	  LXC_ENV,
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "LXC version 0, no such hook",
	  3,
	  { "web", "lxc", "hook" },
	  LXC_ENV,
	  CTM_USAGE,
	  CTM_HOOK_IDLE,
	  NULL },
	{ "LXC version 0 by hand",
	  3,
	  { "web", "lxc", "pre-start" },
	  { 0 },
	  CTM_USAGE,
	  CTM_HOOK_IDLE,
	  NULL },
	{ "another section",
	  3,
	  { "web", "net", "pre-start" },
	  LXC_ENV,
	  CTM_USAGE,
	  CTM_HOOK_IDLE,
	  NULL },
	{ "LXC version 1",
	  0,
	  { NULL },
	  { "web", "pre-start", "/c", "/r" },
	  CTM_OK,
	  CTM_HOOK_LXC,
	  "web" },
	{ "LXC version 1, other hook",
	  0,
	  { NULL },
	  { "web", "post-stop", "/c", "/r" },
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "nothing at all", 0, { NULL }, { 0 }, CTM_USAGE, CTM_HOOK_IDLE, NULL },
	{ "one word", 1, { "115" }, LXC_ENV, CTM_USAGE, CTM_HOOK_IDLE, NULL },
	{ "four words",
	  4,
	  { "web", "lxc", "pre-start", "x" },
	  LXC_ENV,
	  CTM_USAGE,
	  CTM_HOOK_IDLE,
	  NULL },
};

CASES(hookcall, read, rows)
{
	struct ctm_hook_call call = { 0 };
	struct ctm_err err = { 0 };
	int r = ctm_hook_call_read(rows[*i].argc, (char *const *)rows[*i].argv, &rows[*i].env,
				   &call, &err);

	cr_assert_eq(err.code, rows[*i].code, "%s: %s", rows[*i].name, err.msg);
	cr_assert_eq(r < 0, rows[*i].code != CTM_OK, "%s: returned %d", rows[*i].name, r);
	if (r < 0) {
		return;
	}
	cr_assert_eq(call.form, rows[*i].form, "%s", rows[*i].name);
	cr_assert_str_eq(call.name, rows[*i].target, "%s", rows[*i].name);
	if (call.form == CTM_HOOK_LXC) {
		cr_assert_eq(call.config, rows[*i].env.config, "%s", rows[*i].name);
		cr_assert_eq(call.rootfs, rows[*i].env.rootfs, "%s", rows[*i].name);
	}
}
