/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/identity.h"

#include <errno.h>
#include <string.h>

#include "cases.h"

static const struct ctm_identity sample = {
	.volume_id = "local-lvm:vm-115-disk-0",
	.path = "/dev/pve/vm-115-disk-0",
	.fstype = "ext4",
	.uuid = "0e3cf2a8-5dc1-4b0f-9f0e-000000000001",
	.root_ino = 2,
	.root_btime_sec = 1700000000,
	.root_btime_nsec = 42,
};

Test(identity, text_is_one_line_per_field)
{
	struct ctm_buf out = { 0 };

	cr_assert_eq(ctm_identity_format(&sample, &out), 0);
	cr_assert_str_eq(out.p, "volume local-lvm:vm-115-disk-0\n"
				"path /dev/pve/vm-115-disk-0\n"
				"fstype ext4\n"
				"uuid 0e3cf2a8-5dc1-4b0f-9f0e-000000000001\n"
				"subvol \n"
				"root-inode 2\n"
				"root-birth 1700000000.000000042\n");
	ctm_buf_done(&out);
}

static const struct {
	const char *name;
	struct ctm_identity id;
} round_trips[] = {
	{ "nothing known", { .root_ino = 0 } },
	{ "odd path", { .path = "/srv/a\nb\\n c \\", .subvol = "tank/a b" } },
	{ "before 1970",
	  { .root_btime_sec = -5, .root_btime_nsec = 999999999, .root_ino = UINT64_MAX } },
	{ "far future", { .root_btime_sec = INT64_MAX } },
};
CASES(identity, round_trip, round_trips)
{
	const struct ctm_identity *id = &round_trips[*i].id;
	struct ctm_identity got;
	struct ctm_buf out = { 0 };

	cr_assert_eq(ctm_identity_format(id, &out), 0);
	cr_assert_eq(ctm_identity_parse((struct ctm_bytes){ out.p, out.len }, &got), 0, "%s",
		     round_trips[*i].name);
	cr_assert_eq(memcmp(&got, id, sizeof(got)), 0, "%s", round_trips[*i].name);
	ctm_buf_done(&out);
}

#define HEAD "volume v\npath /p\nfstype ext4\nuuid u\nsubvol \n"
static const struct {
	const char *name;
	const char *text;
} bad[] = {
	{ "empty", "" },
	{ "cut in the middle", HEAD },
	{ "last line without its end", HEAD "root-inode 2\nroot-birth 0.000000000" },
	{ "a line more", HEAD "root-inode 2\nroot-birth 0.000000000\nx\n" },
	{ "other order", "path /p\nvolume v\n" },
	{ "name runs on", "volumev\n" },
	{ "no value", "volume\n" },
	{ "unknown escape", "volume a\\tb\n" },
	{ "escape without a letter", "volume a\\\n" },
	{ "number with a blank", HEAD "root-inode  2\nroot-birth 0.000000000\n" },
	{ "number with a sign", HEAD "root-inode +2\nroot-birth 0.000000000\n" },
	{ "number too large", HEAD "root-inode 18446744073709551616\nroot-birth 0.000000000\n" },
	{ "no number", HEAD "root-inode x\nroot-birth 0.000000000\n" },
	{ "nanoseconds short", HEAD "root-inode 2\nroot-birth 0.1\n" },
	{ "nanoseconds too many", HEAD "root-inode 2\nroot-birth 0.1000000000\n" },
	{ "no nanoseconds", HEAD "root-inode 2\nroot-birth 0\n" },
	{ "type too long", "volume v\npath /p\nfstype 0123456789012345678901234567890123\n" },
};
CASES(identity, refuses_other_text, bad)
{
	struct ctm_identity got = sample;

	cr_assert_eq(ctm_identity_parse((struct ctm_bytes){ bad[*i].text, strlen(bad[*i].text) },
					&got),
		     -EBADMSG, "%s", bad[*i].name);
	cr_assert_eq(memcmp(&got, &sample, sizeof(got)), 0, "%s: result written", bad[*i].name);
}

Test(identity, nul_byte_is_damage)
{
	struct ctm_identity got;
	static const char text[] = "volume a\0b\n";

	cr_assert_eq(ctm_identity_parse((struct ctm_bytes){ text, sizeof(text) - 1 }, &got),
		     -EBADMSG);
}

static const struct {
	const char *name;
	struct ctm_identity now;
	const char *says;
} differ[] = {
	{ "uuid",
	  { .volume_id = "v", .uuid = "b" },
	  "this is not the volume of the record: the file system UUID was 'a' and is 'b'" },
	{ "first of two",
	  { .volume_id = "w", .uuid = "b" },
	  "this is not the volume of the record: the volume was 'v' and is 'w'" },
	{ "birth time",
	  { .volume_id = "v", .uuid = "a", .root_btime_nsec = 1 },
	  "this is not the volume of the record: the birth time of the root was '0.000000000' "
	  "and is "
	  "'0.000000001'" },
	{ "inode",
	  { .volume_id = "v", .uuid = "a", .root_ino = 3 },
	  "this is not the volume of the record: the inode number of the root was '0' and is '3'" },
};
CASES(identity, names_the_first_difference, differ)
{
	static const struct ctm_identity was = { .volume_id = "v", .uuid = "a" };
	struct ctm_err err = { 0 };

	cr_assert_lt(ctm_identity_match(&was, &differ[*i].now, &err), 0, "%s", differ[*i].name);
	cr_assert_eq(err.code, CTM_REFUSED, "%s", differ[*i].name);
	cr_assert_str_eq(err.msg, differ[*i].says, "%s", differ[*i].name);
}

Test(identity, same_matches)
{
	struct ctm_err err = { 0 };

	cr_assert_eq(ctm_identity_match(&sample, &sample, &err), 0);
	cr_assert_eq(err.code, CTM_OK);
}
