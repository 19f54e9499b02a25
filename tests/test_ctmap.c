/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A container's map from its configuration.
 */
#include "config/ctmap.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

#define DEFAULT "u 0 100000 65536, g 0 100000 65536"

static const struct {
	const char *name;
	const char *text;
	const char *map; /* NULL: refused */
	const char *error;
	const char *lines; /* joined by "|"; NULL: not looked at */
} pve[] = {
	{ "default", "unprivileged: 1\n", DEFAULT, NULL, "u 0 100000 65536|g 0 100000 65536" },
	{ "privileged", "arch: amd64\n", "", NULL, "" },
	{ "privileged by word", "unprivileged: off\n", "", NULL, "" },
	{ "unprivileged by a word that is none", "unprivileged: maybe\n", DEFAULT, NULL, NULL },
	{ "own map", "unprivileged: 1\nlxc.idmap: g 0 300000 10\nlxc.idmap: u  0\t200000 20 \n",
	  "u 0 200000 20, g 0 300000 10", NULL, "g 0 300000 10|u 0 200000 20" },
	{ "own map without the flag",
	  "unprivileged: 0\nlxc.idmap = u 0 1000 1\nlxc.idmap = g 0 1000 1\n",
	  "u 0 1000 1, g 0 1000 1", NULL, NULL },
	{ "map of a snapshot", "unprivileged: 1\n[snap]\nlxc.idmap: u 0 200000 65536\n", DEFAULT,
	  NULL, NULL },
	{ "flag of a snapshot", "arch: amd64\n[snap]\nunprivileged: 1\n", "", NULL, NULL },
	{ "never the default instead", "unprivileged: 1\nlxc.idmap: b 0 100000 65536\n", NULL,
	  "line 2: ", NULL },
	{ "empty value", "unprivileged: 1\nlxc.idmap:\n", NULL, "line 2: ", NULL },
	{ "leading zero", "lxc.idmap: u 0 0100000 65536\nlxc.idmap: g 0 100000 65536\n", NULL,
	  "leading zero", NULL },
	{ "overlap", "lxc.idmap: u 0 1000 10\nlxc.idmap: u 5 2000 10\n", NULL, "line 2: ", NULL },
	{ "no gids", "lxc.idmap: u 0 100000 65536\n", NULL, "maps no gids", NULL },
	{ "no uids", "lxc.idmap: g 0 100000 65536\n", NULL, "maps no uids", NULL },
};

static void check(const char *name, int r, const struct ctm_ctmap *ctmap, const struct ctm_err *err,
		  const char *map, const char *error, const char *lines)
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf joined = { 0 };

	if (!map) {
		cr_assert_lt(r, 0, "%s", name);
		cr_assert_eq(err->code, CTM_REFUSED, "%s", name);
		cr_assert_not_null(strstr(err->msg, error), "%s: %s", name, err->msg);
		return;
	}
	cr_assert_eq(r, 0, "%s: %s", name, err->msg);
	cr_assert_eq(ctm_idmap_format(ctmap->map, &text), 0);
	cr_assert_str_eq(text.p ? text.p : "", map, "%s", name);
	cr_assert_eq(ctmap->privileged, map[0] == '\0', "%s", name);
	for (size_t i = 0; i < ctmap->lines.n; i++) {
		cr_assert_eq(ctm_buf_addf(&joined, "%s%s", i > 0 ? "|" : "", ctmap->lines.v[i]), 0);
	}
	cr_assert(!lines || strcmp(joined.p ? joined.p : "", lines) == 0, "%s: %s", name, joined.p);
}

CASES(ctmap, pve, pve)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };
	int r;

	cr_assert_eq(ctm_pctconf_parse((struct ctm_bytes){ pve[*i].text, strlen(pve[*i].text) },
				       &conf, &err),
		     0);
	r = ctm_ctmap_from_pct(ctm_pctconf_current(&conf), 0, &ctmap, &err);
	check(pve[*i].name, r, &ctmap, &err, pve[*i].map, pve[*i].error, pve[*i].lines);
}

static const struct {
	const char *name;
	const char *text;
	const char *map;
	const char *error;
	const char *lines;
	unsigned int major; /* of pve-container; 0: not known */
} versions[] = {
	{ "old key is none", "unprivileged: 1\nlxc.id_map: u 0 200000 65536\n", DEFAULT, NULL, NULL,
	  5 },
	{ "old key is none, whatever it says", "unprivileged: 1\nlxc.id_map: b 0 1 2\n", DEFAULT,
	  NULL, NULL, 6 },
	{ "old key on PVE 7",
	  "unprivileged: 1\nlxc.id_map: u 0 200000 65536\nlxc.id_map = g 0 300000 65536\n",
	  "u 0 200000 65536, g 0 300000 65536", NULL, "u 0 200000 65536|g 0 300000 65536", 4 },
	{ "both keys on PVE 7", "lxc.idmap: u 0 200000 10\nlxc.id_map: g 0 300000 10\n",
	  "u 0 200000 10, g 0 300000 10", NULL, "u 0 200000 10|g 0 300000 10", 4 },
	{ "bad old key on PVE 7", "unprivileged: 1\nlxc.id_map: b 0 1 2\n", NULL, "line 2: ", NULL,
	  4 },
	{ "old key on an unknown version", "unprivileged: 1\n\nlxc.id_map: u 0 200000 65536\n",
	  NULL, "line 3: lxc.id_map is a map up to Proxmox VE 7", NULL, 0 },
	{ "no old key but in a snapshot, on an unknown version",
	  "unprivileged: 1\n[snap]\nlxc.id_map: u 0 200000 65536\n", DEFAULT, NULL, NULL, 0 },
};
CASES(ctmap, versions, versions)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };
	int r;

	cr_assert_eq(ctm_pctconf_parse((struct ctm_bytes){ versions[*i].text,
							   strlen(versions[*i].text) },
				       &conf, &err),
		     0);
	cr_assert_eq(ctm_ctmap_needs_version(ctm_pctconf_current(&conf)),
		     strncmp(versions[*i].name, "no old key", 10) != 0, "%s", versions[*i].name);
	r = ctm_ctmap_from_pct(ctm_pctconf_current(&conf), versions[*i].major, &ctmap, &err);
	check(versions[*i].name, r, &ctmap, &err, versions[*i].map, versions[*i].error,
	      versions[*i].lines);
}

static const struct {
	const char *name;
	const char *text;
	const char *map;
	const char *error;
} lxc[] = {
	{ "map", "lxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 100000 65536\n", DEFAULT, NULL },
	{ "none: privileged", "lxc.uts.name = a\nunprivileged: 1\n", "", NULL },
	{ "an empty value clears",
	  "lxc.idmap = u 0 1 1\nlxc.idmap =\nlxc.idmap = u 0 2 1\nlxc.idmap = g 0 2 1\n",
	  "u 0 2 1, g 0 2 1", NULL },
	{ "cleared to the end", "lxc.idmap = u 0 1 1\nlxc.idmap =\n", "", NULL },
	{ "both kinds at once", "lxc.idmap = b 0 100000 65536\n", NULL, "'config' line 1: " },
	{ "hexadecimal", "lxc.idmap = u 0 0x100 1\n", NULL, "'config' line 1: " },
	{ "old key", "lxc.id_map = u 0 100000 65536\n", NULL, "not read by LXC since 3.0" },
	{ "no gids", "lxc.idmap = u 0 1 1\n", NULL, "maps no gids" },
};

static int read_text(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		     struct ctm_err *err)
{
	const char *text = arg;

	(void)path;
	(void)err;
	return ctm_buf_add(&ret->text, text, strlen(text));
}

CASES(ctmap, lxc, lxc)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf conf = { 0 };
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };
	int r;

	cr_assert_eq(ctm_lxcconf_read("config", read_text, (void *)(uintptr_t)lxc[*i].text, &conf,
				      &err),
		     0);
	r = ctm_ctmap_from_lxc(&conf, &ctmap, &err);
	check(lxc[*i].name, r, &ctmap, &err, lxc[*i].map, lxc[*i].error, NULL);
}

static const struct {
	const char *value;
	bool reads;
	const char *words;
} values[] = {
	{ "u 0 100000 65536", true, "u 0 100000 65536" },
	{ "g\t0  100000 65536 ", true, "g 0 100000 65536" },
	{ "u 0 0100000 65536", true, "u 0 0100000 65536" }, /* PVE does, ctmend does not */
	{ "u 0 100000 99999999999", true, "u 0 100000 99999999999" },
	{ "b 0 100000 65536", false, "b 0 100000 65536" },
	{ "uu 0 100000 65536", false, "uu 0 100000 65536" },
	{ "u0 100000 65536", false, "u0 100000 65536" },
	{ "u 0 100000", false, "u 0 100000" },
	{ "u 0 100000 65536 1", false, "u 0 100000 65536 1" },
	{ "u 0 0x100 1", false, "u 0 0x100 1" },
	{ "u 0 -1 1", false, "u 0 -1 1" },
	{ "", false, "" },
};

CASES(ctmap, values, values)
{
	CLEANUP(ctm_buf_done) struct ctm_buf words = { 0 };

	cr_assert_eq(ctm_ctmap_pct_reads(values[*i].value), values[*i].reads, "%s",
		     values[*i].value);
	cr_assert_eq(ctm_ctmap_words(values[*i].value, &words), 0);
	cr_assert_str_eq(words.p, values[*i].words);
}
