# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# A repair that is killed in the middle is finished by the next one, and can be taken back.
. "${0%/*}/lib.sh"
. "${0%/*}/listing.sh"

root=$TMP/root
sys=$TMP/sys
mkdir -p "$sys" "$root"/{etc,usr/bin,var/lib/dpkg}
for i in $(seq 1 300); do
	echo "$i" >"$root/usr/bin/f$i"
done
echo >"$root/var/lib/dpkg/status"
echo >"$root/var/lib/dpkg/lock"
find "$root" -exec chown -h 100000:100000 {} +
for i in $(seq 1 140); do
	chown 0:42 "$root/usr/bin/f$i"
	chmod $((i % 2 ? 4755 : 2755)) "$root/usr/bin/f$i"
done
chown 0:0 "$root/var/lib/dpkg/lock"
setcap cap_net_raw=ep "$root/usr/bin/f2"

all()
{
	find "$root" -printf '%P %y %m %U:%G %T@\n' | LC_ALL=C sort
	getcap -n -r "$root" | LC_ALL=C sort
}
wanted()
{
	sed -E -e 's/ 0:42 / 100000:100042 /' -e '\|^var/lib/dpkg/lock |d' \
		-e 's|(/usr/bin/f2 cap_net_raw=ep)$|\1 [rootid=100000]|' <<<"$1"
}
ctmend()
{
	"$CTMEND" --sysroot "$sys" "$@"
}
before=$(all)

# kill_at CALL N: a repair that is killed when it makes the Nth call
kill_at()
{
	strace -f -qq -o /dev/null -e "trace=$1" -e "inject=$1:signal=KILL:when=$2" \
		"$CTMEND" --sysroot "$sys" repair --yes --map 100000 "$root" >/dev/null 2>&1
}

for at in "fchownat 1" "fchownat 70" "fchownat 140" "setxattr 1" "unlinkat 1"; do
	# shellcheck disable=SC2086 # two words
	kill_at $at
	t_is "killed at $at" $? 137
	t_ok "killed at $at: the next repair finishes it" ctmend repair --yes --map 100000 "$root"
	t_is "killed at $at: all is as an uninterrupted repair leaves it" "$(all)" "$(wanted "$before")"
	t_ok "killed at $at: undo" ctmend undo --yes --map 100000 "$root"
	t_is "killed at $at: undo brings everything back" "$(all)" "$before"
done

kill_at fchownat 50
t_ok "an interrupted repair can be taken back as it is" ctmend undo --yes --map 100000 "$root"
t_is "and then everything is as before" "$(all)" "$before"

# flip FILE: one bit of a byte in its middle
flip()
{
	local at=$(($(stat -c %s "$1") / 2)) byte

	byte=$(od -An -tu1 -j "$at" -N 1 "$1")
	printf %b "\\0$(printf %o $((byte ^ 1)))" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}

# Without a whole record nobody goes on: what has been taken away would be lost.
kill_at fchownat 50
halfway=$(all)
for file in journal removed.tar; do
	for at in "$sys"/var/lib/ctmend/*/*/"$file"; do :; done
	flip "$at"
	t_fails "$file is damaged: the repair is not finished" ctmend repair --yes --map 100000 "$root"
	t_match "$file is damaged: which is said" "$(cat "$T_ERR")" 'damaged'
	t_fails "$file is damaged: it is not taken back" ctmend undo --yes --map 100000 "$root"
	t_is "$file is damaged: nothing has changed" "$(all)" "$halfway"
	flip "$at"
done
t_ok "whole again it is" ctmend undo --yes --map 100000 "$root"
t_is "and everything is as before" "$(all)" "$before"

# Who approves a plan of what an interrupted repair has left does not hear afterwards, when it was
# finished, that the plan is another one.
kill_at fchownat 50
halfway=$(all)
plan=$(ctmend diff --map 100000 "$root" | sed -n 's/^plan \([0-9a-f]*\) .*/\1/p')
t_status "another plan is refused" 3 ctmend repair --approve "${plan:16}${plan:0:16}" \
	--map 100000 "$root"
t_is "before anything is done" "$(all)" "$halfway"
t_ok "the right one is carried out" ctmend repair --approve "$plan" --map 100000 "$root"
t_is "and all is repaired" "$(all)" "$(wanted "$before")"
t_done
