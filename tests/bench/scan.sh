# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# check, complete (owners, ACLs, capabilities), beside a find and a bfs that look at one id of each
# inode and at nothing else. Sourced by run.sh.
# shellcheck disable=SC2154 # lib.sh sets them

SCAN_RATIO_MAX=1.0
SCAN_MEMORY_MAX=65535 # KiB: under 64 MiB

bench_scan()
{
	local dir=$scratch/mnt/rootfs programs=(ctmend find) round program names wrong
	local -A command=(
		[ctmend]="1 $CTMEND check --sysroot $scratch/sysroot --map 100000 $dir"
		[find]="0 find $dir -uid -100000"
		[bfs]="0 bfs $dir -uid -100000"
	)

	if command -v bfs >/dev/null; then
		programs+=(bfs)
	else
		skip "bfs" "not installed"
	fi
	tree_make "$BENCH_N" "${BENCH_TREE[@]}"
	tree_mount "$image"
	mkdir -p "$scratch/sysroot"

	# These runs bring inodes and attributes into the cache, and say what the others must say.
	# Beside what mktree counts there are the top directory and etc.
	wrong=$(tree_wrong)
	same "inodes off the map, find and mktree" "$wrong" "${truth[wrong]}"
	names=$(find "$dir" -uid -100000 | wc -l)
	# shellcheck disable=SC2086 # words
	timed json ${command[ctmend]} --json
	same "inodes; with owners, with ACLs off the map: check and mktree" \
		"$(scan_counts "$scratch/json.out")" \
		"$((truth[inodes] + 2)) ${truth[wrong]} ${truth[acl_wrong]}"
	# shellcheck disable=SC2086 # words
	probed ctmend ${command[ctmend]}
	mv "$scratch/ctmend.out" "$scratch/ctmend.want"

	for ((round = 1; round <= BENCH_ROUNDS; round++)); do
		for program in "${programs[@]}"; do
			# shellcheck disable=SC2086 # words
			timed "$program" ${command[$program]}
			if [ "$program" = ctmend ]; then
				if ! cmp "$scratch/ctmend.out" "$scratch/ctmend.want"; then
					same "the report of round $round" other equal
				fi
			elif [ "$(wc -l <"$scratch/$program.out")" != "$names" ]; then
				same "names that $program prints in round $round" \
					"$(wc -l <"$scratch/$program.out")" "$names"
			fi
		done
	done
	tree_umount

	echo
	echo "scan: $BENCH_ROUNDS rounds of one run each in turn; median (least .. most)"
	table find "${programs[@]}"
	note_if_busy find
	echo
	at_most "check / find" "$(ratios ctmend find 1 | spread %.3f)" "$SCAN_RATIO_MAX"
	echo "       memory of the largest process: $(numbers ctmend 3 | spread %d) KiB"
	at_most "memory of all processes of check" \
		"$(awk '{ print ($4 > $3) ? $4 : $3 }' "$scratch/ctmend.memory")" \
		"$SCAN_MEMORY_MAX" KiB
}

# scan_counts FILE: what a report of check says about its inodes
scan_counts()
{
	python3 -c '
import json, sys

(target,) = json.load(sys.stdin)["targets"]

def paths(area):
	return {f["path"] for f in target["findings"] if f["code"].startswith(area) and "path" in f}

print(target["inodes"], len(paths("own.")), len(paths("acl.")))' <"$1"
}
