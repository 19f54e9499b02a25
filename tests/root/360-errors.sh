#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What goes wrong is said, and leaves everything as it was.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9361
dir=$(pve_dir $vmid)

# fails NAME STATUS REGEX WORD...: the program fails with this status and these words, on stderr
# alone and with its name in front
fails()
{
	local name=$1 status=$2 regex=$3
	shift 3

	t_status "$name" "$status" ctm "$@"
	t_match "$name: the message" "$(cat "$T_ERR")" "$regex"
	t_no_match "$name: each line has the program's name" "$(cat "$T_ERR")" '^($|[^c]|c[^t])'
}

# untouched NAME
untouched()
{
	t_is "$1: nothing has changed" "$(pve_trace "$dir")" "$trace"
}

pve_dir_ct $vmid
zoo_healthy "$dir"
zoo_damage "$dir"
# a large file without holes
head -c 3145731 /dev/urandom >"$dir/var/cache/apt/pkgcache.bin"
trace=$(pve_trace "$dir")

# No place for a record, no repair.
mkdir -p "$PVE_STATE"
chmod 755 "$TMP/sys/var" "$TMP/sys/var/lib"
chmod 700 "$PVE_STATE"
t_ok "a small file system" mount -t tmpfs -o size=64k,mode=700 tmpfs "$PVE_STATE"
t_defer t_umount "$PVE_STATE"
mount -o remount,ro "$PVE_STATE"
fails "records on a read-only file system" 5 'Read-only file system' repair --yes $vmid
untouched "records on a read-only file system"
mount -o remount,rw "$PVE_STATE"
dd if=/dev/zero of="$PVE_STATE/filler" bs=4k status=none 2>/dev/null
fails "records on a full file system" 3 'No space left on device' repair --yes $vmid
untouched "records on a full file system"
t_match "and where room is missing" "$(<"$T_ERR")" 'make room in /var/lib/ctmend'
t_is "and no half of a record" "$(find "$PVE_STATE" -type f ! -name filler)" ""
t_status "check needs no room" 1 ctm check $vmid
# Room for a record, but not for what would be removed.
rm "$PVE_STATE/filler"
t_status "little room: check says what is too large" 1 ctm check $vmid
t_match "little room: by its code" "$(cat "$T_OUT")" '^pkg.large  [1-9]'
t_status "little room: repair" 4 ctm repair --yes --path var $vmid
t_match "little room: a cache that is damaged inside is left" "$(cat "$T_OUT")" \
	'^left: pkg.cache 1: .*/var/cache/apt/pkgcache.bin'
t_is "little room: the large file stays, with its owner" \
	"$(stat -c %u:%s "$dir/var/cache/apt/pkgcache.bin")" 100000:3145731
t_ok "little room: the small one goes" [ ! -e "$dir/var/lib/dpkg/lock" ]
t_status "little room: undo" 0 ctm undo --yes $vmid
t_umount "$PVE_STATE"
trace=$(pve_trace "$dir")
chmod 777 "$PVE_STATE"
fails "records where all may write" 3 'may be written by others \(mode 0777\)' repair --yes $vmid
chmod 700 "$PVE_STATE"
chown 1000 "$PVE_STATE"
fails "records that are somebody else's" 3 'belongs to uid 1000' repair --yes $vmid
chown 0 "$PVE_STATE"
rmdir "$PVE_STATE"
ln -s "$TMP" "$PVE_STATE"
fails "records behind a link" 3 'is no directory of its own' repair --yes $vmid
rm "$PVE_STATE"
: >"$PVE_STATE"
fails "a file in the records' place" 3 'is no directory of its own' repair --yes $vmid
rm "$PVE_STATE"
untouched "records that nobody should trust"
fails "nothing to take back" 3 'no repair of it is recorded|no repair that could be taken back' \
	undo --yes $vmid

# Records that are damaged are not carried out.
t_status "a repair" 0 ctm repair --yes $vmid
run=$(cd "$PVE_STATE/$vmid" && echo 0001-*)
trace=$(pve_trace "$dir")
cp -a "$PVE_STATE/$vmid" "$TMP/records"
for file in $(cd "$PVE_STATE/$vmid/$run" && echo *); do
	size=$(stat -c %s "$PVE_STATE/$vmid/$run/$file")
	for harm in cut flip gone; do
		at=$PVE_STATE/$vmid/$run/$file
		case $harm in
		cut) truncate -s $((size / 2)) "$at" ;;
		gone) rm "$at" ;;
		flip)
			byte=$(od -An -tu1 -j $((size / 3)) -N 1 "$at")
			printf %b "\\0$(printf %o $((byte ^ 64)))" |
				dd of="$at" bs=1 seek=$((size / 3)) conv=notrunc status=none
			;;
		esac
		fails "$file is damaged ($harm)" 5 "$run|'$file'" undo --yes $vmid
		untouched "$file is damaged ($harm)"
		rm -rf "${PVE_STATE:?}/$vmid"
		cp -a "$TMP/records" "$PVE_STATE/$vmid"
	done
done
t_status "whole again it is" 0 ctm undo --yes $vmid

# A part that fails does not keep the rest from being done.
mkdir "$dir/var/lib/apt/lists/partial/dir"
chattr +i "$dir/var/lib/apt/lists/partial"
t_status "an immutable directory with a file to be removed" 4 ctm repair --yes $vmid
t_match "the file is named" "$(cat "$T_OUT")" \
	'/var/lib/apt/lists/partial/download: remove: Operation not permitted'
t_is "it is as it was" "$(stat -c %u:%s "$dir/var/lib/apt/lists/partial/download")" 42:100000
t_ok "another is gone" [ ! -e "$dir/var/lib/dpkg/lock" ]
t_is "the rest is repaired" "$(find "$dir" -uid -100000 ! -path '*/partial/*')" ""
chattr -i "$dir/var/lib/apt/lists/partial"
t_status "then it goes as well" 0 ctm repair --yes $vmid
t_ok "it is gone" [ ! -e "$dir/var/lib/apt/lists/partial/download" ]

# Images that cannot be mounted.
trace=$(pve_trace "$dir")
image=$(pve_image 9362)
pve_ct 9362 tank:9362/vm-9362-disk-0.raw
mkdir -p "${image%/*}"
fails "no image" 3 "'$image' does not exist|there is no '$image'" check 9362
: >"$image"
fails "an empty image" 3 "$image" check 9362
truncate -s 16M "$image"
fails "an image of zeros" 3 "$image" check 9362
head -c 4M /dev/urandom >"$image"
fails "an image of noise" 3 "$image" repair --yes 9362
for type in ext4 xfs btrfs; do
	t_image $type "$image" 300M >/dev/null 2>&1
	case $type in
	ext4) dd if=/dev/urandom of="$image" bs=1k seek=2 count=60 conv=notrunc status=none ;;
	xfs) dd if=/dev/urandom of="$image" bs=512 seek=1 count=7 conv=notrunc status=none ;;
	btrfs) dd if=/dev/urandom of="$image" bs=64k seek=32 count=4000 conv=notrunc status=none ;;
	esac
	hash=$(pve_trace "$image")
	fails "a damaged $type" 3 "$image" check 9362
	fails "a damaged $type to repair" 3 "$image" repair --yes 9362
	t_is "a damaged $type: nothing has changed" "$(pve_trace "$image")" "$hash"
done
mkswap "$image" >/dev/null 2>&1
fails "an image with something else" 3 "$image.*swap|swap.*$image" check 9362
printf 'QFI\373\0\0\0\3' >"$image"
fails "an image in another format" 3 "$image" check 9362

# A directory of the tree that cannot be read: the rest is.
t_pve_image "$image" 64M
t_mount "$image" "$TMP/in"
zoo_healthy "$TMP/in"
mkdir "$TMP/in/bad"
for ((i = 0; i < 50; i++)); do
	: >"$TMP/in/bad/$i"
done
: >"$TMP/in/etc/damaged"
block=$(debugfs -R "blocks /bad" "$image" 2>/dev/null)
t_umount "$TMP/in"
block=$(debugfs -R "blocks /bad" "$image" 2>/dev/null)
dd if=/dev/urandom of="$image" bs="$(dumpe2fs -h "$image" 2>/dev/null |
	sed -n 's/^Block size: *//p')" seek="${block// /}" count=1 conv=notrunc status=none
hash=$(pve_trace "$image")
t_status "a directory that cannot be read" 1 ctm check 9362
t_match "is named" "$(cat "$T_OUT")" '^ +/bad: (Bad message|Structure needs cleaning)'
t_is "and left alone" "$(pve_trace "$image")" "$hash"

# In use.
t_pve_image "$image" 64M
t_mount "$image" "$TMP/in"
zoo_healthy "$TMP/in"
: >"$TMP/in/etc/damaged"
fails "an image that is mounted" 3 "$TMP/in|loop" repair --yes 9362
t_umount "$TMP/in"
dev=
t_loop dev "$image"
fails "an image with a loop device" 3 "$dev" repair --yes 9362
t_unloop "$dev"
t_status "an image that nobody uses" 0 ctm repair --yes 9362

# Words that name nothing.
: >"$TMP/file"
mkdir "$TMP/empty"
mkdir -p "$TMP/sys/etc/pve/qemu-server"
: >"$TMP/sys/etc/pve/qemu-server/9369.conf"
printf '\nnfsx: odd\n\tpath /tank\n' >>"$TMP/sys/etc/pve/storage.cfg"
fails "a container that is none" 3 9999 check 9999
fails "a virtual machine" 3 '9369 is a VM' check 9369
fails "an id that is too small" 3 42 check 42
fails "a name" 3 nobody check nobody
fails "a path that is none" 3 "there is no '$TMP/nowhere'" check --map 100000 "$TMP/nowhere"
fails "a device that is no disk" 3 /dev/null check --map 100000 /dev/null
fails "a FIFO" 3 fifo check --map 100000 "$dir/zoo/kinds/fifo"
fails "an empty file" 3 "$TMP/file" check --map 100000 "$TMP/file"
fails "a directory that is no root" 3 'neither etc nor usr' check --map 100000 "$TMP/empty"
fails "the host's own root" 3 'the root directory of this host' check --map 100000 /
t_status "the host's own root to repair" 3 ctm repair --yes --map 100000 /
for volume in tank: tank:9363 tank:9363/.. tank:../../etc odd:9363/vm-9363-disk-0.raw \
	none:9363/vm-9363-disk-0.raw tank:9363/vm-9363-disk-0.qcow2 /etc relative; do
	pve_ct 9363 "$volume"
	fails "rootfs: $volume" 3 9363 check 9363
done
printf 'arch: amd64\nunprivileged: 1\n' >"$TMP/sys/etc/pve/lxc/9363.conf"
fails "no rootfs" 3 rootfs check 9363
t_status "a word too many" 2 ctm diff $vmid $vmid
t_status "a word too few" 2 ctm check

# Several targets.
pve_dir_ct 9364
zoo_healthy "$(pve_dir 9364)"
: >"$(pve_dir 9364)/etc/damaged"
fails "one of three that is bad" 3 9999 check $vmid 9999 9364
t_match "the first is reported" "$(cat "$T_OUT")" "^CT $vmid: "
t_match "the last as well" "$(cat "$T_OUT")" '^CT 9364: '
fails "one of three that is bad, in JSON" 3 9999 check --json $vmid 9999 9364
t_is "all three are in it" "$(python3 -c 'import json, sys
print(len(json.load(sys.stdin)["targets"]))' <"$T_OUT")" 3
fails "repair does the others" 3 9999 repair --yes $vmid 9999 9364
t_is "both" "$(stat -c %u "$(pve_dir 9364)/etc/damaged")" 100000
t_status "several that are clean" 0 ctm check $vmid 9364
t_done
