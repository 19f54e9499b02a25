#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A run that was interrupted is a fault of its own: reports show it and what finishing it would do,
# the digest covers it, and a hook leaves a person's alone.
. "${0%/*}/pve.sh"

vmid=371
root=$(pve_dir $vmid)
pve_dir_ct $vmid

# fresh: a tree with damage of many kinds, and no records
fresh()
{
	local i

	rm -rf "$root" "$PVE_STATE"
	mkdir -p "$root"/{etc,usr/bin,var/lib/dpkg}
	for i in $(seq 1 120); do
		echo "$i" >"$root/usr/bin/f$i"
	done
	ln "$root/usr/bin/f7" "$root/usr/bin/a-link"
	echo >"$root/var/lib/dpkg/status"
	echo >"$root/var/lib/dpkg/lock"
	find "$root" -exec chown -h 100000:100000 {} +
	for i in $(seq 1 40); do
		chown 0:42 "$root/usr/bin/f$i"
		chmod $((i % 2 ? 4755 : 2755)) "$root/usr/bin/f$i"
	done
	chown 0:0 "$root/var/lib/dpkg/lock" "$root/var/lib/dpkg"
	setcap cap_net_raw=ep "$root/usr/bin/f2"
	setfacl -m u:33:r "$root/usr/bin/f3"
}

# One line for each inode that the diff could name: its first name, as the diff has it.
all()
{
	(cd "$root" && find . -printf '%i\t%y %#m %U:%G /%P\n' | LC_ALL=C sort -t$'\t' -k2.1 |
		awk -F '\t' '!seen[$1]++ { print $2 }' | sed 's/ 0\([0-7]*\) / \1 /' | LC_ALL=C sort
		getcap -n -r . | sed 's|^\([^ ]*\) \(.*\)|\2 /\1|; s|/\./|/|' | LC_ALL=C sort
		getfacl -nR --absolute-names . 2>/dev/null)
}

# kill_at CALL N COMMAND...: ctmend, killed when it makes the Nth call
kill_at()
{
	local call=$1 n=$2
	shift 2

	strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
		"$CTMEND" --sysroot "$TMP/sys" "$@" >/dev/null 2>&1
}

# diff_paths SIGN: paths of the lines with this sign in the last diff, sorted
diff_paths()
{
	sed -n "/^\($1$1$1\)/d; s|^$1[^/]*\(/[^ ]*\).*|\1|p" "$TMP/diff" | LC_ALL=C sort
}

# now_paths: which paths are not yet as in the listing "want", by stat alone
now_paths()
{
	diff <(all) "$TMP/want" | sed -n 's|^[<>] .* \(/.*\)$|\1|p' | LC_ALL=C sort -u
}

# entries DIR...: how many there are in it
entries()
{
	find "$@" -mindepth 1 -maxdepth 1 | wc -l
}

fresh
t_ok "an uninterrupted repair" ctm repair --yes $vmid
all >"$TMP/want"

for at in "fchownat 1" "fchownat 20" "chmod 5" "setxattr 1" "unlinkat 1"; do
	fresh
	# shellcheck disable=SC2086 # two words
	kill_at $at repair --yes $vmid
	t_is "killed at $at" $? 137
	all >"$TMP/halfway"
	t_status "killed at $at: check finds work" 1 ctm check $vmid
	t_match "killed at $at: with a code of its own" "$(cat "$T_OUT")" 'run\.unfinished'
	t_match "killed at $at: and the run" "$(cat "$T_OUT")" 'repair 0001-.* was interrupted'
	t_status "killed at $at: list shows it" 1 ctm list
	t_match "killed at $at: as such" "$(cat "$T_OUT")" 'run\.unfinished'
	t_status "killed at $at: diff" 1 ctm diff $vmid
	cp "$T_OUT" "$TMP/diff"
	t_is "killed at $at: no inode is listed twice" "$(diff_paths - | uniq -d)" ""
	t_is "killed at $at: what is not finished is listed, and nothing else" "$(diff_paths -)" "$(now_paths)"
	t_is "killed at $at: all of it is the run's" "$(grep '^@@' "$TMP/diff" | cut -d: -f1)" \
		"@@ run.unfinished"
	t_is "killed at $at: reports change nothing" "$(all)" "$(cat "$TMP/halfway")"
	plan=$(sed -n 's/^plan \([0-9a-f]*\) .*/\1/p' "$TMP/diff")
	t_status "killed at $at: another plan is refused" 3 ctm repair --approve "${plan:16}${plan:0:16}" $vmid
	t_is "killed at $at: before anything is done" "$(all)" "$(cat "$TMP/halfway")"
	t_status "killed at $at: the plan is carried out" 0 ctm repair --approve "$plan" $vmid
	t_is "killed at $at: and all is as after an uninterrupted repair" "$(all)" "$(cat "$TMP/want")"
	t_status "killed at $at: clean" 0 ctm check $vmid
	t_is "killed at $at: one run" "$(entries "$PVE_STATE/$vmid")" 1
done

# Damage that came after: in the same plan, in its own hunk, and done by the same approval.
fresh
kill_at fchownat 20 repair --yes $vmid
chown 0:0 "$root/etc"
t_status "more damage: diff" 1 ctm diff $vmid
cp "$T_OUT" "$TMP/diff"
t_is "more damage: has a hunk of its own" "$(grep '^@@' "$TMP/diff" | cut -d: -f1)" \
	"$(printf '%s\n' '@@ run.unfinished' '@@ own.host')"
t_is "more damage: no inode is listed twice" "$(diff_paths - | uniq -d)" ""
plan=$(sed -n 's/^plan \([0-9a-f]*\) .*/\1/p' "$TMP/diff")
n=$(sed -n 's/^plan [0-9a-f]* *\([0-9]*\) .*/\1/p' "$TMP/diff")
t_is "more damage: the number is that of all" "$(diff_paths - | wc -l)" "$n"
t_status "more damage: all of it is carried out" 0 ctm repair --approve "$plan" $vmid
t_is "more damage: nothing is left" "$(all)" "$(cat "$TMP/want")"
t_is "more damage: the rest is a run of its own" "$(entries "$PVE_STATE/$vmid")" 2

# What somebody has changed since is said before, and left.
fresh
kill_at fchownat 20 repair --yes $vmid
chown 5:5 "$root/usr/bin/f9" "$root/usr/bin/f40" "$root/usr/bin/f30"
t_status "changed since: diff" 1 ctm diff $vmid
t_match "changed since: says so" "$(cat "$T_OUT")" '^note: .* [123] entries have changed since'
t_status "changed since: they are left" 4 ctm repair --yes $vmid

# An interrupted undo: the diff is what it still takes back. Approved, exactly that is done.
fresh
all >"$TMP/before"
ctm repair -q --yes $vmid
kill_at fchownat 20 undo --yes $vmid
t_is "an undo is killed" $? 137
cp "$TMP/before" "$TMP/was"
t_status "undo: check finds work" 1 ctm check $vmid
t_match "undo: names it" "$(cat "$T_OUT")" 'undo 0002-.* was interrupted'
t_status "undo: diff" 1 ctm diff $vmid
cp "$T_OUT" "$TMP/diff"
t_is "undo: is the rest of it alone" "$(grep '^@@' "$TMP/diff" | cut -d: -f1)" "@@ run.unfinished"
t_is "undo: with the file that comes back" "$(diff_paths + | grep -c /var/lib/dpkg/lock)" 1
t_is "undo: of which nothing is there yet" "$(diff_paths - | grep -c /var/lib/dpkg/lock)" 0
plan=$(sed -n 's/^plan \([0-9a-f]*\) .*/\1/p' "$TMP/diff")
t_status "undo: approved" 4 ctm repair --approve "$plan" $vmid
t_is "undo: exactly that is done" "$(all)" "$(cat "$TMP/before")"
t_status "undo: the repair is another plan" 0 ctm repair --yes $vmid
kill_at fchownat 20 undo --yes $vmid
t_status "undo: with --yes it is finished, and the repair follows" 0 ctm repair --yes $vmid
t_is "undo: so that all is repaired" "$(all)" "$(cat "$TMP/want")"

# While a repair works, a report says that, and no fault of its own.
fresh
kill_at fchownat 20 repair --yes $vmid
t_background flock "$PVE_STATE/$vmid" sh -c "touch '$TMP/ready'; exec sleep 30"
t_status "a repair at work" 1 ctm check $vmid
t_is "is no unfinished run" "$(grep -c 'run\.unfinished' "$T_OUT")" 0
t_match "and is said" "$(cat "$T_OUT")" 'going on'
t_stop

# Hooks: a person's run is left, and the start goes on.
lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock
all >"$TMP/halfway"
t_status "a hook of a start leaves it" 0 flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook $vmid pre-start
t_match "and says so" "$(cat "$T_ERR")" 'run 0001-.* no hook'
t_status "with --strict it refuses" 3 ctm hook --strict $vmid pre-start
t_is "nothing has changed" "$(all)" "$(cat "$TMP/halfway")"
t_ok "a person finishes it" ctm repair --yes $vmid

fresh
kill_at unlinkat 1 hook $vmid pre-start
t_is "the work of a hook is killed, the start goes on" $? 0
t_match "its run is its own" "$(ctm history $vmid)" 'repair by a hook .* interrupted'
t_status "the next hook finishes it" 0 flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook $vmid pre-start
t_match "which the list knows" "$(ctm history $vmid)" 'repair by a hook .* done'
t_ok "the file is gone" test ! -e "$root/var/lib/dpkg/lock"

# A record that may be unfinished and cannot be read.
journal=$(echo "$PVE_STATE/$vmid"/0001-*/journal)
printf '\x09' | dd of="$journal" bs=1 seek=15 conv=notrunc status=none
t_status "a record of a newer program: check says so" 1 ctm check $vmid
t_match "with the code" "$(cat "$T_OUT")" 'run\.newer'
t_match "and the reason" "$(cat "$T_OUT")" 'format 9'
all >"$TMP/halfway"
t_status "a repair is refused" 3 ctm repair --yes $vmid
t_status "and a hook, by which no start is stopped" 0 \
	flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook $vmid pre-start
t_is "nothing has changed" "$(all)" "$(cat "$TMP/halfway")"
t_done
