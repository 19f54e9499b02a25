# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# A small tree with one of everything that a container can hold, a part of it damaged. Sourced.

# zoo_healthy DIR [BASE]: what a container's root owns: more inodes than zoo_damage adds, and what
# makes the rules of dpkg and apt apply
zoo_healthy()
{
	local dir=$1 base=${2:-100000}

	mkdir -p "$dir"/{etc,root,usr/bin,usr/share/doc} \
		"$dir"/var/{log/apt,lib/dpkg/{info,updates,triggers},lib/apt/lists/partial} \
		"$dir/var/cache/apt/archives/partial" &&
		touch "$dir/usr/share/doc/"{1..240} "$dir/etc/passwd" "$dir/var/lib/dpkg/status" &&
		touch "$dir/var/lib/dpkg/lock-frontend" &&
		find "$dir" -mindepth 1 -name lost+found -prune -o -exec chown -h "$base:$base" {} +
}

# zoo_capability VERSION [ROOTID]: cap_net_raw=ep as it is stored
zoo_capability()
{
	local id=${2:-0}

	printf '0x010000%s00200000000000000000000000000000' "0$1"
	if [ "$1" = 3 ]; then
		printf '%02x%02x%02x%02x' $((id & 255)) $((id >> 8 & 255)) $((id >> 16 & 255)) \
			$((id >> 24))
	fi
}

# zoo_damage DIR: all kinds of inodes with the host's ids, and healthy owners with damage beside
# them. Every id in it is one of the container's, stored without its shift.
zoo_damage()
{
	(cd "$1" && zoo__modes && zoo__kinds && zoo__attributes && zoo__names && zoo__packages)
}

zoo__modes()
{
	local mode

	mkdir -p zoo/modes && (
		cd zoo/modes || return
		for mode in 0000 0644 0755 4755 4750 4644 2755 6755 2745 1755 7777 6644 2644; do
			echo "$mode" >"f$mode" && chown 0:0 "f$mode" && chmod "$mode" "f$mode" &&
				mkdir "d$mode" && chown 33:4 "d$mode" && chmod "$mode" "d$mode" ||
				return
		done
		mkfifo fifo && chmod 6755 fifo &&
			mknod char c 1 3 && chmod 2745 char &&
			echo uid >uid && chown 0:100000 uid && chmod 6755 uid &&
			echo gid >gid && chown 100033:65535 gid && chmod 2755 gid &&
			touch -d '2001-02-03 04:05:06.123456789 UTC' f4755 &&
			touch -d '1969-12-31 00:00:00.5 UTC' f2755 d2644 &&
			touch -d '2037-11-12 13:14:15.999999999 UTC' d2755
	)
}

zoo__kinds()
{
	mkdir -p zoo/kinds/{one,two} && (
		cd zoo/kinds || return
		mkfifo -m 0600 fifo && ln fifo one/fifo &&
			python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' &&
			mknod char c 1 3 && chown 0:5 char && mknod block b 7 0 && chown 100000:6 block &&
			mknod whiteout c 0 0 && ln whiteout two/whiteout &&
			ln -s one/file link && chown -h 1000:1000 link && ln link two/link &&
			ln -s /nowhere dangling && ln -s /etc/shadow absolute &&
			ln -s ../../../../../../etc/shadow up && ln -s . loop &&
			echo linked >one/file && chown 33:33 one/file && chmod 4711 one/file &&
			ln one/file two/file && ln one/file two/again &&
			# Only one of the names is in a directory that is right.
			ln one/file "$OLDPWD/usr/share/doc/name" &&
			truncate -s 1M sparse && : >empty &&
			touch -h -d '2003-03-03 03:03:03.3 UTC' fifo socket char whiteout link dangling
	)
}

zoo__attributes()
{
	mkdir -p zoo/attr/{acl,default,right} && (
		cd zoo/attr || return
		setfacl -m u:33:rwx,g:4:r-x acl && chown 0:4 acl &&
			setfacl -m d:u:33:rwx,d:g:65535:r-x,d:u:100001:--- default &&
			: >default/inherits && mkdir default/inherits-too &&
			echo acl >file && setfacl -m u:1000:rw-,u:0:r--,g:42:---,m::r-- file &&
			chmod 2755 file && setfacl -m u:1000:rwx,m::r-x file &&
			mkfifo fifo && setfacl -m u:7:rw- fifo &&
			mknod null c 1 3 && setfacl -m g:7:rw- null &&
			# Owners that are right, with ids beside them that are not.
			echo right >right/acl && setfacl -m u:5:r--,u:100006:r-- right/acl &&
			setfacl -m d:g:5:r-x,g:100005:r-x right &&
			chown -R 100000:100000 right && chmod 4755 right/acl &&
			cp /bin/true v2 && setfattr -n security.capability -v "$(zoo_capability 2)" v2 &&
			cp /bin/true v3 && chown 7:0 v3 &&
			setfattr -n security.capability -v "$(zoo_capability 3 5)" v3 &&
			cp /bin/true v3-mapped && chmod 2755 v3-mapped &&
			setfattr -n security.capability -v "$(zoo_capability 3 100000)" v3-mapped &&
			: >right/v3 && chown 100000:100000 right/v3 &&
			setfattr -n security.capability -v "$(zoo_capability 3 9)" right/v3 &&
			: >right/v2 && chown 100000:100000 right/v2 &&
			setfattr -n security.capability -v "$(zoo_capability 2)" right/v2 &&
			# A gid alone that moves takes a capability away, too.
			: >v2-gid && chown 100000:0 v2-gid &&
			setfattr -n security.capability -v "$(zoo_capability 2)" v2-gid &&
			# It means nothing there, but can be there.
			mkdir v2-dir && mkfifo v3-fifo &&
			setfattr -n security.capability -v "$(zoo_capability 2)" v2-dir &&
			setfattr -n security.capability -v "$(zoo_capability 3 5)" v3-fifo &&
			# All that a chown takes away, at once.
			cp /bin/true all && chmod 6755 all && setfacl -m u:33:r-x all &&
			setfattr -n security.capability -v "$(zoo_capability 2)" all &&
			: >xattrs && setfattr -n user.empty xattrs && setfattr -n user.b -v 0x00ff xattrs &&
			setfattr -n trusted.overlay.opaque -v y . &&
			setfattr -n trusted.secret -v 0x0a00 xattrs && ln -s x link &&
			setfattr -h -n trusted.on-link -v z link &&
			setfattr -n user.note -v kept right/acl &&
			touch -d '2004-04-04 04:04:04.000000004 UTC' v2 file acl default
	)
}

zoo__names()
{
	local long

	long=$(printf '%0255d' 0)
	mkdir -p zoo/names && (
		cd zoo/names || return
		: >"$long" && : >"$(tr 0 '\377' <<<"$long")" && mkdir "${long//0/d}" &&
			: >"${long//0/d}/$long" && : >$'new\nline' && : >$'esc\e[31m' && : >$'\xc3\x28' &&
			: >'-rf' && : >'trailing ' && : >'back\slash' && : >$'tab\t' &&
			: >$'bidi\u202etxt' && : >'*' && : >'...' && : >$'cr\r' && : >' '
	)
}

# Stale locks and leftovers, with all that a removed file can have.
zoo__packages()
{
	(
		cd var || return
		: >lib/dpkg/lock && chmod 0640 lib/dpkg/lock &&
			head -c 100000 /dev/urandom >lib/apt/lists/partial/download &&
			chown 42:0 lib/apt/lists/partial/download &&
			setfacl -m u:33:r--,m::r-x lib/apt/lists/partial/download &&
			chmod 4750 lib/apt/lists/partial/download &&
			setfattr -n user.note -v 0x00010203 lib/apt/lists/partial/download &&
			setfattr -n trusted.note -v here lib/apt/lists/partial/download &&
			setfattr -n security.capability -v "$(zoo_capability 2)" \
				lib/apt/lists/partial/download &&
			: >lib/apt/lists/partial/$'name\nwith\xff' &&
			truncate -s 3M cache/apt/pkgcache.bin && printf end >>cache/apt/pkgcache.bin &&
			: >cache/apt/archives/lock &&
			touch -d '2002-02-02 02:02:02.222222222 UTC' lib/dpkg/lock \
				lib/apt/lists/partial/* lib/apt/lists/partial cache/apt/pkgcache.bin &&
			touch -d '2002-02-02 02:02:02.2 UTC' lib/apt/lists/partial lib/dpkg cache/apt \
				cache/apt/archives &&
			# No files of their own: these stay.
			: >lib/apt/lists/lock && ln lib/apt/lists/lock lib/apt/lists/kept &&
			ln -s nowhere lib/dpkg/triggers/Lock &&
			mkfifo cache/apt/archives/partial/fifo
	)
}

# zoo_removed: the paths that a repair of this damage removes
zoo_removed()
{
	printf '%s\n' ./var/lib/dpkg/lock ./var/lib/apt/lists/partial/download \
		$'./var/lib/apt/lists/partial/name\\012with\xff' ./var/cache/apt/pkgcache.bin \
		./var/cache/apt/archives/lock
}

# zoo_want BEFORE AFTER [MAP]: the listing that a repair has to come to
zoo_want()
{
	zoo_removed >"$2.removed"
	listing_without "$2.removed" "$1" "$2.less"
	listing_shift "${3:-0:100000:65536}" "${3:-0:100000:65536}" "$2.less" "$2"
	rm "$2.removed" "$2.less"
}
