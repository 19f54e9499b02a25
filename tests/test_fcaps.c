/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * File capabilities. The values are what the kernel stored on ext4 for setcap(8) or setxattr(2);
 * the texts are those of getcap -n (libcap 2.66) for them.
 */
#include "id/fcaps.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "cases.h"
#include "hex.h"
#include "prng.h"

#define BIT(n) (UINT64_C(1) << (n))

static const struct {
	const char *hex;
	struct ctm_fcaps caps;
	const char *text;
} rows[] = {
	{ "0100000200200000000000000000000000000000",
	  { 2, true, BIT(CAP_NET_RAW), 0, { 0 } },
	  "cap_net_raw=ep" },
	{ "0000000200200000000000000000000000000000",
	  { 2, false, BIT(CAP_NET_RAW), 0, { 0 } },
	  "cap_net_raw=p" },
	{ "0100000200300000003000000000000000000000",
	  { 2, true, BIT(12) | BIT(13), BIT(12) | BIT(13), { 0 } },
	  "cap_net_admin,cap_net_raw=eip" },
	{ "0000000201000000080000000000000000000000",
	  { 2, false, BIT(CAP_CHOWN), BIT(CAP_FOWNER), { 0 } },
	  "cap_fowner=i cap_chown+p" },
	{ "0100000221000000280000000000000000000000",
	  { 2, true, BIT(0) | BIT(5), BIT(3) | BIT(5), { 0 } },
	  "cap_kill=eip cap_fowner+ei cap_chown+ep" },
	{ "0100000300200000000000000000000000000000a0860100",
	  { 3, true, BIT(CAP_NET_RAW), 0, { 100000 } },
	  "cap_net_raw=ep [rootid=100000]" },
	/* getcap prints -2: its %d is not repeated here */
	{ "0000000300200000002000008000000080000000feffffff",
	  { 3, false, BIT(13) | BIT(CAP_BPF), BIT(13) | BIT(CAP_BPF), { 4294967294 } },
	  "cap_net_raw,cap_bpf=ip [rootid=4294967294]" },
	{ "0000000301000000020000000000000000000000feff0000",
	  { 3, false, BIT(0), BIT(1), { 65534 } },
	  "cap_dac_override=i cap_chown+p [rootid=65534]" },
	{ "01000002ffffffff00000000ff01000000000000", { 2, true, BIT(41) - 1, 0, { 0 } }, "=ep" },
	{ "01000002ffffffffffffffffff010000ff010000",
	  { 2, true, BIT(41) - 1, BIT(41) - 1, { 0 } },
	  "=eip" },
	{ "00000002ffffffff00000000ff01000000000000", { 2, false, BIT(41) - 1, 0, { 0 } }, "=p" },
	{ "0000000200002000ffffffff00000000ff010000",
	  { 2, false, BIT(CAP_SYS_ADMIN), BIT(41) - 1, { 0 } },
	  "=i cap_sys_admin+p" },
	{ "01000002feffffff000000007f01000000000000",
	  { 2, true, (BIT(41) - 1) ^ BIT(0) ^ BIT(39), 0, { 0 } },
	  "=ep cap_chown,cap_bpf-ep" },
	{ "01000002f7ffffff20000000ff01000000000000",
	  { 2, true, (BIT(41) - 1) ^ BIT(3), BIT(5), { 0 } },
	  "=ep cap_kill+i cap_fowner-ep" },
	/* 20 of 41, then 21 */
	{ "01000002ffff0f00000000000000000000000000",
	  { 2, true, BIT(20) - 1, 0, { 0 } },
	  "cap_chown,cap_dac_override,cap_dac_read_search,cap_fowner,cap_fsetid,cap_kill,"
	  "cap_setgid,cap_setuid,cap_setpcap,cap_linux_immutable,cap_net_bind_service,"
	  "cap_net_broadcast,cap_net_admin,cap_net_raw,cap_ipc_lock,cap_ipc_owner,"
	  "cap_sys_module,cap_sys_rawio,cap_sys_chroot,cap_sys_ptrace=ep" },
	{ "00000002ffff1f000000e0ff00000000ff010000",
	  { 2, false, BIT(21) - 1, (BIT(20) - 1) << 21, { 0 } },
	  "=p cap_sys_admin,cap_sys_boot,cap_sys_nice,cap_sys_resource,cap_sys_time,"
	  "cap_sys_tty_config,cap_mknod,cap_lease,cap_audit_write,cap_audit_control,cap_setfcap,"
	  "cap_mac_override,cap_mac_admin,cap_syslog,cap_wake_alarm,cap_block_suspend,"
	  "cap_audit_read,cap_perfmon,cap_bpf,cap_checkpoint_restore+i-p" },
	/* of two equals the lower one is the base: p before ip, ep before ei */
	{ "00000002fefffffffeff1f00ff01000000000000",
	  { 2, false, (BIT(41) - 1) ^ BIT(0), (BIT(21) - 1) ^ BIT(0), { 0 } },
	  "=p cap_dac_override,cap_dac_read_search,cap_fowner,cap_fsetid,cap_kill,cap_setgid,"
	  "cap_setuid,cap_setpcap,cap_linux_immutable,cap_net_bind_service,cap_net_broadcast,"
	  "cap_net_admin,cap_net_raw,cap_ipc_lock,cap_ipc_owner,cap_sys_module,cap_sys_rawio,"
	  "cap_sys_chroot,cap_sys_ptrace,cap_sys_pacct+i cap_chown-p" },
	{ "01000002ff3f000000c0ff0f0000000000000000",
	  { 2, true, BIT(14) - 1, (BIT(14) - 1) << 14, { 0 } },
	  "=ep cap_ipc_lock,cap_ipc_owner,cap_sys_module,cap_sys_rawio,cap_sys_chroot,"
	  "cap_sys_ptrace,cap_sys_pacct,cap_sys_admin,cap_sys_boot,cap_sys_nice,"
	  "cap_sys_resource,cap_sys_time,cap_sys_tty_config,cap_mknod+i-p cap_lease,"
	  "cap_audit_write,cap_audit_control,cap_setfcap,cap_mac_override,cap_mac_admin,"
	  "cap_syslog,cap_wake_alarm,cap_block_suspend,cap_audit_read,cap_perfmon,cap_bpf,"
	  "cap_checkpoint_restore-ep" },
	{ "0100000200000000000000000101000000000000",
	  { 2, true, BIT(CAP_MAC_OVERRIDE) | BIT(CAP_CHECKPOINT_RESTORE), 0, { 0 } },
	  "cap_mac_override,cap_checkpoint_restore=ep" },
	{ "0000000200000000000000000000000000000000", { 2, false, 0, 0, { 0 } }, "=" },
	{ "0100000200000000000000000000000000000000", { 2, true, 0, 0, { 0 } }, "=" },
	/* capabilities of a later kernel */
	{ "0100000200200000000000000002008000000000",
	  { 2, true, BIT(13) | BIT(41) | BIT(63), 0, { 0 } },
	  "cap_net_raw=ep 41,63+ep" },
	{ "0000000200000000000000000000040000000080",
	  { 2, false, BIT(50), BIT(63), { 0 } },
	  "= 63+i 50+p" },
	{ "01000002ffffffff00000000ffffffff00000000",
	  { 2, true, UINT64_MAX, 0, { 0 } },
	  "=ep 41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63+ep" },
};

CASES(fcaps, parse_format_pack, rows)
{
	unsigned char store[32];
	unsigned char packed[CTM_FCAPS_V3_LEN];
	struct ctm_bytes raw = from_hex(rows[*i].hex, store, sizeof(store));
	const struct ctm_fcaps *want = &rows[*i].caps;
	struct ctm_fcaps got = { .revision = -1 };
	struct ctm_buf out = { 0 };
	size_t len;

	cr_assert_eq(ctm_fcaps_parse(raw, &got), 0, "%s", rows[*i].text);
	cr_assert_eq(got.revision, want->revision, "%s: %d", rows[*i].text, got.revision);
	cr_assert_eq(got.effective, want->effective, "%s", rows[*i].text);
	cr_assert_eq(got.permitted, want->permitted, "%s: %lx", rows[*i].text, got.permitted);
	cr_assert_eq(got.inheritable, want->inheritable, "%s: %lx", rows[*i].text, got.inheritable);
	cr_assert_eq(got.rootid.v, want->rootid.v, "%s: %u", rows[*i].text, got.rootid.v);
	cr_assert_eq(ctm_fcaps_format(&got, &out), 0);
	cr_assert_str_eq(out.p, rows[*i].text, "%s", out.p);
	len = ctm_fcaps_pack(&got, packed);
	cr_assert_eq(len, raw.len, "%s: %zu bytes", rows[*i].text, len);
	cr_assert_eq(memcmp(packed, raw.p, len), 0, "%s: other bytes", rows[*i].text);
	ctm_buf_done(&out);
}

/* The kernel refuses these in setxattr(2); none may pass for a capability. */
static const struct {
	const char *name;
	const char *hex; /* NULL: absent */
} bad_rows[] = {
	{ "absent", NULL },
	{ "empty", "" },
	{ "revision 1", "010000010020000000000000" },
	{ "revision 1 as long as 2", "0100000100200000000000000000000000000000" },
	{ "revision 0", "0100000000200000000000000000000000000000" },
	{ "revision 4", "0100000400200000000000000000000000000000a0860100" },
	{ "revision 2 with a root id", "0100000200200000000000000000000000000000a0860100" },
	{ "revision 3 without one", "0100000300200000000000000000000000000000" },
	{ "unknown flag", "0200000201000000000000000000000000000000" },
	{ "unknown flag in revision 3", "0101000300200000000000000000000000000000a0860100" },
	{ "one byte short", "01000002002000000000000000000000000000" },
	{ "one byte more", "010000020020000000000000000000000000000000" },
	{ "other byte order", "0200000100002000000000000000000000000000" },
};

CASES(fcaps, malformed, bad_rows)
{
	unsigned char store[32];
	struct ctm_bytes raw = { 0 };
	struct ctm_fcaps got = { .revision = 77 };

	if (bad_rows[*i].hex) {
		raw = from_hex(bad_rows[*i].hex, store, sizeof(store));
	}
	cr_assert_eq(ctm_fcaps_parse(raw, &got), -EINVAL, "%s", bad_rows[*i].name);
	cr_assert_eq(got.revision, 77, "%s: written although refused", bad_rows[*i].name);
}

/* The repair of a program from the host: same sets, the container's root. */
Test(fcaps, becomes_revision_3)
{
	unsigned char store[32];
	unsigned char packed[CTM_FCAPS_V3_LEN];
	unsigned char want[32];
	struct ctm_fcaps caps;

	cr_assert_eq(ctm_fcaps_parse(from_hex(rows[0].hex, store, sizeof(store)), &caps), 0);
	caps.revision = 3;
	caps.rootid.v = 100000;
	cr_assert_eq(ctm_fcaps_pack(&caps, packed), 24);
	(void)from_hex(rows[5].hex, want, sizeof(want));
	cr_assert_eq(memcmp(packed, want, 24), 0);
}

Test(fcaps, what_is_packed_is_parsed)
{
	uint64_t state = PRNG_SEED;

	for (int round = 0; round < 10000; round++) {
		unsigned char packed[CTM_FCAPS_V3_LEN];
		const struct ctm_fcaps caps = {
			.revision = 2 + (round & 1),
			.effective = prng_below(&state, 2),
			.permitted = (uint64_t)prng(&state) << 32 | prng(&state),
			.inheritable = (uint64_t)prng(&state) << 32 | prng(&state),
			.rootid = { round & 1 ? prng(&state) : 0 },
		};
		struct ctm_fcaps got = { 0 };
		const size_t len = ctm_fcaps_pack(&caps, packed);

		cr_assert_eq(len, round & 1 ? CTM_FCAPS_V3_LEN : CTM_FCAPS_V2_LEN);
		cr_assert_eq(ctm_fcaps_parse((struct ctm_bytes){ packed, len }, &got), 0);
		cr_assert(got.revision == caps.revision && got.effective == caps.effective &&
				  got.permitted == caps.permitted &&
				  got.inheritable == caps.inheritable &&
				  got.rootid.v == caps.rootid.v,
			  "round %d", round);
	}
}
