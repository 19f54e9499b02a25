# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What is recorded of repairs: the list, one run's diff, and how long it is kept.
. "${0%/*}/lib.sh"

sys=$TMP/sys
state=$sys/var/lib/ctmend
mkdir -p "$sys"
ctm()
{
	"$CTMEND" --sysroot "$sys" "$@"
}

# make_root NAME: a small root that is right
make_root()
{
	mkdir -p "$TMP/$1"/{etc,usr/bin,var/lib/dpkg}
	echo >"$TMP/$1/etc/passwd"
	echo >"$TMP/$1/usr/bin/sudo"
	echo >"$TMP/$1/var/lib/dpkg/status"
	find "$TMP/$1" -exec chown -h 100000:100000 {} +
}

# entries DIR...: how many there are in it
entries()
{
	find "$@" -mindepth 1 -maxdepth 1 | wc -l
}

# repair_one NAME [N]: damage that gives one run, N times
repair_one()
{
	local i

	for ((i = 0; i < ${2-1}; i++)); do
		chown 0:0 "$TMP/$1/usr/bin/sudo"
		chmod 4755 "$TMP/$1/usr/bin/sudo"
		ctm repair -q --yes --map 100000 "$TMP/$1" || return
	done
}

# runs NAME: the names of its records; place NAME: the directory of these
runs()
{
	ls "$state/$(place "$1")"
}
place()
{
	local path=$TMP/$1

	echo "${path//\//%2F}"
}

t_status "without records there is nothing to list" 0 ctm history
t_is "which is said" "$(cat "$T_OUT")" "no repair is recorded on this host"
t_status "and nothing to prune" 0 ctm history --prune
t_ok "no directory was made for that" test ! -e "$sys/var"

make_root a
make_root b
chown 0:0 "$TMP/a/etc/passwd" "$TMP/a/var/lib/dpkg"
echo >"$TMP/a/var/lib/dpkg/lock"
chown 0:0 "$TMP/a/var/lib/dpkg/lock"
chmod 0640 "$TMP/a/var/lib/dpkg/lock"
diff=$(ctm diff --map 100000 "$TMP/a")
SUDO_USER=$'eve\xff' t_ok "a repair" ctm repair --yes --map 100000 "$TMP/a"
t_ok "a repair of another" repair_one b
t_status "the run's diff" 0 ctm history "$TMP/a" 1
t_is "has the changes that diff showed, and its digest" \
	"$(sed '/^note:/d; /^\(---\|+++\)/d; s/^@@ \([a-z.]*\):.*/\1/' "$T_OUT")" \
	"$(sed '/^note:/d; /^\(---\|+++\)/d; s/^@@ \([a-z.]*\):.*/\1/' <<<"$diff")"
t_match "and says who" "$(cat "$T_OUT")" 'by eve\\xff'
t_status "all targets" 0 ctm history
t_is "with a row for each" "$(awk 'NR > 1 && $2 ~ /^0001-/ { print $1 }' "$T_OUT")" \
	"$(printf '%s\n' "$TMP/a" "$TMP/b")"
t_match "and that records stay here" "$(cat "$T_OUT")" '^note: a record stays on the host'
t_status "as JSON" 0 ctm history --json "$TMP/a"
t_is "which is a document, whatever the user is called" \
	"$(python3 -c 'import json, sys
d = json.load(sys.stdin)
r = d["targets"][0]["runs"][0]
print(d["command"], r["state"], r["user"], r["done"], r["removed"], r["digest"])' <"$T_OUT")" \
	"history done eve\\xff 3 1 $(sed -n 's/^plan \([0-9a-f]*\) .*/\1/p' <<<"$diff")"
t_is "its size is that on the disk" \
	"$(python3 -c 'import json, sys; print(json.load(sys.stdin)["targets"][0]["runs"][0]["bytes"])' <"$T_OUT")" \
	"$(stat -c '%b %B' "$state/$(place a)"/*/* | awk '{ n += $1 * $2 } END { print n }')"
t_status "one run as JSON" 0 ctm history --json "$TMP/a" 1
t_is "has each change" \
	"$(python3 -c 'import json, sys
for a in json.load(sys.stdin)["targets"][0]["actions"]: print(a["action"], a["path"])' <"$T_OUT" | sort)" \
	"$(printf '%s\n' 'remove /var/lib/dpkg/lock' 'set /etc/passwd' 'set /var/lib/dpkg')"
t_status "a run that is not there" 3 ctm history "$TMP/a" 9
t_status "a target that is not there" 3 ctm history "$TMP/c" 1

t_ok "undone" ctm undo --yes --map 100000 "$TMP/a"
t_match "the list says so" "$(ctm history "$TMP/a")" '^0001-.* undone$'
t_match "of both" "$(ctm history "$TMP/a")" '^0002-.* undo of 0001-.* done$'

# Nothing but the state directory is written by --prune, and nothing at all without it.
t_ok "more runs" repair_one b 4
all=$(runs b)
t_status "a dry prune" 0 ctm history --prune -n --keep-runs 2
t_is "says what would go" "$(sed -n 's/.*would remove \([^,]*\),.*/\1/p' "$T_OUT")" "$(head -n 3 <<<"$all")"
t_is "and removes nothing" "$(runs b)" "$all"
t_status "a prune of the other target" 0 ctm history --prune --keep-runs 2 "$TMP/a"
t_is "removes nothing of this one" "$(runs b)" "$all"
t_status "a prune by number" 0 ctm history --prune --keep-runs 2 "$TMP/b"
t_is "says what went" "$(sed -n 's/.*: removed \([^,]*\),.*/\1/p' "$T_OUT")" "$(head -n 3 <<<"$all")"
t_is "and that is gone" "$(runs b)" "$(tail -n 2 <<<"$all")"
t_is "without a rest" "$(ls -A "$state/$(place b)")" "$(tail -n 2 <<<"$all")"
t_status "by age" 0 ctm history --prune --keep-days 1 --json "$TMP/b"
t_is "nothing is older than a day" \
	"$(python3 -c 'import json, sys; print(json.load(sys.stdin)["targets"][0]["forgotten"])' <"$T_OUT")" "[]"
sleep 1.1
t_status "all that is older than no day" 0 ctm history --prune --keep-days 0 "$TMP/b"
t_is "the newest stays" "$(runs b)" "$(tail -n 1 <<<"$all")"
repair_one b
t_match "and numbers go on" "$(runs b | tail -n 1)" '^0006-'

# Killed in the middle: at each call that removes, the next prune finishes it.
repair_one b 3
for call in "renameat2 1" "fsync 1" "unlinkat 1" "unlinkat 2"; do
	# shellcheck disable=SC2086 # two words
	set -- $call
	repair_one b
	strace -f -qq -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
		"$CTMEND" --sysroot "$sys" history -q --prune --keep-runs 3 "$TMP/b" 2>/dev/null
	t_is "killed at $call" $? 137
	t_status "killed at $call: the list is whole" 0 ctm history "$TMP/b"
	t_is "killed at $call: nothing is damaged" "$(grep -c damaged "$T_OUT")" 0
	t_ok "killed at $call: the next one" ctm history -q --prune --keep-runs 3 "$TMP/b"
	t_is "killed at $call: leaves no rest" "$(entries "$state/$(place b)")" 3
done
t_ok "what is kept can be taken back" ctm undo --yes --map 100000 "$TMP/b"
t_is "as it was" "$(stat -c '%u:%g %a' "$TMP/b/usr/bin/sudo")" "0:0 4755"

# One that is being worked on is left, and that is a refusal.
t_background flock "$state/$(place b)" sh -c "touch '$TMP/ready'; exec sleep 30"
t_status "while a repair works, its records are left" 3 ctm history --prune --wait 0 --keep-runs 1
t_match "and that is said" "$(cat "$T_ERR")" "$TMP/b: another repair or undo"
t_stop
t_is "that of the other target went" "$(runs a | wc -l)" 1

# A record of a newer ctmend: shown as such, and nothing is done on top of it.
make_root c
repair_one c 2
printf '\x09' | dd of="$(find "$state/$(place c)" -path '*/0001-*/journal')" bs=1 seek=15 conv=notrunc status=none
t_status "a newer record does not stop the list" 0 ctm history "$TMP/c"
t_match "it is shown as that" "$(cat "$T_OUT")" '^0001-.*format 9.* newer$'
t_match "and the other one as ever" "$(cat "$T_OUT")" '^0002-.* done$'
chown 0:0 "$TMP/c/etc/passwd"
t_status "a repair is refused" 3 ctm repair --yes --map 100000 "$TMP/c"
t_match "with the reason" "$(cat "$T_ERR")" 'run 0001-.* format 9'
t_is "and changes nothing" "$(stat -c %u "$TMP/c/etc/passwd")" 0
t_status "so is its diff" 3 ctm history "$TMP/c" 1
t_status "a prune leaves it" 0 ctm history --prune --keep-runs 1 "$TMP/c"
t_match "as it cannot be read" "$(runs c | head -n 1)" '^0001-'

# After a repair old records go by themselves. (By age: tests/test_retain.c, since no clock is set here.)
make_root d
repair_one d 22
t_is "twenty runs stay" "$(runs d | wc -l)" 20
t_match "the newest ones" "$(runs d | head -n 1)" '^0003-'
t_done
