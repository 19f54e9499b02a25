#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# map reads a container's passwd and group, whatever stands in their place, and changes nothing.
. "${0%/*}/pve.sh"

# accounts TARGET: the texts of map.account
accounts()
{
	ctm map --json "$1" | grep -A3 '"code": "map.account"' | grep -oP '"text": "\K.*(?="$)'
}

# told NAME WANT: what map says of 115, and that neither of its tries left a trace
told()
{
	local before

	pve_age "$dir"
	before=$(pve_trace "$dir")
	t_status "$1: status" 0 ctm map 115
	t_is "$1" "$(accounts 115)" "$2"
	t_is "$1: nothing changed" "$(pve_trace "$dir")" "$before"
}

pve_dir_ct 115
dir=$(pve_dir 115)
mkdir -p "$dir/etc"
printf '%s\n' 'root:x:0:0::/root:/bin/sh' 'last:x:65535:65535::/:' 'far:x:65536:0::/:' \
	$'odd\e[31m:x:70000:718322462::/:' >"$dir/etc/passwd"
printf '%s\n' 'root:x:0:' 'big:x:99999:' >"$dir/etc/group"
chown -R 100000:100000 "$dir/etc"
told "ids beyond the map" "/etc/group: 'big' has gid 99999
/etc/passwd: 'far' has uid 65536
/etc/passwd: 'odd\\\\x1b[31m' has gid 718322462
/etc/passwd: 'odd\\\\x1b[31m' has uid 70000"
t_status "check says nothing of them" 0 ctm check 115

# What a link leads to is not the container's.
echo 'leak:x:99999999:99999999::/:' >"$TMP/secret"
chmod 644 "$TMP/secret"
rm "$dir/etc/group"
ln -sf "$TMP/secret" "$dir/etc/passwd"
chown -h 100000:100000 "$dir/etc/passwd"
told "a link is not followed" ""
rm "$dir/etc/passwd"
mkfifo "$dir/etc/passwd"
mkdir "$dir/etc/group"
chown 100000:100000 "$dir"/etc/*
told "a FIFO and a folder are not opened" ""
rm -r "${dir:?}/etc"
mkdir "$dir/usr"
ln -s "$TMP" "$dir/etc"
cp "$TMP/secret" "$TMP/passwd"
chown -h 100000:100000 "$dir/etc" "$dir/usr"
told "a link in the way is not followed" ""
rm "$dir/etc"
mkdir "$dir/etc"
{
	seq -f 'u%.0f:x:70000:0::/:' 1 12
	yes 'user:x:1:1::/:' | head -c 3M
} >"$dir/etc/passwd"
chown -R 100000:100000 "$dir/etc"
t_is "many are counted, a huge file is read in part" "$(accounts 115 | tail -n 1)" \
	"/etc/passwd: and 2 more"

# An image, whose configuration somebody holds: nobody waits, the rest is told.
t_pve_image "$(mkdir -p "$TMP/tank/images/116" && pve_image 116)" 32M
t_mount "$(pve_image 116)" "$TMP/mnt"
mkdir "$TMP/mnt/etc"
echo 'far:x:65536:0::/:' >"$TMP/mnt/etc/passwd"
chown -R 100000:100000 "$TMP/mnt/etc"
t_umount "$TMP/mnt"
pve_ct 116 tank:116/vm-116-disk-0.raw
before=$(pve_trace "$(pve_image 116)")
t_is "an image" "$(accounts 116)" "/etc/passwd: 'far' has uid 65536"
t_is "nothing changed" "$(pve_trace "$(pve_image 116)")" "$before"
lock=$TMP/sys/run/lock/lxc/pve-config-116.lock
start=$SECONDS
t_match "held by somebody" "$(flock "$lock" "$CTMEND" --sysroot "$TMP/sys" map 116)" \
	'^note: the accounts inside were not looked at: '
t_ok "and waits for nobody" test $((SECONDS - start)) -lt 5
t_done
