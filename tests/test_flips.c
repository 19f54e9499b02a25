/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Damage to a record or to its archives, byte by byte: whoever goes on from it refuses, and the
 * volume stays as it was. Module by module: tests/test_journal.c and tests/test_archive.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "run/archive.h"
#include "run/history.h"
#include "run/undo.h"
#include "stage.h"

#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome
#define PLAN    CLEANUP(stage_plan_done) struct ctm_plan
#define TEXT    CLEANUP_FREE char
/* The archives are large, and all their bytes are under one hash. */
#define ARCHIVE_STEP 23

/* What is done with the damaged record. */
enum way { UNDO, RESUME };

static const struct {
	const char *name;
	bool undo;        /* the record is that of an undo */
	bool interrupted; /* half of its run is done */
	enum way way;
	const char *file;
} rows[] = {
	{ "repair, taken back", false, false, UNDO, CTM_JOURNAL_FILE },
	{ "repair, taken back", false, false, UNDO, CTM_ARCHIVE_REMOVED },
	{ "half a repair, taken back", false, true, UNDO, CTM_JOURNAL_FILE },
	{ "half a repair, taken back", false, true, UNDO, CTM_ARCHIVE_REMOVED },
	{ "half a repair, resumed", false, true, RESUME, CTM_JOURNAL_FILE },
	{ "half a repair, resumed", false, true, RESUME, CTM_ARCHIVE_REMOVED },
	{ "half an undo, resumed", true, true, RESUME, CTM_JOURNAL_FILE },
	{ "half an undo, resumed", true, true, RESUME, CTM_ARCHIVE_RESTORE },
	{ "half an undo, undone again", true, true, UNDO, CTM_JOURNAL_FILE },
	{ "half an undo, undone again", true, true, UNDO, CTM_ARCHIVE_RESTORE },
};

/* Calls that the same run makes on a volume of its own. */
static unsigned int count_calls(bool undo)
{
	STAGE(s);
	TEXT *after = NULL;
	unsigned int repair;

	stage_damage(s);
	after = stage_repair(s);
	repair = s->fs.calls;
	if (undo) {
		stage_undo(s, NULL);
	}
	return undo ? s->fs.calls - repair : repair;
}

/* A volume whose newest run is as the row says: half a run ends with a disk that is broken. */
static void play(struct stage *s, size_t row, char ret_name[static CTM_RUN_NAME_MAX])
{
	OUTCOME out = { 0 };
	PLAN plan = { 0 };
	struct ctm_err err = { 0 };
	struct ctm_run_info info;
	int r;

	stage_damage(s);
	plan = stage_plan(s);
	if (rows[row].undo) {
		free(stage_repair(s));
	}
	if (rows[row].interrupted) {
		s->fs.fail_at = s->fs.calls + count_calls(rows[row].undo) * 3 / 4;
		s->fs.fail_with = EIO;
		s->fs.fail_on = true;
	}
	if (rows[row].undo) {
		cr_assert_eq(ctm_undo_choose(&s->run, NULL, &info, &err), 0, "%s", err.msg);
		r = ctm_undo(&s->run, info.name, &out, &err);
	} else {
		r = ctm_repair(&s->run, &plan, STAGE_DIGEST, &out, &err);
	}
	cr_assert_eq(r, rows[row].interrupted ? -EIO : 0, "%d %s", r, err.msg);
	s->fs.fail_at = 0;
	s->fs.fail_on = false;
	(void)memccpy(ret_name, out.run, '\0', CTM_RUN_NAME_MAX);
}

static int go_on(struct stage *s, size_t row, const char *name, struct ctm_err *err)
{
	OUTCOME out = { 0 };
	int r = rows[row].way == UNDO ? ctm_undo(&s->run, name, &out, err) :
					ctm_repair_resume(&s->run, name, &out, err);

	cr_assert(r < 0 || !ctm_outcome_partial(&out), "something was left");
	return r;
}

static void refused(struct stage *s, size_t row, const char *name, const char *want,
		    const char *damage, off_t at)
{
	struct ctm_err err = { 0 };
	TEXT *now = NULL;
	int r = go_on(s, row, name, &err);

	cr_assert_lt(r, 0, "%s: %s, %s at byte %jd", rows[row].name, rows[row].file, damage,
		     (intmax_t)at);
	now = fake_listing(&s->fs);
	cr_assert_str_eq(now, want, "%s: %s, %s at byte %jd: the volume has changed",
			 rows[row].name, rows[row].file, damage, (intmax_t)at);
}

/* Bytes of the file without which nothing can be forgiven: of a journal those up to its seal. */
static off_t firm_size(int dir, size_t row, off_t size)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;

	if (strcmp(rows[row].file, CTM_JOURNAL_FILE) != 0) {
		return size;
	}
	cr_assert_eq(ctm_reader_open(dir, &reader, NULL), 0);
	return (off_t)ctm_reader_seal(reader)->offset;
}

CASES(flips, damaged_records, rows)
{
	STAGE(s);
	char name[CTM_RUN_NAME_MAX];
	CLEANUP_CLOSE int dir = -1;
	CLEANUP_CLOSE int fd = -1;
	TEXT *halfway = NULL;
	char whole[1 << 16];
	struct ctm_err err = { 0 };
	ssize_t size;
	off_t firm;
	off_t step = strcmp(rows[*i].file, CTM_JOURNAL_FILE) == 0 ? 1 : ARCHIVE_STEP;

	play(s, *i, name);
	halfway = fake_listing(&s->fs);
	cr_assert_eq(ctm_state_run_open(s->state, name, &dir, &err), 0, "%s", err.msg);
	fd = openat(dir, rows[*i].file, O_RDWR);
	size = pread(fd, whole, sizeof(whole), 0);
	cr_assert(size > 0 && (size_t)size < sizeof(whole), "%zd bytes", size);
	firm = firm_size(dir, *i, size);
	for (off_t at = 0; at < size; at += step) {
		char c = (char)(whole[at] ^ (1 << at % 8));

		cr_assert_eq(pwrite(fd, &c, 1, at), 1);
		refused(s, *i, name, halfway, "flip", at);
		cr_assert_eq(pwrite(fd, &whole[at], 1, at), 1);
	}
	for (off_t at = firm; at-- > 0; at -= step - 1) {
		cr_assert_eq(ftruncate(fd, at), 0);
		refused(s, *i, name, halfway, "cut", at);
	}
	cr_assert_eq(pwrite(fd, whole, (size_t)size, 0), size);
	cr_assert_eq(go_on(s, *i, name, &err), 0, "%s", err.msg);
}
