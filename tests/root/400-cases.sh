#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What really happened to people: each case of fixtures/cases, see recipe.sh and cases.sh for how they
# are written. CASES="A1 B" tries those whose names begin so.
#
# What is not there, or not wholly:
#
#	C3, killed between chown and chmod	390-kill-points.sh, 391-power-loss.sh
#	F1, all file systems, --fix flags killed	371-flags.sh
#	F2, each failing entry by its own path	360-errors.sh, 372-faults.sh
#	F3, a component swapped against a link	310-hostile.sh
#	F4, ten million inodes			tests/long/large.sh
#	G5, nothing wrong; exit codes are interface	F4a; tests/cli
#	A7, the backup itself			not here: it needs Proxmox VE's archiver
#	B9, mounts with an idmap		not here: it needs Proxmox VE 9
#	E2, extraction inside			not here: nothing of it reaches the disk
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"
. "${0%/*}/recipe.sh"
. "${0%/*}/cases.sh"

# In memory: the disk is shared, and each repair waits for it many times.
mkdir "$TMP/ram"
t_mount tmpfs "$TMP/ram" -t tmpfs
t_image ext4 "$TMP/ram/img" 96M
t_mount "$TMP/ram/img" "$TMP/disk"
for dir in sys tank place; do
	mkdir -p "$TMP/disk/$dir" "$TMP/$dir"
	cp -a "$TMP/$dir/." "$TMP/disk/$dir/"
	t_mount "$TMP/disk/$dir" "$TMP/$dir" --bind
done
# A mount of what is above all volumes, so that it is in nobody's way.
t_mount "$TMP/disk" "$TMP/look" --bind
mount -o remount,bind,ro,noatime "$TMP/look"
mkdir -p "$TMP/out/log" "$TMP/sys/var/lib/lxc"
chmod 755 "$TMP" "$TMP/sys"
echo host >"$TMP/out/log/file"
pve_age "$TMP/out"
for dir in "$T_TOP"/fixtures/cases/*/; do
	name=$(basename "$dir")
	for want in ${CASES:-""}; do
		case $name in
		"$want"*)
			case_try "${dir%/}"
			break
			;;
		esac
	done
done
t_done
