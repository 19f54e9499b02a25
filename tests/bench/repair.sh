# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# repair beside chown -R, each on a fresh copy of the tree, until the data is safe. For information:
# chown is a floor and does something else. It moves every id to one, drops setuid, setgid and
# capabilities, and leaves ACLs alone; repair looks twice at all and changes what is wrong, with a
# record to take it back. Sourced by run.sh.
# shellcheck disable=SC2154 # lib.sh sets them

bench_repair()
{
	local dir=$scratch/mnt/rootfs round
	# shellcheck disable=SC2016 # the inner shell expands
	local until_safe='dir=$1; shift; "$@" && sync -f "$dir"'

	if [ "$BENCH_REPAIRS" = 0 ]; then
		skip "repair beside chown" "BENCH_REPAIRS=0"
		return
	fi
	tree_make "$BENCH_N" "${BENCH_TREE[@]}"
	for ((round = 1; round <= BENCH_REPAIRS; round++)); do
		rm -rf "$scratch/sysroot"
		mkdir "$scratch/sysroot"
		tree_mount_copy
		# 4: so much is nobody's in a tree of mktree that it is mentioned, and left.
		timed repair 4 sh -c "$until_safe" sh "$dir" \
			"$CTMEND" repair --yes --fix overflow --sysroot "$scratch/sysroot" --map 100000 "$dir"
		same "inodes off the map after repair $round" "$(tree_wrong)" 0
		tree_umount
		tree_mount_copy
		timed chown 0 sh -c "$until_safe" sh "$dir" chown -R -h 100000:100000 "$dir"
		tree_umount
	done
	rm -f "$scratch/copy.img"

	echo
	echo "repair: $BENCH_REPAIRS rounds on fresh copies, synced; no limit"
	table chown repair chown
	echo "       memory of the largest process of repair: $(numbers repair 3 | spread %d) KiB"
}
