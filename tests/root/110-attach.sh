#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Volumes of every kind are attached, proven, and let go of without a trace.
. "${0%/*}/lib.sh"

probe=${CTMEND%/*}/tests/root/attach-probe

# tree DIR: what the root of a container has at the least
tree()
{
	mkdir -p "$1/etc" "$1/usr"
	echo here >"$1/etc/hostname"
}

# field NAME: the rest of the probe's line that begins with the word
field()
{
	sed -n "s/^$1 //p" "$T_OUT"
}

# hash FILE: SHA-256 of an image or a device
hash()
{
	sha256sum <"$1"
}

# filled TYPE FILE SIZE [OPTION...]: an image with a tree in it
filled()
{
	t_image "$@"
	mkdir -p "$TMP/fill"
	mount "$2" "$TMP/fill"
	tree "$TMP/fill"
	umount "$TMP/fill"
}

for type in ext2 ext3 ext4 xfs btrfs; do
	size=64M
	if [ "$type" = xfs ]; then
		size=320M
	elif [ "$type" = btrfs ]; then
		size=128M
	fi
	image=$TMP/$type.raw
	filled "$type" "$image" "$size"
	uuid=$(blkid -p -o value -s UUID "$image")
	before=$(hash "$image")
	t_ok "$type: an image is read" "$probe" kind=image path="$image"
	t_is "$type: its type" "$(field fstype)" "$type"
	t_is "$type: its UUID" "$(field uuid)" "$uuid"
	t_is "$type: its path" "$(field path)" "$image"
	t_is "$type: no loop device is left" "$(losetup -j "$image")" ""
	t_status "$type: nothing can be created in it" 5 "$probe" kind=image path="$image" touch=new
	t_match "$type: because it is read-only" "$(cat "$T_ERR")" 'Read-only file system'
	t_is "$type: the image has not changed" "$(hash "$image")" "$before"

	t_loop dev "$image"
	# shellcheck disable=SC2154 # t_loop sets it
	t_ok "$type: a block device is read" "$probe" kind=block path="$dev"
	t_is "$type: its UUID again" "$(field uuid)" "$uuid"
	t_status "$type: nothing can be created on it" 5 "$probe" kind=block path="$dev" touch=new
	t_is "$type: no loop device is left on it" "$(losetup -n -O NAME,BACK-FILE | grep -c "$dev\$")" 0
	t_is "$type: the device has not changed" "$(hash "$dev")" "$before"

	t_ok "$type: a block device is written" "$probe" kind=block path="$dev" access=write touch=a
	t_unloop "$dev"
	t_ok "$type: an image is written" "$probe" kind=image path="$image" access=write touch=b
	t_is "$type: and again no loop device is left" "$(losetup -j "$image")" ""
	t_mount "$image" "$TMP/look"
	t_ok "$type: both files are there" test -f "$TMP/look/a" -a -f "$TMP/look/b"
	t_umount "$TMP/look"
done

# --- what a reader must not touch: a dirty journal with an orphan -----------------------------------

image=$TMP/dirty.raw
filled ext4 "$TMP/live.raw" 64M
mkdir -p "$TMP/live"
mount "$TMP/live.raw" "$TMP/live"
exec 7>"$TMP/live/orphan"
echo data >&7
rm "$TMP/live/orphan"
sync -f "$TMP/live"
cp "$TMP/live.raw" "$image"
exec 7>&-
umount "$TMP/live"
t_match "the copy has a dirty journal" "$(dumpe2fs -h "$image" 2>/dev/null)" \
	'features:.*needs_recovery'
t_no_match "and an orphan" "$(debugfs -R 'stats' "$image" 2>/dev/null | grep -i 'first orphan')" \
	'First orphan inode: *0$'
before=$(hash "$image")
t_ok "dirty: the forecast is read" "$probe" kind=image path="$image" forecast
t_is "dirty: it says so" "$(field dirty)" 1
t_ok "dirty: an image is read" "$probe" kind=image path="$image"
t_match "dirty: the note says so" "$(field note)" 'journal is dirty'
t_is "dirty: the image has not changed" "$(hash "$image")" "$before"
t_loop dev "$image"
t_ok "dirty: a block device is read" "$probe" kind=block path="$dev"
t_is "dirty: the device has not changed" "$(hash "$dev")" "$before"
t_ok "dirty: a block device is written" "$probe" kind=block path="$dev" access=write
t_unloop "$dev"
t_no_match "dirty: which replays the journal" "$(dumpe2fs -h "$image" 2>/dev/null)" \
	'features:.*needs_recovery'
t_ok "dirty: and leaves a clean file system" e2fsck -fn "$image"

# --- directories -----------------------------------------------------------------------------------

tree "$TMP/ct"
t_ok "a directory is read" "$probe" kind=dir path="$TMP/ct"
t_is "its inode" "$(field ino)" "$(stat -c %i "$TMP/ct")"
t_is "its file system" "$(field fstype)" "$(stat -f -c %T "$TMP/ct" | sed 's/^ext2.ext3$/ext4/')"
t_status "nothing can be created in it" 5 "$probe" kind=dir path="$TMP/ct" touch=new
t_ok "a directory is written" "$probe" kind=dir path="$TMP/ct" access=write touch=new
t_ok "the file is there" test -f "$TMP/ct/new"

mkdir "$TMP/tmpfs"
t_mount none "$TMP/tmpfs" -t tmpfs
tree "$TMP/tmpfs"
t_ok "a tmpfs is read" "$probe" kind=dir path="$TMP/tmpfs"
t_is "it has no UUID" "$(field uuid)" ""
t_umount "$TMP/tmpfs"

mkdir -p "$TMP/ct/usr/mnt dir"
t_mount none "$TMP/ct/usr/mnt dir" -t tmpfs
t_ok "a directory with a mount below is read" "$probe" kind=dir path="$TMP/ct"
t_is "the mount is named" "$(field below)" "usr/mnt dir"
t_ok "writing goes past the mount" "$probe" kind=dir path="$TMP/ct" access=write \
	"touch=usr/mnt dir/under"
t_is "and not into it" "$(ls "$TMP/ct/usr/mnt dir")" ""
t_umount "$TMP/ct/usr/mnt dir"
t_is "but below" "$(ls "$TMP/ct/usr/mnt dir")" "under"

t_mount "$TMP/ct" "$TMP/ro" --bind -o ro
t_ok "a read-only mount is read" "$probe" kind=dir path="$TMP/ro"
t_status "but not written" 3 "$probe" kind=dir path="$TMP/ro" access=write
t_match "and the message says why" "$(cat "$T_ERR")" 'mounted read-only'
t_umount "$TMP/ro"

# --- btrfs storage ---------------------------------------------------------------------------------

t_image btrfs "$TMP/pool.raw" 128M
t_mount "$TMP/pool.raw" "$TMP/pool"
btrfs -q subvolume create "$TMP/pool/sub" 2>/dev/null || btrfs subvolume create "$TMP/pool/sub" >/dev/null
tree "$TMP/pool/sub"
tree "$TMP/pool/plain"
t_ok "a btrfs subvolume is read" "$probe" kind=dir path="$TMP/pool/sub" type=btrfs prefix="$TMP/pool"
t_is "its UUID" "$(field subvol)" "$(btrfs subvolume show "$TMP/pool/sub" | awk '/\tUUID:/ { print $2 }')"
t_is "the file system's UUID" "$(field uuid)" "$(blkid -p -o value -s UUID "$TMP/pool.raw")"
t_status "a plain directory is no btrfs volume" 3 "$probe" kind=dir path="$TMP/pool/plain" \
	type=btrfs prefix="$TMP/pool"
t_umount "$TMP/pool"

# --- refusals --------------------------------------------------------------------------------------

# refused NAME REGEX WORD...: exit status 3 and a message that matches
refused()
{
	local name=$1 regex=$2
	shift 2
	t_status "$name is refused" 3 "$probe" "$@"
	t_match "$name: the message" "$(cat "$T_ERR")" "$regex"
}

ln -s ct "$TMP/link"
refused "a link to a directory" 'symbolic link' kind=dir path="$TMP/link"
refused "a link with a slash behind it" 'symbolic link' kind=dir path="$TMP/link/"
mkdir -p "$TMP/store/images"
tree "$TMP/store/images/115/subvol"
t_ok "a volume on a storage is read" "$probe" kind=dir path="$TMP/store/images/115/subvol" \
	prefix="$TMP/store"
mv "$TMP/store/images/115" "$TMP/store/images/116"
ln -s 116 "$TMP/store/images/115"
refused "a link on the way from the storage" 'symbolic link' kind=dir \
	path="$TMP/store/images/115/subvol" prefix="$TMP/store"
ln -s "$TMP/store" "$TMP/store-link"
t_ok "a link on the way to the storage is the admin's" "$probe" kind=dir \
	path="$TMP/store-link/images/116/subvol" prefix="$TMP/store-link"
mkdir "$TMP/store/etc"
refused "the storage itself" 'storage itself' kind=dir path="$TMP/store" prefix="$TMP/store"
refused "the host's root" 'root directory of this host' kind=dir path=/
t_mount / "$TMP/host" --bind
refused "the host's root by another name" 'root directory of this host' kind=dir path="$TMP/host"
t_umount "$TMP/host"
mkdir "$TMP/empty"
refused "a directory without etc and usr" 'neither etc nor usr' kind=dir path="$TMP/empty"
mkdir "$TMP/trick"
ln -s /etc "$TMP/trick/etc"
refused "one whose etc is a link" 'neither etc nor usr' kind=dir path="$TMP/trick"
t_ok "a mount point's volume needs neither" "$probe" kind=dir path="$TMP/empty" mp=/srv
refused "a pseudo file system" 'on proc' kind=dir path=/proc
refused "nothing" 'does not exist' kind=dir path="$TMP/nowhere"
refused "a file as a directory" 'not a directory' kind=dir path="$TMP/ct/etc/hostname"
refused "no image" 'does not exist' kind=image path="$TMP/nowhere"
refused "no logical volume" 'does not exist' kind=block path=/dev/nowhere/vm-1 type=lvmthin
t_match "says how to activate it" "$(cat "$T_ERR")" '^hint: .*lvchange -ay -K nowhere/vm-1'
refused "a directory as an image" 'not a regular file' kind=image path="$TMP/ct"
refused "an image as a device" 'not a block device' kind=block path="$TMP/ext4.raw"
mkfifo "$TMP/fifo"
refused "a FIFO" 'not a regular file' kind=image path="$TMP/fifo"
refused "a directory of the host" 'directory of the host' kind=bind path="$TMP/ct"
refused "a base volume" 'base volume' kind=image path="$TMP/ext4.raw" access=write base

truncate -s 16M "$TMP/zero.raw"
refused "an empty image" 'no file system' kind=image path="$TMP/zero.raw"
mkswap -q "$TMP/zero.raw"
refused "swap space" 'no file system but swap' kind=image path="$TMP/zero.raw"
truncate -s 0 "$TMP/zero.raw"
truncate -s 16M "$TMP/zero.raw"
# one entry at byte 446: type 83, from sector 2048, 28672 sectors; and the signature
printf '\0\0\0\0\203\0\0\0\0\010\0\0\0\160\0\0' |
	dd of="$TMP/zero.raw" bs=1 seek=446 conv=notrunc status=none
printf '\125\252' | dd of="$TMP/zero.raw" bs=1 seek=510 conv=notrunc status=none
refused "a disk with partitions" 'partition table \(dos\)' kind=image path="$TMP/zero.raw"

cp "$TMP/xfs.raw" "$TMP/two.raw"
dd if="$TMP/ext4.raw" of="$TMP/two.raw" bs=1k skip=1 seek=1 count=1 conv=notrunc status=none
before=$(hash "$TMP/two.raw")
refused "an image with two signatures" 'more than one file system' kind=image path="$TMP/two.raw"
t_is "and has not changed" "$(hash "$TMP/two.raw")" "$before"

# broken NAME IMAGE OFFSET: random bytes over the middle of the metadata
broken()
{
	cp "$2" "$TMP/broken.raw"
	dd if=/dev/zero of="$TMP/broken.raw" bs=1 seek="$3" count="$4" conv=notrunc status=none
	before=$(hash "$TMP/broken.raw")
	refused "$1" 'cannot mount' kind=image path="$TMP/broken.raw"
	t_match "$1: the next step" "$(cat "$T_ERR")" '^hint: .*check'
	t_is "$1: it has not changed" "$(hash "$TMP/broken.raw")" "$before"
	t_is "$1: no loop device is left" "$(losetup -j "$TMP/broken.raw")" ""
}
broken "an ext4 without its group descriptors" "$TMP/ext4.raw" 2048 4096
broken "an xfs without its inodes" "$TMP/xfs.raw" 512 524288

# --- multi-mount protection ------------------------------------------------------------------------

filled ext4 "$TMP/mmp.raw" 64M -O mmp
t_ok "mmp: a clean file system" "$probe" kind=image path="$TMP/mmp.raw" access=write forecast
t_is "mmp: does not wait" "$(field wait)" 0
mount "$TMP/mmp.raw" "$TMP/live"
sync -f "$TMP/live"
sleep 1
cp "$TMP/mmp.raw" "$TMP/mmp-dirty.raw"
umount "$TMP/live"
t_ok "mmp: one that was not unmounted" "$probe" kind=image path="$TMP/mmp-dirty.raw" access=write \
	forecast
t_match "mmp: waits" "$(field wait)" '^(22|4[0-9])$'
t_match "mmp: and says so" "$(field note)" 'not unmounted cleanly: .* seconds'
before=$(hash "$TMP/mmp-dirty.raw")
start=$SECONDS
t_ok "mmp: a reader" "$probe" kind=image path="$TMP/mmp-dirty.raw"
t_ok "mmp: does not wait" test $((SECONDS - start)) -lt 5
t_is "mmp: and changes nothing" "$(hash "$TMP/mmp-dirty.raw")" "$before"

# --- a killed process ------------------------------------------------------------------------------

# start WORD...: the probe holds the volume; its process id is in $holder, its input in descriptor 9
start()
{
	rm -f "$TMP/hold" "$TMP/holder.out"
	mkfifo "$TMP/hold"
	"$probe" "$@" hold <"$TMP/hold" >"$TMP/holder.out" 2>&1 &
	holder=$!
	exec 9>"$TMP/hold"
	for ((i = 0; i < 100; i++)); do
		if grep -qs '^attached$' "$TMP/holder.out" || ! kill -0 "$holder" 2>/dev/null; then
			break
		fi
		sleep 0.05
	done
}

for access in read write; do
	start kind=image path="$TMP/ext4.raw" access=$access
	t_match "$access: the probe holds the volume" "$(losetup -j "$TMP/ext4.raw")" 'loop'
	t_is "$access: no mount is to be seen" "$(grep -c "loop.*ext4.raw\|$TMP/ext4" "/proc/$holder/mountinfo")" 0
	kill -9 "$holder"
	wait "$holder" 2>/dev/null
	exec 9>&-
	t_is "$access: killed, it leaves nothing" "$(leftovers "$TMP")" ""
done
t_ok "after which the file system is clean" e2fsck -fn "$TMP/ext4.raw"

# A file system can ask to take the host down with it.
for type in ext2 ext4; do
	for access in read write; do
		tune2fs -e panic "$TMP/$type.raw" >/dev/null
		start kind=image path="$TMP/$type.raw" access=$access
		dev=$(losetup -n -O NAME -j "$TMP/$type.raw")
		t_match "$type, $access: an error is no reason to panic" \
			"$(grep errors "/proc/fs/ext4/${dev#/dev/}/options")" \
			'^errors=continue$'
		exec 9>&-
		wait "$holder"
	done
done

# Somebody else (udev, a curious admin) has the loop device open when it is given back. While that
# lasts, PVE would find our device on the image.

# look SECONDS: a process has the device open for so long; it is in $other
look()
{
	start kind=image path="$TMP/ext4.raw"
	dev=$(losetup -n -O NAME -j "$TMP/ext4.raw")
	rm -f "$TMP/open"
	sh -c ': >"$2" && exec sleep "$1"' sh "$1" "$TMP/open" <"$dev" 9>&- &
	other=$!
	for ((i = 0; i < 100; i++)); do
		if [ -e "$TMP/open" ]; then
			break
		fi
		sleep 0.05
	done
	exec 9>&-
	wait "$holder"
	status=$?
}

look 60
t_is "a loop device that is held by another process" $status 5
t_match "is told of" "$(cat "$TMP/holder.out")" "$dev on .* is still held by another process"
kill "$other"
wait "$other" 2>/dev/null
look 2
t_is "for a while alone: it is waited for" $status 0
t_is "and gone" "$(losetup -j "$TMP/ext4.raw")" ""
wait "$other"
t_done
