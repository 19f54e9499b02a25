/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who asked for a run. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "run/repair.h"

CTM_HOST_PATHS

#define NO_LOGIN UINT32_MAX

/* The uid that the login set and that su and sudo leave alone (proc(5)); NO_LOGIN for daemons. */
static uid_t login_uid(void)
{
	CLEANUP_CLOSE int fd = open("/proc/self/loginuid", O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned long uid;
	char *end;

	if (n <= 0) {
		return NO_LOGIN;
	}
	errno = 0;
	uid = strtoul(text, &end, 10);
	return errno != 0 || end == text || uid >= NO_LOGIN ? NO_LOGIN : (uid_t)uid;
}

static void name_of(uid_t uid, char ret[static 64])
{
	char buf[4096];
	struct passwd pw;
	struct passwd *found = NULL;

	if (getpwuid_r(uid, &pw, buf, sizeof(buf), &found) == 0 && found) {
		(void)snprintf(ret, 64, "%s", found->pw_name);
	} else {
		(void)snprintf(ret, 64, "uid %u", uid);
	}
}

void ctm_run_user(char ret[static 64])
{
	const char *sudo = secure_getenv("SUDO_USER");
	uid_t uid;

	if (sudo && *sudo) {
		(void)snprintf(ret, 64, "%s", sudo);
		return;
	}
	uid = login_uid();
	name_of(uid == NO_LOGIN ? getuid() : uid, ret);
}
