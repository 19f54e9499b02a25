/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * File capabilities as attribute bytes, and their text.
 */
#include "id/fcaps.h"

#include <endian.h>
#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/cleanup.h"

#define FLAGS_KNOWN ((uint32_t)VFS_CAP_FLAGS_EFFECTIVE)
#define CAP_BITS    64

_Static_assert(sizeof(struct vfs_cap_data) == CTM_FCAPS_V2_LEN, "layout of revision 2");
_Static_assert(sizeof(struct vfs_ns_cap_data) == CTM_FCAPS_V3_LEN, "layout of revision 3");

/* By the kernel's numbers; what a newer kernel adds is shown as a number. */
static const char *const names[] = {
	[CAP_CHOWN] = "cap_chown",
	[CAP_DAC_OVERRIDE] = "cap_dac_override",
	[CAP_DAC_READ_SEARCH] = "cap_dac_read_search",
	[CAP_FOWNER] = "cap_fowner",
	[CAP_FSETID] = "cap_fsetid",
	[CAP_KILL] = "cap_kill",
	[CAP_SETGID] = "cap_setgid",
	[CAP_SETUID] = "cap_setuid",
	[CAP_SETPCAP] = "cap_setpcap",
	[CAP_LINUX_IMMUTABLE] = "cap_linux_immutable",
	[CAP_NET_BIND_SERVICE] = "cap_net_bind_service",
	[CAP_NET_BROADCAST] = "cap_net_broadcast",
	[CAP_NET_ADMIN] = "cap_net_admin",
	[CAP_NET_RAW] = "cap_net_raw",
	[CAP_IPC_LOCK] = "cap_ipc_lock",
	[CAP_IPC_OWNER] = "cap_ipc_owner",
	[CAP_SYS_MODULE] = "cap_sys_module",
	[CAP_SYS_RAWIO] = "cap_sys_rawio",
	[CAP_SYS_CHROOT] = "cap_sys_chroot",
	[CAP_SYS_PTRACE] = "cap_sys_ptrace",
	[CAP_SYS_PACCT] = "cap_sys_pacct",
	[CAP_SYS_ADMIN] = "cap_sys_admin",
	[CAP_SYS_BOOT] = "cap_sys_boot",
	[CAP_SYS_NICE] = "cap_sys_nice",
	[CAP_SYS_RESOURCE] = "cap_sys_resource",
	[CAP_SYS_TIME] = "cap_sys_time",
	[CAP_SYS_TTY_CONFIG] = "cap_sys_tty_config",
	[CAP_MKNOD] = "cap_mknod",
	[CAP_LEASE] = "cap_lease",
	[CAP_AUDIT_WRITE] = "cap_audit_write",
	[CAP_AUDIT_CONTROL] = "cap_audit_control",
	[CAP_SETFCAP] = "cap_setfcap",
	[CAP_MAC_OVERRIDE] = "cap_mac_override",
	[CAP_MAC_ADMIN] = "cap_mac_admin",
	[CAP_SYSLOG] = "cap_syslog",
	[CAP_WAKE_ALARM] = "cap_wake_alarm",
	[CAP_BLOCK_SUSPEND] = "cap_block_suspend",
	[CAP_AUDIT_READ] = "cap_audit_read",
	[CAP_PERFMON] = "cap_perfmon",
	[CAP_BPF] = "cap_bpf",
	[CAP_CHECKPOINT_RESTORE] = "cap_checkpoint_restore",
};

int ctm_fcaps_parse(struct ctm_bytes raw, struct ctm_fcaps *ret)
{
	struct vfs_ns_cap_data data = { 0 };
	struct ctm_fcaps caps = { 0 };
	uint32_t magic;

	if (!raw.p || (raw.len != CTM_FCAPS_V2_LEN && raw.len != CTM_FCAPS_V3_LEN)) {
		return -EINVAL;
	}
	memcpy(&data, raw.p, raw.len);
	magic = le32toh(data.magic_etc);
	switch (magic & ~FLAGS_KNOWN) {
	case VFS_CAP_REVISION_2:
		caps.revision = 2;
		break;
	case VFS_CAP_REVISION_3:
		caps.revision = 3;
		break;
	default:
		return -EINVAL;
	}
	if (raw.len != (caps.revision == 3 ? CTM_FCAPS_V3_LEN : CTM_FCAPS_V2_LEN)) {
		return -EINVAL;
	}
	caps.effective = magic & VFS_CAP_FLAGS_EFFECTIVE;
	caps.permitted = le32toh(data.data[0].permitted) | (uint64_t)le32toh(data.data[1].permitted)
								   << 32;
	caps.inheritable = le32toh(data.data[0].inheritable) |
			   (uint64_t)le32toh(data.data[1].inheritable) << 32;
	caps.rootid.v = le32toh(data.rootid);
	*ret = caps;
	return 0;
}

size_t ctm_fcaps_pack(const struct ctm_fcaps *caps, unsigned char out[static CTM_FCAPS_V3_LEN])
{
	const bool v3 = caps->revision == 3;
	const uint32_t magic = (v3 ? VFS_CAP_REVISION_3 : VFS_CAP_REVISION_2) |
			       (caps->effective ? FLAGS_KNOWN : 0);
	const struct vfs_ns_cap_data data = {
		.magic_etc = htole32(magic),
		.data = {
			{ .permitted = htole32((uint32_t)caps->permitted),
			  .inheritable = htole32((uint32_t)caps->inheritable) },
			{ .permitted = htole32((uint32_t)(caps->permitted >> 32)),
			  .inheritable = htole32((uint32_t)(caps->inheritable >> 32)) },
		},
		.rootid = htole32(caps->rootid.v),
	};
	const size_t len = v3 ? CTM_FCAPS_V3_LEN : CTM_FCAPS_V2_LEN;

	memcpy(out, &data, len);
	return len;
}

/*
 * In which sets a capability stands. Groups are shown in falling order of these numbers, as
 * getcap does.
 */
enum { IN_E = 1, IN_P = 2, IN_I = 4, COMBINATIONS = 8 };

static unsigned combination(const struct ctm_fcaps *caps, unsigned bit)
{
	unsigned in = 0;

	in |= caps->inheritable >> bit & 1 ? IN_I : 0U;
	in |= caps->permitted >> bit & 1 ? IN_P : 0U;
	/* one flag for the whole file: the kernel raises what the process then has */
	return in && caps->effective ? in | IN_E : in;
}

/*
 * The combination that most named capabilities have, the lowest of equals: the text says it once.
 */
static unsigned commonest(const struct ctm_fcaps *caps)
{
	unsigned count[COMBINATIONS] = { 0 };
	unsigned best = 0;

	for (unsigned bit = 0; bit < ARRAY_LEN(names); bit++) {
		count[combination(caps, bit)]++;
	}
	for (unsigned in = 1; in < COMBINATIONS; in++) {
		if (count[in] > count[best]) {
			best = in;
		}
	}
	return best;
}

/* The sign and the letters of sets; nothing for no sets. */
static int add_letters(struct ctm_buf *out, char sign, unsigned in)
{
	if (in == 0) {
		return 0;
	}
	return ctm_buf_addf(out, "%c%s%s%s", sign, in & IN_E ? "e" : "", in & IN_I ? "i" : "",
			    in & IN_P ? "p" : "");
}

/* Bits from first up to end. */
struct bits {
	unsigned first;
	unsigned end;
};

static bool any(const struct ctm_fcaps *caps, struct bits bits, unsigned in)
{
	for (unsigned bit = bits.first; bit < bits.end; bit++) {
		if (combination(caps, bit) == in) {
			return true;
		}
	}
	return false;
}

/* Appends the names of those bits that have the combination: "cap_chown,cap_fowner". */
static int add_names(const struct ctm_fcaps *caps, struct bits bits, unsigned in,
		     struct ctm_buf *out)
{
	const char *comma = "";
	int r = 0;

	for (unsigned bit = bits.first; r == 0 && bit < bits.end; bit++) {
		if (combination(caps, bit) != in) {
			continue;
		}
		if (bit < ARRAY_LEN(names)) {
			r = ctm_buf_addf(out, "%s%s", comma, names[bit]);
		} else {
			r = ctm_buf_addf(out, "%s%u", comma, bit);
		}
		comma = ",";
	}
	return r;
}

/* Appends each group that differs from the base: " a,b+i-p", or "a,b=ep" where the text starts. */
static int add_groups(const struct ctm_fcaps *caps, struct bits bits, unsigned base, size_t start,
		      struct ctm_buf *out)
{
	int r = 0;

	for (unsigned in = COMBINATIONS; r == 0 && in-- > 0;) {
		const bool first = out->len == start;

		if (in == base || !any(caps, bits, in)) {
			continue;
		}
		r = first ? 0 : ctm_buf_add(out, " ", 1);
		if (r == 0) {
			r = add_names(caps, bits, in, out);
		}
		if (r == 0) {
			r = add_letters(out, first ? '=' : '+', in & ~base);
		}
		if (r == 0) {
			r = add_letters(out, '-', base & ~in);
		}
	}
	return r;
}

int ctm_fcaps_format(const struct ctm_fcaps *caps, struct ctm_buf *out)
{
	const struct bits named = { .first = 0, .end = ARRAY_LEN(names) };
	const struct bits unnamed = { .first = ARRAY_LEN(names), .end = CAP_BITS };
	const unsigned base = commonest(caps);
	size_t start;
	int r;

	r = ctm_buf_reserve(out, 0);
	start = out->len;
	if (r == 0) {
		r = add_letters(out, '=', base);
	}
	if (r == 0) {
		r = add_groups(caps, named, base, start, out);
	}
	if (r == 0 && out->len == start) {
		r = ctm_buf_add(out, "=", 1);
	}
	/* the base holds for the named ones alone */
	if (r == 0) {
		r = add_groups(caps, unnamed, 0, start, out);
	}
	if (r == 0 && caps->revision == 3) {
		r = ctm_buf_addf(out, " [rootid=%u]", caps->rootid.v);
	}
	return r;
}
