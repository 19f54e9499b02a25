#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Set-id bits that an earlier repair has taken: on real roots of Debian 12 and 13 they are noticed,
# and nothing else is. What dpkg-statoverride has recorded comes back when that is asked for.
if [ "$(id -u)" = 0 ] && [ -z "${OTHER_TAR+set}" ]; then
	. "${0%/*}/debian-root.sh"
	OTHER_TAR=$(debian_root_tar trixie)
	export OTHER_TAR
fi
. "${0%/*}/container.sh"

ctm()
{
	"$CTMEND" --sysroot "$TMP/sys" "$@"
}

# volume VMID: an empty one; its path is in $tree
volume()
{
	vmid=$1
	tree=$TMP/tank/images/$1/subvol-$1-disk-0.subvol
	mkdir -m 755 "$TMP/tank/images/$1"
	ct_pve_config "$1" "subvol-$1-disk-0.subvol"
	ct_new_dir "$tree"
}

# inside COMMAND...: in the root, as its own root
inside()
{
	lxc-usernsexec -m "u:$CT_MAP" -m "g:$CT_MAP" -- chroot "$tree" env -i "${CT_ENV[@]}" "$@"
}

# with_bits: the programs that have any
with_bits()
{
	(cd "$tree" && find . -type f -perm /6000 -printf '%P\n' | LC_ALL=C sort)
}

# found: what the last report has of bits.lost
found()
{
	sed -nE 's|^ +/([^:]*): ([0-7]{4}) by (.*), ([0-7]{4}) here.*|\1 \2 \3|p' "$T_OUT" |
		LC_ALL=C sort
}

unchanged()
{
	ct_listing "$TMP/now" "$tree"
	t_is "$1" "$(listing_diff "$TMP/before" "$TMP/now")" ""
}

# healthy NAME
healthy()
{
	t_ok "$1: check" ctm check -v "$vmid"
	t_no_match "$1: nothing is found" "$(cat "$T_OUT")" '^[a-z]+\.[a-z]+ '
}

ct_pve_storage

# Debian 13: what is there is right, and all of what chmod takes away is noticed.
volume 9361
debian_12=$CT_ROOT_TAR
CT_ROOT_TAR=$OTHER_TAR
t_ok "Debian 13 is unpacked" ct_unpack "$tree"
CT_ROOT_TAR=$debian_12
healthy "Debian 13"
bits=$(with_bits)
t_match "Debian 13: there are such programs" "$bits" '^usr/bin/su$'
# shellcheck disable=SC2086 # a list
(cd "$tree" && chmod a-s $bits)
t_ok "Debian 13, without any: check" ctm check -v 9361
t_is "Debian 13, without any: each is found" "$(found | cut -d ' ' -f 1)" "$bits"
# Before it has to be written to the disk.
rm -rf "$tree"

volume 9362
ct_unpack "$tree"
healthy "Debian 12"
chmod u-s "$tree"/usr/bin/{passwd,su}
chmod g-s "$tree/usr/sbin/unix_chkpwd"
# Closed on purpose, and by design without: no findings.
chmod 0700 "$tree/usr/bin/newgrp"
chmod 0755 "$tree/usr/bin/ping"
setfattr -x security.capability "$tree/usr/bin/ping" 2>/dev/null
ct_listing "$TMP/before" "$tree"
t_ok "bits are lost: check" ctm check -v 9362
t_is "bits are lost: they are named" "$(found)" "$(printf '%s\n' \
	'usr/bin/passwd 4755 package passwd of Debian' \
	'usr/bin/su 4755 package util-linux of Debian' \
	'usr/sbin/unix_chkpwd 2755 package libpam-modules-bin of Debian')"
t_match "bits are lost: the next step" "$(tr -s '\n ' ' ' <"$T_OUT")" \
	'apt-get install --reinstall PACKAGE'
t_ok "bits are lost: a selection without them" ctm check --path var 9362
t_no_match "bits are lost: has none" "$(cat "$T_OUT")" 'bits\.lost'
t_ok "bits are lost: repair" ctm repair --yes 9362
t_ok "bits are lost: repair, --fix bits" ctm repair --yes --fix bits 9362
unchanged "bits are lost: no package's word is enough to set one"
t_is "bits are lost: nothing is recorded" "$(ls "$TMP/sys/var/lib/ctmend" 2>/dev/null)" ""

# Recorded, by the container's own tool; in force only with --update.
t_ok "dpkg-statoverride" inside dpkg-statoverride --add root root 4755 /usr/bin/su
t_ok "dpkg-statoverride, numbers" inside dpkg-statoverride --add '#12345' '#12345' 6750 /opt/tool
t_ok "dpkg-statoverride, without bits" inside dpkg-statoverride --add root root 0755 /usr/bin/passwd
t_ok "dpkg-statoverride, a name" inside dpkg-statoverride --add root shadow 2755 /usr/bin/chage
t_ok "dpkg-statoverride, in a link's place" inside dpkg-statoverride --add root root 4755 /bin/mount
chmod g-s "$tree/usr/bin/chage"
touch "$tree/opt/tool"
chmod 0750 "$tree/opt/tool"
chown 112345:112345 "$tree/opt/tool"
ct_listing "$TMP/before" "$tree"
t_ok "recorded: check" ctm check -v 9362
t_is "recorded: that comes before packages" "$(found)" "$(printf '%s\n' \
	'opt/tool 6750 /var/lib/dpkg/statoverride' \
	'usr/bin/chage 2755 /var/lib/dpkg/statoverride' \
	'usr/bin/su 4755 /var/lib/dpkg/statoverride' \
	'usr/sbin/unix_chkpwd 2755 package libpam-modules-bin of Debian')"
t_ok "recorded: diff" ctm diff 9362
t_status "recorded: diff, --fix bits" 1 ctm diff --fix bits 9362
t_is "recorded: the changes" "$(grep -E '^[-+][a-z]' "$T_OUT" | tr -s ' ')" "$(printf '%s\n' \
	'-f 0750 112345:112345 /opt/tool' '+f 6750 112345:112345 /opt/tool' \
	'-f 0755 100000:100000 /usr/bin/su' '+f 4755 100000:100000 /usr/bin/su')"
digest=$(sed -nE 's/^plan ([0-9a-f]{32}) .*/\1/p' "$T_OUT")
unchanged "recorded: nothing has changed so far"
t_status "recorded: the digest is of other choices" 3 ctm repair --approve "$digest" 9362
t_ok "recorded: repair what was shown" ctm repair --approve "$digest" --fix bits 9362
ct_listing "$TMP/now" "$tree"
t_is "recorded: two modes are other ones" "$(listing_diff "$TMP/before" "$TMP/now" |
	grep -E '^[-+][.]' | cut -f 1-6 | tr '\t' ' ' | LC_ALL=C sort)" "$(printf '%s\n' \
	'+./opt/tool I f 06750 112345 112345' '+./usr/bin/su I f 04755 100000 100000' \
	'-./opt/tool I f 0750 112345 112345' '-./usr/bin/su I f 0755 100000 100000')"
mv "$TMP/before" "$TMP/lost"
mv "$TMP/now" "$TMP/before"
t_ok "recorded: a second repair" ctm repair --yes --fix bits 9362
unchanged "recorded: has nothing to do"
t_ok "recorded: undo" ctm undo --yes 9362
mv "$TMP/lost" "$TMP/before"
unchanged "recorded: all is as before"

# Owner and bits in one run, and an ACL beside it.
chown 0:0 "$tree/usr/bin/su"
setfacl -m u:33:r-x "$tree/opt/tool"
ct_listing "$TMP/before" "$tree"
t_ok "with other damage: repair" ctm repair --yes --fix bits 9362
t_is "with other damage: the owner" "$(stat -c '%a %u:%g' "$tree/usr/bin/su")" "4755 100000:100000"
t_is "with other damage: the ACL" "$(stat -c '%a %u:%g' "$tree/opt/tool"
	getfacl -cn "$tree/opt/tool" 2>/dev/null | grep user:1)" \
	"$(printf '%s\n' '6750 112345:112345' user:100033:r-x)"
t_ok "with other damage: a second repair" ctm repair --yes --fix bits 9362
t_match "with other damage: has nothing to do" "$(cat "$T_OUT")" 'nothing to repair'
t_ok "with other damage: undo" ctm undo --yes 9362
unchanged "with other damage: all is as before"

# A record that means to get something: nothing of it happens, and there is an end to it.
chown 100000:100000 "$tree/usr/bin/su"
rm "$tree/opt/tool"
{
	printf '#%s root 4755 /etc/hostname\n' 4294967295 -1 ''
	printf 'root root 7777 /%s\n' ../../../../etc/shadow usr/../etc/shadow etc/passwd \
		etc/alternatives proc/self/exe . ''
	printf 'root root 4777 /opt/open\nroot root 4755 /opt/linked\nroot root 4755 /opt/fifo\n'
	printf 'root root 6755 /opt/link\nroot root 4755 /opt/own\nroot root 4755 /opt/narrow\n'
	seq -f 'root root 4755 /opt/many/%g' 5000
} >"$tree/var/lib/dpkg/statoverride"
(
	cd "$tree/opt" && mkdir many && (cd many && seq 1500 | xargs touch) &&
		touch open own narrow linked && ln linked linked2 && mkfifo fifo &&
		ln -s ../etc/shadow link && chmod -R 0755 many && chmod 0777 open &&
		chmod 0755 linked narrow own && chmod 0751 narrow &&
		find . -mindepth 1 -exec chown -h 100000:100000 {} + && chown 101000:100000 own
)
outside=$(stat -c '%a %u:%g %i' /etc/shadow /etc/passwd /etc/hostname)
ct_listing "$TMP/before" "$tree"
start=$EPOCHREALTIME
t_ok "a hostile record: check" ctm check -v 9362
t_match "a hostile record: in no time" \
	"$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a < 10) }')" 1
unchanged "a hostile record: is only read"
t_ok "a hostile record: repair" ctm repair --yes --fix bits 9362
ct_listing "$TMP/now" "$tree"
t_is "a hostile record: what has changed is a program of root's with one name, and gets setuid" \
	"$(listing_diff "$TMP/before" "$TMP/now" | grep -E '^[-+][.]' | cut -f 1-6 |
		sed -E 's/[0-9]+\t/N\t/' | sort | uniq -c | tr -s ' \t' ' ')" \
	"$(printf ' %s +./opt/many/N I f 04755 100000 100000\n %s -./opt/many/N I f 0755 100000 100000' \
		1012 1012)"
t_is "a hostile record: nothing outside" "$(stat -c '%a %u:%g %i' /etc/shadow /etc/passwd \
	/etc/hostname)" "$outside"
t_ok "a hostile record: undo" ctm undo --yes 9362
unchanged "a hostile record: all is as before"
t_done
