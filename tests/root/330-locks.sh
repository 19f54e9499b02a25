#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who holds a lock, runs the container or works on its configuration is not disturbed.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9331
dir=$(pve_dir $vmid)
volume=tank:$vmid/subvol-$vmid-disk-0.subvol
image_id=9332
image=$(pve_image $image_id)

# damage DIR
damage()
{
	: >"$1/etc/damaged" && : >"$1/var/lib/apt/lists/partial/download" &&
		: >"$1/var/lib/dpkg/lock" && : >"$1/var/cache/apt/archives/lock"
}

# hold HOW FILE: $holder is a process that holds it; HOW is posix, ofd, flock or socket (then FILE
# is an abstract name)
hold()
{
	rm -f "$TMP/held"
	python3 - "$1" "$2" "$TMP/held" <<-'END' &
		import fcntl, os, socket, struct, sys, time

		how, name, ready = sys.argv[1:]
		if how == "socket":
		    s = socket.socket(socket.AF_UNIX)
		    s.bind("\0" + name)
		    s.listen()
		else:
		    f = open(name, "r+b")
		    if how == "flock":
		        fcntl.flock(f, fcntl.LOCK_EX)
		    elif how == "posix":
		        fcntl.lockf(f, fcntl.LOCK_EX)
		    else:
		        F_OFD_SETLK = 37
		        lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
		        fcntl.fcntl(f, F_OFD_SETLK, lock)
		open(ready, "w").close()
		time.sleep(60)
	END
	holder=$!
	for ((i = 0; i < 200; i++)); do
		if [ -e "$TMP/held" ]; then
			break
		fi
		sleep 0.02
	done
}

release()
{
	kill "$holder" 2>/dev/null
	wait "$holder" 2>/dev/null
}
t_defer release

# refused NAME REGEX HINT WORD...: a repair is refused with these words and changes nothing
refused()
{
	local name=$1 regex=$2 hint=$3
	shift 3

	t_status "$name: repair is refused" 3 ctm repair --yes "$@"
	t_match "$name: the message" "$(cat "$T_ERR")" "$regex"
	t_match "$name: the next step" "$(cat "$T_ERR")" "$hint"
	t_is "$name: nothing has changed" "$(pve_trace "$dir")$(pve_trace "$image")" "$trace"
	t_is "$name: nothing is recorded" "$(ls "$PVE_STATE" 2>/dev/null)" ""
}

pve_dir_ct $vmid
zoo_healthy "$dir"
damage "$dir"
pve_age "$dir"
pve_ct $image_id tank:$image_id/vm-$image_id-disk-0.raw
mkdir -p "${image%/*}"
t_pve_image "$image" 32M
t_mount "$image" "$TMP/in"
zoo_healthy "$TMP/in"
damage "$TMP/in"
t_umount "$TMP/in"
trace=$(pve_trace "$dir")$(pve_trace "$image")

# Locks of the package manager, whoever they belong to.
for file in var/lib/dpkg/lock var/lib/dpkg/lock-frontend var/cache/apt/archives/lock; do
	for how in posix ofd flock; do
		hold $how "$dir/$file"
		t_status "$how on $file: check finds it" 1 ctm check $vmid
		t_match "$how on $file: check says who" "$(cat "$T_OUT")" \
			"^ +/$file: held by python3 \(pid $holder, .*\)"
		t_match "$how on $file: under its code" "$(cat "$T_OUT")" '^pkg.held  1 '
		refused "$how on $file" "held by python3 \(pid $holder, " 'wait for that process' $vmid
		release
	done
	for words in --convert "--path etc" "--scope required" "--clean none"; do
		hold posix "$dir/$file"
		# shellcheck disable=SC2086 # words
		refused "posix on $file, $words" "held by python3 \(pid $holder, " \
			'wait for that process' $words $vmid
		release
	done
done
hold posix "$dir/var/lib/dpkg/status"
t_status "another file that is locked is no lock" 1 ctm check $vmid
t_no_match "and is not mentioned" "$(cat "$T_OUT")" pkg.held
release

# The configuration's lock.
config_lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock
: >"$config_lock"
: >"$TMP/sys/run/lock/lxc/pve-config-$image_id.lock"
hold flock "$config_lock"
start=$EPOCHREALTIME
refused "a held configuration" 'CT 9331 is .*process '"$holder"' \(python3\)' --wait --wait 1 $vmid
t_match "it is waited for as long as asked" \
	"$(awk -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { print (b - a >= 1 && b - a < 9) }')" 1
refused "a held configuration without waiting" 'CT 9331 is ' --wait --wait 0 $vmid
t_status "a directory can be checked meanwhile" 1 ctm check --wait 0 $vmid
release
hold flock "$TMP/sys/run/lock/lxc/pve-config-$image_id.lock"
t_status "an image cannot" 3 ctm check --wait 0 $image_id
t_match "and the message says why" "$(cat "$T_ERR")" 'CT 9332 is .*process '"$holder"' '
refused "an image with a held configuration" 'CT 9332 is ' --wait --wait 0 $image_id
release

# Locked by a task, a template, a base volume.
pve_ct $vmid $volume 'lock: backup'
refused "lock: backup" 'CT 9331 is locked \(backup\)' 'pct unlock 9331' $vmid
t_status "it can be checked" 1 ctm check $vmid
t_match "and the lock is a finding" "$(cat "$T_OUT")" '^conf.lock  1 '
pve_ct $vmid $volume 'lock: mounted'
refused "lock: mounted" 'is locked \(mounted\)' 'pct unmount 9331' $vmid
pve_ct $vmid $volume 'template: 1'
refused "a template" 'is a template' . $vmid
base=$TMP/tank/images/$vmid/base-$vmid-disk-0.subvol
mv "$dir" "$base"
pve_ct $vmid tank:$vmid/base-$vmid-disk-0.subvol
t_status "a base volume: repair is refused" 3 ctm repair --yes $vmid
t_match "a base volume: the message" "$(cat "$T_ERR")" 'base volume of a template'
mv "$base" "$dir"
pve_ct $vmid $volume
trace=$(pve_trace "$dir")$(pve_trace "$image")

# Running.
hold socket /var/lib/lxc/$vmid/command
refused "a running container" 'CT 9331 is running' 'pct stop 9331' $vmid
t_status "a directory can be checked" 1 ctm check $vmid
t_match "with a note" "$(cat "$T_OUT")" '^note: the container is running'
release
hold socket /var/lib/lxc/$image_id/command
t_status "an image that is mounted for a running one cannot" 3 ctm check $image_id
refused "a running container with an image" 'CT 9332 is running' 'pct stop 9332' $image_id
release
# The socket of another one, whose name begins the same.
hold socket /var/lib/lxc/${vmid}0/command
t_status "another one that runs is no hindrance" 1 ctm check $vmid
t_no_match "and is not mentioned" "$(cat "$T_OUT")" running
release

# Given back in time.
hold flock "$config_lock"
(
	sleep 1
	kill "$holder"
) &
t_status "a lock that is given back in time is waited for" 0 ctm repair --yes --wait 8 $vmid
wait
t_status "the image is repaired as well" 0 ctm repair --yes $image_id
t_is "nothing of the host is left in the directory" "$(find "$dir" -uid -100000 | wc -l)" 0
# An undo is a change like any other.
t_ok "repair, with nobody in the way" ctm repair --yes $vmid
repaired=$(pve_trace "$dir")
hold flock "$dir/var/lib/dpkg/lock-frontend"
t_status "undo beside a holder is refused" 3 ctm undo --yes $vmid
t_match "and says who it is" "$(cat "$T_ERR")" "held by python3 \(pid $holder, "
t_is "and has changed nothing" "$(pve_trace "$dir")" "$repaired"
release
t_ok "undo once it is gone" ctm undo --yes $vmid

t_done
