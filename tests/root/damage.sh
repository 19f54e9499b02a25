# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What people do to a healthy root of an unprivileged container from the host. Sourced after
# container.sh.

# What root does in a container every day, and cannot do in one whose root was damaged this way. In
# an order in which all succeed in a healthy one that has the packages.
# shellcheck disable=SC2034 # for the scripts
DAMAGE_BREAKS=(
	'dpkg --purge nano'
	'dpkg -i /srv/repo/nano.deb'
	'apt-get check'
	'apt-get update'
	'apt-get -y install ed'
	'sudo true'
	'sudo -u nobody true'
	'useradd -m tester'
	'groupadd testers'
	'echo "* * * * * true" | crontab -'
	'logrotate /etc/logrotate.conf'
)

# damage_root DIR: the damage of a chroot as the host's root to a root that ct_unpack made, and of
# files copied in. Every inode made or owned here has container ids, as if the id map did not
# exist.
damage_root()
{
	damage_packages "$1" && damage_accounts "$1" && damage_files "$1"
}

# Packages, after the folk remedy for "could not get lock". /proc and /dev are not mounted, as in
# the real accidents: what scripts send to /dev/null becomes a file there.
damage_packages()
{
	local root=$1

	rm -f "$root"/var/lib/dpkg/lock* "$root"/var/lib/apt/lists/lock \
		"$root"/var/cache/apt/archives/lock
	chroot "$root" env -i "${CT_ENV[@]}" sh -euc '
		cd /srv/repo
		dpkg -i libncursesw6.deb nano.deb
		apt-get -q update
		apt-get -q -y --no-install-recommends install cron dbus iputils-arping logrotate
		apt-get -q -y --reinstall install sudo
	' || return
	# Downloads that broke off.
	echo half >"$root/var/lib/apt/lists/partial/repo_Packages" &&
		echo half >"$root/var/cache/apt/archives/partial/ed.deb" &&
		chown 42:0 "$root/var/lib/apt/lists/partial/repo_Packages"
}

# The account files through a copy, and a lock of the tools that change them.
damage_accounts()
{
	local root=$1

	awk '{ print }' "$root/etc/group" >"$root/etc/group.new" &&
		mv "$root/etc/group.new" "$root/etc/group" &&
		rm -f "$root/etc/.pwd.lock" &&
		chroot "$root" env -i "${CT_ENV[@]}" groupadd -g 777 fromhost
}

# One of each kind of inode and of each thing that a chown loses or forgets.
damage_files()
{
	local root=$1 app=$1/srv/app

	mkdir -p "$app/in/deep" "$app/shared" "$app/sticky" "$app/only" "$root/root/.ssh" &&
		# Beside the owner: setuid, setgid with and without execution, sticky, capabilities.
		cp "$root/usr/bin/id" "$app/suid" && chmod 4755 "$app/suid" &&
		cp "$root/usr/bin/id" "$app/sgid" &&
		chown 0:42 "$app/sgid" && chmod 2755 "$app/sgid" &&
		echo x >"$app/mandatory" &&
		chown 0:8 "$app/mandatory" && chmod 2745 "$app/mandatory" &&
		chown 33:33 "$app/sticky" && chmod 3777 "$app/sticky" &&
		cp "$root/usr/bin/id" "$app/cap" && chown 33:33 "$app/cap" &&
		setcap cap_net_bind_service,cap_net_raw=ep "$app/cap" &&
		cp "$root/usr/bin/id" "$app/cap-right" &&
		chown "$CT_BASE:$CT_BASE" "$app/cap-right" &&
		setcap cap_net_raw=ep "$app/cap-right" &&
		# ACLs: with a wrong owner, and where nothing but the ACL is wrong.
		chown 0:33 "$app/shared" && chmod 2770 "$app/shared" &&
		setfacl -m u:33:rwx,g:4:r-x,d:u:33:rwx,d:g:4:r-x "$app/shared" &&
		echo y >"$app/shared/inherits" &&
		echo z >"$app/only/acl" && chown -R "$CT_BASE:$CT_BASE" "$app/only" &&
		setfacl -m u:1000:rw-,"u:$((CT_BASE + 33)):r--" "$app/only/acl" &&
		setfacl -m g:4:r-x,d:g:4:r-x "$app/only" &&
		# Half wrong: the user alone, the group alone.
		echo u >"$app/in/uid" && chown "0:$CT_BASE" "$app/in/uid" &&
		echo g >"$app/in/gid" && chown "$((CT_BASE + 33)):33" "$app/in/gid" &&
		# Kinds of inode.
		echo one >"$app/in/deep/link-b" && ln "$app/in/deep/link-b" "$app/in/link-a" &&
		ln -s in/deep/link-b "$app/symlink" &&
		ln -s /nowhere "$app/dangling" && chown -h 100:100 "$app/dangling" &&
		mkfifo -m 0600 "$app/fifo" &&
		mknod -m 0666 "$app/null" c 1 3 &&
		(cd "$app" && python3 -c 'from socket import *; socket(AF_UNIX).bind("socket")') &&
		# Names.
		echo 1 >"$app/in/"$'new\nline' &&
		echo 2 >"$app/in/"$'esc\e[31m \xff' &&
		echo 3 >"$app/in/back\\slash" &&
		echo 4 >"$app/in/trailing " &&
		# A user's files.
		echo key >"$root/root/.ssh/authorized_keys" &&
		chmod 0600 "$root/root/.ssh/authorized_keys" &&
		setfattr -n user.note -v kept "$root/root/.ssh/authorized_keys" &&
		echo 'alias ll="ls -l"' >"$root/root/.bash_aliases" &&
		touch -d '2001-02-03 04:05:06.123456789 UTC' "$root/root/.bash_aliases" \
			"$app/suid" "$app/shared"
}

# damage_removed LISTING: paths of a listing that a repair is to remove: what the rules for dpkg
# and apt name, when it is a regular file with one link and an owner from the host
damage_removed()
{
	awk -F '\t' '
		$2 == "I" && $3 == "f" && $8 == 1 && ($5 < 65536 || $6 < 65536) &&
		($1 ~ "^\\./var/lib/dpkg/(lock|lock-frontend|triggers/Lock)$" ||
		 $1 ~ "^\\./var/lib/apt/lists/(lock$|partial/[^/]*$)" ||
		 $1 ~ "^\\./var/cache/apt/archives/(lock$|partial/[^/]*$)" ||
		 $1 ~ "^\\./var/cache/apt/(src)?pkgcache\\.bin$") { print $1 }' "$1"
}
