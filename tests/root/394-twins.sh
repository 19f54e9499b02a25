#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two images made alike: mke2fs -d from one tree gives every file the same inode number and the same
# generation, so the handles of a record fit both. A record of the one is still refused on the other,
# as it is for a run that was interrupted.
#
# What is not told apart: file systems with the same UUID whose root was made in the same nanosecond
# (mke2fs has whole seconds, and takes a time from its environment). From one tree that gives the
# same bytes, as a copy of the image is: then it is the same volume at an earlier time, and what
# stands there decides, inode by inode.
. "${0%/*}/killing.sh"

UUIDS=(11111111-2222-3333-4444-555555555555 66666666-7777-8888-9999-aaaaaaaaaaaa)
t_defer eval "TMP=$TMP"
kill_host "$TMP/mem/0"

# twin FILE UUID TIME
twin()
{
	rm -f "$1"
	truncate -s 16M "$1"
	E2FSPROGS_FAKE_TIME=$3 mke2fs -q -t ext4 -U "$2" -d "$TMP/tree" \
		-E "root_owner=100000:100000,hash_seed=${UUIDS[0]}" "$1"
}

# handles FILE: number, generation and path of each inode
handles()
{
	t_mount "$1" "$TMP/in" -o ro
	(cd "$TMP/in" && lsattr -R -d -v . && find . -printf '%i %p\n' | LC_ALL=C sort)
	t_umount "$TMP/in"
}

# refused NAME REGEX COMMAND: the twin $TMP/twin in the volume's place is not touched
refused()
{
	local name=$1 regex=$2 trace
	shift 2

	vol_get "$TMP/first"
	vol_put "$TMP/twin"
	trace=$(pve_trace "$VOL")
	t_status "$name is refused" 3 ctm "$@" --yes "$KILL_CT"
	t_match "$name: and why" "$(cat "$T_ERR")" "$regex"
	t_is "$name: nothing has changed" "$(pve_trace "$VOL")" "$trace"
	vol_put "$TMP/first"
}

# drill NAME UUID TIME REGEX: the twin is made with these
drill()
{
	local name=$1 regex=$4

	twin "$TMP/twin" "$2" "$3"
	t_is "$name: its handles are the same" "$(handles "$TMP/twin")" "$(handles "$TMP/pristine")"

	state_clear
	vol_put "$TMP/pristine"
	t_status "$name: repair" 0 ctm repair --yes "$KILL_CT"
	refused "$name: undo" "$regex" undo
	t_status "$name: undo of the first works" 0 ctm undo --yes "$KILL_CT"

	state_clear
	vol_put "$TMP/pristine"
	t_status "$name: half a repair" 137 supervise -k "$half" "$CTMEND" --sysroot "$TMP/sys" \
		repair --yes "$KILL_CT"
	vol_idle
	refused "$name: to finish it" "$regex" repair
	refused "$name: to take it back" "$regex" undo
	t_status "$name: the first can be finished" 0 ctm repair --yes "$KILL_CT"
	pve_listing "$VOL" "$TMP/got"
	t_is "$name: and is repaired" "$(listing_diff "$TMP/want" "$TMP/got")" ""
}

mkdir "$TMP/tree"
zoo_healthy "$TMP/tree"
(cd "$TMP/tree" && zoo__modes)
# Reading it must not change the times that mke2fs copies.
t_mount "$TMP/tree" "$TMP/tree" --bind
mount -o remount,bind,noatime "$TMP/tree"
vol_new image
twin "$TMP/pristine" "${UUIDS[0]}" 1700000000
vol_put "$TMP/pristine"
pve_listing "$VOL" "$TMP/before"
listing_shift 0:100000:65536 0:100000:65536 "$TMP/before" "$TMP/want"
t_status "a repair" 0 supervise -t "$TMP/calls" "$CTMEND" --sysroot "$TMP/sys" repair --yes "$KILL_CT"
half=$(awk -F '\t' '$2 == "chown" && ++n == 10 { print $1 }' "$TMP/calls")

drill "another UUID" "${UUIDS[1]}" 1700000000 'UUID'
drill "another time" "${UUIDS[0]}" 1700000001 'birth time'

# Nothing tells these two apart, because there is nothing.
twin "$TMP/twin" "${UUIDS[0]}" 1700000000
t_ok "the same UUID and time give the same bytes" cmp "$TMP/twin" "$TMP/pristine"
state_clear
vol_put "$TMP/pristine"
t_status "half a repair" 137 supervise -k "$half" "$CTMEND" --sysroot "$TMP/sys" repair --yes "$KILL_CT"
vol_idle
vol_put "$TMP/twin"
t_status "is finished on the same bytes" 0 ctm repair --yes "$KILL_CT"
pve_listing "$VOL" "$TMP/got"
t_is "and they are repaired" "$(listing_diff "$TMP/want" "$TMP/got")" ""
vol_put "$TMP/twin"
t_status "there is nothing to take back" 0 ctm undo --yes "$KILL_CT"
t_ok "and nothing is changed" cmp "$TMP/twin" "$VOL"
t_done
