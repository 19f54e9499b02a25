#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A repair or an undo that is killed at a system call which changes something, at each of them: the
# next repair comes to where an uninterrupted one does, and undo to where it began.
. "${0%/*}/killing.sh"

# table FILE...: the calls of scenarios, counted: phases with calls and numbers
table()
{
	awk -F '\t' '
		{ n[$2]++; call[$2, $3]++; all[$3] = 1 }
		END {
			m = split("attach record remove times chown mode ACL capability flags " \
				"restore done detach", phase, " ")
			for (i = 1; i <= m; i++) {
				if (!n[phase[i]]) continue
				line = sprintf("    %-10s %4d  ", phase[i], n[phase[i]])
				for (c in all) if (call[phase[i], c]) {
					if (length(line) > 80) {
						print line
						line = sprintf("%21s", "")
					}
					line = line " " c " " call[phase[i], c]
				}
				print line
			}
		}' "$@"
}

# begin COMMAND: the state that COMMAND is killed in
begin()
{
	if [ "$1" = repair ]; then
		state_clear
		vol_put "$TMP/pristine"
	else
		state_put "$TMP/repaired.state"
		vol_put "$TMP/repaired"
	fi
}

# killed COMMAND JOBS OPTION...: it runs under the supervisor with these options
killed()
{
	local command=$1 jobs=$2
	local -a words=(--yes "${KILL_OPTIONS[@]}" "$KILL_TARGET")
	shift 2

	if [ "$command" = repair ]; then
		words=(-j "$jobs" "${words[@]}")
	fi
	supervise "$@" "$CTMEND" --sysroot "$TMP/sys" "$command" "${words[@]}" >"$TMP/killed.out" 2>&1
}

# prepare KIND COMMAND: makes the volume and says how an uninterrupted run goes
prepare()
{
	vol_new "$1"
	vol_make -O mmp || kill_bad "$1: no volume"
	if [ "$2" = undo ]; then
		state_clear
		kill_run 0 "$1: uninterrupted" "$TMP/want" repair "${KILL_OPTIONS[@]}"
		vol_get "$TMP/repaired"
		state_get "$TMP/repaired.state"
	fi
	begin "$2"
	killed "$2" 1 -t "$TMP/calls" || kill_bad "$1: $2 fails" "$TMP/killed.out"
	pve_listing "$VOL" "$TMP/got"
	if [ "$2" = repair ]; then
		listing_diff "$TMP/want" "$TMP/got" >"$TMP/diff"
	else
		listing_diff "$TMP/before" "$TMP/got" >"$TMP/diff"
	fi || kill_bad "$1: $2, uninterrupted: the listing differs" "$TMP/diff"
}

# at KIND COMMAND JOBS SIDE N: one point. SIDE: -k before the call, -K behind it
at()
{
	local what="$1, $2 -j$3, $4 $5" status

	begin "$2"
	killed "$2" "$3" "$4" "$5"
	status=$?
	# How often it is asked whether a device is free again is never the same.
	if [ "$status" = 0 ] && [ "$5" -gt $(($(wc -l <"$TMP/calls") - 20)) ]; then
		status=137
	fi
	if [ "$status" != 137 ]; then
		kill_bad "$what: exit status $status" "$TMP/killed.out"
	fi
	if ! vol_idle; then
		kill_bad "$what: the volume is still in use"
	fi
	kill_both "$what"
	echo >>"$TMP/tried"
}

# every K N KIND COMMAND SIDE: a worker's part of all points
every()
{
	local k=$1 n=$2 kind=$3 command=$4 side=$5 total i

	rm -f "$TMP/tried"
	prepare "$kind" "$command"
	total=$(wc -l <"$TMP/calls")
	for ((i = 1 + k * KILL_EACH; i <= total; i += n * KILL_EACH)); do
		at "$kind" "$command" 1 "$side" "$i"
	done
	vol_end
}

# some K N KIND COMMAND JOBS COUNT: a worker's part of COUNT random points
some()
{
	local k=$1 n=$2 kind=$3 command=$4 jobs=$5 count=$6 total i

	rm -f "$TMP/tried"
	prepare "$kind" "$command"
	total=$(wc -l <"$TMP/calls")
	RANDOM=$((5 + k))
	for ((i = k; i < count; i += n)); do
		at "$kind" "$command" "$jobs" -k $((1 + RANDOM % total))
	done
	vol_end
}

# scenario NAME WORKER WORD...: runs it, unless KILL_ONLY names another; calls of an uninterrupted
# run go to $TMP/calls.NAME
scenario()
{
	local name=$1 points started=$SECONDS
	shift

	if [ -n "${KILL_ONLY-}" ] && [ "$KILL_ONLY" != "$name" ]; then
		return
	fi
	: >"$TMP/bad"
	kill_side_by_side "$@"
	points=$(cat "$TMP/mem/"*/tried | wc -l)
	cp "$TMP/mem/0/calls" "$TMP/calls.$name"
	t_is "$name: whatever was interrupted can be finished and taken back" "$(head -n 60 "$TMP/bad")" ""
	t_ok "$name: something was interrupted" [ "$points" -gt 0 ]
	kill_long "$name: killed $points times, $(wc -l <"$TMP/calls.$name") calls that change something" \
		"$(table "$TMP/calls.$name")" "    $((SECONDS - started)) s"
}

few=$((200 / KILL_EACH))
scenario "repair of an image" every image repair -k
scenario "repair of a device" every device repair -K
scenario "repair of a directory" every directory repair -k
scenario "undo of an image" every image undo -k
# Only the walk has workers; what changes the volume is one thread, whatever -j is.
scenario "repair of an image, four workers" some image repair 4 "$few"
if [ -n "${KILL_ONLY-}" ]; then
	t_done
fi
cat "$TMP"/calls.repair\ of\ a* "$TMP/calls.undo of an image" >"$TMP/calls"
kill_long "all of these:" "$(table "$TMP/calls")"
for phase in record remove chown mode ACL capability "done" detach; do
	t_ok "enough points in phase $phase" [ "$(cut -f 2 "$TMP/calls" | grep -cx "$phase")" -ge 20 ]
done
t_done
