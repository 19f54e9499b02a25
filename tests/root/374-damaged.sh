#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Records that are damaged, and their directory when it is not what it is to be: each error says what
# to type, and that helps.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9374
dir=$(pve_dir $vmid)
records=$PVE_STATE/$vmid
pve_dir_ct $vmid

# fresh [N]: a healthy tree, and the records of N repairs
fresh()
{
	local i

	rm -rf "$dir" "${PVE_STATE:?}"
	mkdir -p "$dir"
	chown 100000:100000 "$dir"
	zoo_healthy "$dir"
	for ((i = 0; i < ${1-0}; i++)); do
		hurt
		ctm repair -q --yes $vmid || return
	done
}

# hurt: two inodes that a repair changes, and a lock that it removes
hurt()
{
	chown 0:0 "$dir/etc/passwd" "$dir/root"
	chmod 4755 "$dir/etc/passwd"
	: >"$dir/var/lib/dpkg/lock"
}

owners()
{
	stat -c '%n %u:%g %a' "$dir/etc/passwd" "$dir/root"
}

# kill_at CALL N WORD...: ctmend, killed when it makes the Nth call
kill_at()
{
	strace -f -qq -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
		"$CTMEND" --sysroot "$TMP/sys" "${@:3}" >/dev/null 2>&1
}

# flip FILE [AT]: one bit of the byte there, else of the one in its middle
flip()
{
	local at=${2-$(($(stat -c %s "$1") / 2))} byte

	byte=$(od -An -tu1 -j "$at" -N 1 "$1")
	printf %b "\\0$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}

# format N FILE: the number of the record's format, behind "ctmend journal"
format()
{
	printf %b "\\0$(printf %o "$1")" | dd of="$2" bs=1 seek=15 conv=notrunc status=none
}

# run_of N: the directory of the run with this number
run_of()
{
	find "$records" -maxdepth 1 -name "000$1-*"
}

# typed REGEX FILE: what is printed there, from ctmend, chmod or the like on, is typed as it stands
typed()
{
	local command

	command=$(tr '\n' ' ' <"$2" | sed 's/  */ /g' | grep -oE "$1" | head -n 1)
	printf '%s\n' "$command" >"$TMP/typed"
	[ -n "$command" ] && PATH=$TMP/bin:$PATH bash -c "$command"
}
mkdir "$TMP/bin"
printf '#!/bin/sh\nexec "%s" --sysroot "%s" "$@"\n' "$CTMEND" "$TMP/sys" >"$TMP/bin/ctmend"
chmod 755 "$TMP/bin/ctmend"
ASIDE='ctmend history --set-aside [0-9]+ [0-9]{4}-[0-9TZ]+'

# A run that has ended, damaged in its middle, and the newest: in the way of undo.
fresh 2
second=$(run_of 2)
sums=$(cd "$second" && sha256sum -- *)
flip "$second/journal"
damaged=$(cd "$second" && sha256sum -- *)
t_fails "ended: it is damaged" [ "$sums" = "$damaged" ]
t_status "ended: check" 1 ctm check $vmid
t_match "ended: says so" "$(cat "$T_OUT")" '^run\.damaged  1'
t_is "ended: and nothing of a run to be finished" "$(grep -c run.unfinished "$T_OUT")" 0
t_match "ended: with the command" "$(tr '\n' ' ' <"$T_OUT" | tr -s ' ')" "$ASIDE"
t_status "ended: undo cannot" 5 ctm undo --yes $vmid
cp "$T_ERR" "$TMP/undo.err"
t_match "ended: and says what to do" "$(cat "$T_ERR")" "$ASIDE"
t_fails "ended: nor can the run be shown" ctm history $vmid 2
t_match "ended: which says the same" "$(cat "$T_ERR")" "$ASIDE\$"
hurt
t_status "ended: a repair is made, and the record is left for a person" 4 ctm repair --yes $vmid
t_match "ended: which it says" "$(cat "$T_OUT")" 'run\.damaged'
t_is "ended: the repair" "$(owners | cut -d' ' -f2 | sort -u)" 100000:100000
t_ok "ended: undone, since that is the newest" ctm undo -q --yes $vmid 3
t_status "ended: repaired" 4 ctm repair -q --yes $vmid
t_ok "ended: what undo said is typed" typed "$ASIDE" "$TMP/undo.err"
t_is "ended: the bytes are kept" "$(cd "$records/set-aside/${second##*/}" && sha256sum -- *)" "$damaged"
t_is "ended: for root alone" "$(stat -c '%a %u' "$records/set-aside")" "700 0"
t_status "ended: check" 0 ctm check $vmid
t_status "ended: the list" 0 ctm history $vmid
t_match "ended: says where it is" "$(cat "$T_OUT")" "moved aside: ${second##*/}, in $records/set-aside\$"
t_is "ended: to programs, too" \
	"$(ctm history --json $vmid | python3 -c 'import json, sys
print(json.load(sys.stdin)["targets"][0]["set_aside"])')" "['${second##*/}']"
t_ok "ended: the other runs can be taken back" ctm undo -q --yes $vmid 1
t_status "ended: the run is none any more" 3 ctm undo --yes $vmid 2

# One that was interrupted: in the way of everything.
fresh 1
hurt
kill_at fchownat 2 repair --yes $vmid
second=$(run_of 2)
t_status "interrupted: while it is whole, it is not moved" 3 ctm history --set-aside $vmid 2
t_match "interrupted: and that says how to finish it" "$(cat "$T_ERR")" "ctmend repair $vmid finishes it"
flip "$second/journal" 60
t_status "interrupted: check" 1 ctm check $vmid
t_match "interrupted: says that it is damaged" "$(cat "$T_OUT")" '^run\.damaged  1'
t_is "interrupted: and does not send to what fails" "$(grep -cE 'run\.unfinished|ctmend (undo|repair)' "$T_OUT")" 0
t_match "interrupted: the list has the code" "$(ctm list)" 'run\.damaged'
t_status "interrupted: repair is refused" 3 ctm repair --yes $vmid
cp "$T_ERR" "$TMP/repair.err"
t_status "interrupted: undo fails" 5 ctm undo --yes $vmid
t_status "interrupted: by its number, too" 5 ctm undo --yes $vmid 2
t_ok "interrupted: what repair said is typed" typed "$ASIDE" "$TMP/repair.err"
t_status "interrupted: then repair goes on" 0 ctm repair --yes $vmid
t_is "interrupted: what is seen on the disk is right" "$(owners | cut -d' ' -f2 | sort -u)" 100000:100000
t_status "interrupted: and check" 0 ctm check $vmid
t_match "interrupted: the number is not given out again" "$(run_of 3)" '/0003-'
t_ok "interrupted: an earlier run can be taken back" ctm undo -q --yes $vmid 1

# What it removed is in its archive.
t_match "interrupted: bsdtar reads what it removed" \
	"$(bsdtar -tf "$records/set-aside/${second##*/}/removed.tar")" 'var/lib/dpkg/lock'

# Whatever is damaged of it, and whatever is in its place.
for how in "rm journal" "flip journal 3" "format 0" "format 1" "format 3" "empty journal" \
	"flip removed.tar" "rm removed.tar" file link open; do
	fresh 1
	hurt
	kill_at fchownat 2 repair --yes $vmid
	second=$(run_of 2)
	case $how in
	"rm "*) rm "$second/${how#rm }" ;;
	"flip journal 3") flip "$second/journal" 3 ;;
	"format "*) format "${how#format }" "$second/journal" ;;
	"flip removed.tar") flip "$second/removed.tar" ;;
	"empty journal") : >"$second/journal" ;;
	file) rm -r "$second" && : >"$second" ;;
	link) mv "$second" "$TMP/elsewhere" && ln -s "$TMP/elsewhere" "$second" ;;
	open) chmod 777 "$second" ;;
	esac
	t_status "$how: check" 1 ctm check $vmid
	code='run\.damaged'
	[ "$how" = "format 3" ] && code='run\.newer'
	t_match "$how: by its code" "$(cat "$T_OUT")" "^$code  1"
	t_fails "$how: repair" ctm repair --yes $vmid
	cp "$T_ERR" "$TMP/said"
	t_ok "$how: what it says is typed" typed "$ASIDE" "$TMP/said"
	t_ok "$how: then repair goes on" ctm repair -q --yes $vmid
	t_ok "$how: and check" ctm check -q $vmid
	t_ok "$how: it lies there" test -L "$records/set-aside/${second##*/}" -o -e "$records/set-aside/${second##*/}"
	rm -rf "$TMP/elsewhere"
done

# The saved files of an ended run: only its undo needs them.
fresh 2
flip "$(run_of 2)/removed.tar"
t_status "saved files: undo fails" 5 ctm undo --yes $vmid
cp "$T_ERR" "$TMP/said"
t_ok "saved files: what it says is typed" typed "$ASIDE" "$TMP/said"
t_ok "saved files: the run before can be taken back" ctm undo -q --yes $vmid
# An undo that was interrupted cannot go on without them.
fresh 1
kill_at fchownat 1 undo --yes $vmid
flip "$(run_of 2)/restore.tar"
t_status "interrupted undo: check" 1 ctm check $vmid
t_match "interrupted undo: by its code" "$(cat "$T_OUT")" '^run\.damaged  1'
t_status "interrupted undo: repair" 5 ctm repair --yes $vmid
cp "$T_ERR" "$TMP/said"
t_ok "interrupted undo: what it says is typed" typed "$ASIDE" "$TMP/said"
t_ok "interrupted undo: then repair goes on" ctm repair -q --yes $vmid

# What is not damaged stays.
fresh 1
t_status "whole: it is not moved" 3 ctm history --set-aside $vmid 1
t_match "whole: and why" "$(cat "$T_ERR")" 'is not damaged'
t_status "none of that number" 3 ctm history --set-aside $vmid 9
t_status "no such target" 3 ctm history --set-aside 77 1
t_status "without a run" 2 ctm history --set-aside $vmid
t_status "with --prune" 2 ctm history --set-aside --prune $vmid 1

# One of a newer program: that may have what is needed, and nobody has to get it.
first=$(run_of 1)
format 9 "$first/journal"
sums=$(cd "$first" && sha256sum -- *)
t_status "newer: check" 1 ctm check $vmid
t_match "newer: by its code" "$(cat "$T_OUT")" '^run\.newer  1'
t_is "newer: it is not called damaged, or to be finished" "$(grep -cE 'run\.(damaged|unfinished)' "$T_OUT")" 0
t_status "newer: repair" 3 ctm repair --yes $vmid
t_match "newer: says the same" "$(cat "$T_ERR")" 'use the ctmend that made it, or a newer one'
t_status "newer: undo" 3 ctm undo --yes $vmid
t_match "newer: says the same, too" "$(cat "$T_ERR")" 'use the ctmend that made it, or a newer one'
cp "$T_ERR" "$TMP/undo.err"
t_status "newer: one run" 3 ctm history $vmid 1
t_match "newer: says the same of it and the command" "$(cat "$T_ERR")" "use the ctmend that made it.*$ASIDE\$"
t_status "newer: the list" 0 ctm history $vmid
t_match "newer: says the same and the command" "$(cat "$T_OUT")" "^next: use the ctmend .*$ASIDE\$"
t_ok "newer: what undo said is typed" typed "$ASIDE" "$TMP/undo.err"
t_is "newer: the bytes are kept" "$(cd "$records/set-aside/${first##*/}" && sha256sum -- *)" "$sums"
hurt
t_ok "newer: then repair goes on" ctm repair -q --yes $vmid

# The directory of all records, or of this target's. The container is clean.
pve_ct 9375 "tank:$vmid/subvol-$vmid-disk-0.subvol"
for at in "$PVE_STATE" "$records"; do
	for how in 777 770 owner link file; do
		fresh 1
		case $how in
		7*) chmod $how "$at" ;;
		owner) chown 1000:1000 "$at" ;;
		link) mv "$at" "$TMP/elsewhere" && ln -s "$TMP/elsewhere" "$at" ;;
		file) rm -r "$at" && : >"$at" ;;
		esac
		name="${at##*/}, $how"
		t_status "$name: check looks all the same" 1 ctm check $vmid
		cp "$T_OUT" "$TMP/check.out"
		t_is "$name: and has one finding" "$(grep -oE '^[a-z]+\.[a-z]+  ' "$T_OUT")" 'run.records  '
		chown 0:0 "$dir/etc/passwd"
		t_status "$name: repair is refused" 3 ctm repair --yes $vmid
		t_is "$name: in one line, and one with what to do" "$(wc -l <"$T_ERR")" 2
		cp "$T_ERR" "$TMP/repair.err"
		t_is "$name: and changes nothing" "$(stat -c %u "$dir/etc/passwd")" 0
		chown 100000:100000 "$dir/etc/passwd"
		t_status "$name: undo is refused" 3 ctm undo --yes $vmid
		t_status "$name: so is history" 3 ctm history $vmid
		t_status "$name: the list is made" 3 ctm list
		if [ "$at" = "$PVE_STATE" ]; then
			t_is "$name: and says it once" "$(grep -cF "'$at'" "$T_ERR")" 2
		fi
		t_ok "$name: what is printed is typed" typed "(chmod|chown|mv) .*'" "$TMP/repair.err"
		t_status "$name: all is well" 0 ctm check $vmid
		rm -rf "$TMP/elsewhere" "$at.away"
	done
done
t_done
