#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Installs the Debian packages that building and testing need. Does nothing, quickly, when all are
# there; and never removes one.
#
#   deps.sh [--auto] GROUP... [--optional GROUP...]
#   deps.sh --list GROUP...      prints their names, installs nothing
#
#   GROUP       build, demo (beside build), test (beside build), dev
#   --auto      called by make on its own account: succeeds on a system without dpkg, where the
#               compiler will say what is missing
#   --optional  groups that can be done without where they may not be installed
#
# An ordinary user gets the one command to run as root. On a Proxmox VE host nothing is installed,
# for apt would remove Proxmox VE to make room for Debian's lxc, and a hypervisor needs no compiler:
# what is missing of the first groups is an error there, what is missing of the optional ones is
# said.
#
# CTMEND_DEPS_ROOT, for tests: the directory below which /etc/pve is looked for.
set -eu

build=(gcc make pkg-config libmount-dev libarchive-dev libacl1-dev libcap-dev libsmartcols-dev
	libjansson-dev libblkid-dev libseccomp-dev nettle-dev zlib1g-dev)
demo=(e2fsprogs mount util-linux)
test=(libcriterion-dev acl attr bash bfs bindfs btrfs-progs dnf e2fsprogs git groff hyperfine
	libarchive-tools libcap2-bin lxc mandoc mmdebstrap mount pacman-package-manager perl python3
	rpm strace sudo uidmap util-linux xfsprogs xz-utils zypper)
dev=(clang clang-format clang-tidy codespell gcovr libclang-rt-dev llvm shellcheck)

. "${0%/*}/pve-host.sh"

auto=
list=
case ${1-} in
--auto)
	auto=1
	shift
	;;
--list)
	list=1
	shift
	;;
esac

needed=()
optional=()
behind=
for group in "$@"; do
	case $group in
	build) want=("${build[@]}") ;;
	demo) want=("${demo[@]}") ;;
	test) want=("${test[@]}") ;;
	dev) want=("${dev[@]}") ;;
	--optional)
		behind=1
		continue
		;;
	*)
		echo "deps.sh: no group '$group'" >&2
		exit 2
		;;
	esac
	if [ -z "$behind" ]; then
		needed+=("${want[@]}")
	else
		optional+=("${want[@]}")
	fi
done

if [ -n "$list" ]; then
	printf '%s\n' "${needed[@]}"
	exit 0
fi

if ! command -v dpkg-query >/dev/null; then
	if [ -n "$auto" ]; then
		exit 0
	fi
	echo "deps.sh: this is not Debian; install what corresponds to: ${needed[*]} ${optional[*]}" >&2
	exit 1
fi

# dpkg-query complains about names it never heard of; those are missing like any other.
declare -A have=()
while read -r status name; do
	if [ "$status" = installed ]; then
		have[$name]=1
	fi
done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${needed[@]}" "${optional[@]}" \
	2>/dev/null)

# missing_of NAME...: those that are not there, into the array missing
missing_of()
{
	local name

	missing=()
	for name in "$@"; do
		if [ -z "${have[$name]-}" ]; then
			missing+=("$name")
		fi
	done
}

missing_of "${needed[@]}" "${optional[@]}"
if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi

if why=$(pve_host "${CTMEND_DEPS_ROOT-}"); then
	missing_of "${needed[@]}"
	if [ ${#missing[@]} -eq 0 ]; then
		missing_of "${optional[@]}"
		echo "This is a Proxmox VE host ($why); nothing is installed here." >&2
		echo "missing: ${missing[*]}" >&2
		echo "What needs these is skipped." >&2
		exit 0
	fi
	echo "This is a Proxmox VE host ($why); nothing is installed here." >&2
	echo "missing: ${missing[*]}" >&2
	echo "Build on another machine and copy what 'make install' puts in place: README.md," \
		"\"Build and install\"." >&2
	exit 1
fi

command=(apt-get install -y --no-remove --no-install-recommends "${missing[@]}")
if [ "$(id -u)" != 0 ]; then
	echo "packages are missing; as root run: ${command[*]}" >&2
	exit 1
fi

echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# Fetch the lists only when there are none, or when they are too old to find the files.
if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
	apt-get update -qq
fi
if ! "${command[@]}" -qq; then
	apt-get update -qq
	"${command[@]}" -qq
fi
