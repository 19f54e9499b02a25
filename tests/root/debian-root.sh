# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# A small real Debian 12 root as a tar archive: made once by mmdebstrap, from the sources that this
# machine's apt is configured with, and kept in $CTMEND_TEST_CACHE (/var/cache/ctmend-tests).
# Sourced. Of another suite there is a smaller one, to be looked at alone.
#
# Beside its packages the root has, all made by debian-root-hook.sh:
#	/srv/repo/NAME.deb	packages to be installed later, with what they depend on and an
#				index, so that apt-get works in the root without a network
#	/usr/local/sbin/idle	an init that waits to be stopped

DEBIAN_ROOT_SUITE=bookworm
DEBIAN_ROOT_PACKAGES=acl,adduser,iputils-ping,libcap2-bin,passwd,sudo
# sudo is there a second time: to be reinstalled.
DEBIAN_ROOT_LATER="cron dbus ed iputils-arping logrotate nano sudo"

# In the root of another suite: what has set-id bits.
DEBIAN_ROOT_OTHER=cron,openssh-client,passwd,sudo,uidmap

debian_root__dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$debian_root__dir/../debian-archive.sh"

# debian_root_tar [SUITE]: print the archive's path; make it first when the cache does not have it
# (messages go to stderr). Owners in it are container ids. Fails when it can not be made.
debian_root_tar()
(
	suite=${1:-$DEBIAN_ROOT_SUITE}
	cache=${CTMEND_TEST_CACHE:-/var/cache/ctmend-tests}
	# What comes out is what these two files say.
	key=$(cat "$debian_root__dir/debian-root.sh" "$debian_root__dir/debian-root-hook.sh" |
		sha256sum | cut -c 1-12)
	tar=$cache/debian-$suite-$(dpkg --print-architecture)-$key.tar
	mkdir -p "$cache" || exit 1
	# Of two runs at once the second waits here and finds the work of the first.
	exec {lock}>"$cache/lock" || exit 1
	flock "$lock" || exit 1
	if [ ! -e "$tar" ]; then
		# Left by a killed run, for we hold the lock; and archives that nobody asked for in
		# a month.
		rm -rf "$cache"/making.*
		find "$cache" -maxdepth 1 -name 'debian-*.tar' -mtime +30 -delete
		tmp=$(mktemp -d "$cache/making.XXXXXX") || exit 1
		trap 'rm -rf "$tmp"' EXIT
		trap 'exit 143' INT TERM
		if ! debian_root__make "$tmp" "$suite" >&2 || ! mv "$tmp/root.tar" "$tar"; then
			exit 1
		fi
	fi
	touch "$tar"
	printf '%s\n' "$tar"
)

debian_root__make()
{
	local tmp=$1 suite=$2

	debian_archive_sources "$suite" >"$tmp/sources.list" || return
	debian_archive_options >"$tmp/options"
	if [ "$suite" != "$DEBIAN_ROOT_SUITE" ]; then
		mmdebstrap --quiet --mode=root --variant=minbase --format=tar \
			--include="$DEBIAN_ROOT_OTHER" --aptopt="$tmp/options" \
			"$suite" "$tmp/root.tar" "$tmp/sources.list"
		return
	fi
	DEBIAN_ROOT_LATER=$DEBIAN_ROOT_LATER mmdebstrap --quiet --mode=root \
		--variant=minbase --format=tar --include="$DEBIAN_ROOT_PACKAGES" \
		--aptopt="$tmp/options" \
		--customize-hook="bash '$debian_root__dir/debian-root-hook.sh' \"\$1\"" \
		"$DEBIAN_ROOT_SUITE" "$tmp/root.tar" "$tmp/sources.list"
}
