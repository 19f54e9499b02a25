/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar of /etc/pve/lxc/ID.conf. tests/test_pve_samples.c has whole files; here is one
 * trap a row.
 */
#include "config/pctconf.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static int parse(const char *text, struct ctm_pctconf *conf, struct ctm_err *err)
{
	return ctm_pctconf_parse((struct ctm_bytes){ text, strlen(text) }, conf, err);
}

/* What one key has in the current state, and how many warnings there are. */
static const struct {
	const char *name;
	const char *text;
	const char *key;
	const char *want; /* NULL: not there */
	size_t warnings;
} keys[] = {
	{ "plain", "rootfs: a:b\n", "rootfs", "a:b", 0 },
	{ "no blank behind the colon", "lock:backup\n", "lock", "backup", 0 },
	{ "no newline", "lock: backup", "lock", "backup", 0 },
	{ "blanks around the value", "lock: \t backup  \t\n", "lock", "backup", 0 },
	{ "carriage return", "lock: backup\r\n", "lock", "backup", 0 },
	{ "the last one counts", "lock: a\nlock: b\n", "lock", "b", 0 },
	{ "blank in front", " lock: a\n", "lock", NULL, 1 },
	{ "blank before the colon", "lock : a\n", "lock", NULL, 1 },
	{ "capital", "Lock: a\n", "lock", NULL, 1 },
	{ "equals sign", "lock=a\n", "lock", NULL, 1 },
	{ "hyphen", "dash-key: 1\n", "dash-key", NULL, 1 },
	{ "letter behind a digit", "mp0x: 1\n", "mp0x", NULL, 1 },
	{ "digit in front", "0mp: 1\n", "0mp", NULL, 1 },
	{ "no value", "lock:\n", "lock", NULL, 1 },
	{ "a blank is a value", "lock: \n", "lock", " ", 0 },
	{ "a blank is no boolean", "unprivileged:  \n", "unprivileged", " ", 1 },
	{ "hash in the middle", "lock: a # b\n", "lock", "a # b", 0 },
	{ "comment", "#lock: a\n", "lock", NULL, 0 },
	{ "hash behind a blank is no comment", " #lock: a\n", "lock", NULL, 1 },
	{ "description", "description: lock: a\n", "description", NULL, 0 },
	{ "description without text", "description:\n", "description", NULL, 1 },
	{ "unknown key", "futurekey: x\n", "futurekey", "x", 1 },
	{ "boolean word", "unprivileged: Yes\n", "unprivileged", "1", 0 },
	{ "boolean word, false", "unprivileged: OFF\n", "unprivileged", "0", 0 },
	{ "bad boolean", "unprivileged: maybe\n", "unprivileged", "maybe", 1 },
	{ "00 is no boolean", "unprivileged: 00\n", "unprivileged", "00", 1 },
	{ "integer", "memory: 0512\n", "memory", "512", 0 },
	{ "zero", "memory: 000\n", "memory", "0", 0 },
	{ "bad integer", "memory: 5G\n", "memory", "5G", 1 },
	{ "number", "cpulimit: 0.50\n", "cpulimit", "0.50", 0 },
	{ "bad number", "cpulimit: .5\n", "cpulimit", ".5", 1 },
	{ "bad number, no fraction", "cpulimit: 1.\n", "cpulimit", "1.", 1 },
	{ "carriage return in the middle", "lock: a\rb\n", "lock", "a\rb", 1 },
	{ "bad volume is kept", "rootfs: a:b,future=1\n", "rootfs", "a:b,future=1", 1 },
	{ "mount point without mp", "mp0: a:b\n", "mp0", "a:b", 1 },
	{ "mp256 is not known", "mp256: a:b,mp=/x\n", "mp256", "a:b,mp=/x", 1 },
	{ "delete outside pending", "delete: mp0\n", "delete", NULL, 1 },
	{ "an empty line ends no section", "[snap]\n\nlock: a\n", "lock", NULL, 0 },
	{ "one letter is no section", "[s]\nlock: a\n", "lock", "a", 1 },
	{ "digit first is no section", "[2nd]\nlock: a\n", "lock", "a", 1 },
	{ "dot is no section", "[a.b]\nlock: a\n", "lock", "a", 1 },
	{ "blank inside is no section", "[a b]\nlock: a\n", "lock", "a", 1 },
	{ "blank in front is no section", " [snap]\nlock: a\n", "lock", "a", 1 },
	{ "text behind is no section", "[snap] x\nlock: a\n", "lock", "a", 1 },
	{ "blank behind is a section", "[snap] \t\r\nlock: a\n", "lock", NULL, 0 },
	{ "two letters are a section", "[ab]\nlock: a\n", "lock", NULL, 0 },
	{ "pending", "[PVE:Pending]\nlock: a\n", "lock", NULL, 0 },
	{ "another colon is no section", "[pve:other]\nlock: a\n", "lock", "a", 1 },
	{ "snapstate anywhere", "lock: x snapstate: prepare\n", "lock", NULL, 0 },
	{ "snapstate of another word", "snapstate: done\n", "snapstate", "done", 1 },
	{ "empty file", "", "lock", NULL, 0 },
};
CASES(pctconf, key, keys)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	struct ctm_err err = { 0 };
	const char *got;

	cr_assert_eq(parse(keys[*i].text, &conf, &err), 0, "%s: %s", keys[*i].name, err.msg);
	got = ctm_pctconf_get(ctm_pctconf_current(&conf), keys[*i].key);
	cr_assert(keys[*i].want ? got && strcmp(got, keys[*i].want) == 0 : !got, "%s: '%s'",
		  keys[*i].name, got ? got : "(none)");
	cr_assert_eq(conf.warnings.n, keys[*i].warnings, "%s: %zu warnings", keys[*i].name,
		     conf.warnings.n);
}

static const struct {
	const char *name;
	const char *text;
	const char *value; /* NULL: no entry */
	size_t warnings;
} raw[] = {
	{ "colon", "lxc.idmap: u 0 1 2\n", "u 0 1 2", 0 },
	{ "equals sign", "lxc.idmap = u 0 1 2\n", "u 0 1 2", 0 },
	{ "equals sign without blanks", "lxc.idmap=u 0 1 2\n", "u 0 1 2", 0 },
	{ "blanks before the equals sign", "lxc.idmap \t=\tu 0 1 2 \r\n", "u 0 1 2", 0 },
	{ "blank before the colon", "lxc.idmap : u 0 1 2\n", NULL, 1 },
	{ "blank in front", " lxc.idmap: u 0 1 2\n", NULL, 1 },
	{ "capital", "lxc.Idmap: u 0 1 2\n", NULL, 1 },
	{ "empty value", "lxc.idmap:\n", "", 0 },
	{ "no separator", "lxc.idmap u 0 1 2\n", NULL, 1 },
	{ "deprecated", "lxc.id_map: u 0 1 2\n", "u 0 1 2", 1 },
	{ "refused", "lxc.rootfs.path: /x\n", NULL, 1 },
	{ "refused options", "lxc.rootfs.options: idmap=container\n", NULL, 1 },
	{ "unknown", "lxc.unknown: 1\n", NULL, 1 },
	{ "nothing behind the dot", "lxc.: 1\n", NULL, 1 },
	{ "a colon in the value", "lxc.mount.entry: /a b none bind,x:y=z\n", "/a b none bind,x:y=z",
	  0 },
};
CASES(pctconf, raw, raw)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	struct ctm_err err = { 0 };
	const struct ctm_pctsection *section;

	cr_assert_eq(parse(raw[*i].text, &conf, &err), 0, "%s: %s", raw[*i].name, err.msg);
	section = ctm_pctconf_current(&conf);
	cr_assert_eq(section->lxc.n, raw[*i].value ? 1 : 0, "%s", raw[*i].name);
	cr_assert(!raw[*i].value || strcmp(section->lxc.v[0].value, raw[*i].value) == 0, "%s: '%s'",
		  raw[*i].name, section->lxc.v[0].value);
	cr_assert_eq(conf.warnings.n, raw[*i].warnings, "%s", raw[*i].name);
}

static const struct {
	const char *value;
	bool want;
} flags[] = {
	{ "1", true },    { "yes", true },   { "on", true }, { "0", false },     { "no", false },
	{ "off", false }, { "maybe", true }, { "00", true }, { "false", false }, { " ", true },
};
CASES(pctconf, flag, flags)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	char text[64];

	(void)snprintf(text, sizeof(text), "unprivileged: %s\n", flags[*i].value);
	cr_assert_eq(parse(text, &conf, NULL), 0);
	cr_assert_eq(ctm_pctconf_flag(ctm_pctconf_current(&conf), "unprivileged"), flags[*i].want,
		     "'%s'", flags[*i].value);
	cr_assert_not(ctm_pctconf_flag(ctm_pctconf_current(&conf), "template"));
}

Test(pctconf, sections_keep_what_is_theirs)
{
	static const char text[] = "#about\n"
				   "rootfs: a:now\n"
				   "lxc.idmap: u 0 1 2\n"
				   "\n"
				   "[pve:pending]\n"
				   "delete: mp0,mp1\n"
				   "rootfs: a:next\n"
				   "\n"
				   "[first]\n"
				   "#by hand\n"
				   "rootfs: a:first\n"
				   "unprivileged: 1\n"
				   "snapstate: delete\n"
				   "lxc.idmap: u 0 3 4\n"
				   "[second]\n"
				   "rootfs: a:second\n"
				   "[first]\n"
				   "lock: x\n";
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	const struct ctm_pctsection *section;

	cr_assert_eq(parse(text, &conf, NULL), 0);
	cr_assert_eq(conf.warnings.n, 0);
	cr_assert_eq(conf.sections.n, 4);

	section = ctm_pctconf_current(&conf);
	cr_assert_eq(section->kind, CTM_PCT_CURRENT);
	cr_assert_str_eq(ctm_pctconf_get(section, "rootfs"), "a:now");
	cr_assert_eq(ctm_pctconf_find(section, "rootfs")->line, 2);
	cr_assert_eq(section->lxc.n, 1);
	cr_assert_eq(section->lxc.v[0].line, 3);
	cr_assert_not(ctm_pctconf_flag(section, "unprivileged"));

	section = &conf.sections.v[1];
	cr_assert_eq(section->kind, CTM_PCT_PENDING);
	cr_assert_eq(section->line, 5);
	cr_assert_str_eq(section->remove, "mp0,mp1");
	cr_assert_str_eq(ctm_pctconf_get(section, "rootfs"), "a:next");

	/* the second header of that name starts it anew */
	section = &conf.sections.v[2];
	cr_assert_eq(section->kind, CTM_PCT_SNAPSHOT);
	cr_assert_str_eq(section->name, "first");
	cr_assert_eq(section->line, 17);
	cr_assert_null(ctm_pctconf_get(section, "rootfs"));
	cr_assert_null(section->snapstate);
	cr_assert_eq(section->lxc.n, 0);
	cr_assert_str_eq(ctm_pctconf_get(section, "lock"), "x");

	cr_assert_str_eq(ctm_pctconf_get(&conf.sections.v[3], "rootfs"), "a:second");
}

Test(pctconf, snapstate_and_line_numbers_of_warnings)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };

	cr_assert_eq(parse("[snap]\nsnapstate:prepare \nbad line\r\n", &conf, NULL), 0);
	cr_assert_str_eq(conf.sections.v[1].snapstate, "prepare");
	cr_assert_eq(conf.warnings.n, 1);
	cr_assert_eq(conf.warnings.v[0].line, 3);
	cr_assert_not_null(strstr(conf.warnings.v[0].text, "bad line"));
}

Test(pctconf, what_is_no_configuration_is_refused)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_pctconf_parse((struct ctm_bytes){ "lock: a\0b\n", 10 }, &conf, &err),
		     -EPERM);
	cr_assert_eq(err.code, CTM_REFUSED);
}

Test(pctconf, a_flood_of_sections_is_refused)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };

	for (int i = 0; i < 1001; i++) {
		cr_assert_eq(ctm_buf_addf(&text, "[snap%d]\n", i), 0);
	}
	cr_assert_eq(parse(text.p, &conf, &err), -E2BIG);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_str_eq(err.msg, "line 1001: more than 1000 sections");
}
