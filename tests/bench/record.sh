# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What a record costs: time, where it lies on the disk that is repaired, beside the same with the
# record in memory; and bytes on the disk for each inode that was changed. Every inode is wrong
# here: the record is as long as the work. Sourced by run.sh.
# shellcheck disable=SC2154 # lib.sh sets them

RECORD_RATIO_MAX=1.3
RECORD_BYTES_MAX=80

bench_record()
{
	local round

	tree_make "$BENCH_RECORD_N" -H 1 -E "$((BENCH_RECORD_N / 5))" -w 100
	mkdir -p "$scratch/memory"
	mount -t tmpfs none "$scratch/memory"
	for ((round = 1; round <= BENCH_RECORDS; round++)); do
		# Which of them comes first changes, for the second finds a warmer host.
		if ((round % 2)); then
			record__repair same "$scratch/mnt/sysroot"
			record__repair tmpfs "$scratch/memory"
		else
			record__repair tmpfs "$scratch/memory"
			record__repair same "$scratch/mnt/sysroot"
		fi
	done
	umount "$scratch/memory"
	rm -f "$scratch/copy.img"

	echo
	echo "record: $BENCH_RECORDS rounds on fresh copies, $BENCH_RECORD_N inodes, synced"
	table tmpfs same tmpfs
	at_most "repair, record on the same disk / on tmpfs, wall" "$(ratios same tmpfs 1 |
		spread %.2f)" "$RECORD_RATIO_MAX"
	at_most "record of the mktree tree, bytes an inode" "$record__bytes" "$RECORD_BYTES_MAX"
	record__debian
}

# record__repair NAME SYSROOT: one repair of a fresh copy until all is safe; sets record__bytes
record__repair()
{
	local dir=$scratch/mnt/rootfs wrong
	# shellcheck disable=SC2016 # the inner shell expands
	local until_safe='dir=$1; shift; "$@" && sync -f "$dir"'

	tree_mount_copy
	rm -rf "${2:?}/var"
	mkdir -p "$2"
	wrong=$(tree_wrong)
	# 4: so much is nobody's in a tree of mktree that it is mentioned, and left.
	timed "$1" 4 sh -c "$until_safe" sh "$dir" \
		"$CTMEND" repair --yes --convert --sysroot "$2" --map 100000 "$dir"
	same "inodes off the map after a repair, record on $1" "$(tree_wrong)" 0
	record__bytes=$(record__per_inode "$2" "$wrong")
	tree_umount
}

# record__per_inode SYSROOT N: what is allocated for its records, for each of N inodes. The
# directories are not the record's: an empty one takes as much.
record__per_inode()
{
	find "$1/var/lib/ctmend" -type f -printf '%b\n' |
		awk -v n="$2" '{ sum += 512 * $1 } END { printf "%.1f", sum / n }'
}

# A Debian root that was unpacked without a map.
record__debian()
{
	local tar dir=$scratch/mnt/rootfs wrong

	# shellcheck disable=SC1091 # beside the root tests
	if ! . "$bench/../root/debian-root.sh" || ! tar=$(debian_root_tar); then
		skip "record of a Debian root" "none could be made"
		return
	fi
	truncate -s 2G "$scratch/debian.img"
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$scratch/debian.img"
	tree_mount "$scratch/debian.img"
	mkdir "$dir" "$scratch/mnt/sysroot"
	tar -C "$dir" --xattrs --xattrs-include='*' --acls --numeric-owner -xpf "$tar"
	wrong=$(tree_wrong)
	timed debian 0 "$CTMEND" repair --yes --convert --clean none \
		--sysroot "$scratch/mnt/sysroot" --map 100000 "$dir"
	same "inodes of the Debian root off the map after repair" "$(tree_wrong)" 0
	at_most "record of a Debian root ($wrong inodes), bytes an inode" \
		"$(record__per_inode "$scratch/mnt/sysroot" "$wrong")" "$RECORD_BYTES_MAX"
	tree_umount
	rm -f "$scratch/debian.img"
}
