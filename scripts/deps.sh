#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Installs the Debian packages that building and testing need.
#
#   deps.sh [--auto] GROUP...     GROUP: build, test, dev
#
# Does nothing, quickly, when all are there. With --auto and without root it prints the one command
# to run and fails; so it does on a system without dpkg, unless the build needs nothing from it
# (--auto succeeds there: the compiler will say what is missing).
set -eu

build=(gcc make pkg-config libmount-dev libarchive-dev libacl1-dev libcap-dev libsmartcols-dev
	libjansson-dev libblkid-dev libseccomp-dev nettle-dev zlib1g-dev)
test=(libcriterion-dev acl attr bash bfs bindfs btrfs-progs dnf e2fsprogs git groff hyperfine
	libarchive-tools libcap2-bin lxc mandoc mmdebstrap mount pacman-package-manager perl python3
	rpm strace sudo uidmap util-linux xfsprogs xz-utils zypper)
dev=(clang clang-format clang-tidy codespell gcovr libclang-rt-dev llvm shellcheck)

auto=
if [ "${1-}" = --auto ]; then
	auto=1
	shift
fi

want=()
for group in "$@"; do
	case $group in
	build) want+=("${build[@]}") ;;
	test) want+=("${test[@]}") ;;
	dev) want+=("${dev[@]}") ;;
	*)
		echo "deps.sh: no group '$group'" >&2
		exit 2
		;;
	esac
done

if ! command -v dpkg-query >/dev/null; then
	if [ -n "$auto" ]; then
		exit 0
	fi
	echo "deps.sh: this is not Debian; install what corresponds to: ${want[*]}" >&2
	exit 1
fi

# dpkg-query complains about names it never heard of; those are missing like any other.
declare -A have=()
while read -r status name; do
	if [ "$status" = installed ]; then
		have[$name]=1
	fi
done < <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${want[@]}" 2>/dev/null)

missing=()
for name in "${want[@]}"; do
	if [ -z "${have[$name]-}" ]; then
		missing+=("$name")
	fi
done
if [ ${#missing[@]} -eq 0 ]; then
	exit 0
fi

command="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" != 0 ]; then
	echo "packages are missing; as root run: $command" >&2
	exit 1
fi

echo "installing: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y --no-install-recommends -qq "${missing[@]}")
# Fetch the lists only when there are none, or when they are too old to find the files.
if ! compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null; then
	apt-get update -qq
fi
if ! "${install[@]}"; then
	apt-get update -qq
	"${install[@]}"
fi
