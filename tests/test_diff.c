/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan as a diff. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

Test(diff, one_line_before_and_after)
{
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	char *text = text_of(ctm_report_diff, &rep);
	char *digest = strstr(text, "plan ");

	cr_assert_not_null(digest);
	cr_assert_eq(strspn(digest + 5, "0123456789abcdef"), 32);
	cr_assert(strncmp(digest + 5, exam->digest, 32) == 0);
	cr_assert_str_eq(digest + 5 + 32, "  5 changes\n");
	*digest = '\0';
	cr_assert_str_eq(
		text,
		"--- 115:/ as found        tank:115/vm-115-disk-0.raw\n"
		"+++ 115:/ as repaired     map u 0 100000 65536, g 0 100000 65536\n"
		"@@ pkg.lock: stale locks left by a run on the host (1) @@\n"
		"-f 0640        0:0      /var/lib/dpkg/lock\n"
		"@@ own.host: written from the host, ids outside the map (3) @@\n"
		"-f 0640        0:42     /etc/shadow\n"
		"+f 0640   100000:100042 /etc/shadow\n"
		"-f 0644       33:33     /srv/new\\nline\n"
		"+f 0644   100033:100033 /srv/new\\nline\n"
		"-f 4755        0:0      /usr/bin/arping cap=cap_net_raw=ep\n"
		"+f 4755   100000:100000 /usr/bin/arping cap=cap_net_raw=ep [rootid=100000]\n"
		"@@ acl.host: ACL entries written from the host, uid 33 is outside the map (1) @@\n"
		"-f 0664   100000:100000 /srv/acl acl=u::rw-,u:33:rw-,g::r--,m::rw-,o::r--\n"
		"+f 0664   100000:100000 /srv/acl acl=u::rw-,u:100033:rw-,g::r--,m::rw-,o::r--\n");
	free(text);
	ctm_exam_free(exam);
}

Test(diff, colour_stands_around_whole_lines)
{
	struct ctm_exam *exam = damaged_exam();
	struct ctm_report rep = { .name = "115", .exam = exam, .color = true };
	char *text = text_of(ctm_report_diff, &rep);

	cr_assert_not_null(strstr(text, "\033[31m-f 0640        0:42     /etc/shadow\033[0m\n"));
	cr_assert_not_null(strstr(text, "\033[32m+f 0640   100000:100042 /etc/shadow\033[0m\n"));
	free(text);
	ctm_exam_free(exam);
}

Test(diff, a_clean_volume_has_a_digest_and_no_hunk)
{
	struct ctm_exam *exam = clean_exam();
	struct ctm_report rep = { .name = "115", .exam = exam };
	char *text = text_of(ctm_report_diff, &rep);

	cr_assert(strncmp(text, "plan ", 5) == 0, "%s", text);
	cr_assert_str_eq(text + 5 + 32, "  0 changes\n");
	free(text);
	ctm_exam_free(exam);
}
