/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar of an LXC configuration, and what it includes.
 */
#include "config/lxcconf.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

/*
 * Files by name, for the callback; a name that ends in a slash is a folder, its text the list
 * of files.
 */
struct file {
	const char *path;
	const char *text;
};

static int read_file(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		     struct ctm_err *err)
{
	for (const struct file *file = arg; file->path; file++) {
		if (strcmp(file->path, path) != 0) {
			continue;
		}
		if (path[strlen(path) - 1] != '/') {
			return ctm_buf_add(&ret->text, file->text, strlen(file->text));
		}
		for (const char *p = file->text; *p;) {
			size_t len = strcspn(p, " ");
			char *one = strndup(p, len);

			cr_assert_eq(ctm_vec_push(&ret->files, &one), 0);
			p += len + (p[len] ? 1 : 0);
		}
		return 0;
	}
	return ctm_err_set(err, CTM_SYS, ENOENT, "read '%s'", path);
}

static int read_text(const char *text, struct ctm_lxcconf *conf, struct ctm_err *err)
{
	struct file files[] = { { "config", text }, { NULL, NULL } };

	return ctm_lxcconf_read("config", read_file, files, conf, err);
}

static const struct {
	const char *name;
	const char *text;
	const char *key;
	const char *value; /* NULL: no entry */
} rows[] = {
	{ "plain", "lxc.idmap = u 0 1 2\n", "lxc.idmap", "u 0 1 2" },
	{ "no blanks", "lxc.idmap=u 0 1 2", "lxc.idmap", "u 0 1 2" },
	{ "blanks all around", " \tlxc.idmap \t= \tu 0 1 2 \t\n", "lxc.idmap", "u 0 1 2" },
	{ "empty value", "lxc.idmap =\n", "lxc.idmap", "" },
	{ "double quotes", "lxc.idmap = \"u 0 1 2\"\n", "lxc.idmap", "u 0 1 2" },
	{ "single quotes", "lxc.idmap = 'u 0 1 2'\n", "lxc.idmap", "u 0 1 2" },
	{ "one quote", "lxc.idmap = '\n", "lxc.idmap", "'" },
	{ "two kinds of quotes", "lxc.idmap = 'x\"\n", "lxc.idmap", "'x\"" },
	{ "one pair alone goes away", "lxc.idmap = \"\"x\"\"\n", "lxc.idmap", "\"x\"" },
	{ "empty quotes", "lxc.idmap = \"\"\n", "lxc.idmap", "" },
	{ "an equals sign in the value", "lxc.environment = a=b\n", "lxc.environment", "a=b" },
	{ "hash in the value", "lxc.uts.name = a#b # c\n", "lxc.uts.name", "a#b # c" },
	{ "comment", "# lxc.idmap = x\n", "lxc.idmap", NULL },
	{ "another key", "idmap = x\nunprivileged: 1\n", "idmap", NULL },
	{ "capitals are another key", "LXC.idmap = x\n", "LXC.idmap", NULL },
	{ "the last one", "lxc.uts.name = a\nlxc.uts.name = b\n", "lxc.uts.name", "b" },
	{ "carriage return stays", "lxc.uts.name = a\r\n", "lxc.uts.name", "a\r" },
	{ "empty include", "lxc.include =\nlxc.uts.name = a\n", "lxc.uts.name", "a" },
	{ "empty file", "", "lxc.idmap", NULL },
};
CASES(lxcconf, entry, rows)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	const struct ctm_lxcconf_entry *entry;
	struct ctm_err err = { 0 };

	cr_assert_eq(read_text(rows[*i].text, &conf, &err), 0, "%s: %s", rows[*i].name, err.msg);
	entry = ctm_lxcconf_find(&conf, rows[*i].key);
	cr_assert_eq(entry != NULL, rows[*i].value != NULL, "%s", rows[*i].name);
	cr_assert(!entry || strcmp(entry->value, rows[*i].value) == 0, "%s: '%s'", rows[*i].name,
		  entry ? entry->value : "");
}

static const struct {
	const char *name;
	const char *text;
	const char *error;
} bad[] = {
	{ "no equals sign", "\nlxc.idmap: u 0 1 2\n", "'config' line 2: no '=' behind the key" },
	{ "include that is not there", "lxc.include = /gone\n", "'config' line 1: read '/gone'" },
	{ "include of itself", "lxc.include = config\n", "lxc.include has no end" },
};
CASES(lxcconf, bad, bad)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_lt(read_text(bad[*i].text, &conf, &err), 0, "%s", bad[*i].name);
	cr_assert_not_null(strstr(err.msg, bad[*i].error), "%s: %s", bad[*i].name, err.msg);
}

Test(lxcconf, includes_stand_where_they_are_named)
{
	static const struct file files[] = {
		{ "config",
		  "lxc.uts.name = 1\nlxc.include = /common\nlxc.uts.name = 4\nlxc.include = /d/\n"
		  "lxc.uts.name = 7\n" },
		{ "/common", "lxc.uts.name = 2\nlxc.include = /deep\n" },
		{ "/deep", "\nlxc.uts.name = 3" },
		{ "/d/", "/d/a.conf /d/b.conf" },
		{ "/d/a.conf", "lxc.uts.name = 5\n" },
		{ "/d/b.conf", "lxc.uts.name = 6\n" },
		{ NULL, NULL },
	};
	static const struct {
		const char *value, *file;
		unsigned int line;
	} want[] = {
		{ "1", "config", 1 }, { "2", "/common", 1 },   { "3", "/deep", 2 },
		{ "4", "config", 3 }, { "5", "/d/a.conf", 1 }, { "6", "/d/b.conf", 1 },
		{ "7", "config", 5 },
	};
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_lxcconf_read("config", read_file, (void *)(uintptr_t)files, &conf, &err),
		     0, "%s", err.msg);
	cr_assert_eq(conf.entries.n, ARRAY_LEN(want));
	for (size_t i = 0; i < conf.entries.n; i++) {
		cr_assert_str_eq(conf.entries.v[i].value, want[i].value);
		cr_assert_str_eq(conf.entries.v[i].file, want[i].file);
		cr_assert_eq(conf.entries.v[i].line, want[i].line);
	}
}

/* Wide, not deep: the number of files has its own limit. */
Test(lxcconf, too_many_files_are_refused)
{
	static const struct file leaf = { "/x", "" };
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };
	struct file files[] = { { "config", NULL }, leaf, { NULL, NULL } };

	for (int i = 0; i < CTM_LXCCONF_FILES; i++) {
		cr_assert_eq(ctm_buf_addf(&text, "lxc.include = /x\n"), 0);
	}
	files[0].text = text.p;
	cr_assert_eq(ctm_lxcconf_read("config", read_file, files, &conf, &err), -ELOOP);
	cr_assert_eq(err.code, CTM_REFUSED);
}

static const char *deep_text = "lxc.include = deeper\n";
static int read_deeper(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		       struct ctm_err *err)
{
	int *left = arg;

	(void)path;
	(void)err;
	return --*left > 0 ? ctm_buf_add(&ret->text, deep_text, strlen(deep_text)) : 0;
}

Test(lxcconf, depth_has_a_limit)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf at = { 0 };
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf over = { 0 };
	int left = CTM_LXCCONF_DEPTH;

	cr_assert_eq(ctm_lxcconf_read("config", read_deeper, &left, &at, NULL), 0);
	left = CTM_LXCCONF_DEPTH + 1;
	cr_assert_lt(ctm_lxcconf_read("config", read_deeper, &left, &over, NULL), 0);
}
