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
#	B2, one base after the other		321-classes.sh
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

# G7, beside a target that can be done
case=G7-lock-left
case__build "$T_TOP/fixtures/cases/$case/recipe"
pve_dir_ct 116
cp -a "$CASE_DIR/." "$(pve_dir 116)/"
touch "$(pve_dir 116)/etc/hosts"
t_status "$case: one of two targets" 3 ctm repair --yes 115 116
t_match "$case: the locked one is named" "$(cat "$T_ERR")" 'CT 115 is locked \(snapshot-delete\)'
t_is "$case: the other one is done" "$(stat -c %u:%g "$(pve_dir 116)/etc/hosts")" 100000:100000

# F4, a mount that is read-only
case=F4b-read-only
sed -e 's/^option .*/volume path/' "$T_TOP/fixtures/cases/$case/recipe" >"$TMP/recipe"
case__build "$TMP/recipe"
trace=$(case__trace)
read_only=$(case__seen "$CASE_DIR")
t_status "$case: a mount, check" 1 ctm check --map 100000 "$read_only"
t_status "$case: a mount, repair" 3 ctm repair --yes --map 100000 "$read_only"
t_is "$case: a mount, said once" "$(grep -c 'read-only' "$T_ERR")" 1
t_no_match "$case: a mount, of no entry" "$(cat "$T_OUT" "$T_ERR")" 'etc/hosts'
t_is "$case: a mount, nothing is changed" "$(case__trace)" "$trace"
t_done
