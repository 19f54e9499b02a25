#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Several at the same time on one volume: the second one waits, or refuses and changes nothing.
. "${0%/*}/lib.sh"

root=$TMP/root
sys=$TMP/sys
mkdir -p "$sys" "$root"/{etc,usr/bin,var/lib/dpkg}
for i in $(seq 1 90); do
	echo "$i" >"$root/usr/bin/f$i"
done
echo >"$root/var/lib/dpkg/status"
find "$root" -exec chown -h 100000:100000 {} +
damage()
{
	for i in $(seq 1 40); do
		chown 0:42 "$root/usr/bin/f$i"
		chmod 4755 "$root/usr/bin/f$i"
	done
}
damage
ctm()
{
	"$CTMEND" --sysroot "$sys" "$@"
}
all()
{
	find "$root" -printf '%P %y %m %U:%G %T@\n' | LC_ALL=C sort
}
before=$(all)
after=$(sed 's/ 0:42 / 100000:100042 /' <<<"$before")

# entries DIR...: how many there are in it
entries()
{
	find "$@" -mindepth 1 -maxdepth 1 | wc -l
}

# slow WORD...: in the background, with a pause at each inode; returns when the first is changed
slow()
{
	local was
	was=$(all)

	strace -f -qq -o /dev/null -e trace=fchownat -e inject=fchownat:delay_enter=30000 \
		"$CTMEND" --sysroot "$sys" "$@" >"$TMP/slow" 2>&1 &
	first=$!
	while [ "$(all)" = "$was" ]; do
		sleep 0.02
	done
}


slow repair --yes --map 100000 "$root"
t_status "beside a repair: another repair refuses" 3 ctm repair --yes --wait 0 --map 100000 "$root"
t_match "beside a repair: says why" "$(cat "$T_ERR")" 'is being repaired by process [0-9]+ .ctmend'
t_status "beside a repair: so does an undo" 3 ctm undo --yes --wait 0 --map 100000 "$root"
t_status "beside a repair: so does a prune" 3 ctm history --prune --wait 0 --keep-runs 1 "$root"
t_status "beside a repair: a check reads" 1 ctm check --map 100000 "$root"
t_match "beside a repair: and says so" "$(cat "$T_OUT")" 'going on'
t_is "beside a repair: calls it no fault" "$(grep -c 'run\.unfinished' "$T_OUT")" 0
wait "$first"
t_is "the first one is done" $? 0
t_is "as if it had been alone" "$(all)" "$after"

slow undo --yes --map 100000 "$root"
t_status "beside an undo: a repair that waits" 0 ctm repair --yes --wait 60 --map 100000 "$root"
wait "$first"
t_is "beside an undo: which was done" $? 0
t_is "beside an undo: repairs what it has put back" "$(all)" "$after"

t_ok "back" ctm undo --yes --map 100000 "$root"
slow repair --yes --map 100000 "$root"
t_status "an undo that waits" 0 ctm undo --yes --wait 60 --map 100000 "$root"
wait "$first"
t_is "for the repair" $? 0
t_is "takes that back" "$(all)" "$before"

slow repair --yes --map 100000 "$root"
t_status "a repair that waits for another" 0 ctm repair --yes --wait 60 --map 100000 "$root"
t_match "has nothing to do" "$(cat "$T_OUT")" '^nothing to repair'
wait "$first"
t_is "as that one has done it" $? 0
t_is "wholly" "$(all)" "$after"

runs=$(entries "$sys"/var/lib/ctmend/*)
damage
slow repair --yes --map 100000 "$root"
t_status "a prune that waits" 0 ctm history --prune --wait 60 --keep-runs 1 "$root"
wait "$first"
t_is "for a repair" $? 0
t_is "keeps its record" "$(entries "$sys"/var/lib/ctmend/*)" 1
t_match "as the newest of all" "$(ls "$sys"/var/lib/ctmend/*)" "^000$((runs + 1))-"
t_ok "which can be taken back" ctm undo --yes --map 100000 "$root"
t_is "to the last byte" "$(all)" "$before"
t_done
