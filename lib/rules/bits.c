/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What distributions ship with setuid, setgid or a capability.
 *
 * Debian: packages of 11 to 13, and Ubuntu's of the same names; group shadow is 42 on all of them
 * (base-passwd). Some of its programs were below /bin and /sbin before /usr was merged.
 * Fedora and Enterprise Linux 7 to 10. Arch, Alpine, Void: their packages as of 2025. openSUSE
 * decides by permission profiles, of which one has hardly any bits, so two programs are left.
 */
#include "rules/bits.h"

#include <sys/stat.h>

#include "base/cleanup.h"

#define SHADOW 42

static const struct ctm_bits debian[] = {
	{ "bin/mount", S_ISUID, 0, "mount" },
	{ "bin/su", S_ISUID, 0, "util-linux" },
	{ "bin/umount", S_ISUID, 0, "mount" },
	{ "sbin/unix_chkpwd", S_ISGID, SHADOW, "libpam-modules-bin" },
	{ "usr/bin/chage", S_ISGID, SHADOW, "passwd" },
	{ "usr/bin/chfn", S_ISUID, 0, "passwd" },
	{ "usr/bin/chsh", S_ISUID, 0, "passwd" },
	{ "usr/bin/crontab", S_ISGID, CTM_BITS_OWN_GROUP, "cron" },
	{ "usr/bin/expiry", S_ISGID, SHADOW, "passwd" },
	{ "usr/bin/gpasswd", S_ISUID, 0, "passwd" },
	{ "usr/bin/mount", S_ISUID, 0, "mount" },
	{ "usr/bin/newgidmap", S_ISUID, 0, "uidmap" },
	{ "usr/bin/newgrp", S_ISUID, 0, "login" },
	{ "usr/bin/newuidmap", S_ISUID, 0, "uidmap" },
	{ "usr/bin/passwd", S_ISUID, 0, "passwd" },
	{ "usr/bin/ssh-agent", S_ISGID, CTM_BITS_OWN_GROUP, "openssh-client" },
	{ "usr/bin/su", S_ISUID, 0, "util-linux" },
	{ "usr/bin/sudo", S_ISUID, 0, "sudo" },
	{ "usr/bin/umount", S_ISUID, 0, "mount" },
	{ "usr/lib/openssh/ssh-keysign", S_ISUID, 0, "openssh-client" },
	{ "usr/sbin/pam_extrausers_chkpwd", S_ISGID, SHADOW, "libpam-modules-bin" },
	{ "usr/sbin/unix_chkpwd", S_ISGID, SHADOW, "libpam-modules-bin" },
};

static const struct ctm_bits fedora[] = {
	{ "usr/bin/chage", S_ISUID, 0, "shadow-utils" },
	{ "usr/bin/gpasswd", S_ISUID, 0, "shadow-utils" },
	{ "usr/bin/mount", S_ISUID, 0, "util-linux" },
	{ "usr/bin/newgrp", S_ISUID, 0, "shadow-utils" },
	{ "usr/bin/passwd", S_ISUID, 0, "passwd" },
	{ "usr/bin/su", S_ISUID, 0, "util-linux" },
	{ "usr/bin/sudo", S_ISUID, 0, "sudo" },
	{ "usr/bin/umount", S_ISUID, 0, "util-linux" },
	{ "usr/sbin/unix_chkpwd", S_ISUID, 0, "pam" },
};

static const struct ctm_bits suse[] = {
	{ "usr/bin/su", S_ISUID, 0, "util-linux" },
	{ "usr/bin/sudo", S_ISUID, 0, "sudo" },
};

static const struct ctm_bits arch[] = {
	{ "usr/bin/chage", S_ISUID, 0, "shadow" },
	{ "usr/bin/gpasswd", S_ISUID, 0, "shadow" },
	{ "usr/bin/mount", S_ISUID, 0, "util-linux" },
	{ "usr/bin/newgidmap", 0, 0, "shadow" },
	{ "usr/bin/newuidmap", 0, 0, "shadow" },
	{ "usr/bin/passwd", S_ISUID, 0, "shadow" },
	{ "usr/bin/su", S_ISUID, 0, "util-linux" },
	{ "usr/bin/sudo", S_ISUID, 0, "sudo" },
	{ "usr/bin/umount", S_ISUID, 0, "util-linux" },
	{ "usr/bin/unix_chkpwd", S_ISUID, 0, "pam" },
};

/* bbsuid is what su, passwd and crontab of busybox are links to. */
static const struct ctm_bits alpine[] = {
	{ "bin/bbsuid", S_ISUID, 0, "busybox-suid" },
	{ "usr/bin/bbsuid", S_ISUID, 0, "busybox-suid" },
	{ "usr/bin/doas", S_ISUID, 0, "doas" },
	{ "usr/bin/sudo", S_ISUID, 0, "sudo" },
};

static const struct ctm_bits void_linux[] = {
	{ "usr/bin/chage", S_ISUID, 0, "shadow" },
	{ "usr/bin/gpasswd", S_ISUID, 0, "shadow" },
	{ "usr/bin/mount", S_ISUID, 0, "util-linux" },
	{ "usr/bin/passwd", S_ISUID, 0, "shadow" },
	{ "usr/bin/su", S_ISUID, 0, "util-linux" },
	{ "usr/bin/sudo", S_ISUID, 0, "sudo" },
	{ "usr/bin/umount", S_ISUID, 0, "util-linux" },
	{ "usr/bin/unix_chkpwd", S_ISUID, 0, "pam" },
};

const struct ctm_bits_set ctm_bits_sets[] = {
	{ "Debian", "var/lib/dpkg/status", debian, ARRAY_LEN(debian) },
	{ "Fedora", "etc/redhat-release", fedora, ARRAY_LEN(fedora) },
	{ "openSUSE", "etc/zypp", suse, ARRAY_LEN(suse) },
	{ "Arch", "etc/arch-release", arch, ARRAY_LEN(arch) },
	{ "Alpine", "etc/alpine-release", alpine, ARRAY_LEN(alpine) },
	{ "Void", "var/db/xbps", void_linux, ARRAY_LEN(void_linux) },
};
const size_t ctm_bits_sets_n = ARRAY_LEN(ctm_bits_sets);
