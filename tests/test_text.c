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
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	char *text = text_of(ctm_report_text, &rep);

	has(text, "CT 115, rootfs tank:115/vm-115-disk-0.raw, ext4, "
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
	has(text, "\nNext: 'ctmend diff 115' shows every change, 'ctmend repair 115' makes them");
	cr_assert_null(strchr(text, '\033'), "no colour was asked for");
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

	has(text, "\nclean: 2 inodes looked at");
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
	has(text, "CT a\\x1b[2J, ");
	has(text, "note: half\\nway\n");
	free(text);
	text = text_of(ctm_report_diff, &rep);
	has(text, "note: half\\nway\nplan ");
	free(text);
	ctm_exam_free(exam);
}
