#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The long tests: what `make check` tries a tenth of, and what it does not try at all. All of them
# rewrite tests/LONG, when all have passed; the names in T run some, and leave it alone.
#
# Environment: BUILD, T as for tests/run.sh; LONG_TIMEOUT, seconds for one script (14400). The last
# line is "N passed, N failed, N skipped".
set -u -o pipefail

cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${T:=}"
export BUILD
root=(390-kill-points 391-power-loss 393-random-kill)
passed=0
failed=0
skipped=0

scratch=$(mktemp -d "${TMPDIR:-/tmp}/ctmend-long.XXXXXX") || exit 1
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export CTM_LONG=$scratch/LONG

# count COMMAND...: run it and add up its last line
count()
{
	local p=0 f=1 s=0

	"$@" 2>&1 | tee "$scratch/log"
	if grep -qE '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$scratch/log"; then
		read -r p _ f _ s _ < <(grep -E '^[0-9]+ passed, ' "$scratch/log" | tail -n 1)
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
}

# wanted NAME: is it one of T?
wanted()
{
	[ -z "$T" ] || [[ " $T " == *" $1 "* ]]
}

{
	echo "The last run of make check-long in which everything passed."
	echo
	echo "date     $(date -u '+%Y-%m-%d %H:%M UTC')"
	echo "commit   $(git describe --always --dirty --exclude '*' 2>/dev/null || echo unknown)"
	echo "system   Linux $(uname -r | sed 's/-.*//') $(uname -m), $(nproc) processors"
	echo
	echo "A point is a system call which changes something, before which (of a device: behind"
	echo "which) everything was killed; calls of an uninterrupted run are counted by phase."
	echo
} >"$CTM_LONG"
for name in "${root[@]}"; do
	if wanted "$name"; then
		T=$name TEST_TIMEOUT=${LONG_TIMEOUT:-14400} count tests/run.sh root
	fi
done
for script in tests/long/*.sh; do
	name=$(basename "$script" .sh)
	if [ "$name" != run ] && wanted "$name"; then
		count bash "$script"
	fi
done
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped" >>"$CTM_LONG"
cat "$CTM_LONG"
if [ "$failed" != 0 ] || [ "$skipped" != 0 ]; then
	exit 1
fi
if [ -z "$T" ]; then
	cp "$CTM_LONG" tests/LONG
fi
