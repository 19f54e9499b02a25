/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Device nodes that give their owner power over the host. */
#include "plan/device.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "plan/fix.h"

#define ANY_MINOR UINT32_MAX

/* Character devices that are in every container (Documentation/admin-guide/devices.txt). */
static const struct {
	uint32_t major;
	uint32_t minor;
} harmless[] = {
	{ 0, 0 },           /* whiteout of an overlay */
	{ 1, 3 },           /* null */
	{ 1, 5 },           /* zero */
	{ 1, 7 },           /* full */
	{ 1, 8 },           /* random */
	{ 1, 9 },           /* urandom */
	{ 5, 0 },           /* tty */
	{ 5, 1 },           /* console */
	{ 5, 2 },           /* ptmx */
	{ 10, 229 },        /* fuse */
	{ 136, ANY_MINOR }, /* pts */
};

bool ctm_device_gives_power(uint32_t mode, uint64_t rdev)
{
	if (!S_ISCHR(mode)) {
		return S_ISBLK(mode);
	}
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++) {
		if (major(rdev) == harmless[i].major &&
		    (minor(rdev) == harmless[i].minor || harmless[i].minor == ANY_MINOR)) {
			return false;
		}
	}
	return true;
}

/* An owner that a repair would move. */
static bool is_move_of_owner(const struct ctm_issue *issue)
{
	switch (issue->code) {
	case CTM_F_OWN_FROM:
	case CTM_F_OWN_HOST:
	case CTM_F_OWN_HOLE:
	case CTM_F_OWN_TWICE:
	case CTM_F_OWN_BASE:
	case CTM_F_OWN_OVERFLOW:
	case CTM_F_FLATTEN:
		return !issue->left;
	default:
		return false;
	}
}

int ctm_device_judge(const struct ctm_policy *policy, const struct ctm_fact *fact,
		     const struct ctm_inode_state *before, struct ctm_arena *arena,
		     struct ctm_judgement *judged)
{
	const bool allowed = policy->convert || (policy->fix & CTM_FIX_DEVICE);
	char words[64];
	const char *text;

	if (!judged->changes || !ctm_device_gives_power(fact->mode, fact->rdev) ||
	    ctm_idmap_on_disk(policy->map, CTM_UID, before->uid)) {
		return 0;
	}
	(void)snprintf(words, sizeof(words), "%s device %u:%u",
		       S_ISBLK(fact->mode) ? "block" : "character", major(fact->rdev),
		       minor(fact->rdev));
	text = ctm_arena_dup(arena, words, strlen(words));
	if (!text) {
		return -ENOMEM;
	}
	for (size_t i = 0; i < judged->n; i++) {
		struct ctm_issue *issue = &judged->issues[i];

		if (is_move_of_owner(issue)) {
			issue->code = CTM_F_OWN_DEVICE;
			issue->text = text;
		}
		issue->left |= !allowed;
	}
	if (!allowed) {
		judged->after = *before;
		judged->changes = false;
		judged->asked = false;
	}
	return 0;
}
