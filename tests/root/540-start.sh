#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A container is started while a report is made of it: the start gets a volume that it can write to,
# and the report says what has happened.
# shellcheck disable=SC2154 # hold.sh and t_loop set what they say
. "${0%/*}/pve.sh"
. "${0%/*}/hold.sh"

vmid=9540
lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock
socket=/var/lib/lxc/$vmid/command
vg=ctmend-test-$$
mkdir "/dev/$vg"
t_defer rm -rf "/dev/$vg"
{
	printf 'lvm: lv\n\tvgname %s\n\tcontent rootdir\n\n' "$vg"
	printf 'btrfs: pool\n\tpath %s\n\tcontent rootdir\n\n' "$TMP/pool"
	cat "$TMP/sys/etc/pve/storage.cfg"
} >"$TMP/storage.cfg"
mv "$TMP/storage.cfg" "$TMP/sys/etc/pve/storage.cfg"
# listen: like a monitor on its command socket, until hush
listen()
{
	rm -f "$TMP/ready"
	perl -MSocket -e '
		socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
		bind($s, pack("Sa*", AF_UNIX, "\0$ARGV[0]")) or die "$!";
		listen($s, 1) or die;
		open(my $f, ">", $ARGV[1]); close($f);
		sleep 1000;' "$socket" "$TMP/ready" 8>&- &
	listener=$!
	until [ -e "$TMP/ready" ]; do
		sleep 0.02
	done
}

hush()
{
	kill "$listener" 2>/dev/null
	wait "$listener" 2>/dev/null
}
t_defer hush

# What pct start does with a volume, under the flock that it takes first: waits up to ten seconds
# for that, mounts as the storage's kind wants it, and the container writes.
cat >"$TMP/start" <<'SCRIPT'
kind=$1 path=$2 at=$3
case $kind in
image)
	dev=$(losetup -n -O NAME -j "$path")
	if [ -z "$dev" ]; then
		dev=$(losetup --find --show "$path") || exit
		own=1
	fi
	mount "$dev" "$at" || exit
	if [ -n "${own-}" ]; then
		losetup -d "$dev"
	fi
	;;
block) mount "$path" "$at" || exit ;;
dir) mount --bind "$path" "$at" || exit ;;
esac
touch "$at/usr/by-the-container"
SCRIPT

# start KIND PATH
start()
{
	flock -w 10 "$lock" bash "$TMP/start" "$1" "$2" "$TMP/at" 8>&-
}

# story KIND PATH VOLUME
story()
{
	local kind=$1 path=$2 volume=$3 starter

	pve_ct $vmid "$volume"
	hold check $vmid
	if [ "$kind" = image ]; then
		start "$kind" "$path" &
		starter=$!
		sleep 1
		t_ok "$volume: a start waits for the report" kill -0 $starter
		go_on
		wait $starter
		t_is "$volume: and then succeeds" $? 0
	else
		t_ok "$volume: a start waits for nothing" start "$kind" "$path"
		listen
		go_on
		hush
		t_match "$volume: the report says that it was started" "$(cat "$TMP/report")" \
			'^note: the container was started while it was looked at'
	fi
	t_is "$volume: the report has its result" "$status" 1
	t_is "$volume: and its complaints are none" "$said" \
		"$(grep -x "ctmend: attach: .* attached, .*" <<<"$said")"
	t_ok "$volume: the container can write after the report" touch "$TMP/at/usr/and-again"
	t_ok "$volume: and stop" umount "$TMP/at"
	t_ok "$volume: and start again" start "$kind" "$path"
	t_umount "$TMP/at"

	hold check $vmid
	kill -KILL "$held"
	go_on
	t_ok "$volume: a killed report is in nobody's way" start "$kind" "$path"
	t_ok "$volume: nor is it in that of a write" touch "$TMP/at/usr/once-more"
	t_umount "$TMP/at"
}

# fill DIR: a small root with one file from the host
fill()
{
	mkdir -p "$1/etc" "$1/usr" && touch "$1/usr/"{1..20} && chown -R 100000:100000 "$1" &&
		touch "$1/etc/hosts"
}

mkdir -p "$TMP/at" "$TMP/mnt" "$TMP/tank/images/$vmid"
t_pve_image "$(pve_image $vmid)" 32M
t_mount "$(pve_image $vmid)" "$TMP/mnt"
fill "$TMP/mnt"
t_umount "$TMP/mnt"
story image "$(pve_image $vmid)" "tank:$vmid/vm-$vmid-disk-0.raw"

cp --sparse=always "$(pve_image $vmid)" "$TMP/lv.raw"
t_loop dev "$TMP/lv.raw"
ln -s "$dev" "/dev/$vg/vm-$vmid-disk-0"
story block "/dev/$vg/vm-$vmid-disk-0" "lv:vm-$vmid-disk-0"

mkdir "$(pve_dir $vmid)"
fill "$(pve_dir $vmid)"
story dir "$(pve_dir $vmid)" "tank:$vmid/subvol-$vmid-disk-0.subvol"

t_image btrfs "$TMP/pool.raw" 128M
t_mount "$TMP/pool.raw" "$TMP/pool"
mkdir -p "$TMP/pool/images/$vmid"
btrfs subvolume create "$TMP/pool/images/$vmid/subvol-$vmid-disk-0.subvol" >/dev/null
fill "$TMP/pool/images/$vmid/subvol-$vmid-disk-0.subvol"
story dir "$TMP/pool/images/$vmid/subvol-$vmid-disk-0.subvol" \
	"pool:$vmid/subvol-$vmid-disk-0.subvol"

# --- the other way round ----------------------------------------------------------------------

pve_ct $vmid "tank:$vmid/subvol-$vmid-disk-0.subvol"
listen
hold check --json $vmid
hush
go_on
t_is "a container that stops meanwhile: the result stands" "$status" 1
t_match "the report says so" "$(cat "$TMP/report")" \
	'the container was stopped while it was looked at'
hold check --json $vmid
listen
go_on
hush
t_is "one that starts: JSON has it as running" "$(python3 -c '
import json, sys
print(json.load(sys.stdin)["targets"][0]["running"])' <"$TMP/report")" True
listen
hold diff $vmid
go_on
t_no_match "one that runs all the time: nothing is said of start or stop" "$(cat "$TMP/report")" \
	'while it was looked at'
hush
t_done
