/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The option table and what stands on it.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "plan/fix.h"
#include "term.h"
#include "volumes.h"

struct opt_row {
	enum opt_id id;
	char letter;      /* '\0': none */
	const char *name; /* long name */
	const char *arg;  /* what its argument is called, NULL: none */
	const char *help;
};

/* Sorted by long name; the order of --help. */
static const struct opt_row rows[] = {
	{ OPT_ALL, 0, "all", NULL, "every container of this host" },
	{ OPT_APPROVE, 0, "approve", "DIGEST",
	  "repair only if the plan's digest is this one, as diff showed it; counts as --yes" },
	{ OPT_CLEAN, 0, "clean", "stale|all|none",
	  "which package-manager locks and caches to remove (default: stale)" },
	{ OPT_COLOR, 0, "color", "auto|always|never", "colour the report (default: auto)" },
	{ OPT_CONVERT, 0, "convert", NULL,
	  "allow a repair that moves more than half of the volume" },
	{ OPT_CT_CONFIG, 0, "ct-config", "FILE",
	  "for a path: take the id map from this container configuration" },
	{ OPT_DRY_RUN, 'n', "dry-run", NULL, "show the changes as a diff and make none" },
	{ OPT_FIX, 0, "fix", "NAME,...",
	  "repair this as well, which needs a decision: base, bits, flags, hole, link, overflow, "
	  "rosubvol, twice" },
	{ OPT_FLATTEN, 0, "flatten", NULL,
	  "give the whole selection to the container's root, as chown -R does" },
	{ OPT_FORMAT, 0, "format", "text|json", "form of the report (default: text)" },
	{ OPT_FROM_MAP, 0, "from-map", "SPEC",
	  "ids on disk are those of this map (as for --map): move them to the container's" },
	{ OPT_HELP, 'h', "help", NULL, "show this help" },
	{ OPT_JOBS, 'j', "jobs", "N", "number of threads (default: the number of processors)" },
	{ OPT_JSON, 0, "json", NULL, "short for --format json" },
	{ OPT_KEEP_DAYS, 0, "keep-days", "N",
	  "for --prune: remove records older than N days (default: 90)" },
	{ OPT_KEEP_RUNS, 0, "keep-runs", "N",
	  "for --prune: keep at most N records of a target that people made, and as many of those "
	  "that hooks made, at most 5 (default: 20)" },
	{ OPT_MAP, 0, "map", "SPEC",
	  "for a path: the id map, as 100000, 0:100000:65536 or u:0:100000:65536,g:..." },
	{ OPT_MAX_TIME, 0, "max-time", "SECONDS",
	  "end after this time, whatever is not done (default: 20)" },
	{ OPT_OUTPUT, 'o', "output", "LIST",
	  "columns to show, apart by commas; +LIST adds them to the default ones" },
	{ OPT_PATH, 0, "path", "PATH",
	  "only this file or directory of the volume; may be given several times" },
	{ OPT_PRUNE, 0, "prune", NULL, "remove the records that need not be kept" },
	{ OPT_QUIET, 'q', "quiet", NULL, "no report, only errors and the exit status" },
	{ OPT_SCOPE, 0, "scope", "all|required",
	  "all, or the directories that the package manager needs (default: all)" },
	{ OPT_SET_ASIDE, 0, "set-aside", NULL,
	  "move the record of RUN, which cannot be read, out of the way" },
	{ OPT_SNAPSHOT, 0, "snapshot", NULL,
	  "before the repair let pct take a snapshot of the container" },
	{ OPT_STRICT, 0, "strict", NULL,
	  "stop the start of a container that is not repaired wholly" },
	{ OPT_SYSROOT, 0, "sysroot", "DIR",
	  "look for /etc/pve, /run, /var/lib/lxc and the records below DIR" },
	{ OPT_VERBOSE, 'v', "verbose", NULL, "list every entry" },
	{ OPT_VERSION, 0, "version", NULL, "show the version" },
	{ OPT_VOLUME, 0, "volume", "NAME",
	  "rootfs, a mount point such as mp0, or all (default: rootfs)" },
	{ OPT_WAIT, 0, "wait", "SECONDS", "how long to wait for a lock (default: 10)" },
	{ OPT_YES, 'y', "yes", NULL, "do not ask" },
};

#define WAIT_DEFAULT 10
#define WAIT_MAX     86400
#define JOBS_MAX     256

#define MAX_TIME_DEFAULT 20
#define MAX_TIME_MAX     3600

#define KEEP_MAX 1000000

void options_init(struct options *opts)
{
	const char *tmpdir = secure_getenv("TMPDIR");

	*opts = (struct options){ .session = { .host = { .sysroot = "" }, .wait = WAIT_DEFAULT },
				  .max_time = MAX_TIME_DEFAULT,
				  .keep = { .runs = CTM_RETAIN_RUNS,
					    .days = CTM_RETAIN_DAYS,
					    .lock_runs = CTM_RETAIN_LOCK_RUNS } };
	if (tmpdir && tmpdir[0] == '/') {
		opts->session.tmpdir = tmpdir;
	}
}

void options_done(struct options *opts)
{
	for (size_t i = 0; i < opts->path_list.n; i++) {
		free((void *)opts->path_list.v[i]);
	}
	ctm_vec_done(&opts->path_list);
	ctm_buf_done(&opts->words);
}

__attribute__((format(printf, 1, 2))) static int complain(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	term_vsay(fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int parse_number(const struct opt_row *row, const char *text, unsigned int min,
			unsigned int max, unsigned int *ret)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || v < min || v > max) {
		return complain("--%s takes a number from %u to %u, not '%s'", row->name, min, max,
				text);
	}
	*ret = (unsigned int)v;
	return 0;
}

/* Index of text among the words of row->arg ("a|b|c"). */
static int parse_word(const struct opt_row *row, const char *text, int *ret)
{
	const char *word = row->arg;
	size_t len = strlen(text);

	for (int i = 0;; i++) {
		size_t wlen = strcspn(word, "|");

		if (wlen == len && strncmp(word, text, len) == 0) {
			*ret = i;
			return 0;
		}
		if (!word[wlen]) {
			return complain("--%s takes %s, not '%s'", row->name, row->arg, text);
		}
		word += wlen + 1;
	}
}

static int parse_path(struct options *opts, const char *text)
{
	struct ctm_buf buf = { 0 };
	const char *owned;
	int r = ctm_path_normalise(text, &buf);

	if (r == -ENOMEM) {
		return complain("out of memory");
	}
	if (r < 0) {
		ctm_buf_done(&buf);
		return complain("--path '%s': %s", text,
				r == -ENAMETOOLONG ? "a name in it is too long" :
						     "give a path from the rootfs, without '..'");
	}
	owned = buf.p;
	if (ctm_vec_push(&opts->path_list, &owned) < 0) {
		ctm_buf_done(&buf);
		return complain("out of memory");
	}
	return 0;
}

static int parse_digest(struct options *opts, const char *text)
{
	size_t len = strlen(text);

	if (len != 32 || strspn(text, "0123456789abcdef") != 32) {
		return complain(
			"--approve takes the 32 hexadecimal digits that diff printed, not '%s'",
			text);
	}
	opts->approve = text;
	return 0;
}

/* Given several times it adds up. */
static int parse_fix(struct options *opts, const char *text)
{
	unsigned int set;
	const char *bad;
	size_t len;

	if (ctm_fix_parse(text, &set, &bad, &len) < 0) {
		return complain("--fix takes names apart by commas (%s), not '%.*s'",
				ctm_fix_names(), (int)len, bad);
	}
	opts->session.fix |= set;
	return 0;
}

static int parse_from_map(struct options *opts, const char *text)
{
	CLEANUP(ctm_idmap_freep) struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };

	if (ctm_idmap_parse_spec(text, &map, &err) < 0) {
		return complain("--from-map: %s", err.msg);
	}
	opts->session.from_map = text;
	return 0;
}

static int parse_sysroot(struct options *opts, const char *text)
{
	size_t len = strlen(text);

	if (text[0] != '/' || (len > 1 && text[len - 1] == '/')) {
		return complain(
			"--sysroot takes an absolute directory, no slash at its end, not '%s'",
			text);
	}
	opts->session.host.sysroot = len == 1 ? "" : text;
	return 0;
}

static int apply(struct options *opts, const struct opt_row *row, const char *arg)
{
	int word = 0;
	int r;

	switch (row->id) {
	case OPT_ALL:
		opts->all = true;
		return 0;
	case OPT_APPROVE:
		return parse_digest(opts, arg);
	case OPT_CLEAN:
		r = parse_word(row, arg, &word);
		opts->session.clean = (enum ctm_clean)word;
		return r;
	case OPT_COLOR:
		r = parse_word(row, arg, &word);
		opts->color = (enum opt_color)word;
		return r;
	case OPT_CONVERT:
		opts->session.convert = true;
		return 0;
	case OPT_CT_CONFIG:
		opts->session.target.ct_config = arg;
		return 0;
	case OPT_DRY_RUN:
		opts->dry_run = true;
		return 0;
	case OPT_FIX:
		return parse_fix(opts, arg);
	case OPT_FLATTEN:
		opts->session.flatten = true;
		return 0;
	case OPT_FORMAT:
		r = parse_word(row, arg, &word);
		opts->format = (enum opt_format)word;
		return r;
	case OPT_FROM_MAP:
		return parse_from_map(opts, arg);
	case OPT_HELP:
		opts->help = true;
		return 0;
	case OPT_JOBS:
		return parse_number(row, arg, 1, JOBS_MAX, &opts->session.jobs);
	case OPT_JSON:
		opts->format = FORMAT_JSON;
		return 0;
	case OPT_KEEP_DAYS:
		opts->keep_given = true;
		return parse_number(row, arg, 0, KEEP_MAX, &opts->keep.days);
	case OPT_KEEP_RUNS:
		opts->keep_given = true;
		r = parse_number(row, arg, 1, KEEP_MAX, &opts->keep.runs);
		opts->keep.lock_runs = opts->keep.runs < CTM_RETAIN_LOCK_RUNS ?
					       opts->keep.runs :
					       CTM_RETAIN_LOCK_RUNS;
		return r;
	case OPT_MAP:
		opts->session.target.map_spec = arg;
		return 0;
	case OPT_MAX_TIME:
		return parse_number(row, arg, 1, MAX_TIME_MAX, &opts->max_time);
	case OPT_OUTPUT:
		opts->columns = arg;
		return 0;
	case OPT_PATH:
		return parse_path(opts, arg);
	case OPT_PRUNE:
		opts->prune = true;
		return 0;
	case OPT_QUIET:
		opts->quiet = true;
		return 0;
	case OPT_SCOPE:
		r = parse_word(row, arg, &word);
		opts->session.scope_required = word == 1;
		return r;
	case OPT_SET_ASIDE:
		opts->set_aside = true;
		return 0;
	case OPT_SNAPSHOT:
		opts->snapshot = true;
		return 0;
	case OPT_STRICT:
		opts->strict = true;
		return 0;
	case OPT_SYSROOT:
		return parse_sysroot(opts, arg);
	case OPT_VERBOSE:
		opts->verbose = true;
		return 0;
	case OPT_VERSION:
		opts->version = true;
		return 0;
	case OPT_VOLUME:
		opts->session.volume = arg;
		return 0;
	case OPT_WAIT:
		return parse_number(row, arg, 0, WAIT_MAX, &opts->session.wait);
	case OPT_YES:
		opts->yes = true;
		return 0;
	case OPT_N:
		break;
	}
	return -EINVAL;
}

/* Keeps what a run's record says of how it was asked for. */
static int note_words(struct options *opts, const struct opt_row *row, const char *arg)
{
	int r;

	if (!(OPTS_SELECT & OPT(row->id))) {
		return 0;
	}
	r = ctm_buf_addf(&opts->words, "%s--%s%s%s", opts->words.len ? " " : "", row->name,
			 arg ? "=" : "", arg ? arg : "");
	return r < 0 ? complain("out of memory") : 0;
}

#define LONG_BASE 256 /* values of long options: above every letter */

/* The tables that getopt_long() wants, for one set of options. */
struct tables {
	struct option longs[ARRAY_LEN(rows) + 1];
	char letters[2 * ARRAY_LEN(rows) + 3];
};

static void make_tables(unsigned long long set, bool stop_at_command, struct tables *t)
{
	size_t n = 0;
	size_t l = 0;

	*t = (struct tables){ 0 };
	if (stop_at_command) {
		t->letters[l++] = '+';
	}
	t->letters[l++] = ':';
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!(set & OPT(rows[i].id))) {
			continue;
		}
		t->longs[n++] =
			(struct option){ .name = rows[i].name,
					 .has_arg = rows[i].arg ? required_argument : no_argument,
					 .val = LONG_BASE + (int)i };
		if (rows[i].letter) {
			t->letters[l++] = rows[i].letter;
			if (rows[i].arg) {
				t->letters[l++] = ':';
			}
		}
	}
}

static const struct opt_row *row_of(int c)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (c == LONG_BASE + (int)i || (rows[i].letter && c == rows[i].letter)) {
			return &rows[i];
		}
	}
	return NULL;
}

static int check_together(struct options *opts)
{
	struct ctm_session_opts *s = &opts->session;

	s->paths = opts->path_list.v;
	s->n_paths = opts->path_list.n;
	s->words = opts->words.p;
	if (s->scope_required && s->n_paths) {
		return complain("--scope required and --path do not go together");
	}
	if (s->flatten && !s->scope_required && !s->n_paths) {
		return complain(
			"--flatten needs --scope required or --path: it takes the owners away "
			"from everything it touches");
	}
	if (s->flatten && s->from_map) {
		return complain("--flatten and --from-map do not go together");
	}
	if (s->target.map_spec && s->target.ct_config) {
		return complain("--map and --ct-config do not go together");
	}
	if (volumes_all(opts) && s->n_paths) {
		return complain("--path and --volume all do not go together: name the volume");
	}
	if (volumes_all(opts) && opts->approve) {
		return complain("--approve is for one volume: name it");
	}
	if (opts->keep_given && !opts->prune) {
		return complain("--keep-days and --keep-runs go with --prune");
	}
	if (opts->set_aside && opts->prune) {
		return complain("--set-aside and --prune do not go together");
	}
	if (opts->snapshot && opts->dry_run) {
		return complain("--snapshot and --dry-run do not go together");
	}
	if (opts->quiet && opts->verbose) {
		return complain("-q and -v do not go together");
	}
	if (opts->approve && opts->dry_run) {
		return complain("--approve and --dry-run do not go together");
	}
	return 0;
}

int options_parse(struct options *opts, unsigned long long set, bool stop_at_command, int argc,
		  char **argv)
{
	struct tables t;
	int c;

	make_tables(set, stop_at_command, &t);
	optind = 0; /* glibc: start over, with a fresh reading of the flags in letters */
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		const struct opt_row *row = row_of(c);

		if (c == ':') {
			(void)complain("option '%s' needs an argument", argv[optind - 1]);
			return -1;
		}
		if (!row) {
			if (optopt && optopt < LONG_BASE) {
				(void)complain("unknown option '-%c'", optopt);
			} else if (optopt) {
				(void)complain("option '--%s' takes no argument",
					       rows[optopt - LONG_BASE].name);
			} else {
				(void)complain("unknown or ambiguous option '%s'",
					       argv[optind - 1]);
			}
			return -1;
		}
		if (apply(opts, row, optarg) < 0 ||
		    note_words(opts, row, row->arg ? optarg : NULL) < 0) {
			return -1;
		}
	}
	return check_together(opts) < 0 ? -1 : optind;
}

void options_help(FILE *out, unsigned long long set)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int width;

		if (!(set & OPT(rows[i].id))) {
			continue;
		}
		if (rows[i].letter) {
			width = fprintf(out, "  -%c, --%s", rows[i].letter, rows[i].name);
		} else {
			width = fprintf(out, "      --%s", rows[i].name);
		}
		if (rows[i].arg) {
			width += fprintf(out, " %s", rows[i].arg);
		}
		if (width > 0 && width < 34) {
			fprintf(out, "%*s%s\n", 34 - width, "", rows[i].help);
		} else {
			fprintf(out, "\n%34s%s\n", "", rows[i].help);
		}
	}
}

void options_words(FILE *out, unsigned long long set)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!(set & OPT(rows[i].id))) {
			continue;
		}
		fprintf(out, "--%s\n", rows[i].name);
		if (rows[i].letter) {
			fprintf(out, "-%c\n", rows[i].letter);
		}
	}
}
