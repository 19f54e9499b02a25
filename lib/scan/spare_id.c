/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Users and groups that nobody has. */
#include "scan/spare_id.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "config/accounts.h"
#include "target/hostfile.h"

#define N_SPARE (CTM_SPARE_LAST - CTM_SPARE_FIRST + 1)

static int strike_out(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg)
{
	bool *taken = arg;

	(void)name;
	(void)kind;
	if (id.v >= CTM_SPARE_FIRST && id.v <= CTM_SPARE_LAST) {
		taken[id.v - CTM_SPARE_FIRST] = true;
	}
	return 0;
}

/* One system call each, and no look into /proc: the kernel finds no process of this user. */
static bool has_processes(uint32_t uid)
{
	errno = 0;
	return getpriority(PRIO_USER, uid) != -1 || errno != ESRCH;
}

uint32_t ctm_spare_id(struct ctm_bytes passwd, struct ctm_bytes group)
{
	bool taken[N_SPARE] = { false };

	(void)ctm_accounts_each(CTM_ACCOUNTS_PASSWD, passwd, strike_out, taken);
	(void)ctm_accounts_each(CTM_ACCOUNTS_GROUP, group, strike_out, taken);
	for (uint32_t i = 0; i < N_SPARE; i++) {
		if (!taken[i] && !has_processes(CTM_SPARE_FIRST + i)) {
			return CTM_SPARE_FIRST + i;
		}
	}
	return CTM_SPARE_NONE;
}

uint32_t ctm_spare_id_host(void)
{
	CLEANUP(ctm_buf_done) struct ctm_buf passwd = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf group = { 0 };

	if (ctm_hostfile_read("/etc/passwd", &passwd, NULL) < 0 ||
	    ctm_hostfile_read("/etc/group", &group, NULL) < 0) {
		return CTM_SPARE_NONE;
	}
	return ctm_spare_id((struct ctm_bytes){ passwd.p, passwd.len },
			    (struct ctm_bytes){ group.p, group.len });
}
