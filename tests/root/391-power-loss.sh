#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The power fails in the middle of a repair or an undo: of the volume and of the records there is
# what was on the disk at that moment.
#
# Both are file systems on loop devices. What the program has written and nobody has synced is in the
# page cache of the mounted file system and not in the file below; that file, copied while the
# program is stopped and everything is still mounted, is what a disk would have held. The two files
# are not copied at one instant, but the pair is one that a power failure could leave: the program
# stands still, so nothing is written meanwhile but what was written to the cache before, and of
# that a disk may hold any part. Each file is copied until two copies are the same, since a disk
# holds a write or does not, but a copy could see a later one without an earlier one.
. "${0%/*}/killing.sh"

STATE=sys/var/lib/ctmend

# records IMAGE: the records are on a copy of this image
records()
{
	rm -rf "${TMP:?}/sys/var"
	mkdir -p "$TMP/$STATE"
	cp --sparse=always "$1" "$TMP/records" && mount -o loop "$TMP/records" "$TMP/$STATE"
}

records_end()
{
	t_umount "$TMP/$STATE"
}

# What the supervisor runs when it has stopped the program.
cat >"$TMP/copy" <<'END'
set -e
for file in "$1" "$2"; do
	to=$3.${file##*/}
	cp --sparse=always "$file" "$to"
	for ((i = 0; i < 100; i++)); do
		cp --sparse=always "$file" "$to.again"
		if cmp -s "$to" "$to.again"; then
			continue 2
		fi
		mv "$to.again" "$to"
	done
	exit 1
done
END

# start COMMAND: the state that COMMAND begins with
start()
{
	if [ "$1" = repair ]; then
		vol_put "$TMP/pristine" && records "$TMP/empty"
	else
		vol_put "$TMP/repaired" && records "$TMP/repaired.records"
	fi
}

# go COMMAND SUPERVISOR-OPTION...
go()
{
	local command=$1
	shift

	supervise "$@" "$CTMEND" --sysroot "$TMP/sys" "$command" --yes "$KILL_TARGET" \
		>"$TMP/killed.out" 2>&1
}

# prepare COMMAND
prepare()
{
	vol_new image
	# PVE's multi-mount protection would make each mount after a crash wait for 45 seconds.
	t_image ext4 "$TMP/empty" 8M
	vol_make || kill_bad "no volume"
	if [ "$1" = undo ]; then
		start repair
		kill_run 0 "uninterrupted" "$TMP/want" repair
		records_end
		vol_get "$TMP/repaired"
		cp --sparse=always "$TMP/records" "$TMP/repaired.records"
	fi
	start "$1"
	go "$1" -t "$TMP/calls" || kill_bad "$1 fails" "$TMP/killed.out"
	records_end
}

# after WHAT WANT STATUSES COMMAND: the machine starts again, and COMMAND is run
after()
{
	local what=$1 want=$2 statuses=$3 command=$4

	if ! vol_put "$TMP/crash.${VOL##*/}" || ! records "$TMP/crash.records"; then
		kill_bad "$what: the copies"
	fi
	kill_run "$statuses" "$what" "$want" "$command"
	records_end
}

# moment COMMAND CALL SYNC: the power fails before this call; before call SYNC somebody has synced
# the file system that it changes, as the kernel does from time to time
moment()
{
	local what="$1, call $2, sync $3" status

	start "$1"
	go "$1" -y "$3" -k "$2" -x "$2:bash $(printf '%q ' "$MAIN/copy" "$TMP/records" "$VOL" "$TMP/crash")"
	status=$?
	records_end
	if [ "$status" != 137 ] || ! vol_idle; then
		kill_bad "$what: exit status $status" "$TMP/killed.out"
		return
	fi
	after "$what" "$TMP/want" 0 repair
	after "$what" "$TMP/before" '0|3' undo
	echo >>"$TMP/tried"
}

# moments K N COMMAND COUNT: a worker's part
moments()
{
	local k=$1 n=$2 command=$3 count=$4 total i call

	rm -f "$TMP/tried"
	prepare "$command"
	# The last few calls are not always the same.
	total=$(($(wc -l <"$TMP/calls") - 20))
	RANDOM=$((7 + k))
	for ((i = k; i < count; i += n)); do
		call=$((1 + RANDOM % total))
		moment "$command" "$call" $((RANDOM % 4 ? 1 + RANDOM % call : 0))
	done
	vol_end
}

MAIN=$TMP
for command in repair undo; do
	count=100
	if [ "$KILL_EACH" != 1 ]; then
		count=4
	fi
	started=$SECONDS
	: >"$TMP/bad"
	kill_side_by_side moments "$command" "$count"
	t_is "power loss in the middle of $command" "$(head -n 60 "$TMP/bad")" ""
	tried=$(cat "$TMP/mem/"*/tried | wc -l)
	t_is "so many times" "$tried" "$count"
	kill_long "power loss in the middle of $command: $tried times" "    $((SECONDS - started)) s"
done
t_done
