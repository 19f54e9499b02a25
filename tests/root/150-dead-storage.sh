#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One storage of the host does not answer: nobody who works on another one waits for it.
# Runs alone: the device that does not answer would stop any other script that calls sync(1).
. "${0%/*}/pve.sh"

if ! command -v bindfs >/dev/null || [ ! -c /dev/fuse ]; then
	t_skip_all "no bindfs or no /dev/fuse"
fi

# fill DIR: a clean rootfs
fill()
{
	mkdir -p "$1/etc" "$1/usr/bin" "$1/var/lib/dpkg" "$1/var/lib/pacman" "$1/root"
	touch "$1/etc/hosts" "$1/var/lib/dpkg/status"
	mkdir "$1/var/lib/pacman/local"
	chown -R 100000:100000 "$1"
}

# spoil DIR: what a repair and a hook have to put right
spoil()
{
	touch "$1/root/from-host"
	chown 0:0 "$1/root/from-host"
}

# quick NAME STATUS COMMAND...: ends within 15 s with that status
quick()
{
	local name=$1 want=$2
	shift 2
	t_status "$name" "$want" timeout -k 1 15 "$@"
}

pve_dir_ct 115
fill "$(pve_dir 115)"
mkdir -p "$TMP/tank/images/116"
t_pve_image "$(pve_image 116)" 64M
t_mount "$(pve_image 116)" "$TMP/mnt"
fill "$TMP/mnt"
spoil "$TMP/mnt"
t_umount "$TMP/mnt"
pve_ct 116 tank:116/vm-116-disk-0.raw

# The storage "dead", with a directory, an image and a plain container on it.
mkdir -p "$TMP/behind/images/117" "$TMP/behind/web" "$TMP/dead" "$TMP/sys/var/lib/lxc/web"
fill "$TMP/behind/web"
truncate -s 64M "$TMP/behind/images/117/vm-117-disk-0.raw"
printf '\ndir: dead\n\tpath %s\n\tcontent rootdir,images\n' "$TMP/dead" >>"$TMP/sys/etc/pve/storage.cfg"
pve_ct 117 dead:117/vm-117-disk-0.raw
printf 'lxc.rootfs.path = %s\nlxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 100000 65536\n' \
	"$TMP/dead/web" >"$TMP/sys/var/lib/lxc/web/config"
bindfs -f "$TMP/behind" "$TMP/dead" &
daemon=$!
revive()
{
	kill -CONT "$daemon" 2>/dev/null
	t_umount "$TMP/dead"
	wait "$daemon" 2>/dev/null
}
t_defer revive
for ((i = 0; i < 100; i++)); do
	if mountpoint -q "$TMP/dead"; then
		break
	fi
	sleep 0.05
done
t_ok "the storage is there" test -e "$TMP/dead/images/117/vm-117-disk-0.raw"

# A neighbour that has everything there that a process can have, and a loop device.
cat >"$TMP/neighbour.pl" <<'SCRIPT'
use Fcntl ":flock";
my ($dead, $ready) = @ARGV;
open(my $file, "+<", "$dead/images/117/vm-117-disk-0.raw") or die "$!";
flock($file, LOCK_EX) or die "$!";
opendir(my $dir, "$dead/web") or die "$!";
open(my $r, ">", $ready);
chdir("$dead/web") or die "$!";
chroot("$dead/web") or die "$!";
close($r);
sleep 1000;
SCRIPT
perl "$TMP/neighbour.pl" "$TMP/dead" "$TMP/ready" &
neighbour=$!
end_neighbour()
{
	kill -KILL "$neighbour" 2>/dev/null
	wait "$neighbour" 2>/dev/null
}
for ((i = 0; i < 100; i++)); do
	if [ -e "$TMP/ready" ]; then
		break
	fi
	sleep 0.05
done
t_loop dead_loop "$TMP/dead/images/117/vm-117-disk-0.raw"
# (what is deferred last comes first: the daemon has to answer when the others end)
t_defer end_neighbour
t_defer kill -CONT "$daemon"
# shellcheck disable=SC2154 # t_loop sets it
t_ok "a loop device stands on it" losetup "$dead_loop"

kill -STOP "$daemon"
t_status "it does not answer" 124 timeout -k 1 1 stat "$TMP/dead/images"

quick "a clean directory" 0 "$CTMEND" --sysroot "$TMP/sys" check 115
spoil "$(pve_dir 115)"
quick "a directory is looked at" 1 "$CTMEND" --sysroot "$TMP/sys" check 115
quick "a directory is repaired" 0 "$CTMEND" --sysroot "$TMP/sys" repair --yes 115
t_is "it is" "$(stat -c %u:%g "$(pve_dir 115)/root/from-host")" 100000:100000
quick "the repair is taken back" 0 "$CTMEND" --sysroot "$TMP/sys" undo --yes 115
t_is "it is" "$(stat -c %u:%g "$(pve_dir 115)/root/from-host")" 0:0
mkdir -p "$TMP/sys/run/lock/lxc"
quick "a hook repairs" 0 flock -o "$TMP/sys/run/lock/lxc/pve-config-115.lock" \
	"$CTMEND" --sysroot "$TMP/sys" hook 115 pre-start
t_is "it has" "$(stat -c %u:%g "$(pve_dir 115)/root/from-host")" 100000:100000
quick "an image is looked at" 1 "$CTMEND" --sysroot "$TMP/sys" check 116
quick "an image is repaired" 0 "$CTMEND" --sysroot "$TMP/sys" repair --yes 116

# Who holds a lock is found all the same.
exec 7>>"$(pve_dir 115)/var/lib/dpkg/lock"
flock 7
quick "a held lock refuses" 3 "$CTMEND" --sysroot "$TMP/sys" repair --yes 115
t_match "and the process is named" "$(cat "$T_ERR")" "held by bash \\(pid $$, flock\\)"
exec 7>&-
rm "$(pve_dir 115)/var/lib/dpkg/lock"
touch "$(pve_dir 115)/var/lib/pacman/db.lck"
exec 7<"$(pve_dir 115)/var/lib/pacman/db.lck"
quick "so does one that is a lock by being open" 3 "$CTMEND" --sysroot "$TMP/sys" repair --yes 115
t_match "and the process is named" "$(cat "$T_ERR")" "held by bash \\(pid $$, open\\)"
exec 7>&-
rm "$(pve_dir 115)/var/lib/pacman/db.lck"

# The containers on it: refused by name, and the others come all the same.
quick "its own image" 3 "$CTMEND" --sysroot "$TMP/sys" check 117
t_match "the reason" "$(cat "$T_ERR")" "^ctmend: 117: the storage at '.*' does not answer$"
quick "a plain container on it" 3 "$CTMEND" --sysroot "$TMP/sys" check web
t_match "the reason" "$(cat "$T_ERR")" "does not answer"
t_status "all" 3 timeout -k 1 40 "$CTMEND" --sysroot "$TMP/sys" check --all
t_match "the first" "$(cat "$T_OUT")" '^CT 115: clean'
t_match "the second" "$(cat "$T_OUT")" '^CT 116: clean'
t_status "the list" 3 timeout -k 1 40 "$CTMEND" --sysroot "$TMP/sys" list
t_match "has them" "$(cat "$T_OUT")" '^ *116 '
kill -CONT "$daemon"
t_done
