/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run pct snapshot. */
#include "target/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/pathname.h"
#include "storage/pverun.h"
#include "target/hostfile.h"

CTM_HOST_PATHS

#define PLACE_PCT   "/usr/sbin/pct"
#define DESCRIPTION "before a repair of owners by ctmend"

/* A snapshot is a matter of seconds; but the freezing of a busy storage is waited for. */
#define SECONDS_MAX 3600
#define OUTPUT_MAX  ((size_t)512 * 1024)

static int find_pct(const struct ctm_host *host, struct ctm_buf *ret, struct ctm_err *err)
{
	int r;

	if (ctm_host_path(host, ret, "%s", PLACE_PCT) < 0) {
		return ctm_err_nomem(err);
	}
	if (access(ret->p, X_OK) == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0, "there is no '%s' to take a snapshot with", ret->p);
	ctm_err_hint(err, "nothing was changed; repeat without --snapshot after a backup");
	return r;
}

int ctm_snapshot_possible(const struct ctm_host *host, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf pct = { 0 };

	return find_pct(host, &pct, err);
}

static int make_name(char ret[static CTM_SNAPSHOT_NAME_MAX])
{
	time_t now = time(NULL);
	struct tm tm;

	return gmtime_r(&now, &tm) && strftime(ret, CTM_SNAPSHOT_NAME_MAX, "ctmend_%Y%m%dT%H%M%SZ",
					       &tm) > 0 ?
		       0 :
		       -EOVERFLOW;
}

/* The last line that is not empty. */
static const char *last_line(struct ctm_buf *text)
{
	char *line;

	while (text->len > 0 && strchr(" \t\r\n", text->p[text->len - 1])) {
		text->p[--text->len] = '\0';
	}
	line = text->p ? strrchr(text->p, '\n') : NULL;
	return line ? line + 1 : text->p ? text->p : "";
}

static int failed(struct ctm_pverun *run, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf said = { 0 };
	const char *line = last_line(&run->errors);
	int r;

	line = line[0] ? line : last_line(&run->output);
	if (ctm_path_escape(&said, line, strlen(line)) < 0) {
		return ctm_err_nomem(err);
	}
	line = said.p ? said.p : "";
	switch (run->status) {
	case CTM_PVERUN_KILLED:
		r = ctm_err_set(err, CTM_REFUSED, 0, "the snapshot failed, a signal ended pct");
		break;
	case CTM_PVERUN_TIMEOUT:
		r = ctm_err_set(err, CTM_REFUSED, 0, "the snapshot was not made within %d s: %s",
				SECONDS_MAX, line);
		break;
	case CTM_PVERUN_TOO_LONG:
		r = ctm_err_set(err, CTM_REFUSED, 0, "the snapshot failed, pct would not end: %s",
				line);
		break;
	default:
		r = ctm_err_set(err, CTM_REFUSED, 0,
				"the snapshot failed, pct ended with status %d: %s", run->status,
				line);
	}
	ctm_err_hint(err,
		     "nothing was changed; not every storage can take snapshots: repeat without "
		     "--snapshot after a backup");
	return r;
}

int ctm_snapshot_take(const struct ctm_host *host, unsigned int vmid,
		      char ret[static CTM_SNAPSHOT_NAME_MAX], struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf pct = { 0 };
	CLEANUP(ctm_pverun_done) struct ctm_pverun run = { 0 };
	char name[CTM_SNAPSHOT_NAME_MAX];
	char id[16];
	int r = find_pct(host, &pct, err);

	if (r < 0) {
		return r;
	}
	r = make_name(name);
	if (r == 0) {
		const char *const argv[] = { pct.p,           "snapshot",  id,  name,
					     "--description", DESCRIPTION, NULL };

		(void)snprintf(id, sizeof(id), "%u", vmid);
		r = ctm_pverun(argv, -1, SECONDS_MAX, OUTPUT_MAX, &run);
	}
	if (r < 0) {
		return ctm_err_set(err, CTM_REFUSED, r, "the snapshot failed, '%s': %s", pct.p,
				   strerrordesc_np(-r));
	}
	if (run.status != 0) {
		return failed(&run, err);
	}
	CTM_DEBUG("snapshot", "CT %u: %s", vmid, name);
	(void)snprintf(ret, CTM_SNAPSHOT_NAME_MAX, "%s", name);
	return 0;
}
