/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar of /etc/pve/storage.cfg.
 */
#include "config/storagecfg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "sysroot.h"

static int parse(const char *text, struct ctm_storagecfg *cfg, struct ctm_err *err)
{
	return ctm_storagecfg_parse((struct ctm_bytes){ text, strlen(text) }, cfg, err);
}

/* One property of one storage. */
static const struct {
	const char *name;
	const char *text;
	const char *id;
	const char *type; /* NULL: no such storage */
	const char *key;
	const char *value; /* NULL: no such property */
	size_t warnings;
} rows[] = {
	{ "plain", "dir: one\n\tpath /srv\n", "one", "dir", "path", "/srv", 0 },
	{ "type in capitals", "DIR: one\n\tpath /srv\n", "one", "dir", "path", "/srv", 0 },
	{ "the id keeps its case", "dir: One\n\tpath /srv\n", "One", "dir", "path", "/srv", 0 },
	{ "no blank behind the colon", "dir:one\n\tpath /srv\n", "one", "dir", "path", "/srv", 0 },
	{ "blanks", "dir:  one \t\n    path\t /srv \t\n", "one", "dir", "path", "/srv", 0 },
	{ "blanks inside a value", "dir: one\n\toptions a  b\n", "one", "dir", "options", "a  b",
	  0 },
	{ "key alone", "zfspool: one\n\tsparse\n", "one", "zfspool", "sparse", "", 0 },
	{ "the first value counts", "dir: one\n\tpath /a\n\tpath /b\n", "one", "dir", "path", "/a",
	  1 },
	{ "the last section counts", "dir: one\n\tpath /a\n\ndir: one\n\tpath /b\n", "one", "dir",
	  "path", "/b", 0 },
	{ "comment inside", "dir: one\n\t# x\n# y\n\tpath /a\n", "one", "dir", "path", "/a", 0 },
	{ "a line of blanks ends nothing", "dir: one\n  \n\tpath /a\n", "one", "dir", "path", "/a",
	  1 },
	{ "an empty line ends it", "dir: one\n\n\tpath /a\n", "one", "dir", "path", NULL, 1 },
	{ "0 is an empty line", "dir: one\n0\n\tpath /a\n", "one", "dir", "path", NULL, 1 },
	{ "no blank in front", "dir: one\npath /a\n", "one", "dir", "path", NULL, 1 },
	{ "header without empty line", "dir: one\n\tcontent x\ndir: two\n\tpath /b\n", "one", "dir",
	  "path", "/b", 1 },
	{ "and the second is not there", "dir: one\n\tcontent x\ndir: two\n\tpath /b\n", "two",
	  NULL, NULL, NULL, 1 },
	{ "carriage returns end no section",
	  "dir: one\r\n\tpath /a\r\n\r\ndir: two\r\n\tpath /b\r\n", "two", NULL, NULL, NULL, 3 },
	{ "carriage return at the end of a value", "dir: one\r\n\tpath /a\r\n", "one", "dir",
	  "path", "/a", 0 },
	{ "one letter", "dir: x\n\tpath /a\n", "x", NULL, NULL, NULL, 1 },
	{ "digit first", "dir: 1a\n\tpath /a\n", "1a", NULL, NULL, NULL, 1 },
	{ "hyphen last", "dir: a-\n\tpath /a\n", "a-", NULL, NULL, NULL, 1 },
	{ "all marks", "dir: a-_.1\n\tpath /a\n", "a-_.1", "dir", "path", "/a", 0 },
	{ "unknown type is kept", "fancyfs: third\n\tpath /a\n", "third", "fancyfs", "path", "/a",
	  0 },
	{ "two words", "dir: one two\n\tpath /a\n", "one", NULL, NULL, NULL, 2 },
	{ "blank before the header", " dir: one\n", "one", NULL, NULL, NULL, 1 },
	{ "local is always there", "", "local", "dir", "path", "/var/lib/vz", 0 },
	{ "local of another type", "nfs: local\n\tpath /var/lib/vz\n\tserver x\n", "local", "dir",
	  "server", NULL, 0 },
	{ "local elsewhere", "dir: local\n\tpath /srv\n", "local", "dir", "path", "/var/lib/vz",
	  0 },
	{ "local elsewhere loses all", "dir: local\n\tpath /srv\n\tcontent-dirs images=x\n",
	  "local", "dir", "content-dirs", NULL, 0 },
	{ "local keeps its properties", "dir: local\n\tpath /var/lib/vz\n\tcontent-dirs images=x\n",
	  "local", "dir", "content-dirs", "images=x", 0 },
	{ "local with a slash", "dir: local\n\tpath /var/lib/vz//\n\tcontent-dirs images=x\n",
	  "local", "dir", "content-dirs", "images=x", 0 },
	{ "local has no nodes", "dir: local\n\tpath /var/lib/vz\n\tnodes a\n", "local", "dir",
	  "nodes", NULL, 0 },
};
CASES(storagecfg, section, rows)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	struct ctm_err err = { 0 };
	const struct ctm_storage *storage;
	const char *value;

	cr_assert_eq(parse(rows[*i].text, &cfg, &err), 0, "%s: %s", rows[*i].name, err.msg);
	cr_assert_eq(cfg.warnings.n, rows[*i].warnings, "%s: %zu warnings", rows[*i].name,
		     cfg.warnings.n);
	storage = ctm_storagecfg_find(&cfg, rows[*i].id);
	cr_assert_eq(storage != NULL, rows[*i].type != NULL, "%s", rows[*i].name);
	if (!storage) {
		return;
	}
	cr_assert_str_eq(storage->type, rows[*i].type, "%s", rows[*i].name);
	value = ctm_storage_prop(storage, rows[*i].key);
	cr_assert(rows[*i].value ? value && strcmp(value, rows[*i].value) == 0 : !value, "%s: '%s'",
		  rows[*i].name, value ? value : "(none)");
}

static const struct {
	const char *line;
	bool want;
} flags[] = {
	{ "disable", true },    { "disable 1", true },   { "disable yes", true },
	{ "disable 0", false }, { "disable no", false }, { "nodes a", false },
};
CASES(storagecfg, flag, flags)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	char text[64];

	(void)snprintf(text, sizeof(text), "dir: one\n\t%s\n", flags[*i].line);
	cr_assert_eq(parse(text, &cfg, NULL), 0);
	cr_assert_eq(ctm_storage_flag(ctm_storagecfg_find(&cfg, "one"), "disable"), flags[*i].want,
		     "%s", flags[*i].line);
}

/* What the comments of the sample say, number by number. */
Test(storagecfg, the_traps_of_the_sample)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	struct ctm_err err = { 0 };
	const struct ctm_storage *storage;
	size_t len;
	char *text = sysroot_read("fixtures/parse/pve/storage-edge.cfg", &len);

	cr_assert_eq(ctm_storagecfg_parse((struct ctm_bytes){ text, len }, &cfg, &err), 0, "%s",
		     err.msg);

	storage = ctm_storagecfg_find(&cfg, "one"); /* 1 */
	cr_assert_str_eq(storage->type, "dir");
	cr_assert_str_eq(ctm_storage_prop(storage, "path"), "/srv/one");
	cr_assert_str_eq(ctm_storage_prop(storage, "content"), "rootdir");

	cr_assert_str_eq(ctm_storage_prop(ctm_storagecfg_find(&cfg, "two"), "path"),
			 "/srv/two"); /* 2 */
	cr_assert_null(ctm_storagecfg_find(&cfg, "glued"));

	cr_assert_str_eq(ctm_storage_prop(ctm_storagecfg_find(&cfg, "spaced"), "content"),
			 "rootdir"); /* 3 */

	cr_assert_null(ctm_storage_prop(ctm_storagecfg_find(&cfg, "flat"), "path")); /* 4 */

	cr_assert_str_eq(ctm_storagecfg_find(&cfg, "third")->type, "fancyfs"); /* 5 */

	storage = ctm_storagecfg_find(&cfg, "local"); /* 6 */
	cr_assert_str_eq(ctm_storage_prop(storage, "path"), "/var/lib/vz");
	cr_assert_null(ctm_storage_prop(storage, "nodes"));

	cr_assert_str_eq(ctm_storage_prop(ctm_storagecfg_find(&cfg, "twice"), "path"),
			 "/srv/second"); /* 7 */

	cr_assert_null(ctm_storagecfg_find(&cfg, "x")); /* 8 */
	free(text);
}

Test(storagecfg, warnings_name_the_line)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };

	cr_assert_eq(parse("dir: one\n\tpath /a\n\n# x\nnonsense\n", &cfg, NULL), 0);
	cr_assert_eq(cfg.warnings.n, 1);
	cr_assert_eq(cfg.warnings.v[0].line, 5);
	cr_assert_eq(ctm_storagecfg_find(&cfg, "one")->line, 1);
	cr_assert_eq(ctm_storagecfg_find(&cfg, "one")->props.v[0].line, 2);
}

Test(storagecfg, floods_and_nul_bytes_are_refused)
{
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg cfg = { 0 };
	CLEANUP(ctm_storagecfg_done) struct ctm_storagecfg other = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };

	for (int i = 0; i < 1001; i++) {
		cr_assert_eq(ctm_buf_addf(&text, "dir: s%d\n\n", i), 0);
	}
	cr_assert_eq(parse(text.p, &cfg, &err), -E2BIG);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_eq(ctm_storagecfg_parse((struct ctm_bytes){ "dir: a\0b\n", 9 }, &other, &err),
		     -EPERM);
}
