#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make check-trixie: builds everything in a Debian 13 root, and runs the unit tests there as root,
# the CLI tests as an ordinary user, and the demo. Needs root and Debian's archive.
#
# The root and what was built in it are kept in $BUILD/trixie for the next time. The mounts are in a
# namespace of their own and the processes too, so both go with this script.
#
# Environment: BUILD. The last line is "N passed, N failed, N skipped".
set -u -o pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
BUILD=${BUILD:-build}
case $BUILD in
/*) dir=$BUILD/trixie ;;
*) dir=$top/$BUILD/trixie ;;
esac
. tests/debian-archive.sh

# What the tests of these parts call beside the packages that building needs.
tools=(acl attr btrfs-progs libarchive-tools libcap2-bin libcriterion-dev xfsprogs)

# make_root: a Debian 13 with what is needed, in $dir/root; again when that list has changed
make_root()
{
	local packages

	packages=$({ scripts/deps.sh --list build demo && printf '%s\n' "${tools[@]}"; } | paste -sd ,)
	if [ "$(cat "$dir/packages" 2>/dev/null)" = "$packages" ]; then
		return
	fi
	echo "making a Debian 13 in $dir/root"
	rm -rf --one-file-system "$dir"
	mkdir -p "$dir" || return
	debian_archive_sources trixie >"$dir/sources.list" || return
	debian_archive_options >"$dir/options"
	mmdebstrap --quiet --mode=root --variant=minbase --format=directory \
		--include="$packages" --aptopt="$dir/options" trixie "$dir/root" "$dir/sources.list" ||
		return
	mkdir "$dir/root/src" "$dir/root/build" "$dir/root/host" || return
	echo "$packages" >"$dir/packages"
}

# enter: in namespaces of its own, make that root the root directory, with the sources at /src, and
# run all there. A root that is only chroot-ed to would be on no mount point, which ctmend minds.
enter()
{
	mount --bind "$dir/root" "$dir/root" &&
		mount --bind -o ro "$top" "$dir/root/src" &&
		mount --rbind /dev "$dir/root/dev" &&
		mount --rbind /sys "$dir/root/sys" &&
		mount -t proc proc "$dir/root/proc" &&
		mount -t tmpfs -o mode=1777 tmpfs "$dir/root/run" &&
		cd "$dir/root" && pivot_root . host && umount -l /host && cd /src || exit 1
	exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 BUILD=/build \
		/src/tests/trixie.sh inside
}

# inside: what is run in the Debian 13
inside()
{
	local status=0

	make -s "-j$(nproc)" DEV=1 BUILD=/build check-programs || return
	rm -rf /build/test-logs
	install -d -o 65534 -g 65534 /build/test-logs/cli
	chown 65534:65534 /build/test-logs
	tests/run.sh unit || status=1
	setpriv --reuid 65534 --regid 65534 --clear-groups tests/run.sh cli || status=1
	if CTMEND=/build/ctmend scripts/demo.sh >/build/demo.log 2>&1; then
		echo "1 passed, 0 failed, 0 skipped"
	else
		status=1
		sed 's/^/    /' /build/demo.log
		echo "FAILED  the demo"
		echo "0 passed, 1 failed, 0 skipped"
	fi
	return "$status"
}

case ${1-} in
enter) enter ;;
inside)
	inside
	exit
	;;
esac

if [ "$(id -u)" != 0 ]; then
	echo "make check-trixie needs root" >&2
	exit 1
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
status=1
if make_root; then
	unshare --mount --pid --fork --kill-child --propagation private tests/trixie.sh enter 2>&1 |
		tee "$log" | grep --line-buffered -vE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$'
	status=${PIPESTATUS[0]}
fi
awk -v status="$status" '
	/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { passed += $1; failed += $3; skipped += $5 }
	END {
		if (status != 0 && failed == 0) { failed = 1 }
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	}' "$log"
exit "$((status != 0))"
