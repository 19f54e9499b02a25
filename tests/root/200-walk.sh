#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A walk finds what find(1) finds, on every file system, and stays within its mount.
. "${0%/*}/lib.sh"

dump=${CTMEND%/*}/tests/root/walk-dump
spec=100000

# listing DIR: what walk-dump says with "all", from find
listing()
{
	find "$1" -printf '%P\t%y\t%m\t%U:%G\t%D\t%i\t%n\t%s\n' | LC_ALL=C sort
}

# walk DIR WORD...: lines of walk-dump, sorted; the totals are in $TMP/totals
walk()
{
	"$dump" "$@" 2>"$TMP/totals" | LC_ALL=C sort
}

# total KEY: one number of the last walk
total()
{
	sed -n "s/^$1=//p" "$TMP/totals"
}

# inodes DIR: number of inodes below and at DIR
inodes()
{
	find "$1" -printf '%D %i\n' | sort -u | wc -l
}

# tree DIR: healthy inodes of every kind with map 100000, and some that are not, listed in $wrong
tree()
{
	mkdir -p "$1"/{bin,lib/sub/deep,dev,"name with blanks"}
	echo x | tee "$1/bin/a" "$1/bin/b" "$1/lib/c" "$1/lib/sub/d" "$1/lib/sub/deep/e" >/dev/null
	ln "$1/bin/a" "$1/lib/a-too"
	ln "$1/bin/a" "$1/lib/sub/a-too"
	ln -s /etc/passwd "$1/lib/link"
	mkfifo "$1/dev/fifo"
	mknod "$1/dev/null" c 1 3
	mknod "$1/dev/disk" b 7 0
	chown -h -R 100000:100000 "$1"
	chown 0:100000 "$1/lib/c"
	chown 100000:42 "$1/lib/sub"
	chown -h 300000:300000 "$1/lib/link"
	chown 0:0 "$1/dev/null"
	chmod 6755 "$1/bin/b"
	wrong='dev/null lib/c lib/link lib/sub'
}

# attributes DIR: ACLs and capabilities that are off the map and such that are not
attributes()
{
	setfacl -m u:1000:r "$1/bin/a"
	setfacl -m u:101000:r "$1/lib/sub/d"
	setfacl -d -m g:1000:r "$1/lib/sub/deep"
	setfacl -d -m g:101000:r "$1/name with blanks"
	setcap cap_net_raw=ep "$1/bin/b"
	setcap -n 0x30d40 cap_net_raw=ep "$1/lib/sub/deep/e" # 200000
	wrong='bin/a dev/null lib/a-too lib/c lib/link lib/sub lib/sub/a-too'
	wrong+=' lib/sub/deep lib/sub/deep/e'
}

for type in ext4 xfs btrfs tmpfs ramfs; do
	at=$TMP/$type
	mkdir "$at"
	case $type in
	tmpfs | ramfs)
		mount -t "$type" "$type" "$at"
		t_defer t_umount "$at"
		;;
	*)
		t_image "$type" "$TMP/$type.img" 320M
		t_mount "$TMP/$type.img" "$at" -o loop
		;;
	esac
	tree "$at/root"
	if [ "$type" != ramfs ]; then
		attributes "$at/root"
	fi
	for jobs in 1 3; do
		t_is "$type, $jobs threads: everything" "$(walk "$at/root" all jobs="$jobs")" \
			"$(listing "$at/root")"
	done
	t_is "$type: inodes" "$(total inodes)" "$(inodes "$at/root")"
	t_is "$type: what is off the map" \
		"$(walk "$at/root" map="$spec" | cut -f 1 | tr '\n' ' ')" "$wrong "
	t_is "$type: host uids" "$(total host_uid)" 2
	t_is "$type: host gids" "$(total host_gid)" 2
	t_is "$type: uids off the map" "$(grep -c '^uid_' "$TMP/totals"),$(total uid_300000)" "2,1"
	t_is "$type: no errors" "$(total errors)" 0
done

# Subvolumes repeat inode numbers. A snapshot has a directory in the place of each one within that the
# kernel makes up.
at=$TMP/btrfs
btrfs -q subvolume create "$at/root/one" >/dev/null
btrfs -q subvolume create "$at/root/one/two" >/dev/null
echo x | tee "$at/root/one/f" "$at/root/one/two/f" >/dev/null
ln "$at/root/one/f" "$at/root/one/g"
btrfs -q subvolume snapshot -r "$at/root/one" "$at/root/snapshot" >/dev/null
t_is "subvolumes: an inode number occurs again" \
	"$(stat -c %i "$at/root/one/f")" "$(stat -c %i "$at/root/one/two/f")"
t_is "subvolumes: what a snapshot has in the place of one" "$(stat -c %i "$at/root/snapshot/two")" 2
t_is "subvolumes: entered, with all that there is" "$(walk "$at/root" all)" \
	"$(listing "$at/root" | grep -v '^snapshot/two	')"
t_is "subvolumes: inodes" "$(total inodes)" $(($(inodes "$at/root") - 1))
t_match "subvolumes: the snapshot's files are there" "$(walk "$at/root" all)" \
	'^snapshot/g	f	644	0:0	'

# Mounts of a directory, of a file, and of another file system.
at=$TMP/ext4/root
before=$(listing "$at" | grep -Ev '^(lib/c|dev/null|name with blanks)	')
mkdir -p "$TMP/outside"
echo secret >"$TMP/outside/secret"
t_mount "$TMP/outside" "$at/name with blanks" --bind
mount --bind "$TMP/outside/secret" "$at/lib/c"
t_defer umount "$at/lib/c"
mount --bind "$TMP/ext4/root/bin" "$at/lib/sub/deep" # the same file system
t_defer t_umount "$at/lib/sub/deep"
got=$(walk "$at" all)
t_is "mounts: said, not entered" "$(grep -a '	mount$' <<<"$got" | cut -f 1)" \
	"$(printf '%s\n' lib/c lib/sub/deep 'name with blanks')"
t_is "mounts: the rest is as before" \
	"$(grep -av '	mount$' <<<"$got" | grep -v '^dev/null	')" \
	"$(grep -Ev '^lib/sub/deep(/|	)' <<<"$before")"
t_is "mounts: a start below one" "$(walk "$at" all start='name with blanks/secret')" \
	"name with blanks	mount"
t_is "mounts: a start that is one" "$(walk "$at" all start=lib/sub/deep)" \
	"lib/sub/deep	mount"
t_is "mounts: the mounted tree as the root" \
	"$(walk "$at/name with blanks" all | cut -f 1,2 | tr '\n\t' ' :')" ":d secret:f "

t_done
