/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes of what was made active.
 */
#include "target/activenote.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "sysroot.h"

#define VOLID "local-lvm:vm-115-disk-0"
#define NAME  "local-lvm%3Avm-115-disk-0"
#define PLACE "run/ctmend/active/"
#define HEAD  "ctmend-active 1\nvmid 115\nvolume " VOLID "\n"

static const struct {
	const char *name;
	const char *text;
	const char *path; /* NULL: none */
	int r;
} texts[] = {
	{ "without a path", HEAD, NULL, 0 },
	{ "with one", HEAD "path /dev/a b\n", "/dev/a b", 0 },
	{ "the last one counts", HEAD "path /dev/a\npath /dev/b\n", "/dev/b", 0 },
	{ "empty", "", NULL, -EBADMSG },
	{ "cut short", "ctmend-active 1\nvmid 115\nvolume local", NULL, -EBADMSG },
	{ "path cut short", HEAD "path /dev/", NULL, -EBADMSG },
	{ "another version", "ctmend-active 2\nvmid 115\nvolume " VOLID "\n", NULL, -EBADMSG },
	{ "no number", "ctmend-active 1\nvmid x\nvolume " VOLID "\n", NULL, -EBADMSG },
	{ "no id", "ctmend-active 1\nvmid 0115\nvolume " VOLID "\n", NULL, -EBADMSG },
	{ "an id too long", "ctmend-active 1\nvmid 1234567890\nvolume " VOLID "\n", NULL,
	  -EBADMSG },
	{ "no volume", "ctmend-active 1\nvmid 115\nvolume \n", NULL, -EBADMSG },
	{ "relative path", HEAD "path dev\n", NULL, -EBADMSG },
	{ "unknown line", HEAD "more\n", NULL, -EBADMSG },
};
CASES(activenote, parse, texts)
{
	CLEANUP(ctm_activenote_done) struct ctm_activenote note = { 0 };
	int r = ctm_activenote_parse((struct ctm_bytes){ texts[*i].text, strlen(texts[*i].text) },
				     &note);

	cr_assert_eq(r, texts[*i].r, "%s: %d", texts[*i].name, r);
	if (r < 0) {
		cr_assert(!note.volid && !note.path, "%s", texts[*i].name);
		return;
	}
	cr_assert_eq(note.vmid, 115, "%s", texts[*i].name);
	cr_assert_str_eq(note.volid, VOLID, "%s", texts[*i].name);
	cr_assert_eq(note.path == NULL, texts[*i].path == NULL, "%s", texts[*i].name);
	cr_assert(!note.path || strcmp(note.path, texts[*i].path) == 0, "%s", texts[*i].name);
}

Test(activenote, name)
{
	CLEANUP(ctm_buf_done) struct ctm_buf plain = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf odd = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf large = { 0 };
	char name[300];

	cr_assert_eq(ctm_activenote_name(VOLID, &plain), 0);
	cr_assert_str_eq(plain.p, NAME);
	cr_assert_eq(ctm_activenote_name("a:1/b.raw/2/../%\xc3\xa4", &odd), 0);
	cr_assert_str_eq(odd.p, "a%3A1%2Fb.raw%2F2%2F..%2F%25%C3%A4");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cr_assert_eq(ctm_activenote_name(name, &large), -ENAMETOOLONG);
}

static bool there(const struct scratch *s, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/" PLACE "%s", s->path, name);
	return access(path, F_OK) == 0;
}

static size_t count(const struct ctm_host *host)
{
	CLEANUP(ctm_activenote_names_done) struct ctm_activenote_names names = { 0 };
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_activenote_list(host, &names, &err), 0, "%s", err.msg);
	return names.v.n;
}

Test(activenote, life)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	char volid[] = VOLID;
	const struct ctm_activenote mine = { .vmid = 115, .volid = volid };
	CLEANUP(ctm_activenote_done) struct ctm_activenote early = { 0 };
	CLEANUP(ctm_activenote_done) struct ctm_activenote late = { 0 };
	struct ctm_err err = { 0 };
	int second = -1;
	int fd = -1;

	cr_assert_eq(count(&host), 0);
	cr_assert_not(there(&s, ""), "looking makes no folder");
	cr_assert_eq(ctm_activenote_take(&host, &mine, &fd, &err), 0, "%s", err.msg);
	cr_assert(there(&s, NAME));
	cr_assert_eq(count(&host), 1);
	cr_assert_eq(ctm_activenote_read(&host, NAME, &early), 0);
	cr_assert_str_eq(early.volid, VOLID);
	cr_assert_null(early.path);
	cr_assert_eq(ctm_activenote_add_path(fd, "/dev/pve/x"), 0);
	cr_assert_eq(ctm_activenote_read(&host, NAME, &late), 0);
	cr_assert_str_eq(late.path, "/dev/pve/x");

	/* held, it is nobody else's */
	cr_assert_eq(ctm_activenote_claim(&host, NAME, &second), -EWOULDBLOCK);
	cr_assert_lt(ctm_activenote_take(&host, &mine, &second, &err), 0);
	cr_assert_eq(err.code, CTM_REFUSED);
	cr_assert_not_null(strstr(err.msg, "still activating '" VOLID "'"), "%s", err.msg);

	/* left behind, whoever comes takes it over */
	(void)close(fd);
	fd = -1;
	cr_assert_eq(ctm_activenote_claim(&host, NAME, &fd), 0);
	(void)close(fd);
	cr_assert_eq(ctm_activenote_take(&host, &mine, &fd, &err), 0, "%s", err.msg);
	ctm_activenote_drop(&host, VOLID, &fd);
	cr_assert_eq(fd, -1);
	cr_assert_not(there(&s, NAME));
	cr_assert_eq(ctm_activenote_claim(&host, NAME, &fd), -ENOENT);
	cr_assert_eq(count(&host), 0);
}

Test(activenote, what_is_none)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	struct ctm_activenote note = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf large = { 0 };
	char path[512];
	int fd = -1;

	sysroot_file(&s, PLACE "bad", "nonsense\n");
	sysroot_file(&s, PLACE ".new-thing", HEAD);
	sysroot_file(&s, "elsewhere", HEAD);
	sysroot_link(&s, PLACE "link", "../../../elsewhere");
	cr_assert_eq(ctm_buf_addf(&large, HEAD "path /%0*d\n", 20000, 0), 0);
	sysroot_file(&s, PLACE "large", large.p);
	(void)snprintf(path, sizeof(path), "%s/" PLACE "fifo", s.path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	(void)snprintf(path, sizeof(path), "%s/" PLACE, s.path);
	cr_assert_eq(chmod(path, 0700), 0);
	cr_assert_eq(count(&host), 4, "a note that is being made does not count");
	cr_assert_eq(ctm_activenote_read(&host, "bad", &note), -EBADMSG);
	cr_assert_eq(ctm_activenote_read(&host, "link", &note), -ELOOP);
	cr_assert_eq(ctm_activenote_claim(&host, "link", &fd), -ELOOP);
	cr_assert_eq(ctm_activenote_read(&host, "large", &note), -EBADMSG);
	cr_assert_lt(ctm_activenote_read(&host, "fifo", &note), 0);
	cr_assert_null(note.volid);
}
