#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One of everything, damaged: checked, repaired, taken back and repaired again on every file
# system, as a directory, an image and a block device.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

# The kernel lets nobody change these; what is in such a directory can be changed.
flag()
{
	(cd "$1/zoo" && mkdir -p flags/dir && cd flags && touch immutable append dir/child &&
		chmod 4755 immutable && chown 33:33 append && setfacl -m u:5:r-- append &&
		chattr +i immutable dir && chattr +a append)
}

unflag()
{
	(cd "$1/zoo/flags" && chattr -ia immutable append dir)
}

# as_flagged BEFORE AFTER: the listing AFTER, but what is flagged is as in BEFORE
as_flagged()
{
	awk -F '\t' '
		{ flagged = $1 ~ "^\\./zoo/flags/(immutable|append|dir)$" }
		flagged == (FNR == NR)' "$1" "$2" | LC_ALL=C sort
}

# within VOLUME COMMAND...: run a command with the path of the volume's tree, writable
within()
{
	local volume=$1 status
	shift

	if [ -d "$volume" ]; then
		"$@" "$volume"
		return
	fi
	t_mount "$volume" "$TMP/within" && "$@" "$TMP/within"
	status=$?
	t_umount "$TMP/within" && return "$status"
}

populate()
{
	zoo_healthy "$1" && zoo_damage "$1" && pve_age "$1" && flag "$1"
}

same()
{
	t_is "$1" "$(listing_diff "$2" "$3")" ""
}

# drill NAME VOLUME TARGET [OPTION...]: all that has to hold for one volume
drill()
{
	local name=$1 volume=$2 target=$3 at=$TMP/listing-$1 trace redo
	shift 3

	mkdir "$at"
	trace=$(pve_trace "$volume")
	t_status "$name: check finds work" 1 ctm check "$@" "$target"
	t_match "$name: check counts what it cannot change" "$(cat "$T_OUT")" '^attr.flag  3 '
	t_status "$name: diff has changes" 1 ctm diff "$@" "$target"
	t_is "$name: neither leaves a trace" "$(pve_trace "$volume")" "$trace"
	pve_listing "$volume" "$at/before"
	zoo_want "$at/before" "$at/all"
	as_flagged "$at/before" "$at/all" >"$at/want"

	t_status "$name: repair leaves what is flagged" 4 ctm repair --yes "$@" "$target"
	t_match "$name: and says so" "$(cat "$T_OUT")" '^left: attr.flag 3'
	pve_listing "$volume" "$at/first"
	same "$name: all else is repaired" "$at/want" "$at/first"
	trace=$(pve_trace "$volume")
	t_status "$name: the next repair has the same left" 4 ctm repair --yes "$@" "$target"
	t_is "$name: and writes nothing" "$(pve_trace "$volume")" "$trace"

	within "$volume" unflag
	t_status "$name: without flags repair ends" 0 ctm repair --yes "$@" "$target"
	pve_listing "$volume" "$at/second"
	same "$name: everything is repaired" "$at/all" "$at/second"
	trace=$(pve_trace "$volume")
	t_status "$name: check is content" 0 ctm check "$@" "$target"
	t_status "$name: diff is empty" 0 ctm diff "$@" "$target"
	t_status "$name: repair has nothing to do" 0 ctm repair --yes "$@" "$target"
	t_is "$name: and writes nothing either" "$(pve_trace "$volume")" "$trace"

	t_status "$name: the second repair is taken back" 0 ctm undo --yes "$target"
	pve_listing "$volume" "$at/undone"
	same "$name: it is as after the first" "$at/first" "$at/undone"
	t_status "$name: the first repair is taken back" 0 ctm undo --yes "$target"
	redo=$(sed -n 's/^run \([^ ,]*\), takes back .*/\1/p' "$T_OUT")
	pve_listing "$volume" "$at/undone"
	same "$name: it is as at the beginning" "$at/before" "$at/undone"
	t_status "$name: there is nothing more to take back" 3 ctm undo --yes "$target"
	t_status "$name: the undo is taken back" 0 ctm undo --yes "$target" "$redo"
	pve_listing "$volume" "$at/redone"
	same "$name: it is as after the first again" "$at/first" "$at/redone"
}

# on_dir NAME VMID: the rootfs is a directory on tank as it is mounted now
on_dir()
{
	pve_dir_ct "$2"
	t_ok "$1: a tree" populate "$(pve_dir "$2")"
	drill "$1" "$(pve_dir "$2")" "$2"
}

# with_fs TYPE SIZE VMID: a file system of this type, in all three forms
with_fs()
{
	local type=$1 size=$2 vmid=$3 image dev

	image=$TMP/$type.tank
	t_image "$type" "$image" "$size"
	t_mount "$image" "$TMP/tank" -o strictatime
	on_dir "$type-directory" "$vmid"
	t_umount "$TMP/tank"
	rm "$image"

	vmid=$((vmid + 1))
	pve_ct "$vmid" "tank:$vmid/vm-$vmid-disk-0.raw"
	image=$(pve_image "$vmid")
	mkdir -p "${image%/*}"
	if [ "$type" = ext4 ]; then
		t_pve_image "$image" "$size"
	else
		t_image "$type" "$image" "$size"
	fi
	t_ok "$type-image: a tree" within "$image" populate
	drill "$type-image" "$image" "$vmid"
	rm -r "${image%/*}"

	t_image "$type" "$TMP/$type.raw" "$size"
	t_loop dev "$TMP/$type.raw"
	t_ok "$type-device: a tree" within "$dev" populate
	drill "$type-device" "$dev" "$dev" --map 100000
	t_unloop "$dev"
	rm "$TMP/$type.raw"
}

on_dir plain-directory 9301
mount -t tmpfs -o size=64m,strictatime tmpfs "$TMP/tank"
t_defer t_umount "$TMP/tank"
on_dir tmpfs-directory 9302
t_umount "$TMP/tank"
with_fs ext4 64M 9303
with_fs btrfs 128M 9305
with_fs xfs 300M 9307
t_done
