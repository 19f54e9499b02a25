# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Real unprivileged containers for root tests. A script sources this instead of lib.sh:
#
#	. "${0%/*}/container.sh"
#	t_pve_image "$TMP/root.raw" 400M
#	t_mount "$TMP/root.raw" "$TMP/root"
#	ct_unpack "$TMP/root"
#	ct_config 115 "$TMP/root"
#	ct_start 115 && ct_run 115 'apt-get check'
#	ct_stop 115
#
# The script then runs in a mount namespace of its own (slave propagation) and a network namespace
# of its own: /var/lib/lxc and root's subordinate ids are the test's, abstract sockets meet no
# other run's, and whatever is mounted goes away with the script even when that is killed.
# $CT_ROOT_TAR is the root's archive; /var/lib/lxc is $TMP/sys/var/lib/lxc, so a program told
# --sysroot "$TMP/sys" sees the same.

if [ "$(id -u)" = 0 ] && [ -z "${CT_ROOT_TAR+set}" ]; then
	# The archive first: making it needs a network.
	. "$(dirname "${BASH_SOURCE[0]}")/debian-root.sh"
	CT_ROOT_TAR=$(debian_root_tar)
	export CT_ROOT_TAR
	exec unshare --mount --net --propagation slave bash "$0" "$@"
fi
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/listing.sh"

if [ -z "$CT_ROOT_TAR" ]; then
	t_fails "a Debian root can be made" false
	cat "$T_ERR"
	t_done
fi

CT_BASE=100000
CT_MAP=0:$CT_BASE:65536
# What root finds in a container and in a chroot.
CT_ENV=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C
	DEBIAN_FRONTEND=noninteractive)

# The container's root has to come through here; listing it is not needed.
chmod 711 "$TMP"
mkdir -p "$TMP/sys/var/lib/lxc"
chmod 755 "$TMP/sys" "$TMP/sys/var" "$TMP/sys/var/lib" "$TMP/sys/var/lib/lxc"
mount --bind "$TMP/sys/var/lib/lxc" /var/lib/lxc
# PVE gives root these on a host; elsewhere nobody did.
echo "root:$CT_BASE:65536" >"$TMP/subid"
touch /etc/subuid /etc/subgid
mount --bind "$TMP/subid" /etc/subuid
mount --bind "$TMP/subid" /etc/subgid

# ct_unpack DIR: the root's archive into a volume, as PVE unpacks a template: inside the user
# namespace. The volume's top has to belong to the container already.
ct_unpack()
{
	lxc-usernsexec -m "u:$CT_MAP" -m "g:$CT_MAP" -- tar xpf - --one-file-system -p --sparse \
		--numeric-owner --acls --xattrs --xattrs-include='user.*' \
		--xattrs-include=security.capability --warning=no-file-ignored \
		--warning=no-xattr-write -C "$1" --skip-old-files --anchored --exclude './dev/*' \
		<"$CT_ROOT_TAR"
}

# ct_new_dir DIR: an empty directory as the top of a volume
ct_new_dir()
{
	mkdir "$1" && chown "$CT_BASE:$CT_BASE" "$1" && chmod 755 "$1"
}

# ct_config NAME ROOTFS [LINE...]: the container's configuration, with further lines
ct_config()
{
	local name=$1 rootfs=$2
	shift 2

	mkdir -p "/var/lib/lxc/$name"
	cat >"/var/lib/lxc/$name/config" <<-END
		lxc.uts.name = ct$name
		lxc.rootfs.path = dir:$rootfs
		lxc.idmap = u 0 $CT_BASE 65536
		lxc.idmap = g 0 $CT_BASE 65536
		lxc.net.0.type = empty
		lxc.init.cmd = /usr/local/sbin/idle
		lxc.mount.auto = proc:mixed sys:ro
		lxc.tty.max = 0
		lxc.apparmor.profile = unconfined
	END
	if [ $# -gt 0 ]; then
		printf '%s\n' "$@" >>"/var/lib/lxc/$name/config"
	fi
}

# ct_start NAME: start it and wait until it runs; lxc's log is $TMP/NAME.log
ct_start()
{
	t_defer ct_stop "$1"
	rm -f "$TMP/$1.log"
	lxc-start -n "$1" -o "$TMP/$1.log" -l DEBUG
}

# ct_running NAME
ct_running()
{
	[ "$(lxc-info -n "$1" -s -H 2>/dev/null)" = RUNNING ]
}

# ct_run NAME COMMAND: run a shell's command inside as the container's root
ct_run()
{
	lxc-attach -n "$1" --clear-env -- env -i "${CT_ENV[@]}" sh -c "cd && $2" </dev/null
}

# ct_stop NAME: stop it if it runs, and wait until its monitor is gone
ct_stop()
{
	local i

	lxc-stop -n "$1" -t 5 2>/dev/null
	for ((i = 0; i < 100; i++)); do
		if ! grep -qF "@/var/lib/lxc/$1/command" /proc/net/unix; then
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# ct_umount DIR IMAGE: unmount an image and wait until its loop device is gone: the mount namespace
# of a stopped container is taken down a moment later than the container
ct_umount()
{
	local i

	t_umount "$1" || return
	for ((i = 0; i < 100; i++)); do
		if [ -z "$(losetup --associated "$2")" ]; then
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# ct_listing FILE IMAGE-OR-DIR [content]: the listing of a volume that nobody uses; an image is
# mounted read-only for it. lost+found, which is ext4's and not the container's, is not in it.
ct_listing()
{
	local file=$1 volume=$2 content=${3-} at=$2

	if [ ! -d "$volume" ]; then
		at=$TMP/listed
		t_mount "$volume" "$at" -o ro,noload,noatime || return
	fi
	listing_take "$at" "$file.all"
	if [ -n "$content" ]; then
		listing_content "$at" "$file.all"
	fi
	if [ ! -d "$volume" ]; then
		ct_umount "$at" "$volume" || return
	fi
	echo ./lost+found >"$file.not"
	listing_without "$file.not" "$file.all" "$file"
	rm "$file.all" "$file.not"
}

# ct_off_map LISTING: the paths of a listing with an id that is not on the disk side of CT_MAP
ct_off_map()
{
	listing_foreign "$CT_MAP" "$CT_MAP" "$1"
}

# ct_fingerprint IMAGE-OR-DIR: a text that is another one after any write to a volume that nobody
# uses. For an image the SHA-256 of its bytes; for a directory all inodes with the time of their
# last change.
ct_fingerprint()
{
	if [ -d "$1" ]; then
		(cd "$1" && find . -printf '%p %i %C@ %T@\0' | LC_ALL=C sort -z | sha256sum)
	elif command -v openssl >/dev/null; then
		openssl dgst -sha256 -r <"$1"
	else
		sha256sum <"$1"
	fi
}

# ct_pve_storage: a PVE configuration below $TMP/sys with one storage, "tank", of type dir at
# $TMP/tank
ct_pve_storage()
{
	mkdir -p "$TMP/sys/etc/pve/lxc" "$TMP/sys/run/lock/lxc" "$TMP/tank/images"
	chmod 755 "$TMP/tank" "$TMP/tank/images"
	printf 'dir: tank\n\tpath %s\n\tcontent rootdir,images\n' "$TMP/tank" \
		>"$TMP/sys/etc/pve/storage.cfg"
}

# ct_pve_config VMID VOLUME: an unprivileged container's PVE configuration
ct_pve_config()
{
	cat >"$TMP/sys/etc/pve/lxc/$1.conf" <<-END
		arch: amd64
		hostname: ct$1
		memory: 512
		ostype: debian
		rootfs: tank:$1/$2,size=1G
		unprivileged: 1
	END
}
