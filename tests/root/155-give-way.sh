#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The config lock of a container is Proxmox VE's: a report gives it back to who waits for it, and
# nobody can make ctmend keep it.
. "${0%/*}/pve.sh"

if ! command -v bindfs >/dev/null || [ ! -c /dev/fuse ]; then
	t_skip_all "no bindfs or no /dev/fuse"
fi

lock=$TMP/sys/run/lock/lxc/pve-config-115.lock

# held: somebody holds the lock, and it is not for a moment
held()
{
	local i

	for ((i = 0; i < 200; i++)); do
		if [ -e "$lock" ] && ! flock -n "$lock" true; then
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# given_back: it is free again; asked as ctmend itself asks, which nobody gives way to
given_back()
{
	local i

	for ((i = 0; i < 300; i++)); do
		if flock -n "$lock" true; then
			return 0
		fi
		sleep 0.1
	done
	return 1
}

# attached IMAGE: the loop devices on it
attached()
{
	losetup -n -O NAME -j "$1"
}

# state PID: the letter of proc(5)
state()
{
	sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat" 2>/dev/null
}

# An image whose storage is so slow that a walk takes several seconds, and nothing to repair on it.
mkdir -p "$TMP/behind/images/115" "$TMP/slow"
image=$TMP/behind/images/115/vm-115-disk-0.raw
t_pve_image "$image" 64M
t_mount "$image" "$TMP/mnt"
mkdir -p "$TMP/mnt/etc" "$TMP/mnt/usr" "$TMP/mnt/srv"
(cd "$TMP/mnt/srv" && seq -f 'd%g/x' 1 1000 | xargs mkdir -p)
chown -R 100000:100000 "$TMP/mnt/etc" "$TMP/mnt/usr" "$TMP/mnt/srv"
t_umount "$TMP/mnt"
printf '\ndir: slow\n\tpath %s\n\tcontent rootdir,images\n' "$TMP/slow" >>"$TMP/sys/etc/pve/storage.cfg"
pve_ct 115 slow:115/vm-115-disk-0.raw
bindfs --read-rate=500k "$TMP/behind" "$TMP/slow"
t_defer t_umount "$TMP/slow"
pve_dir_ct 116
mkdir -p "$(pve_dir 116)/etc" "$(pve_dir 116)/usr"
chown -R 100000:100000 "$(pve_dir 116)"

# --- somebody waits ---------------------------------------------------------------------------------

"$CTMEND" --sysroot "$TMP/sys" check 115 >"$TMP/out" 2>"$TMP/err" &
check=$!
t_ok "a report holds the lock" held
begun=$EPOCHREALTIME
flock "$lock" true &
waiter=$!
wait "$waiter"
took=$(awk -v a="$begun" -v b="$EPOCHREALTIME" 'BEGIN { print int(b - a) }')
wait "$check"
t_is "it gives way" $? 5
t_match "and says to whom" "$(cat "$TMP/err")" \
	"^ctmend: 115: process $waiter \\(flock\\) was waiting for the container's lock$"
t_ok "after 3 s, well before the 10 s of pct start ($took s)" test "$took" -ge 2 -a "$took" -le 7
t_is "nothing is left attached" "$(attached "$TMP/slow/images/115/vm-115-disk-0.raw")" ""

# Another report of ours polls for the lock: it is nobody to give way to.
"$CTMEND" --sysroot "$TMP/sys" check 115 >"$TMP/out" 2>"$TMP/err" &
check=$!
t_ok "a report holds the lock" held
t_status "a second one waits for it" 3 ctm check --wait 4 115
wait "$check"
t_is "without ending the first" $? 0

"$CTMEND" --sysroot "$TMP/sys" check --all >"$TMP/out" 2>"$TMP/err" &
check=$!
t_ok "of several a report holds the lock" held
flock "$lock" true
wait "$check"
t_is "one that gave way is looked at once more" $? 0
t_is "after the others" "$(grep -oP '^CT \d+(?=: clean)' "$TMP/out" | tr '\n' ' ')" "CT 116 CT 115 "
t_match "which is said" "$(cat "$TMP/err")" "^ctmend: 115: it is looked at once more, after the others$"

# --- Ctrl-Z -----------------------------------------------------------------------------------------

set -m
"$CTMEND" --sysroot "$TMP/sys" check 115 >"$TMP/out" 2>"$TMP/err" &
check=$!
set +m
t_ok "a report holds the lock" held
walk=
for ((i = 0; i < 200; i++)); do
	walk=$(pgrep -P "$check")
	if [ -n "$walk" ]; then
		break
	fi
	sleep 0.05
done
for signal in TSTP TTIN TTOU; do
	kill -"$signal" -- "-$check"
done
sleep 0.3
t_match "Ctrl-Z does not stop it" "$(state "$check")" '^[RSD]$'
t_match "nor the walk" "$(state "$walk")" '^[RSD]$'
t_ok "the lock comes back by itself" given_back
for ((i = 0; i < 100; i++)); do
	if [ "$(state "$check")" = T ]; then
		break
	fi
	sleep 0.05
done
t_is "then the signal takes effect" "$(state "$check")" T
t_is "nothing is attached" "$(attached "$TMP/slow/images/115/vm-115-disk-0.raw")" ""
kill -CONT -- "-$check"
wait "$check"
t_is "and the report comes in the end" $? 0
t_match "whole" "$(cat "$TMP/out")" '^CT 115: clean'

# --- a terminal or a pipe that nobody reads --------------------------------------------------------------

lock=$TMP/sys/run/lock/lxc/pve-config-117.lock
mkdir -p "$TMP/tank/images/117"
t_pve_image "$(pve_image 117)" 64M
t_mount "$(pve_image 117)" "$TMP/mnt"
mkdir -p "$TMP/mnt/etc" "$TMP/mnt/usr" "$TMP/mnt/srv"
(cd "$TMP/mnt/srv" && seq -f 'a-file-with-a-name-that-takes-some-room-in-the-report-%g' 1 1000 | xargs touch)
t_umount "$TMP/mnt"
pve_ct 117 tank:117/vm-117-disk-0.raw
cat >"$TMP/terminal.py" <<'SCRIPT'
import os, pty, sys, termios, time
pid, master = pty.fork()
if pid == 0:
    termios.tcflow(0, termios.TCOOFF)  # Ctrl-S
    os.execv(sys.argv[1], sys.argv[1:])
print(pid, flush=True)
sys.stdin.read()
os.kill(pid, 9)
os.waitpid(pid, 0)
SCRIPT
mkfifo "$TMP/in"
python3 "$TMP/terminal.py" "$CTMEND" --sysroot "$TMP/sys" repair --yes --convert 117 <"$TMP/in" >"$TMP/pid" &
terminal=$!
exec 6>"$TMP/in"
t_ok "a repair holds the lock" held
t_ok "a terminal that is stopped does not keep it" flock -w 20 "$lock" true
t_ok "it waits there with its report" kill -0 "$(cat "$TMP/pid")"
exec 6>&-
wait "$terminal"

mkfifo "$TMP/pipe"
exec 6<>"$TMP/pipe"
"$CTMEND" --sysroot "$TMP/sys" undo --dry-run 117 >"$TMP/pipe" 6>&- &
undo=$!
for ((i = 0; i < 200; i++)); do
	if grep -q pipe_write "/proc/$undo/wchan" 2>/dev/null; then
		break
	fi
	sleep 0.05
done
t_ok "a preview has more to say than its pipe holds" grep -q pipe_write "/proc/$undo/wchan"
t_ok "it does not keep the lock" flock -n "$lock" true
t_is "nothing is attached" "$(attached "$(pve_image 117)")" ""
wc -l <"$TMP/pipe" >"$TMP/lines" 6>&- &
reader=$!
exec 6>&-
wait "$undo"
t_is "and then it is said" $? 0
wait "$reader"
t_ok "whole" test "$(cat "$TMP/lines")" -gt 2000
t_done
