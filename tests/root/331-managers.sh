#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Package managers other than apt, each with a database that the real tool has made: healthy trees
# have no finding; damage is repaired and taken back, and the tool works in the container's user
# namespace. Debian has no apk and no xbps: their trees are made by hand.
. "${0%/*}/pve.sh"

map=0:100000:65536
chmod 711 "$TMP"
# lxc-usernsexec asks newuidmap, even for root. The script has a mount namespace of its own.
echo 'root:100000:65536' >"$TMP/subid"
touch /etc/subuid /etc/subgid
for file in /etc/subuid /etc/subgid; do
	mount --bind "$TMP/subid" $file && t_defer t_umount $file
done

# inside COMMAND...: as the container's root sees the host's files
inside()
{
	lxc-usernsexec -m b:$map -- "$@"
}

# filler DIR: more inodes than any damage here has
filler()
{
	mkdir -p "$1"/{etc,root,run,tmp,usr/share/doc,var/{cache,lib,log,tmp}} &&
		touch "$1/usr/share/doc/"{1..120} && chmod 1777 "$1/tmp"
}

# a_package: hello-1.noarch.rpm and later-1.noarch.rpm, which install a file each; the latter takes
# its time
a_package()
{
	local name

	for name in hello later; do
		cat >"$TMP/$name.spec" <<-END
			Name: $name
			Version: 1
			Release: 1
			Summary: a test
			License: none
			BuildArch: noarch
			%description
			A test.
			%install
			mkdir -p %{buildroot}/usr/share/$name
			echo $name >%{buildroot}/usr/share/$name/file
			%files
			/usr/share/$name
		END
		if [ $name = later ]; then
			printf '%%pre -p <lua>\nposix.sleep(tonumber(rpm.expand("%%{_wait}")) or 0)\n' \
				>>"$TMP/$name.spec"
		fi
		rpmbuild -bb --quiet -D "_topdir $TMP/rpmbuild" "$TMP/$name.spec" >/dev/null 2>&1 &&
			mv "$TMP/rpmbuild/RPMS/noarch/$name-1-1.noarch.rpm" "$TMP/" || return
	done
	chmod 644 "$TMP"/*.rpm
}

# rpm_in DIR WORD...: rpm at work in this root, with its database where $dbpath says
rpm_in()
{
	rpm --root "$1" -D "_dbpath /$dbpath" "${@:2}"
}

# repository DIR: one without packages
repository()
{
	python3 - "$1" <<-'END'
		import hashlib, os, sys

		base = "http://linux.duke.edu/metadata/"
		parts = {
		    "primary": f'<metadata xmlns="{base}common" packages="0"></metadata>',
		    "filelists": f'<filelists xmlns="{base}filelists" packages="0"></filelists>',
		}
		os.makedirs(sys.argv[1] + "/repodata")
		index = f'<repomd xmlns="{base}repo"><revision>1</revision>'
		for name, text in parts.items():
		    data = ('<?xml version="1.0"?>\n' + text + "\n").encode()
		    with open(f"{sys.argv[1]}/repodata/{name}.xml", "wb") as f:
		        f.write(data)
		    index += (f'<data type="{name}">'
		              f'<checksum type="sha256">{hashlib.sha256(data).hexdigest()}</checksum>'
		              f'<location href="repodata/{name}.xml"/><timestamp>1</timestamp>'
		              f'<size>{len(data)}</size></data>')
		with open(sys.argv[1] + "/repodata/repomd.xml", "w") as f:
		    f.write('<?xml version="1.0"?>\n' + index + "</repomd>\n")
	END
}

# Each layout has three functions: make_NAME DIR builds a tree with container ids as owners,
# damage_NAME (in the tree) is what a run on the host leaves, and try_NAME DIR has the tool change
# something. They set
#	gone	what a repair removes
#	healthy	what goes with --clean all on top of it
#	codes	what check says

rpm_root()
{
	filler "$1" && mkdir -p "$1/$dbpath" "$1/usr/lib/rpm" &&
		cp /usr/lib/rpm/macros "$1/usr/lib/rpm/" &&
		rpm_in "$1" -i "$TMP/hello-1-1.noarch.rpm" 2>/dev/null
}

dnf_in()
{
	dnf -q --installroot "$1" --setopt=reposdir="$TMP/repos.d" --setopt=cachedir=/var/cache/dnf \
		--releasever 9 "${@:2}" </dev/null
}

# Fedora and Enterprise Linux 9: the database below /usr, dnf 4.
make_fedora()
{
	dbpath=usr/lib/sysimage/rpm
	rpm_root "$1" && mkdir -p "$1/etc/dnf" "$1/var/lib" && echo '[main]' >"$1/etc/dnf/dnf.conf" &&
		ln -s ../../usr/lib/sysimage/rpm "$1/var/lib/rpm" && dnf_in "$1" makecache
}

damage_fedora()
{
	gone='usr/lib/sysimage/rpm/.rpm.lock var/cache/dnf/metadata_lock.pid
		var/lib/dnf/rpmdb_lock.pid var/cache/dnf/test.solv'
	healthy=var/cache/dnf/test-filenames.solvx
	codes='own.host pkg.lock pkg.cache'
	chown 0:0 usr/lib/sysimage/rpm/.rpm.lock usr/lib/sysimage/rpm/rpmdb.sqlite* &&
		chmod 644 usr/lib/sysimage/rpm/* &&
		mkdir -p var/lib/dnf && chown 100000:100000 var/lib/dnf &&
		echo 1 >var/lib/dnf/rpmdb_lock.pid && chown 100000:100000 var/lib/dnf/rpmdb_lock.pid &&
		echo garbage >var/cache/dnf/metadata_lock.pid &&
		head -c 419 /dev/zero >var/cache/dnf/test.solv
}

try_fedora()
{
	dbpath=usr/lib/sysimage/rpm
	inside rpm --root "$1" -D "_dbpath /$dbpath" -i "$TMP/later-1-1.noarch.rpm" &&
		[ "$(rpm_in "$1" -qa | sort | tr '\n' ' ')" = \
			'hello-1-1.noarch later-1-1.noarch ' ]
}

# Enterprise Linux 8: the database below /var. The environment of a Berkeley DB beside it is made
# by hand, as is all of yum.
make_el()
{
	dbpath=var/lib/rpm
	rpm_root "$1" && touch "$1/var/lib/rpm/__db."00{1..3} "$1/var/lib/rpm/Packages" \
		"$1/etc/yum.conf" && mkdir -p "$1/var/lib/yum" && ln -s ../run "$1/var/run"
}

damage_el()
{
	gone='var/lib/rpm/.rpm.lock var/lib/rpm/__db.001 var/lib/rpm/__db.002 run/yum.pid'
	healthy=var/lib/rpm/__db.003
	codes='own.host pkg.lock pkg.cache'
	chown 0:0 var/lib/rpm/.rpm.lock var/lib/rpm/__db.00[12] var/lib/rpm/Packages \
		var/lib/rpm/rpmdb.sqlite && echo 77 >run/yum.pid && chmod 640 var/lib/rpm/rpmdb.sqlite
}

try_el()
{
	dbpath=var/lib/rpm
	inside rpm --root "$1" -D "_dbpath /$dbpath" -i "$TMP/later-1-1.noarch.rpm"
}

# openSUSE
make_opensuse()
{
	dbpath=usr/lib/sysimage/rpm
	rpm_root "$1" && mkdir -p "$1/etc/zypp/repos.d" &&
		printf '[test]\nname=test\nenabled=1\nautorefresh=0\nbaseurl=dir:%s\ngpgcheck=0\n' \
			"$TMP/repo" >"$1/etc/zypp/repos.d/test.repo" &&
		zypper -q -n --root "$1" --no-gpg-checks refresh >/dev/null &&
		# It has made links to the files of the repository.
		cp -a "$1/var/cache/zypp/raw" "$TMP/raw" && rm -r "$1/var/cache/zypp/raw" &&
		mv "$TMP/raw" "$1/var/cache/zypp/"
}

damage_opensuse()
{
	gone='run/zypp.pid var/cache/zypp/solv/test/solv usr/lib/sysimage/rpm/.rpm.lock'
	healthy=var/cache/zypp/solv/@System/solv
	codes='own.host pkg.lock pkg.cache'
	chown 0:0 run/zypp.pid var/cache/zypp/solv/test/solv usr/lib/sysimage/rpm/.rpm.lock &&
		chown -R 0:0 var/cache/zypp/raw && chmod 640 usr/lib/sysimage/rpm/.rpm.lock \
		run/zypp.pid
}

try_opensuse()
{
	inside zypper -q -n --root "$1" --no-gpg-checks refresh -f
}

pacman_in()
{
	pacman --config "$TMP/pacman.conf" --root "$1" --dbpath "$1/var/lib/pacman" \
		--cachedir "$1/var/cache/pacman/pkg" --logfile "$1/var/log/pacman.log" "${@:2}"
}

pacman_package()
{
	rm -rf "$TMP/package" && mkdir -p "$TMP/package/usr/share/$1" &&
		echo "$1" >"$TMP/package/usr/share/$1/file" &&
		printf '%s\n' "pkgname = $1" "pkgbase = $1" 'pkgver = 1-1' 'pkgdesc = a test' \
			'builddate = 1' 'packager = nobody' 'size = 6' 'arch = any' \
			>"$TMP/package/.PKGINFO" &&
		bsdtar -C "$TMP/package" -czf "$TMP/$1-1-1-any.pkg.tar.gz" .PKGINFO usr
}

make_arch()
{
	printf '%s\n' '[options]' 'Architecture = auto' 'SigLevel = Never' \
		'LocalFileSigLevel = Never' >"$TMP/pacman.conf"
	filler "$1" && mkdir -p "$1/var/lib/pacman/sync" "$1/var/cache/pacman/pkg" &&
		pacman_package hello && pacman_package later &&
		pacman_in "$1" --noconfirm -U "$TMP/hello-1-1-any.pkg.tar.gz" >/dev/null &&
		: >"$1/var/lib/pacman/sync/core.db" && : >"$1/var/cache/pacman/pkg/a.part"
}

damage_arch()
{
	gone='var/lib/pacman/db.lck var/cache/pacman/pkg/b.part'
	healthy=var/cache/pacman/pkg/a.part
	codes='own.host pkg.lock pkg.partial'
	: >var/lib/pacman/db.lck && chmod 0 var/lib/pacman/db.lck &&
		chown 100000:100000 var/lib/pacman/db.lck && : >var/cache/pacman/pkg/b.part &&
		chown -R 0:0 var/lib/pacman/local/hello-1-1
}

try_arch()
{
	inside pacman --config "$TMP/pacman.conf" --root "$1" --dbpath "$1/var/lib/pacman" \
		--cachedir "$1/var/cache/pacman/pkg" --logfile "$1/var/log/pacman.log" --noconfirm \
		-U "$TMP/later-1-1-any.pkg.tar.gz"
}

make_alpine()
{
	filler "$1" && mkdir -p "$1/lib/apk/db" "$1/etc/apk/keys" "$1/var/cache/apk" && (
		cd "$1" && printf 'P:busybox\nV:1.37.0-r12\nA:x86_64\n\n' >lib/apk/db/installed &&
			: >lib/apk/db/lock && : >lib/apk/db/triggers && echo busybox >etc/apk/world &&
			tar -cf lib/apk/db/scripts.tar -T /dev/null && : >var/cache/apk/.apknew.a.apk &&
			gzip -c etc/apk/world >var/cache/apk/APKINDEX.1.tar.gz
	)
}

damage_alpine()
{
	gone='lib/apk/db/lock var/cache/apk/b.apk.tmp'
	healthy=var/cache/apk/.apknew.a.apk
	codes='own.host pkg.lock pkg.partial'
	: >var/cache/apk/b.apk.tmp &&
		chown 0:0 lib/apk/db/lock lib/apk/db/installed lib/apk/db/scripts.tar &&
		chown 0:0 var/cache/apk/APKINDEX.1.tar.gz
}

make_void()
{
	filler "$1" && mkdir -p "$1/var/db/xbps/keys" "$1/var/cache/xbps" && (
		cd "$1/var" && echo '<plist version="1.0"><dict></dict></plist>' \
			>db/xbps/pkgdb-0.38.plist && cp db/xbps/pkgdb-0.38.plist db/xbps/.a-files.plist &&
			: >db/xbps/lock && : >cache/xbps/a.xbps.part
	)
}

damage_void()
{
	gone='var/db/xbps/lock var/cache/xbps/b.xbps.part'
	healthy=var/cache/xbps/a.xbps.part
	codes='own.host pkg.lock pkg.partial'
	: >var/cache/xbps/b.xbps.part && chown 0:0 var/db/xbps/lock var/db/xbps/pkgdb-0.38.plist
}

# paths WORD...: as in a listing
paths()
{
	printf './%s\n' "$@"
}

same()
{
	t_is "$1" "$(listing_diff "$2" "$3")" ""
}

# cured NAME DIR WORD... [-- REMOVED...]: a repair makes of the tree what it has to, a second one
# finds nothing, and undo takes it back
cured()
{
	local name=$1 words=()
	shift

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	paths "${@:2}" >"$TMP/removed"
	listing_without "$TMP/removed" "$TMP/before" "$TMP/less"
	listing_shift $map $map "$TMP/less" "$TMP/want"
	t_ok "$name: repair" ctm repair --yes "${words[@]}" "$vmid"
	pve_listing "$dir" "$TMP/after"
	same "$name: each inode is what it has to be" "$TMP/want" "$TMP/after"
	t_ok "$name: a second repair" ctm repair --yes "${words[@]}" "$vmid"
	pve_listing "$dir" "$TMP/after"
	same "$name: has nothing to do" "$TMP/want" "$TMP/after"
}

taken_back()
{
	t_ok "$1: undo" ctm undo --yes "$vmid"
	pve_listing "$dir" "$TMP/after"
	same "$1: all is as before" "$TMP/before" "$TMP/after"
}

story()
{
	local name=$1 code

	vmid=$2
	dir=$(pve_dir "$vmid")
	pve_dir_ct "$vmid"
	t_ok "$name: the tree is made" "make_$name" "$dir"
	find "$dir" -mindepth 1 -exec chown -h 100000:100000 {} +
	t_ok "$name, healthy: check" ctm check "$vmid"
	t_no_match "$name, healthy: nothing is found" "$(cat "$T_OUT")" '^(own|acl|pkg|bits|err)\.'
	pushd "$dir" >/dev/null && "damage_$name" && popd >/dev/null || return
	pve_listing "$dir" "$TMP/before"
	t_status "$name: check finds it" 1 ctm check "$vmid"
	for code in $codes; do
		t_match "$name: $code" "$(cat "$T_OUT")" "^$code +[0-9]"
	done
	# shellcheck disable=SC2086 # lists
	cured "$name" -- $gone
	taken_back "$name"
	if declare -F "try_$name" >/dev/null; then
		cp -a "$dir" "$TMP/copy"
		t_fails "$name: its manager fails inside before" "try_$name" "$TMP/copy"
		rm -rf "$TMP/copy"
	fi
	# shellcheck disable=SC2086
	cured "$name, all" --clean all -- $gone $healthy
	taken_back "$name, all"
	if [ "$name" = fedora ]; then
		cured "$name, none" --clean none --
		taken_back "$name, none"
	fi
	t_ok "$name: once more" ctm repair --yes "$vmid"
	if declare -F "try_$name" >/dev/null; then
		t_ok "$name: its manager works inside now" "try_$name" "$dir"
		t_ok "$name: and what it wrote is right" ctm check "$vmid"
	fi
}

# held NAME FILE WHO: a repair is refused while a process holds this file
held()
{
	pve_listing "$dir" "$TMP/before"
	t_status "$1: check" 1 ctm check "$vmid"
	t_match "$1: check says who" "$(cat "$T_OUT")" "^ +/$2: held by $3 \(pid "
	t_status "$1: repair is refused" 3 ctm repair --yes --clean all "$vmid"
	t_match "$1: and says who" "$(cat "$T_ERR")" "held by $3 \(pid |\($3\) has its root directory in"
	pve_listing "$dir" "$TMP/after"
	same "$1: nothing has changed" "$TMP/before" "$TMP/after"
}

# locking HOW FILE: a process holds it; HOW is flock or lockf
locking()
{
	python3 -c 'import fcntl, sys, time
f = open(sys.argv[2], "r+b")
getattr(fcntl, sys.argv[1])(f, fcntl.LOCK_EX)
open(sys.argv[3], "w").close()
time.sleep(60)' "$1" "$2" "$TMP/ready"
}

t_ok "packages are made" a_package
mkdir "$TMP/repos.d"
repository "$TMP/repo"
printf '[test]\nname=test\nbaseurl=file://%s\ngpgcheck=0\n' "$TMP/repo" >"$TMP/repos.d/test.repo"

story fedora 9351
# The lock is below /run when rpm has nothing to say; here it is rpm's own.
rpm_in "$dir" -e later
dbpath=usr/lib/sysimage/rpm
rpm --root "$dir" -D "_dbpath /$dbpath" -D '_wait 60' -i "$TMP/later-1-1.noarch.rpm" &
other=$!
for ((i = 0; i < 100; i++)); do
	if grep -q ":$(stat -c %i "$dir/$dbpath/.rpm.lock") " /proc/locks; then
		break
	fi
	sleep 0.05
done
held "rpm at work" $dbpath/.rpm.lock rpm
t_stop

story el 9352
story opensuse 9353
t_background locking lockf "$dir/run/zypp.pid"
held "libzypp at work" run/zypp.pid python3
t_stop

story arch 9354
# It asks, under its lock, whether to go on.
mkfifo "$TMP/answer"
pacman_in "$dir" -U "$TMP/hello-1-1-any.pkg.tar.gz" <>"$TMP/answer" >/dev/null 2>&1 &
# shellcheck disable=SC2034 # for t_stop
other=$!
for ((i = 0; i < 100; i++)); do
	if [ -e "$dir/var/lib/pacman/db.lck" ]; then
		break
	fi
	sleep 0.05
done
held "pacman at work" var/lib/pacman/db.lck pacman
t_stop

story alpine 9355
: >"$dir/lib/apk/db/lock"
t_background locking flock "$dir/lib/apk/db/lock"
held "apk at work" lib/apk/db/lock python3
t_stop

story void 9356
t_background locking lockf "$dir/var/db/xbps/pkgdb-0.38.plist"
held "an old xbps at work" var/db/xbps/pkgdb-0.38.plist python3
t_stop
: >"$dir/var/db/xbps/lock"
t_background locking flock "$dir/var/db/xbps/lock"
held "xbps at work" var/db/xbps/lock python3
t_stop
t_done
