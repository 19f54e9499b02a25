# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For scripts that run the program on volumes of a pretended Proxmox VE host. Sourced instead of
# lib.sh. What the program takes for the host is $TMP/sys; its storage "tank", of type dir, is
# $TMP/tank.
#
# The script runs in a mount namespace of its own (slave propagation), so that no process started
# elsewhere meanwhile inherits its mounts, and in a network namespace of its own, where abstract
# sockets meet no other run's.

if [ "$(id -u)" = 0 ] && [ -z "${PVE_APART-}" ]; then
	export PVE_APART=1
	exec unshare --mount --net --propagation slave bash "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/listing.sh"

# shellcheck disable=SC2034 # for the scripts
PVE_STATE=$TMP/sys/var/lib/ctmend

mkdir -p "$TMP/sys/etc/pve/lxc" "$TMP/sys/run/lock/lxc" "$TMP/tank/images"
printf 'dir: tank\n\tpath %s\n\tcontent rootdir,images\n' "$TMP/tank" \
	>"$TMP/sys/etc/pve/storage.cfg"

# ctm WORD...: the program on this host
ctm()
{
	"$CTMEND" --sysroot "$TMP/sys" "$@"
}

# pve_ct VMID VOLUME [LINE...]: an unprivileged container's configuration, with further lines
pve_ct()
{
	local vmid=$1 volume=$2
	shift 2

	{
		printf '%s\n' 'arch: amd64' 'ostype: debian' "rootfs: $volume,size=1G" \
			'unprivileged: 1' "$@"
	} >"$TMP/sys/etc/pve/lxc/$vmid.conf"
}

# pve_dir VMID: the path of this container's directory on tank
pve_dir()
{
	printf '%s\n' "$TMP/tank/images/$1/subvol-$1-disk-0.subvol"
}

# pve_dir_ct VMID [LINE...]: a container whose rootfs is a directory on tank, made empty
pve_dir_ct()
{
	local vmid=$1
	shift

	mkdir -p "$(pve_dir "$vmid")"
	chown 100000:100000 "$(pve_dir "$vmid")"
	pve_ct "$vmid" "tank:$vmid/subvol-$vmid-disk-0.subvol" "$@"
}

# pve_image VMID: the path of this container's image on tank
pve_image()
{
	printf '%s\n' "$TMP/tank/images/$1/vm-$1-disk-0.raw"
}

# pve_peek DIR COMMAND...: run a command in the tree at DIR without leaving a trace in its times
pve_peek()
{
	local dir=$1 status
	shift

	mkdir -p "$TMP/peek"
	mount --bind "$dir" "$TMP/peek" && mount -o remount,bind,ro,noatime "$TMP/peek" || return
	(cd "$TMP/peek" && "$@")
	status=$?
	t_umount "$TMP/peek" && return "$status"
}

# What pve_trace prints, in the tree at ".".
pve__trace()
{
	find . -printf '%y %i %n %U:%G %#m %s %A@ %C@ %T@ %p\0' | LC_ALL=C sort -z | sha256sum
}

# SHA-256 of a file: of its size and of every block that is not zero. Where the holes begin is no
# matter: it changes when dirty pages are written.
pve__hash()
{
	python3 - "$1" <<-'END'
		import errno, hashlib, os, sys

		BLOCK = 1 << 16
		fd = os.open(sys.argv[1], os.O_RDONLY)
		size = os.fstat(fd).st_size
		sha = hashlib.sha256(b"%d" % size)
		at = 0
		while at < size:
		    try:
		        data = os.lseek(fd, at, os.SEEK_DATA)
		    except OSError as e:
		        if e.errno != errno.ENXIO:
		            raise
		        break
		    at = max(at, data - data % BLOCK)
		    end = os.lseek(fd, data, os.SEEK_HOLE)
		    while at < end:
		        block = os.pread(fd, BLOCK, at)
		        if block.count(0) != len(block):
		            sha.update(b"%d:" % at + block)
		        at += BLOCK
		print(sha.hexdigest())
	END
}

# pve_trace VOLUME: a text that is another one after any write to a directory, image or loop device
# and, of a directory, after any read that the file system takes note of
pve_trace()
{
	if [ -d "$1" ]; then
		pve_peek "$1" pve__trace
	elif [ -b "$1" ]; then
		blockdev --flushbufs "$1"
		pve__hash "$(losetup --noheadings --output BACK-FILE "$1")"
	else
		pve__hash "$1"
	fi
}

# pve_listing DIR-OR-IMAGE FILE: all that can be said of the volume, contents too; see listing.sh.
# Of an image without lost+found.
pve_listing()
{
	if [ -d "$1" ]; then
		pve_peek "$1" listing_take . "$2" && pve_peek "$1" listing_content . "$2"
		return
	fi
	t_mount "$1" "$TMP/image" -o ro,noatime || return
	listing_take "$TMP/image" "$2.all" && listing_content "$TMP/image" "$2.all"
	t_umount "$TMP/image"
	echo ./lost+found >"$2.not"
	listing_without "$2.not" "$2.all" "$2"
	rm -f "$2.all" "$2.not"
}

# pve_age DIR: access times of long ago, which any read would renew
pve_age()
{
	find "$1" -exec touch -h -a -d '2005-05-05 05:05:05.050505 UTC' {} +
}
