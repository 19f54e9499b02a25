/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order matters: each step needs a privilege that a later one gives up. The filter is last. */
#include "scan/confine.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "scan/confine_filter.h"

CTM_TREE_CALLS

static void free_cap(cap_t *cap)
{
	if (*cap) {
		(void)cap_free(*cap);
	}
}

static bool has(cap_t caps, cap_value_t cap, cap_flag_t flag)
{
	cap_flag_value_t value = CAP_CLEAR;

	return cap_get_flag(caps, cap, flag, &value) == 0 && value == CAP_SET;
}

static bool has_any(cap_t caps)
{
	for (cap_value_t cap = 0; cap <= CAP_LAST_CAP; cap++) {
		if (has(caps, cap, CAP_PERMITTED)) {
			return true;
		}
	}
	return false;
}

/* Makes all that is permitted effective: a caller may have set another user aside for a moment. */
static int use_all(cap_t caps)
{
	for (cap_value_t cap = 0; cap <= CAP_LAST_CAP; cap++) {
		if (has(caps, cap, CAP_PERMITTED) &&
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, CAP_SET) < 0) {
			return -errno;
		}
	}
	return cap_set_proc(caps) < 0 ? -errno : 0;
}

static int change_root(int rootfd)
{
	return fchdir(rootfd) < 0 || chroot(".") < 0 ? -errno : 0;
}

/*
 * No program is ever started from here, so the bounding set is for good order; without CAP_SETPCAP
 * it stays. A number that the kernel does not know ends it.
 */
static int drop_bounds(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++) {
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno != EPERM) {
			return -errno;
		}
	}
	return 0;
}

/* Permitted capabilities survive the change (PR_SET_KEEPCAPS), for keep() to take one of them. */
static int change_user(uint32_t id)
{
	if (setgroups(0, NULL) < 0 || prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0 ||
	    setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0 ||
	    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0) {
		return -errno;
	}
	return 0;
}

/* What cap_set_proc(3) does not name: inheritable is empty, and with it ambient. */
static int keep(bool read_search)
{
	const cap_value_t cap = CAP_DAC_READ_SEARCH;
	CLEANUP(free_cap) cap_t caps = cap_init();

	if (!caps) {
		return -errno;
	}
	if (read_search && (cap_set_flag(caps, CAP_PERMITTED, 1, &cap, CAP_SET) < 0 ||
			    cap_set_flag(caps, CAP_EFFECTIVE, 1, &cap, CAP_SET) < 0)) {
		return -errno;
	}
	return cap_set_proc(caps) < 0 || cap_reset_ambient() < 0 ? -errno : 0;
}

/* Everything that needs a privilege, and then the privileges. */
static int give_up(int rootfd, uint32_t id, const char **ret_op)
{
	CLEANUP(free_cap) cap_t caps = cap_get_proc();
	bool read_search;
	int r;

	*ret_op = "confine: capabilities";
	if (!caps) {
		return -errno;
	}
	if (!has_any(caps)) {
		/* uid 0 without capabilities owns root's files all the same, and cannot change. */
		*ret_op = "confine: user";
		return getuid() == 0 || geteuid() == 0 ? -EPERM : 0;
	}
	read_search = has(caps, CAP_DAC_READ_SEARCH, CAP_EFFECTIVE);
	r = use_all(caps);
	if (r == 0) {
		*ret_op = "confine: root directory";
		r = change_root(rootfd);
	}
	if (r == 0) {
		*ret_op = "confine: capabilities";
		r = drop_bounds();
	}
	if (r == 0) {
		*ret_op = "confine: user";
		r = change_user(id);
	}
	if (r == 0) {
		*ret_op = "confine: capabilities";
		r = keep(read_search);
	}
	return r;
}

int ctm_confine(int rootfd, pid_t parent, uint32_t id, const char **ret_op)
{
	int r = give_up(rootfd, id, ret_op);

	if (r < 0) {
		return r;
	}
	/*
	 * A change of user clears the death signal and decides anew whether a process can be dumped
	 * (prctl(2)), so these come after it.
	 */
	*ret_op = "confine: privileges";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) {
		return -errno;
	}
	/* It may have died before the signal was asked for. */
	*ret_op = "confine: parent";
	if (getppid() != parent) {
		return -ESRCH;
	}
	*ret_op = "confine: system calls";
	return ctm_confine_filter();
}
