# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# map for people: volumes, translation both ways, every finding.
etc=$TMP/sys/etc
mkdir -p "$etc/pve/lxc"
printf 'dir: tank\n\tpath /no/such/place\n\tcontent rootdir\n' >"$etc/pve/storage.cfg"
printf 'root:100000:65536\n' >"$etc/subuid"
cp "$etc/subuid" "$etc/subgid"

# ct VMID LINE...
ct()
{
	local vmid=$1
	shift
	printf '%s\n' "rootfs: tank:$vmid/subvol-$vmid-disk-0.subvol,size=1G" "$@" \
		>"$etc/pve/lxc/$vmid.conf"
}
# Only root can look into a root file system; an ordinary user is told so.
on()
{
	ctm --sysroot "$TMP/sys" map "$@" | sed -e 's/"ctmend": ".*"/"ctmend": VERSION/' \
		-e '/^note: the accounts inside were not looked at: .*: Operation not permitted$/d'
}

ct 115 'unprivileged: 1' 'mp0: /srv/share,mp=/srv/share' \
	'mp1: tank:115/vm-115-disk-1.raw,mp=/data,idmap=u:33:500:1'
on 115
on 115 0 33 65535 65536 100033 718322462
on --volume mp1 115 33 500
on --volume all 115 33
on --json 115 100033

ct 114 'unprivileged: 1' 'lock: backup' 'template: 1' \
	'mp0: tank:114/subvol-114-disk-1.subvol,mp=/p,idmap=passthrough'
on --volume mp0 114 33

ct 116 'unprivileged: 1' \
	'lxc.idmap: u 0 100000 33' 'lxc.idmap: u 33 33 1' 'lxc.idmap: u 34 100034 65502' \
	'lxc.idmap: g 0 0 1' 'lxc.idmap: g 1 100000 65535'
on 116 33 100033 34

ct 117 'unprivileged: 1' 'lxc.idmap: u 0 100000 65536' 'lxc.idmap: u 1000 1000 1' \
	'lxc.idmap: g 0 100000 1000' 'lxc.idmap: g 1001 101001 64000'
on 117
on 117 33

ct 118 'Unprivileged: 1' '[before]' 'unprivileged: 1'
on 118 33

ct 119 'unprivileged: 1' 'lxc.idmap: b 0 100000 65536'
on 119
on --json 119

on 115 x
on 115 4294967295
on --volume mp7 115
on 120
on --json 120
on --map u:0:165536:65536,g:0:100000:65536 ./sys 33
on ./sys
