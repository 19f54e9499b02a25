#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A signal in the middle of a repair or an undo: it stops behind the inode at hand, says how to go
# on, and both ways are open.
. "${0%/*}/lib.sh"

root=$TMP/root
sys=$TMP/sys
mkdir -p "$sys" "$root"/{etc,usr/bin,var/lib/dpkg}
for i in $(seq 1 150); do
	echo "$i" >"$root/usr/bin/f$i"
done
echo >"$root/var/lib/dpkg/status"
find "$root" -exec chown -h 100000:100000 {} +
for i in $(seq 1 60); do
	chown 0:42 "$root/usr/bin/f$i"
	chmod 4755 "$root/usr/bin/f$i"
done
ctm()
{
	"$CTMEND" --sysroot "$sys" "$@"
}
all()
{
	find "$root" -printf '%P %y %m %U:%G %T@\n' | LC_ALL=C sort
}
# halves: files that are neither as before nor as after
halves()
{
	find "$root/usr/bin" -uid 0 ! -perm 4755 -o -gid 100042 ! -perm 4755 | wc -l
}
repaired()
{
	find "$root/usr/bin" -uid 100000 -gid 100042 | wc -l
}
before=$(all)
after=$(sed 's/ 0:42 / 100000:100042 /' <<<"$before")

# stopped SIGNAL CALL N WORD...: ctmend, which gets the signal in its Nth call
stopped()
{
	local signal=$1 call=$2 n=$3
	shift 3

	strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=$signal:when=$n" \
		"$CTMEND" --sysroot "$sys" "$@"
}

for signal in INT TERM HUP; do
	t_status "$signal: a repair stops" 4 stopped "$signal" fchownat 20 repair --yes --map 100000 "$root"
	t_match "$signal: and says how to go on" "$(cat "$T_OUT")" \
		"^stopped as asked: run 00.* 'ctmend repair $root' goes on with it, 'ctmend undo $root' takes it back$"
	t_is "$signal: behind the inode at hand" "$(repaired)" 20
	t_is "$signal: which is whole" "$(halves)" 0
	t_match "$signal: the run is not finished" "$(ctm history "$root")" '^00.* interrupted$'
	t_status "$signal: the next repair finishes it" 0 ctm repair --yes --map 100000 "$root"
	t_is "$signal: as if nothing had been" "$(all)" "$after"
	t_status "$signal: an undo stops" 4 stopped "$signal" fchownat 20 undo --yes --map 100000 "$root"
	t_is "$signal: behind the inode at hand, too" "$(repaired)" 40
	t_status "$signal: the same command finishes it" 0 ctm undo --yes --map 100000 "$root"
	t_is "$signal: and all is as before" "$(all)" "$before"
done

t_status "stopped, and taken back" 4 stopped INT fchownat 20 repair --yes --map 100000 "$root"
t_status "by undo" 0 ctm undo --yes --map 100000 "$root"
t_is "all is as before" "$(all)" "$before"

t_status "stopped twice" 4 stopped INT fchownat 20 repair --yes --map 100000 "$root"
t_status "the second time while it is finished" 4 stopped INT fchownat 20 repair --yes --map 100000 "$root"
t_is "it has come further" "$(repaired)" 40
t_match "and says how to go on" "$(cat "$T_OUT")" '^stopped as asked: run '
t_status "then it is finished" 0 ctm repair --yes --map 100000 "$root"
t_is "as ever" "$(all)" "$after"
t_ok "and taken back" ctm undo --yes --map 100000 "$root"

t_status "as JSON" 4 stopped INT fchownat 20 repair --json --yes --map 100000 "$root"
t_is "it says so" "$(python3 -c 'import json, sys
t = json.load(sys.stdin)["targets"][0]
print(t["finished"], t["done"])' <"$T_OUT")" "False 20"
t_ok "taken back" ctm undo --yes --map 100000 "$root"

# Before anything is changed a signal ends the program, and leaves nothing.
runs=$(ls -A "$sys/var/lib/ctmend"/*)
stopped INT getdents64 1 repair --yes --map 100000 "$root" >/dev/null 2>&1
t_match "while it reads: it ends" "$?" '^(130|5)$'
t_is "while it reads: nothing has changed" "$(all)" "$before"
t_is "while it reads: no record" "$(ls -A "$sys/var/lib/ctmend"/*)" "$runs"

# No target is begun after it.
cp -a "$root" "$TMP/other"
other=$(find "$TMP/other" -printf '%P %U:%G\n' | sort)
t_status "several targets: it stops" 4 stopped INT fchownat 20 repair --yes --map 100000 "$root" "$TMP/other"
t_is "several targets: the next one is left" "$(find "$TMP/other" -printf '%P %U:%G\n' | sort)" "$other"
t_ok "several targets: taken back" ctm undo --yes --map 100000 "$root"

# From outside, while every call takes its time; ignored, as below nohup, it is ignored.
slow()
{
	strace -f -qq -o /dev/null -e trace=fchownat -e inject=fchownat:delay_enter=20000 \
		"$CTMEND" --sysroot "$sys" repair --yes --map 100000 "$root"
}
slow >"$TMP/said" 2>&1 &
tracer=$!
until [ "$(repaired)" -gt 0 ]; do
	sleep 0.02
done
# the program is the child of strace, which is that of this script's own child
program=$(ps -o pid= --ppid "$(ps -o pid= --ppid "$tracer" | xargs)" | xargs)
kill -TERM "$program"
wait "$tracer"
t_is "a signal from outside" $? 4
t_match "is said" "$(cat "$TMP/said")" '^stopped as asked'
t_ok "and taken back" ctm undo --yes --map 100000 "$root"
t_is "to the last byte" "$(all)" "$before"
ignoring()
{
	(
		trap '' INT
		stopped INT fchownat 20 "$@"
	)
}
t_status "ignored, it stops nothing" 0 ignoring repair --yes --map 100000 "$root"
t_is "all is repaired" "$(all)" "$after"
t_done
