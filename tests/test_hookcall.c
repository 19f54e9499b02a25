/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words and environment of hooks: PVE::GuestHelpers exec_hookscript, lxc.container.conf(5). */
#include "session/hookcall.h"

#include <string.h>

#include "cases.h"

#define LXC_ENV                                                          \
	{                                                                \
		"web", NULL, "/var/lib/lxc/web/config", "/srv/web", NULL \
	}

static const struct {
	const char *name;
	int argc;
	const char *argv[5];
	struct ctm_hook_env env;
	enum ctm_code code;
	enum ctm_hook_form form;
	const char *target;
} rows[] = {
	{ "PVE pre-start", 2, { "115", "pre-start" }, { 0 }, CTM_OK, CTM_HOOK_PVE, "115" },
	{ "PVE post-start", 2, { "115", "post-start" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE pre-stop", 2, { "115", "pre-stop" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE post-stop", 2, { "115", "post-stop" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE, a new phase", 2, { "115", "warm-up" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE, the phase is empty", 2, { "115", "" }, { 0 }, CTM_OK, CTM_HOOK_IDLE, "115" },
	{ "PVE, more words in a phase to come",
	  3,
	  { "115", "post-start", "x" },
	  { 0 },
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "115" },
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
	{ "LXC version 0, a hook of tomorrow",
	  3,
	  { "web", "lxc", "hook" },
	  LXC_ENV,
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "LXC version 0, a clone with words of its own",
	  5,
	  { "web", "lxc", "clone", "a", "b" },
	  LXC_ENV,
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
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
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "a script of a network device",
	  5,
	  { "web", "net", "up", "veth", "veth0" },
	  LXC_ENV,
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "LXC version 1",
	  0,
	  { NULL },
	  { "web", "pre-start", "/c", "/r", NULL },
	  CTM_OK,
	  CTM_HOOK_LXC,
	  "web" },
	{ "LXC version 1, other hook",
	  0,
	  { NULL },
	  { "web", "post-stop", "/c", "/r", NULL },
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "LXC version 1, a network device",
	  0,
	  { NULL },
	  { "web", "pre-start", "/c", "/r", "net" },
	  CTM_OK,
	  CTM_HOOK_IDLE,
	  "web" },
	{ "nothing at all", 0, { NULL }, { 0 }, CTM_USAGE, CTM_HOOK_IDLE, NULL },
	{ "one word", 1, { "115" }, LXC_ENV, CTM_USAGE, CTM_HOOK_IDLE, NULL },
	{ "words behind the type",
	  4,
	  { "web", "lxc", "pre-start", "x" },
	  LXC_ENV,
	  CTM_OK,
	  CTM_HOOK_LXC,
	  "web" },
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

/* A command line in which something is wrong: is it a hook that somebody waits for? */
static const struct {
	const char *name;
	int argc;
	const char *argv[8];
	struct ctm_hook_env env;
	bool is_call;
	bool strict;
} lines[] = {
	{ "PVE", 4, { "ctmend", "hook", "115", "pre-start" }, { 0 }, true, false },
	{ "PVE, an unknown option",
	  5,
	  { "ctmend", "hook", "--frob", "115", "pre-start" },
	  { 0 },
	  true,
	  false },
	{ "PVE, an option without its value",
	  6,
	  { "ctmend", "--sysroot", "x", "hook", "115", "pre-start" },
	  { 0 },
	  true,
	  false },
	{ "strict", 5, { "ctmend", "hook", "--strict", "115", "pre-start" }, { 0 }, true, true },
	{ "an abbreviation counts as well",
	  6,
	  { "ctmend", "hook", "--frob", "--str", "115", "pre-start" },
	  { 0 },
	  true,
	  true },
	{ "LXC, words", 5, { "ctmend", "hook", "web", "lxc", "pre-start" }, { 0 }, true, false },
	{ "LXC, environment alone", 3, { "ctmend", "hook", "--frob" }, LXC_ENV, true, false },
	{ "by a person", 2, { "ctmend", "hook" }, { 0 }, false, false },
	{ "by a person, with an option", 3, { "ctmend", "hook", "--frob" }, { 0 }, false, false },
	{ "by a person, one word", 3, { "ctmend", "hook", "115" }, { 0 }, false, false },
	{ "another command", 4, { "ctmend", "check", "hook", "pre-start" }, LXC_ENV, false, false },
	{ "another command behind options",
	  7,
	  { "ctmend", "-q", "--sysroot", "/x", "repair", "hook", "pre-start" },
	  LXC_ENV,
	  false,
	  false },
	{ "no command", 1, { "ctmend" }, LXC_ENV, false, false },
	{ "nothing at all", 0, { NULL }, LXC_ENV, false, false },
};

CASES(hookcall, line, lines)
{
	bool strict = false;
	bool is_call = ctm_hook_call_is(lines[*i].argc, (char *const *)lines[*i].argv,
					&lines[*i].env, &strict);

	cr_assert_eq(is_call, lines[*i].is_call, "%s", lines[*i].name);
	cr_assert_eq(strict, lines[*i].strict, "%s", lines[*i].name);
}
