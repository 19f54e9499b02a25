# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the parts of the benchmark share: a tree on a file system of its own, timed runs, tables and
# limits. Sourced by run.sh; $scratch is an empty directory that goes away in the end.
bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$bench/../leftovers.sh"

if [ -n "${BENCH_DIR-}" ]; then
	mkdir -p "$BENCH_DIR"
	BENCH_DIR=$(realpath "$BENCH_DIR")
fi
scratch=$(mktemp -d "${BENCH_DIR:-${TMPDIR:-/tmp}}/ctmend-bench.XXXXXX") || exit 1
scratch=$(realpath "$scratch")
store=${BENCH_DIR:-$scratch}

passed=0
failed=0
skipped=0

finish()
{
	cd /
	remove_leftovers "$scratch"
	rm -rf --one-file-system "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# --- the tree ------------------------------------------------------------------------------------

# tree_make N [OPTION...]: an ext4 image with the directory volume "rootfs", which mktree fills
# with N inodes. Sets $image and the associative array $truth (what mktree says that it made).
# An image that $store has already is used again.
tree_make()
{
	local n=$1 key word
	shift

	key=$(printf '%s\n' "$n" "$@" "$(declare -f tree__make)" | cat - "$bench/mktree.c" |
		sha256sum)
	image=$store/ctmend-bench-${key:0:12}.img
	if [ ! -e "$image" ] || [ ! -e "$image.truth" ]; then
		tree__make "$n" "$@"
	fi
	declare -gA truth=()
	while IFS='=' read -r key word; do
		# shellcheck disable=SC2034 # for the parts
		truth[$key]=$word
	done <"$image.truth"
}

tree__make()
{
	local n=$1 new=$scratch/new.img
	shift

	echo "making a tree of $n inodes ..." >&2
	"${CC:-cc}" -O2 -o "$scratch/mktree" "$bench/mktree.c"
	# ext4 has one inode for each 16 KiB. No lazy initialisation: the kernel would go on with
	# it while we measure.
	truncate -s "$((n * 20 + 65536))K" "$new"
	mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 "$new"
	tree_mount "$new"
	mkdir "$scratch/mnt/rootfs"
	"$scratch/mktree" -n "$n" "$@" "$scratch/mnt/rootfs" >"$scratch/new.truth"
	# A volume has one of etc and usr.
	install -d -o 100000 -g 100000 "$scratch/mnt/rootfs/etc"
	tree_umount
	mv "$new" "$image"
	mv "$scratch/new.truth" "$image.truth"
}

# tree_mount IMAGE: mount it on $scratch/mnt
tree_mount()
{
	mkdir -p "$scratch/mnt"
	mount -o loop,noatime "$1" "$scratch/mnt"
}

tree_umount()
{
	umount "$scratch/mnt"
}

# tree_mount_copy: mount a fresh copy of $image with its inodes in the cache
tree_mount_copy()
{
	# Never written in place: a loop device may still hold the old one for a moment.
	rm -f "$scratch/copy.img"
	cp --sparse=always "$image" "$scratch/copy.img"
	sync "$scratch/copy.img"
	tree_mount "$scratch/copy.img"
	find "$scratch/mnt" -uid -1 >"$scratch/warm"
}

# tree_wrong: how many inodes below $scratch/mnt/rootfs are off the map, in find's eyes
tree_wrong()
{
	find "$scratch/mnt/rootfs" -mindepth 1 \
		\( -uid -100000 -o -uid +165535 -o -gid -100000 -o -gid +165535 \) \
		-printf '%i\n' | sort -u | wc -l
}

# --- timed runs ----------------------------------------------------------------------------------

# timed NAME STATUS COMMAND...: run it, expect this exit status, and append to the figures of NAME;
# what it prints is in $scratch/NAME.out. That is a file, for some programs do less when they see
# /dev/null, and we want to know that every run did its work.
timed()
{
	timed__run "$scratch/$1.figures" "$@"
}

# probed NAME STATUS COMMAND...: the same for a look at the memory of all its processes
probed()
{
	timed__run -p "$scratch/$1.memory" "$@"
}

timed__run()
{
	local options=() name want status=0

	if [ "$1" = -p ]; then
		options=(-p)
		shift
	fi
	options+=("$1")
	name=$2
	want=$3
	shift 3
	if [ ! -x "$scratch/measure" ]; then
		"${CC:-cc}" -O2 -D_GNU_SOURCE -o "$scratch/measure" "$bench/measure.c"
	fi
	"$scratch/measure" "${options[@]}" "$@" >"$scratch/$name.out" 2>"$scratch/$name.err" \
		</dev/null || status=$?
	if [ "$status" != "$want" ]; then
		echo "run.sh: exit status $status, not $want, of:$(printf ' %q' "$@")" >&2
		head -n 20 "$scratch/$name.err" "$scratch/$name.out" >&2
		exit 1
	fi
}

# numbers NAME COLUMN: one figure of all runs of NAME, see measure.c for the columns
numbers()
{
	awk -v column="$2" '{ print $column }' "$scratch/$1.figures"
}

# ratios NAME BASE COLUMN: run by run, NAME divided by BASE
ratios()
{
	paste <(numbers "$1" "$3") <(numbers "$2" "$3") | awk '{ printf "%.4f\n", $1 / $2 }'
}

# spread FORMAT: "median (least .. most)" of the numbers on stdin
spread()
{
	sort -g | awk -v format="$1" '
		{ v[NR] = $1 }
		END {
			median = (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2
			printf format " (" format " .. " format ")", median, v[1], v[NR]
		}'
}

# --- what is printed -----------------------------------------------------------------------------

# table BASE NAME...: a row for each program; the ratios are those of each round to BASE
table()
{
	local base=$1 name
	shift

	table__row program "wall s" "cpu s" "wall / $base" "cpu / $base"
	for name in "$@"; do
		table__row "$name" "$(numbers "$name" 1 | spread %.3f)" \
			"$(numbers "$name" 2 | spread %.3f)" \
			"$(ratios "$name" "$base" 1 | spread %.2f)" \
			"$(ratios "$name" "$base" 2 | spread %.2f)"
	done
}

table__row()
{
	printf '  %-8s %-27s %-24s %-21s %s\n' "$@"
}

# note_if_busy NAME: NAME has one thread and found all in the cache; did it have a processor?
note_if_busy()
{
	paste <(numbers "$1" 1) <(numbers "$1" 2) | awk -v name="$1" '
		{ wall += $1; cpu += $2 }
		END {
			if (wall > 1.1 * cpu) {
				printf "note: others use this machine, %s ran for %d %% of its ",
					name, 100 * cpu / wall
				print "time: wall ratios mean little"
			}
		}'
}

# at_most WHAT GOT LIMIT [UNIT]: GOT may be "median (least .. most)"; fails the run, but not now
at_most()
{
	local verdict=ok

	if awk -v got="${2%% *}" -v limit="$3" 'BEGIN { exit !(got > limit) }'; then
		verdict=FAILED
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
	printf '%-6s %s: %s%s, at most %s\n' "$verdict" "$1" "$2" "${4:+ $4}" "$3"
}

# same WHAT GOT WANT: a count; the figures of a run that did something else mean nothing
same()
{
	if [ "$2" != "$3" ]; then
		failed=$((failed + 1))
		echo "FAILED $1: $2, not $3"
	else
		passed=$((passed + 1))
		echo "ok     $1: $2"
	fi
}

skip()
{
	skipped=$((skipped + 1))
	echo "skip   $1 # $2"
}

# totals: the last line; fails when a limit was exceeded
totals()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ]
}
