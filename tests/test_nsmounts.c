/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/nsmounts.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"

#define ROOT "21 1 254:1 / / rw - ext4 /dev/root rw\n"

struct last {
	int n;
	char root[64];
	char point[64];
	int stop;
};

static int note(const struct ctm_nsmount *mount, void *arg)
{
	struct last *last = arg;

	last->n++;
	(void)snprintf(last->root, sizeof(last->root), "%s", mount->root);
	(void)snprintf(last->point, sizeof(last->point), "%s", mount->point);
	return last->stop;
}

static const struct {
	const char *name;
	const char *text;
	int want;
	int n;
	bool whole;
	const char *root;
	const char *point;
} rows[] = {
	{ "none of it", ROOT, 0, 0, true, "", "" },
	{ "one", ROOT "41 27 254:3 /images/115 /mnt rw - ext4 /dev/x rw\n", 0, 1, true,
	  "/images/115", "/mnt" },
	{ "two, one of the other device",
	  ROOT "41 27 254:3 / /mnt rw - ext4 /dev/x rw\n42 27 7:9 / /m rw - ext4 /dev/loop9 rw\n",
	  0, 2, true, "/", "/m" },
	{ "a chroot's part", "41 27 254:3 / /mnt rw - ext4 /dev/x rw\n", 0, 1, false, "/", "/mnt" },
	{ "names with blanks and backslashes",
	  ROOT "41 27 254:3 /a\\040b /c\\134d\\012e rw master:1 - ext4 /dev/x rw\n", 0, 1, true,
	  "/a b", "/c\\d\ne" },
	{ "nothing", "", 0, 0, false, "", "" },
	{ "a row that matters and cannot be read", ROOT "41 27 254:3 / \n", -EBADMSG, 0, true, "",
	  "" },
	{ "rubbish", "nothing\n", -EBADMSG, 0, false, "", "" },
};
CASES(nsmounts, text, rows)
{
	const dev_t devs[] = { makedev(254, 3), makedev(7, 9) };
	const struct ctm_nsmounts_query query = { .devs = devs, .n_devs = ARRAY_LEN(devs) };
	CLEANUP_FCLOSE FILE *f = rows[*i].text[0] ? fmemopen((void *)(uintptr_t)rows[*i].text,
							     strlen(rows[*i].text), "r") :
						    fopen("/dev/null", "re");
	struct last last = { 0 };
	bool whole = !rows[*i].whole;

	cr_assert_eq(ctm_nsmounts_from_text(f, &query, note, &last, &whole), rows[*i].want, "%s",
		     rows[*i].name);
	cr_assert_eq(last.n, rows[*i].n, "%s: %d", rows[*i].name, last.n);
	cr_assert_eq(whole, rows[*i].whole, "%s", rows[*i].name);
	cr_assert_str_eq(last.root, rows[*i].root, "%s", rows[*i].name);
	cr_assert_str_eq(last.point, rows[*i].point, "%s", rows[*i].name);
}

Test(nsmounts, the_callback_ends_it)
{
	const dev_t dev = makedev(254, 1);
	const struct ctm_nsmounts_query query = { .devs = &dev, .n_devs = 1 };
	static const char text[] = ROOT ROOT;
	CLEANUP_FCLOSE FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct last last = { .stop = 7 };
	bool whole;

	cr_assert_eq(ctm_nsmounts_from_text(f, &query, note, &last, &whole), 7);
	cr_assert_eq(last.n, 1);
}

struct sum {
	size_t n;
	size_t letters; /* of all roots and points */
};

static int add(const struct ctm_nsmount *mount, void *arg)
{
	struct sum *sum = arg;

	sum->n++;
	sum->letters += strlen(mount->root) + strlen(mount->point);
	return 0;
}

/* Both ways to ask say the same of where we are; without privileges there is but one. */
Test(nsmounts, the_calls_and_mountinfo_agree)
{
	CLEANUP_FCLOSE FILE *f = fopen("/proc/self/mountinfo", "re");
	CLEANUP_FREE char *line = NULL;
	struct sum calls = { 0 };
	struct sum text = { 0 };
	size_t cap = 0;
	dev_t devs[512];
	struct ctm_nsmounts_query query = { .devs = devs };
	size_t lines = 0;
	bool whole = false;

	while (getline(&line, &cap, f) > 0 && query.n_devs < ARRAY_LEN(devs)) {
		unsigned int maj;
		unsigned int min;

		cr_assert_eq(sscanf(line, "%*u %*u %u:%u", &maj, &min), 2);
		devs[query.n_devs++] = makedev(maj, min);
		lines++;
	}
	cr_assert_eq(ctm_nsmounts_each(getpid(), &query, add, &calls, &whole), 0);
	cr_assert(whole);
	ctm_nsmounts_old_kernel(true);
	cr_assert_eq(ctm_nsmounts_each(getpid(), &query, add, &text, &whole), 0);
	cr_assert(whole);
	cr_assert_eq(text.n, lines);
	cr_assert_eq(calls.n, text.n, "%zu mounts by call, %zu in mountinfo", calls.n, text.n);
	cr_assert_eq(calls.letters, text.letters);
}
