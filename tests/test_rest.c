/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what an unfinished run still has to do: as much as finishing it then does. */
#include "run/rest.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "run/history.h"
#include "stage.h"

#define OUTCOME CLEANUP(ctm_outcome_done) struct ctm_outcome

/* The last record, the end of a run: length, kind, four counts, time, checksum. */
#define END_LEN (1 + 1 + 4 + 5 + 4)

/* As after a crash: of the last records something is missing. */
static void cut_tail(struct stage *s, off_t len)
{
	CLEANUP(ctm_history_done) struct ctm_history history = { 0 };
	CLEANUP_CLOSE int dir = -1;
	CLEANUP_CLOSE int fd = -1;
	struct stat st;

	cr_assert_eq(ctm_history_read(s->state, &history, NULL), 0);
	cr_assert_eq(ctm_state_run_open(s->state, history.runs.v[0].name, &dir, NULL), 0);
	fd = openat(dir, CTM_JOURNAL_FILE, O_RDWR);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(ftruncate(fd, st.st_size - len), 0);
}

struct listed {
	struct stage *s;
	char paths[400]; /* "usr/bin/sudo " ... */
};

static int take(const struct ctm_entry *e, void *arg)
{
	struct listed *to = arg;
	const struct fake_node *node = fake_at(&to->s->fs, e->ref.path);

	cr_expect_not_null(node, "%s", e->ref.path);
	cr_expect(node && ctm_inode_state_eq(&node->state, &e->before), "%s", e->ref.path);
	cr_expect_eq(node ? node->ino : 0, e->ref.ino, "%s", e->ref.path);
	(void)strncat(to->paths, e->ref.path, sizeof(to->paths) - strlen(to->paths) - 2);
	(void)strcat(to->paths, " ");
	return 0;
}

static void rest(struct stage *s, struct listed *to, struct ctm_outcome *out)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	char name[CTM_RUN_NAME_MAX];
	struct ctm_err err = { 0 };

	*to = (struct listed){ .s = s };
	cr_assert_eq(ctm_history_unfinished(s->state, "rootfs", name, &err), 1, "%s", err.msg);
	cr_assert_eq(ctm_state_run_open(s->state, name, &dir, &err), 0);
	cr_assert_eq(ctm_reader_open(dir, &reader, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_run_rest(&fake_ops, &s->fs, reader, take, to, out, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(s->fs.open, 0);
}

/* The disk is believed: what is as before or on its way is listed, what is right is not. */
Test(rest, without_marks)
{
	STAGE(s);
	CLEANUP_FREE char *after = NULL;
	OUTCOME out = { 0 };
	struct listed to;

	stage_damage(s);
	after = stage_repair(s);
	cut_tail(s, END_LEN + 1);
	rest(s, &to, &out);
	cr_expect_str_eq(to.paths, "", "only its end is missing");

	fake_at(&s->fs, "etc/shadow")->state.uid.v = 42;
	fake_at(&s->fs, "etc/shadow")->state.gid.v = 42;
	/* its owner is new, and the set-id bit went with that */
	fake_at(&s->fs, "usr/bin/sudo")->state.mode = S_IFREG | 0755;
	fake_at(&s->fs, "usr/bin/wall")->state.uid.v = 4711;
	rest(s, &to, &out);
	cr_expect_str_eq(to.paths, "etc/shadow usr/bin/sudo ");
	cr_expect_eq(out.counts.conflicts, 1);
	cr_expect_str_eq(stage_result(&out, "usr/bin/wall")->what, "changed");
}

/* A mark was written behind a sync: what is otherwise now somebody has changed since. */
Test(rest, marked)
{
	STAGE(s);
	CLEANUP_FREE char *after = NULL;
	OUTCOME out = { 0 };
	struct listed to;

	stage_damage(s);
	after = stage_repair(s);
	cut_tail(s, 1);
	fake_at(&s->fs, "etc/shadow")->state.uid.v = 42;
	fake_at(&s->fs, "etc/shadow")->state.gid.v = 42;
	rest(s, &to, &out);
	cr_expect_str_eq(to.paths, "");
	cr_expect_eq(out.counts.conflicts, 0);
}
