# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Finds mounts and loop devices that stand on files below a directory. Sourced, needs root.

# leftover_mounts DIR: mount points below DIR in this mount namespace, newest first
leftover_mounts()
{
	local at

	while read -r at; do
		printf '%b\n' "$at"
	done < <(awk -v dir="$1/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo | tac)
}

# leftover_loops DIR: loop devices on files below DIR, and those that stand on such a device; the
# upper ones first
leftover_loops()
{
	local dir=$1 dev file list more=1
	local -A mine=()
	local -a found=()

	list=$(losetup --list --noheadings --output NAME,BACK-FILE)
	while [ "$more" = 1 ]; do
		more=0
		while read -r dev file; do
			if [ -z "$dev" ] || [ -n "${mine[$dev]-}" ]; then
				continue
			fi
			if [ "${file#"$dir"/}" != "$file" ] || [ -n "${mine[$file]-}" ]; then
				mine[$dev]=1
				found=("$dev" "${found[@]}")
				more=1
			fi
		done <<<"$list"
	done
	printf '%s\n' "${found[@]}"
}

# leftovers DIR: one line for each mount and loop device. A loop device with autoclear goes a moment
# after its last user, so this waits up to five seconds for them.
leftovers()
{
	local i loops

	for ((i = 0; i < 50; i++)); do
		loops=$(leftover_loops "$1")
		if [ -z "$loops" ]; then
			break
		fi
		sleep 0.1
	done
	leftover_mounts "$1" | sed 's/^/mount /'
	if [ -n "$loops" ]; then
		sed 's/^/loop device /' <<<"$loops"
	fi
}

# remove_leftovers DIR: unmount and detach them
remove_leftovers()
{
	local what

	while read -r what; do
		umount -l "$what"
	done < <(leftover_mounts "$1")
	while read -r what; do
		if [ -n "$what" ]; then
			losetup -d "$what"
		fi
	done < <(leftover_loops "$1")
}
