/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report for people. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static void has(const char *text, const char *part)
{
	cr_assert_not_null(strstr(text, part), "'%s' is not in:\n%s", part, text);
}

Test(text, says_what_is_wrong_by_cause)
{
	static const char first[] = "CT 115: somebody worked in it as the host's root: 4 of 8 "
				    "inodes have the host's ids\n";
	static const char last[] = "\n\nNext: 'ctmend diff 115' shows every change, 'ctmend repair "
				   "115' makes them (same options).\n";
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	char *text = text_of(ctm_report_text, &rep);

	/* first what is wrong, last what to type */
	cr_assert_eq(strncmp(text, first, strlen(first)), 0, "%s", text);
	cr_assert_str_eq(text + strlen(text) - strlen(last), last, "%s", text);
	has(text, "\nrootfs tank:115/vm-115-disk-0.raw, ext4, "
		  "map u 0 100000 65536, g 0 100000 65536\n");
	has(text, "8 inodes looked at, 5 to change\n");
	has(text, "\npkg.lock  1  ");
	has(text, "\nown.host  4  ");
	has(text, "        uid 0 on 3, gid 0 on 2, uid 33 on 1, gid 33 on 1 and 1 more\n");
	has(text, "        in /etc 2, /srv 1, /usr/bin 1\n");
	has(text, "        f 0644       33:33     /srv/new\\nline\n");
	has(text, "        ... and 1 more\n");
	has(text, "\nown.beyond  1  ");
	has(text, "/opt/tool: uid 1029054284");
	has(text, "\nattr.flag  1  ");
	has(text, "        note: the map can be made to hold these ids\n"
		  "            lxc.idmap: u 0 100000 1028954285\n");
	cr_assert_null(strchr(text, '\033'), "no colour was asked for");
	free(text);
	ctm_exam_free(exam);
}

/* What has no change to show ends with the step that a person has to take, once. */
Test(text, ends_with_a_step_for_a_person)
{
	struct ctm_exam *exam = undecided_exam();
	struct ctm_report rep = { .name = "web\n1", .exam = exam };
	char *text = text_of(ctm_report_text, &rep);
	const char *step = strstr(text, "\n\nNext: ");

	cr_assert_not_null(step, "%s", text);
	cr_assert_null(strstr(step + 2, "\n\n"), "%s", text);
	cr_assert_null(strstr(text, "next: "), "%s", text);
	cr_assert_null(strstr(text, "TARGET"), "%s", text);
	has(step, "web\\n1");
	free(text);
	ctm_exam_free(exam);
}

Test(text, verbose_lists_every_entry)
{
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam, .verbose = true };
	char *text = text_of(ctm_report_text, &rep);

	has(text, "/usr/bin/arping cap=cap_net_raw=ep\n");
	has(text, "/etc/shadow\n");
	cr_assert_null(strstr(text, "... and "));
	free(text);
	ctm_exam_free(exam);
}

Test(text, clean)
{
	struct ctm_exam *exam = clean_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	char *text = text_of(ctm_report_text, &rep);

	has(text, "CT 115: clean: every id of 2 inodes belongs to the map (ids are checked, not "
		  "who "
		  "should own what)\n");
	cr_assert_null(strstr(text, "Next:"));
	free(text);
	ctm_exam_free(exam);
}

Test(text, notes_and_names_are_escaped)
{
	struct ctm_exam *exam = clean_exam();
	struct ctm_report rep = { .name = "a\033[2J", .exam = exam };
	char *note = strdup("half\nway");
	char *text;

	cr_assert_eq(ctm_vec_push(&exam->notes, &note), 0);
	text = text_of(ctm_report_text, &rep);
	has(text, "CT a\\x1b[2J: ");
	has(text, "note: half\\nway\n");
	free(text);
	text = text_of(ctm_report_diff, &rep);
	has(text, "note: half\\nway\nplan ");
	free(text);
	ctm_exam_free(exam);
}
