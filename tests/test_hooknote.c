/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of hooks whose time did not do. */
#include "session/hooknote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "sysroot.h"

#define HASH  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1eff"
#define HEAD  "ctmend-late 1\nconfig " HASH "\n"
#define WHOLE HEAD "root 1764543210.000000089\ntime 1764543300\n"
#define PLACE "/var/lib/ctmend/.late/"

static const struct {
	const char *name;
	const char *text;
	size_t len; /* 0: of the text */
	int r;
	bool has_root;
} texts[] = {
	{ "whole", WHOLE, 0, 0, true },
	{ "no root", HEAD "root -\ntime 1764543300\n", 0, 0, false },
	{ "empty", "", 0, -EBADMSG, false },
	{ "cut short", WHOLE, sizeof(WHOLE) - 2, -EBADMSG, false },
	{ "cut in a line", WHOLE, sizeof(WHOLE) - 20, -EBADMSG, false },
	{ "more behind it", WHOLE "x\n", 0, -EBADMSG, false },
	{ "a NUL in it", "ctmend-late 1\0\n", 15, -EBADMSG, false },
	{ "another version", "ctmend-late 2\nconfig " HASH "\nroot -\ntime 1\n", 0, -EBADMSG,
	  false },
	{ "a digest too short", "ctmend-late 1\nconfig 00\nroot -\ntime 1\n", 0, -EBADMSG, false },
	{ "no digest", "ctmend-late 1\nconfig " HASH "x\nroot -\ntime 1\n", 0, -EBADMSG, false },
	{ "no number for root", HEAD "root x.000000000\ntime 1\n", 0, -EBADMSG, false },
	{ "a root without a fraction", HEAD "root 1\ntime 1\n", 0, -EBADMSG, false },
	{ "a fraction too short", HEAD "root 1.5\ntime 1\n", 0, -EBADMSG, false },
	{ "a fraction with a sign", HEAD "root 1.-00000001\ntime 1\n", 0, -EBADMSG, false },
	{ "no number for time", HEAD "root -\ntime now\n", 0, -EBADMSG, false },
	{ "a time too large", HEAD "root -\ntime 99999999999999999999\n", 0, -EBADMSG, false },
	{ "another order", "ctmend-late 1\nroot -\nconfig " HASH "\ntime 1\n", 0, -EBADMSG, false },
};

CASES(hooknote, parse, texts)
{
	const size_t len = texts[*i].len ? texts[*i].len : strlen(texts[*i].text);
	struct ctm_hooknote note = { .has_root = false };
	int r = ctm_hooknote_parse((struct ctm_bytes){ .p = texts[*i].text, .len = len }, &note);

	cr_assert_eq(r, texts[*i].r, "%s: %d", texts[*i].name, r);
	if (r < 0) {
		return;
	}
	cr_assert_eq(note.has_root, texts[*i].has_root, "%s", texts[*i].name);
	cr_assert_eq(note.time, 1764543300, "%s", texts[*i].name);
	cr_assert_eq(note.config[1], 1, "%s", texts[*i].name);
	cr_assert_eq(note.config[31], 0xff, "%s", texts[*i].name);
	cr_assert(!note.has_root || (note.root.tv_sec == 1764543210 && note.root.tv_nsec == 89),
		  "%s", texts[*i].name);
}

Test(hooknote, parse_long)
{
	char text[4096];
	struct ctm_hooknote note;

	memset(text, 'a', sizeof(text));
	cr_assert_eq(ctm_hooknote_parse((struct ctm_bytes){ .p = text, .len = sizeof(text) },
					&note),
		     -EBADMSG);
}

#define DAY 86400

static const struct {
	const char *name;
	bool left_root, seen_root;
	long left_nsec, seen_nsec;
	int64_t age; /* seconds */
	uint8_t config;
	bool holds;
} ages[] = {
	{ "nothing has changed", true, true, 5, 5, 60, 0, true },
	{ "in the same second", true, true, 5, 5, 0, 0, true },
	{ "nearly seven days", true, true, 5, 5, 7 * DAY - 1, 0, true },
	{ "seven days", true, true, 5, 5, 7 * DAY, 0, false },
	{ "from the future", true, true, 5, 5, -1, 0, false },
	{ "another configuration", true, true, 5, 5, 60, 1, false },
	{ "the root has changed", true, true, 5, 6, 60, 0, false },
	{ "it answers now", false, true, 0, 5, 60, 0, false },
	{ "not asked yet", true, false, 5, 0, 60, 0, true },
	{ "not asked yet, and no answer then", false, false, 0, 0, 60, 0, true },
	{ "not asked yet, another configuration", true, false, 5, 0, 60, 1, false },
};

CASES(hooknote, holds, ages)
{
	const struct ctm_hooknote left = { .has_root = ages[*i].left_root,
					   .root.tv_nsec = ages[*i].left_nsec,
					   .time = 1000 * DAY };
	const struct ctm_hooknote seen = { .has_root = ages[*i].seen_root,
					   .root.tv_nsec = ages[*i].seen_nsec,
					   .config = { ages[*i].config } };

	cr_assert_eq(ctm_hooknote_holds(&left, &seen, left.time + ages[*i].age), ages[*i].holds,
		     "%s", ages[*i].name);
}

/* There and back, and what else may lie in its place. */
Test(hooknote, files)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	const struct ctm_hooknote note = { .target = "115",
					   .config = { 7 },
					   .has_root = true,
					   .root = { .tv_sec = -1, .tv_nsec = 999999999 },
					   .time = 12 };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	struct ctm_hooknote back;
	struct ctm_err err = { 0 };
	struct stat st;

	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), -ENOENT);
	ctm_hooknote_remove(&host, "115");
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), 0);
	cr_assert_eq(memcmp(back.config, note.config, sizeof(back.config)), 0);
	cr_assert(back.has_root && back.root.tv_sec == -1 && back.root.tv_nsec == 999999999);
	cr_assert_eq(back.time, 12);
	cr_assert_str_eq(back.target, "115");

	cr_assert_eq(ctm_buf_addf(&path, "%s" PLACE "115", s.path), 0);
	cr_assert_eq(stat(path.p, &st), 0);
	cr_assert_eq(st.st_mode & 07777, 0600);
	sysroot_file(&s, &(PLACE "115")[1], "damage");
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), -ENOENT);
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), 0);
	ctm_hooknote_remove(&host, "115");
	cr_assert_eq(stat(path.p, &st), -1);

	/* a link leads nowhere */
	sysroot_file(&s, "elsewhere", WHOLE);
	sysroot_link(&s, &(PLACE "115")[1], "../../../../elsewhere");
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), -ENOENT);
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(lstat(path.p, &st), 0);
	cr_assert(S_ISREG(st.st_mode));
}

/* Those of other targets go when they are old. */
Test(hooknote, sweep)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	struct ctm_hooknote note = { .target = "115", .time = time(NULL) };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	struct ctm_hooknote back;
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	(void)memcpy(note.target, "116", 4);
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), 0);
	/* what another hook writes right now stays, what one has left behind goes */
	sysroot_file(&s, &(PLACE ".new.1")[1], "");
	cr_assert_eq(ctm_buf_addf(&path, "%s" PLACE ".new.1", s.path), 0);
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(access(path.p, F_OK), 0);
	note.time += 120;
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(access(path.p, F_OK), -1);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), 0);
	note.time += 8 * DAY;
	cr_assert_eq(ctm_hooknote_write(&host, &note, &err), 0, "%s", err.msg);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), -ENOENT);
}

/* Nobody else's directory is believed. */
Test(hooknote, open_to_others)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	const struct ctm_hooknote note = { .target = "115" };
	struct ctm_hooknote back;
	struct ctm_err err = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

	sysroot_file(&s, &(PLACE "115")[1], WHOLE);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), 0);
	cr_assert_eq(ctm_buf_addf(&path, "%s" PLACE, s.path), 0);
	cr_assert_eq(chmod(path.p, 0777), 0);
	cr_assert_eq(ctm_hooknote_read(&host, "115", &back), -ENOENT);
	cr_assert_lt(ctm_hooknote_write(&host, &note, &err), 0);
}
