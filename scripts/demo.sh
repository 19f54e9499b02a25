#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make demo: the main job on a small damaged container. Makes a raw volume as Proxmox VE does, damages
# it as a chroot by the host's root does, and runs check, diff, repair, check, undo on it. Everything
# lies in one temporary directory, which goes away in the end. Beside a minimal Debian it needs the
# group demo of deps.sh.
set -eu -o pipefail

CTMEND=${CTMEND:-build/ctmend}
export LC_ALL=C.UTF-8

if [ "$(id -u)" != 0 ]; then
	echo "demo: it makes a file system and mounts it, so it needs root" >&2
	exit 1
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/ctmend-demo.XXXXXX")
root=$dir/mnt
image=$dir/storage/images/115/vm-115-disk-0.raw

clean_up()
{
	mountpoint -q "$root" && umount "$root"
	rm -rf "$dir"
}
trap clean_up EXIT

if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
	bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m')
else
	bold='' dim='' plain=''
fi

# say TEXT...: what the next step means
say()
{
	printf '\n%s# %s%s\n' "$dim" "$*" "$plain"
}

# run WANTED-STATUS WORD...: shows the command as an admin would type it, runs it, checks its status
run()
{
	local want=$1 status=0
	shift

	printf '%s$ ctmend %s%s\n' "$bold" "$*" "$plain"
	"$CTMEND" --sysroot "$dir" "$@" || status=$?
	printf '%s(exit status %s)%s\n' "$dim" "$status" "$plain"
	if [ "$status" != "$want" ]; then
		echo "demo: expected exit status $want" >&2
		exit 1
	fi
}

# put OWNER MODE FILE: a file with something in it
put()
{
	install -D -m "$2" /dev/null "$root/$3"
	echo "content of $3" >"$root/$3"
	chown "$1" "$root/$3"
	chmod "$2" "$root/$3"
}

make_container()
{
	mkdir -p "$dir/etc/pve/lxc" "${image%/*}" "$root"
	printf 'dir: demo\n\tpath %s\n\tcontent rootdir\n' "$dir/storage" >"$dir/etc/pve/storage.cfg"
	printf 'arch: amd64\nostype: debian\nrootfs: demo:115/vm-115-disk-0.raw,size=32M\nunprivileged: 1\n' \
		>"$dir/etc/pve/lxc/115.conf"
	truncate -s 32M "$image"
	mkfs.ext4 -q -E root_owner=100000:100000 "$image"
	mount -o loop "$image" "$root"

	local id
	for id in bin sbin share lib; do
		mkdir -p "$root/usr/$id"
		for n in 1 2 3 4 5 6 7 8; do
			put 100000:100000 0644 "usr/$id/file$n"
		done
	done
	put 100000:100000 0644 etc/passwd
	put 100000:100042 0640 etc/shadow
	put 100033:100033 0644 var/www/index.html
	put 100000:100000 0644 var/lib/dpkg/status
	put 100000:100000 0644 var/lib/apt/extended_states
	put 100000:100000 0600 root/.profile
	find "$root" -mindepth 1 -name lost+found -prune -o -type d -exec chown 100000:100000 {} +
}

damage_container()
{
	put 0:0 4755 usr/bin/sudo
	put 0:101 2755 usr/bin/crontab
	put 0:0 0755 usr/bin/arping
	put 0:0 0644 var/lib/dpkg/info/sudo.list
	printf '/.\n/usr\n/usr/bin\n/usr/bin/sudo\n' >"$root/var/lib/dpkg/info/sudo.list"
	put 100000:100000 0644 var/lib/dpkg/info/cron.list
	printf '/.\n/usr\n/usr/bin\n/usr/bin/crontab\n' >"$root/var/lib/dpkg/info/cron.list"
	put 100000:100000 0644 var/lib/dpkg/info/arping.list
	printf '/.\n/usr\n/usr/bin\n/usr/bin/arping\n' >"$root/var/lib/dpkg/info/arping.list"
	put 0:0 0640 var/lib/dpkg/lock
	put 42:0 0644 var/lib/apt/lists/partial/InRelease
	put 100000:100000 0664 usr/share/file1
	umount "$root"
	write_attributes
}

# What setcap cap_net_raw+ep and setfacl -m u:33:rw would write, by the tool that comes with
# mkfs.ext4: capabilities of version 2, and an ACL of version 2 with the entries user::rw-,
# user:33:rw-, group::r--, mask::rw-, other::r-- (linux/capability.h, linux/posix_acl_xattr.h).
write_attributes()
{
	local none='\377\377\377\377'

	printf '%b' '\01\0\0\02\0\040\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >"$dir/capability"
	printf '%b' '\02\0\0\0' "\01\0\06\0$none" '\02\0\06\0\041\0\0\0' "\04\0\04\0$none" \
		"\020\0\06\0$none" "\040\0\04\0$none" >"$dir/acl"
	debugfs -w -f - "$image" >/dev/null 2>&1 <<-END
		ea_set -f $dir/capability /usr/bin/arping security.capability
		ea_set -f $dir/acl /usr/share/file1 system.posix_acl_access
	END
	# Only now, for debugfs waits eleven seconds where this is on.
	tune2fs -O mmp "$image" >/dev/null
}

make_container
damage_container

say "Somebody worked in container 115 as the host's root. What is wrong?"
run 1 check 115
say "Every change that a repair would make, and a digest that a second person can approve:"
run 1 diff 115
say "The repair: recorded first, then done, then verified by a second look."
run 0 repair --yes 115
say "Clean now. A second repair would find nothing to do."
run 0 check 115
say "And all of it can be taken back, removed files included."
run 0 undo --yes 115
run 1 check --quiet 115
say "Done. Nothing is left of the demo on this machine."
