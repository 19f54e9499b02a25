/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/running.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cases.h"
#include "scratch.h"

#define HEAD      "Num       RefCount Protocol Flags    Type St Inode Path\n"
#define LISTENS   "0000000000000000: 00000002 00000000 00010000 0001 01 "
#define CONNECTED "0000000000000000: 00000003 00000000 00000000 0001 03 "
#define NAME      "/var/lib/lxc/115/command"

static const struct {
	const char *name;
	const char *text;
	bool found;
	uint64_t listening;
} rows[] = {
	{ "nothing", HEAD, false, 0 },
	{ "empty", "", false, 0 },
	{ "running", HEAD LISTENS "18321 @" NAME "\n", true, 18321 },
	{ "the last line without its end", HEAD LISTENS "18321 @" NAME, true, 18321 },
	{ "a narrow inode", HEAD LISTENS "   21 @" NAME "\n", true, 21 },
	{ "only a connection", HEAD CONNECTED "77 @" NAME "\n", true, 0 },
	{ "a connection before and behind",
	  HEAD CONNECTED "77 @" NAME "\n" LISTENS "78 @" NAME "\n" CONNECTED "79 @" NAME "\n", true,
	  78 },
	{ "another container", HEAD LISTENS "18321 @/var/lib/lxc/1155/command\n", false, 0 },
	{ "a longer name", HEAD LISTENS "18321 @" NAME "s\n", false, 0 },
	{ "a name in front", HEAD LISTENS "18321 @x" NAME "\n", false, 0 },
	{ "a blank behind", HEAD LISTENS "18321 @" NAME " \n", false, 0 },
	{ "a blank in front", HEAD LISTENS "18321  @" NAME "\n", false, 0 },
	{ "no abstract socket", HEAD LISTENS "18321 " NAME "\n", false, 0 },
	{ "NULs behind the name, shown as @", HEAD LISTENS "18321 @" NAME "@@\n", false, 0 },
	{ "a socket without a name", HEAD LISTENS "18321\n", false, 0 },
	{ "rubbish", "x\n\n@" NAME "\n", false, 0 },
};
CASES(running, socket_find, rows)
{
	struct ctm_socket_row got;

	ctm_socket_find((struct ctm_bytes){ rows[*i].text, strlen(rows[*i].text) }, NAME, &got);
	cr_assert_eq(got.found, rows[*i].found, "%s", rows[*i].name);
	cr_assert_eq(got.listening, rows[*i].listening, "%s: %ju", rows[*i].name,
		     (uintmax_t)got.listening);
}

static void take_name(int fd, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const size_t len = strlen(name);

	memcpy(addr.sun_path + 1, name, len);
	cr_assert_eq(bind(fd, (const struct sockaddr *)&addr,
			  (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)),
		     0);
}

Test(running, a_real_socket)
{
	CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct ctm_socket_row got;
	struct stat st;
	char name[64];

	(void)snprintf(name, sizeof(name), "ctmend test/%d", (int)getpid());
	cr_assert_eq(ctm_socket_look(name, &got, NULL), 0);
	cr_assert(!got.found);
	take_name(fd, name);
	cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_assert_eq(ctm_socket_look(name, &got, NULL), 0);
	cr_assert(got.found);
	cr_assert_eq(got.listening, st.st_ino);
}

/* A name with a line end in it makes a row of its own up. */
Test(running, a_forged_row)
{
	static const char *const states[] = { LISTENS, CONNECTED };
	CLEANUP_CLOSE int real = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char forged[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	struct ctm_socket_row got;
	struct stat st;
	char name[16];

	(void)snprintf(name, sizeof(name), "%d", (int)getpid());
	cr_assert_eq(fstat(real, &st), 0);
	for (size_t i = 0; i < 2 * ARRAY_LEN(states); i++) {
		CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		(void)snprintf(forged, sizeof(forged), "x\n%s%ju @%s", states[i / 2],
			       i % 2 ? (uintmax_t)st.st_ino : 1, name);
		take_name(fd, forged);
		cr_assert_eq(ctm_socket_look(name, &got, NULL), 0);
		cr_assert(!got.found, "%s", forged);
	}
	take_name(real, name);
	cr_assert_eq(listen(real, 1), 0);
	for (size_t i = 0; i < 3; i++) {
		CLEANUP_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		(void)snprintf(forged, sizeof(forged), "x\n%s%zu @%s", LISTENS, i, name);
		take_name(fd, forged);
		cr_assert_eq(ctm_socket_look(name, &got, NULL), 0);
		cr_assert(got.found);
		cr_assert_eq(got.listening, st.st_ino);
	}
}

Test(running, the_file_of_a_reboot)
{
	SCRATCH(s);
	const struct ctm_host host = { .sysroot = s.path };
	bool is = true;

	cr_assert_eq(ctm_running_rebooting(&host, 115, &is, NULL), 0);
	cr_assert(!is);
	cr_assert_eq(mkdirat(s.fd, "var", 0755), 0);
	cr_assert_eq(mkdirat(s.fd, "var/lib", 0755), 0);
	cr_assert_eq(mkdirat(s.fd, "var/lib/lxc", 0755), 0);
	cr_assert_eq(mkdirat(s.fd, "var/lib/lxc/115", 0755), 0);
	cr_assert_eq(ctm_running_rebooting(&host, 115, &is, NULL), 0);
	cr_assert(!is);
	cr_assert_eq(close(openat(s.fd, "var/lib/lxc/115/reboot", O_CREAT | O_WRONLY, 0644)), 0);
	cr_assert_eq(ctm_running_rebooting(&host, 115, &is, NULL), 0);
	cr_assert(is);
	cr_assert_eq(ctm_running_rebooting(&host, 11, &is, NULL), 0);
	cr_assert(!is);
}
