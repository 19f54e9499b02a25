#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A container on a btrfs storage with subvolumes inside: inode numbers repeat, and a read-only
# snapshot cannot be repaired.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

t_image btrfs "$TMP/btrfs.raw" 128M
t_mount "$TMP/btrfs.raw" "$TMP/fast" -o strictatime
printf '\nbtrfs: fast\n\tpath %s\n\tcontent rootdir,images\n' "$TMP/fast" \
	>>"$TMP/sys/etc/pve/storage.cfg"
dir=$TMP/fast/images/9312/subvol-9312-disk-0.subvol
mkdir -p "${dir%/*}"
btrfs -q subvolume create "$dir"
pve_ct 9312 fast:9312/subvol-9312-disk-0.subvol

# linked DIR: an inode with two names, first in the subvolume
linked()
{
	echo "$1" >"$1/file" && chmod 4755 "$1/file" && ln "$1/file" "$1/name" && mkdir "$1/dir" &&
		echo x >"$1/dir/x"
}

t_ok "a container's root" zoo_healthy "$dir"
# Made first, so that they come before the others' files by number.
for sub in "$dir/sub" "$dir/other" "$dir/sub/nested"; do
	t_ok "a subvolume" btrfs -q subvolume create "$sub"
	t_ok "with an inode of two names" linked "$sub"
done
# One with the same number and the right owner, as healthy as it can be.
t_ok "a healthy subvolume" btrfs -q subvolume create "$dir/healthy"
linked "$dir/healthy"
chown -R 100000:100000 "$dir/healthy"
t_is "their inode numbers repeat" \
	"$(stat -c %i "$dir"/{sub,other,sub/nested,healthy}/file | sort | uniq -c | wc -l)" 1
t_ok "a read-only snapshot" btrfs -q subvolume snapshot -r "$dir/sub" "$dir/snapshot"
t_ok "a writable one, whose numbers repeat all the more" \
	btrfs -q subvolume snapshot "$dir/sub" "$dir/copy"
pve_age "$dir" 2>/dev/null

# What stands in a snapshot for a subvolume inside is no inode: the kernel makes it up each time.
cat >"$TMP/made-up" <<-END
	./snapshot/nested
	./copy/nested
END
trace()
{
	(cd "$1" && find . ! -inum 2 -printf '%p %U:%G %#m %C@ %T@ %A@\n' | LC_ALL=C sort)
}
listing()
{
	pve_listing "$1" "$2.all"
	listing_without "$TMP/made-up" "$2.all" "$2"
}

mount -o remount,noatime "$TMP/fast"
trace=$(trace "$dir")
mount -o remount,strictatime "$TMP/fast"
t_status "check finds work" 1 ctm check 9312
t_status "diff as well" 1 ctm diff 9312
t_is "the diff has each inode once" "$(grep -c '^+f .*/\(file\|name\)$' "$T_OUT")" 4
t_no_match "and none of the read-only snapshot" "$(cat "$T_OUT")" ' /snapshot/'
t_no_match "and nothing that is none" "$(cat "$T_OUT")" '/(copy|snapshot)/nested$'
mount -o remount,noatime "$TMP/fast"
t_is "neither leaves a trace" "$(trace "$dir")" "$trace"
listing "$dir" "$TMP/before"
listing_shift 0:100000:65536 0:100000:65536 "$TMP/before" "$TMP/all"
listing_select snapshot "$TMP/all" "$TMP/before" "$TMP/want"

t_status "repair leaves the read-only snapshot" 4 ctm repair --yes 9312
cp "$T_OUT" "$TMP/said"
t_match "which it reports" "$(cat "$TMP/said")" '^left: attr\.rosubvol 1: .*\(/snapshot\)$'
t_is "once" "$(grep -c /snapshot "$TMP/said")" 1
t_no_match "without having tried" "$(cat "$TMP/said")" 'Read-only file system'
t_status "check as well" 1 ctm check -v 9312
t_match "with the number" "$(cat "$T_OUT")" '/snapshot.*: 4 changes needed in it'
listing "$dir" "$TMP/first"
t_is "all else is repaired" "$(listing_diff "$TMP/want" "$TMP/first")" ""
trace=$(trace "$dir")
t_status "the next repair leaves it again" 4 ctm repair --yes 9312
t_is "and changes nothing in the tree" "$(trace "$dir")" "$trace"

t_ok "the snapshot is made writable" btrfs property set -f "$dir/snapshot" ro false
t_status "now it is repaired" 0 ctm repair --yes 9312
listing "$dir" "$TMP/second"
t_is "completely" "$(listing_diff "$TMP/all" "$TMP/second")" ""
t_status "check is content" 0 ctm check 9312
t_status "that is taken back" 0 ctm undo --yes 9312
listing "$dir" "$TMP/undone"
t_is "to what it was" "$(listing_diff "$TMP/first" "$TMP/undone")" ""
t_done
