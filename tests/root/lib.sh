# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For the scripts of tests/root: tests/lib.sh plus images, loop devices and mounts. They all go away
# when the script ends; what is then still mounted or attached below $TMP (because the program left
# it) is a failure.
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../leftovers.sh"

if [ "$(id -u)" != 0 ]; then
	t_skip_all "needs root"
fi

t__leftovers()
{
	leftovers "$TMP"
}

# t_image TYPE FILE SIZE [OPTION...]: a sparse file with a file system; the options go to mkfs.TYPE
t_image()
{
	local type=$1 file=$2 size=$3
	shift 3

	rm -f "$file"
	truncate -s "$size" "$file" || return
	case $type in
	ext*) "mkfs.$type" -q -F "$@" "$file" ;;
	xfs | btrfs) "mkfs.$type" -q -f "$@" "$file" ;;
	*)
		echo "t_image: no type '$type'" >&2
		return 1
		;;
	esac
}

# t_pve_image FILE SIZE [BASE]: an ext4 image as PVE makes one for a container whose root is BASE
# (100000)
t_pve_image()
{
	local base=${3:-100000}

	t_image ext4 "$1" "$2" -O mmp -E "root_owner=$base:$base"
}

# t_loop VARIABLE FILE [OPTION...]: attach a loop device and put its name into the variable
t_loop()
{
	local -n t__dev=$1
	local file=$2
	shift 2

	t__dev=$(losetup --find --show "$@" "$file") || return
	t_defer t_unloop "$t__dev" "$(realpath "$file")"
}

# t_unloop DEVICE [FILE]: detach it; with FILE only while it is on that one, for it may have become
# another script's device
t_unloop()
{
	local file

	file=$(losetup --noheadings --output BACK-FILE "$1" 2>/dev/null)
	if [ -n "$file" ] && { [ $# = 1 ] || [ "${file% (deleted)}" = "$2" ]; }; then
		losetup -d "$1"
	fi
}

# t_mount SOURCE DIR [OPTION...]: mount a device, or an image through a loop device that goes with
# the mount; the directory is made. The options go to mount.
t_mount()
{
	local source=$1 dir=$2
	shift 2

	mkdir -p "$dir"
	mount "$@" "$source" "$dir" || return
	t_defer t_umount "$dir"
}

# t_umount DIR: does nothing when nothing is mounted there
t_umount()
{
	local i

	for ((i = 0; i < 50; i++)); do
		if ! mountpoint -q "$1"; then
			return 0
		fi
		if umount "$1" 2>/dev/null; then
			return 0
		fi
		sleep 0.1
	done
	umount "$1"
}

# t_listing DIR: one line for each inode with all that a repair must keep or may change: path, type,
# owner, mode, mtime, link count, target; sorted. Compare two with t_is.
t_listing()
{
	(cd "$1" && find . -xdev -printf '%P\t%y\t%U:%G\t%m\t%T@\t%n\t%l\n' | LC_ALL=C sort)
}

# t_metadata DIR: t_listing plus ACLs and all extended attributes in hexadecimal
t_metadata()
{
	t_listing "$1"
	(cd "$1" && find . -xdev \( -type f -o -type d \) -print0 | LC_ALL=C sort -z |
		xargs -0 -r getfattr -h -d -m - -e hex --)
}

# t_background COMMAND...: runs beside the test until t_stop, as process $other; it is waited for until it
# has made $TMP/ready
t_background()
{
	local i

	rm -f "$TMP/ready"
	"$@" &
	other=$!
	for ((i = 0; i < 100; i++)); do
		if [ -e "$TMP/ready" ]; then
			break
		fi
		sleep 0.05
	done
}

# t_stop: ends it, and what it has started (flock -o leaves its command behind)
t_stop()
{
	local children

	if [ -z "${other-}" ]; then
		return
	fi
	mapfile -t children < <(ps -o pid= --ppid "$other")
	kill -KILL "$other" "${children[@]// /}" 2>/dev/null
	wait "$other" 2>/dev/null
}
t_defer t_stop
