/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of which records stay. */
#include "run/retain.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"
#include "stage.h"

#define HISTORY CLEANUP(ctm_history_done) struct ctm_history
#define DAY     86400
#define NOW     (1000 * (int64_t)DAY)

/*
 * A history in one line, a run a word: days of age, then what it is: u<N> the undo of the Nth,
 * o without an end, d damaged, n newer, f made with --from-map, b<N> taken back by the Nth, c left
 * conflicts, h made by a hook that but removed files, H by one that changed inodes; so "5o" or
 * "3u1o". want: a letter a run, k it is kept.
 */
static const struct {
	const char *name;
	const char *runs;
	struct ctm_retention keep;
	const char *want;
} rows[] = {
	{ "none", "", { 20, 90, 0 }, "" },
	{ "the only one stays", "400", { 0, 0, 0 }, "k" },
	{ "all young", "89 5 1", { 20, 90, 0 }, "kkk" },
	{ "to the day", "91 90 89 0", { 20, 90, 0 }, "-kkk" },
	{ "too many", "5 4 3 2 1", { 2, 90, 0 }, "---kk" },
	{ "too many and too old", "300 200 3 2 1", { 4, 90, 0 }, "--kkk" },
	{ "all but the newest", "5 4 3", { 0, 90, 0 }, "--k" },
	{ "by age alone, all but the newest", "5 4 3", { 20, 0, 0 }, "--k" },
	{ "an unfinished one", "300o 200 100 1", { 20, 90, 0 }, "k--k" },
	{ "a damaged one, and a newer one", "300d 200n 100 1", { 20, 90, 0 }, "kk-k" },
	{ "what an unfinished undo takes back", "300 200 100u1o 1", { 20, 90, 0 }, "k-kk" },
	{ "an undo with its run", "300 200u1 1", { 20, 90, 0 }, "--k" },
	{ "an undo of a run that stays", "300o 200u1 1", { 20, 90, 0 }, "kkk" },
	{ "and its undo", "300o 200u1 150u2 1", { 20, 90, 0 }, "kkkk" },
	{ "an undo of a run that is gone", "200u9 1", { 20, 90, 0 }, "-k" },
	{ "ids moved by --from-map", "300f 200 1", { 20, 90, 0 }, "k-k" },
	{ "and taken back", "300fb2 200u1 1", { 20, 90, 0 }, "--k" },
	{ "and taken back in part", "300fb2 200u1c 1", { 20, 90, 0 }, "kkk" },
	{ "a clock that went backwards", "-50 300 1", { 20, 90, 0 }, "k-k" },
	{ "runs of hooks count apart", "9 8h 7h 6h 5h 4 3h", { 2, 90, 2 }, "k---kkk" },
	{ "a person's two, whatever hooks do", "9 8 7h 6h 5h 4h 3h", { 2, 90, 1 }, "kk----k" },
	{ "a hook's, whatever people do", "9h 8 7 6 5", { 2, 90, 1 }, "k--kk" },
	{ "days are the same for both", "91h 91 89h 89", { 20, 90, 20 }, "--kk" },
	{ "the newest stays, a hook's, too", "5h 4 3h", { 20, 90, 0 }, "-kk" },
	{ "what cannot be read takes nobody's place", "9 8d 7n 6d 5", { 2, 90, 2 }, "kkkkk" },
	{ "a hook's run that hooks cannot finish", "9ho 8h 7h", { 2, 90, 1 }, "k-k" },
	{ "a hook's repair, whatever locks are planted", "9H 8h 7h 6h 5h", { 2, 90, 1 }, "k---k" },
	{ "too many repairs of hooks", "9H 8H 7 6h 5H", { 2, 90, 1 }, "-kkkk" },
	{ "a hook's repair is a person's no more", "9 8H 7H 6H 5", { 2, 90, 0 }, "k-kkk" },
	{ "a hook's run that a person took back", "9h 8u1 7h 6h", { 20, 90, 1 }, "-k-k" },
};

static void add_run(struct ctm_history *history, const char *word)
{
	struct ctm_run_info run = { .status = CTM_RUN_DONE };
	char *end;

	(void)snprintf(run.name, sizeof(run.name), "%zu", history->runs.n + 1);
	run.time = NOW - strtol(word, &end, 10) * DAY;
	for (; *end && *end != ' '; end++) {
		switch (*end) {
		case 'u':
			run.kind = CTM_RUN_UNDO;
			run.undoes[0] = *++end;
			break;
		case 'f':
			run.from = true;
			run.changed = true;
			break;
		case 'b':
			run.status = CTM_RUN_UNDONE;
			run.undone_by[0] = *++end;
			break;
		case 'c':
			run.counts.conflicts = 1;
			break;
		case 'H':
			run.set = 1;
			run.hook = true;
			break;
		case 'h':
			run.hook = true;
			break;
		case 'o':
			run.open = true;
			run.status = CTM_RUN_INTERRUPTED;
			break;
		default:
			run.status = *end == 'd' ? CTM_RUN_DAMAGED : CTM_RUN_NEWER;
		}
	}
	cr_assert_eq(ctm_vec_push(&history->runs, &run), 0);
}

CASES(retain, mark, rows)
{
	HISTORY history = { 0 };
	char got[16] = "";

	for (const char *p = rows[*i].runs; p && *p; p = strchr(p, ' ')) {
		p += *p == ' ';
		add_run(&history, p);
	}
	ctm_retain_mark(&history, &rows[*i].keep, NOW);
	for (size_t k = 0; k < history.runs.n; k++) {
		got[k] = history.runs.v[k].expired ? '-' : 'k';
	}
	cr_assert_str_eq(got, rows[*i].want, "%s: %s", rows[*i].name, got);
}

static void count(const struct ctm_run_info *run, void *arg)
{
	unsigned int *n = arg;

	cr_expect_gt(run->bytes, 0);
	(*n)++;
}

/* Real records: what is kept can be taken back afterwards, removed files as well. */
Test(retain, what_stays_is_whole)
{
	STAGE(s);
	const struct ctm_retention usual = { CTM_RETAIN_RUNS, CTM_RETAIN_DAYS,
					     CTM_RETAIN_LOCK_RUNS };
	HISTORY history = { 0 };
	CLEANUP_FREE char *before = NULL;
	CLEANUP_FREE char *after = NULL;
	unsigned int n = 0;
	struct ctm_err err = { 0 };

	stage_damage(s);
	before = fake_listing(&s->fs);
	after = stage_repair(s);
	stage_undo(s, NULL);
	stage_undo(s, "2");
	cr_assert_eq(ctm_retain(s->state, &usual, time(NULL), count, &n, &err), 0);
	cr_assert_eq(n, 0);
	/* The undo of the first goes with it; the third shares the saved files with both. */
	cr_assert_eq(ctm_retain(s->state, &(struct ctm_retention){ 1, 90, 0 }, time(NULL), count,
				&n, &err),
		     0, "%s", err.msg);
	cr_assert_eq(n, 2);
	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(history.runs.n, 1);
	cr_assert_eq(strncmp(history.runs.v[0].name, "0003-", 5), 0);
	stage_undo(s, "3");
	stage_expect(s, before, "undone");
}
