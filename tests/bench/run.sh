#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Measures ctmend beside other programs on a large tree and holds it to limits; make bench.
#
#   tests/bench/run.sh [PART...]     PART: scan, repair, record; all by default
#
# A part is a file PART.sh here with the function bench_PART: add one and put it into the list
# below. lib.sh has what it needs: tree_make and tree_mount, timed and probed, table and at_most.
#
# Environment: CTMEND (the program), CC, TMPDIR, and
#   BENCH_PARTS    as the arguments
#   BENCH_N        inodes of the tree (1000000); each takes 2 KiB of memory and 1 KiB of disk
#   BENCH_ROUNDS   rounds of scans (7)
#   BENCH_REPAIRS  rounds of repairs (1)
#   BENCH_RECORDS  rounds of repairs with the record here and there (3)
#   BENCH_RECORD_N inodes of their tree (200000)
#   BENCH_DIR      a directory where the image of the tree is made, and kept for the next time
#
# The last line is "N passed, N failed, N skipped". The exit status is 0 when nothing failed, 1 when
# a limit is exceeded or something could not be measured.
set -eu -o pipefail

bench=$(cd "$(dirname "$0")" && pwd)
all_parts=(scan repair record)

if [ $# = 0 ]; then
	read -r -a parts <<<"${BENCH_PARTS:-${all_parts[*]}}"
else
	parts=("$@")
fi
BENCH_N=${BENCH_N:-1000000}
BENCH_ROUNDS=${BENCH_ROUNDS:-7}
BENCH_REPAIRS=${BENCH_REPAIRS:-1}
BENCH_RECORDS=${BENCH_RECORDS:-3}
BENCH_RECORD_N=${BENCH_RECORD_N:-200000}
# shellcheck disable=SC2034 # for the parts
# One inode in a hundred is wrong, and one directory is large: a fifth of all inodes.
BENCH_TREE=(-H 1 -E "$((BENCH_N / 5))" -w 1)
: "${CTMEND:=$bench/../../build/ctmend}"
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1

if [ "$(id -u)" != 0 ]; then
	echo "run.sh: mounts an image and changes owners: needs root" >&2
	exit 1
fi
if [ ! -x "$CTMEND" ]; then
	echo "run.sh: no program at '$CTMEND'" >&2
	exit 1
fi
. "$bench/lib.sh"

version_of()
{
	if command -v "$1" >/dev/null; then
		"$1" --version 2>/dev/null | sed -n 1p
	fi
}

echo "$(uname -srm), $(nproc) processors, load $(cut -d ' ' -f 1 /proc/loadavg)"
echo "ext4 on a loop device, noatime, cache warm; $BENCH_N inodes"
for program in "$CTMEND" find bfs chown; do
	version_of "$program"
done
echo "Machines are noisy, this one too: compare the ratios, which are of runs in turn, and never"
echo "the seconds with those of another time or place."

for part in "${parts[@]}"; do
	if [[ " ${all_parts[*]} " != *" $part "* ]]; then
		echo "run.sh: no part '$part'; there are: ${all_parts[*]}" >&2
		exit 1
	fi
	# shellcheck disable=SC1090 # one of the list
	. "$bench/$part.sh"
	echo
	"bench_$part"
done

echo
totals
