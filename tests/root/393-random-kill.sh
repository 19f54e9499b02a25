#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kill -9 at any moment of a repair of a large tree, then the repair is finished or taken back: the
# tree is as the model says, and nothing is left behind.
. "${0%/*}/killing.sh"

if [ "$KILL_EACH" = 1 ]; then
	inodes=100000 size=512M times=200
else
	inodes=3000 size=64M times=$((100 / KILL_EACH))
fi
"${CC:-cc}" -O2 -o "$TMP/mktree" "$T_TOP/tests/bench/mktree.c"
MKTREE=$TMP/mktree

# quick DIR FILE: every inode, every attribute (ACLs as the kernel has them), in less than a second
quick()
{
	(
		cd "$1" &&
			find . -path ./lost+found -prune -o \
				-printf '%p\t%y\t%m\t%U:%G\t%T@\t%n\t%s\t%l\n' | LC_ALL=C sort &&
			getfattr -R -h -d -m - -e hex . 2>/dev/null
	) >"$2"
}

# look FILE: of the worker's volume
look()
{
	mkdir -p "$TMP/peek" && mount -o ro,noatime "$VOL" "$TMP/peek" && quick "$TMP/peek" "$1" &&
		t_umount "$TMP/peek"
}

# populate DIR: a tree of which two fifths are wrong, and files to be removed
populate()
{
	mkdir "$1/tree" && "$MKTREE" -q -n "$inodes" -w 40 -m -s 3 -c 3 -a 3 "$1/tree" &&
		chown 100000:100000 "$1/tree" && zoo_healthy "$1" && (cd "$1" && zoo__packages)
}

# prepare: the volume, and the model of a repair by which an uninterrupted one is judged
prepare()
{
	vol_new image
	t_image ext4 "$TMP/pristine" "$size" -N $((inodes + 2000)) \
		-E root_owner=100000:100000 && mkdir -p "$TMP/making" &&
		mount "$TMP/pristine" "$TMP/making" && populate "$TMP/making"
	umount "$TMP/making" && vol_put "$TMP/pristine" && look "$TMP/before"
	pve_listing "$VOL" "$TMP/all"
	zoo_want "$TMP/all" "$TMP/model"
	duration=$(date +%s%N)
	ctm repair --yes "$KILL_CT" >"$TMP/out" 2>&1 || kill_bad "repair" "$TMP/out"
	duration=$((($(date +%s%N) - duration) / 1000000))
	pve_listing "$VOL" "$TMP/all"
	listing_diff "$TMP/model" "$TMP/all" >"$TMP/diff" ||
		kill_bad "uninterrupted: the listing differs" "$TMP/diff"
	look "$TMP/want"
	rm "$TMP/all" "$TMP/model"
}

# finish WHAT COMMAND WANT STATUSES
finish()
{
	local status litter

	ctm "$2" --yes "$KILL_CT" >"$TMP/out" 2>&1
	status=$?
	if [[ "|$4|" != *"|$status|"* ]]; then
		kill_bad "$1: $2: exit status $status" "$TMP/out"
	fi
	litter=$(state_litter)
	if [ -n "$litter" ]; then
		kill_bad "$1: $2 leaves: $litter"
	fi
	look "$TMP/got"
	if ! cmp -s "$3" "$TMP/got"; then
		diff -a -U 0 "$3" "$TMP/got" >"$TMP/diff"
		kill_bad "$1: $2: the listing differs" "$TMP/diff" "$TMP/out"
		return 1
	fi
}

# again: the volume as it was at first
again()
{
	vol_put "$TMP/pristine"
	state_clear
}

# shoot WHAT: a repair, killed at a random moment; one that came too late is no kill
shoot()
{
	local pid at status

	for ((;;)); do
		"$CTMEND" --sysroot "$TMP/sys" repair --yes -j 4 "$KILL_CT" >"$TMP/killed.out" 2>&1 &
		pid=$!
		at=$((RANDOM * duration / 32768))
		sleep "$((at / 1000)).$(printf %03d $((at % 1000)))"
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		status=$?
		if ! vol_idle; then
			kill_bad "$1: the volume is still in use"
		fi
		if [ "$status" = 137 ]; then
			return
		fi
		if [ "$status" != 0 ]; then
			kill_bad "$1: exit status $status" "$TMP/killed.out"
			return
		fi
		duration=$((duration * 9 / 10 + 1))
		again
	done
}

# work K N: a worker's part
work()
{
	local k=$1 n=$2 i what fresh=0

	RANDOM=$((11 + k))
	prepare
	for ((i = k; i < times; i += n)); do
		what="kill $i"
		if [ "$fresh" = 0 ]; then
			again
			fresh=1
		fi
		shoot "$what"
		if ((i / n % 2)); then
			# 3: it was killed before there was a record
			finish "$what" undo "$TMP/before" '0|3' || fresh=0
		else
			finish "$what" repair "$TMP/want" 0
			fresh=0
		fi
		echo >>"$TMP/rounds"
	done
	vol_end
}

started=$SECONDS
kill_side_by_side work
t_is "no kill leaves anything that cannot be finished and taken back" "$(head -n 60 "$TMP/bad")" ""
rounds=$(cat "$TMP/mem/"*/rounds | wc -l)
t_is "so many times" "$rounds" "$times"
kill_long "kill -9 at a random moment of a repair of $inodes inodes: $rounds times" \
	"    $((SECONDS - started)) s"
t_done
