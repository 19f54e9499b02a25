/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the helper for Proxmox VE's storage library may answer, what a note of an activated volume
 * may say, and a ceph.conf.
 */
#include <ctype.h>
#include <string.h>

#include "config/cephconf.h"
#include "fuzz/fuzz.h"
#include "storage/pveanswer.h"
#include "target/activenote.h"

static void check_path(const char *path)
{
	FUZZ_CHECK(path[0] == '/' && path[1] != '\0');
	for (const char *p = path; *p != '\0'; p++) {
		FUZZ_CHECK(!iscntrl((unsigned char)*p));
	}
	for (const char *p = strstr(path, "/.."); p; p = strstr(p + 1, "/..")) {
		FUZZ_CHECK(p[3] != '/' && p[3] != '\0');
	}
}

static void check_answer(struct ctm_bytes text)
{
	struct ctm_pve_answer answer = { 0 };
	struct ctm_err err = { 0 };

	if (ctm_pve_answer_parse(text, &answer, &err) == 0) {
		FUZZ_CHECK(strcmp(answer.format, "raw") == 0 ||
			   strcmp(answer.format, "subvol") == 0);
		if (answer.path) {
			check_path(answer.path);
		}
		FUZZ_CHECK(ctm_pve_answer_parse_done(text, NULL) < 0);
	} else {
		FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
		FUZZ_CHECK(!answer.path);
	}
	ctm_pve_answer_done(&answer);
}

static void check_note(struct ctm_bytes text)
{
	struct ctm_activenote note = { 0 };

	if (ctm_activenote_parse(text, &note) == 0) {
		FUZZ_CHECK(note.vmid > 0 && note.volid[0] != '\0');
		FUZZ_CHECK(!strchr(note.volid, '\n'));
		FUZZ_CHECK(!note.path || note.path[0] == '/');
	}
	ctm_activenote_done(&note);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char fsid[CTM_CEPH_FSID];
	struct ctm_bytes text = fuzz_bytes(data, size);

	check_answer(text);
	check_note(text);
	if (ctm_cephconf_fsid(text, fsid) == 0) {
		FUZZ_CHECK(strlen(fsid) == CTM_CEPH_FSID - 1 && !strchr(fsid, '/'));
	}
	return 0;
}
