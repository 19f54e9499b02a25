#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A hook's time is limited, whatever hangs and however much there is; what it has begun is in nobody's
# way when it has returned.
# Runs alone: it measures what a hook does within seconds.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9382
lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock
note=$PVE_STATE/.late/$vmid
dir=$(pve_dir $vmid)
image=$(pve_image $vmid)

now()
{
	printf '%s\n' $(($(date +%s%N) / 1000000))
}

# pct_start WORD...: as PVE calls a hook script: it holds the lock, and reads the output up to its
# end. The output is in $said, the status in $status, the milliseconds up to the end in $took.
pct_start()
{
	local begin

	begin=$(now)
	said=$(flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook "$@" $vmid pre-start 2>&1)
	status=$?
	took=$(($(now) - begin))
	echo "hook $*: $took ms, status $status: $said"
}

# in_time NAME MS: the last start went on, within that time
in_time()
{
	t_is "$1: the start goes on" "$status" 0
	t_is "$1: in time" "$((took <= $2 ? 0 : took))" 0
}

# --- a volume that does not answer ---------------------------------------------------------------

mkdir -p "$TMP/hung" "$dir" "$TMP/real"
mv "$TMP/tank" "$TMP/real/tank"
mkdir "$TMP/tank"
bindfs -o attr_timeout=0,entry_timeout=0 "$TMP/real/tank" "$TMP/tank" || t_skip_all "no FUSE"
t_defer t_umount "$TMP/tank"
fuse=$(pgrep -f "^bindfs .* $TMP/real/tank $TMP/tank\$")
t_defer kill -CONT "$fuse"
pve_dir_ct $vmid
zoo_healthy "$dir"
chown 0:0 "$dir/root"
pct_start
t_match "a volume that answers: what it is, is found out" "$said" 'FUSE'

kill -STOP "$fuse"
pct_start --max-time 2
in_time "a volume that hangs" 2500
t_match "a volume that hangs: it is said" "$said" 'nothing was changed: its time, 2 s, was over'
t_match "a volume that hangs: and what to do" "$said" "ctmend repair $vmid"
t_ok "a volume that hangs: nobody holds the lock of PVE" flock -n "$lock" true
t_ok "a volume that hangs: it is noted" test -s "$note"
t_is "the note is root's alone" "$(stat -c '%a %U' "$note" "$PVE_STATE/.late")" \
	$'600 root\n700 root'
pct_start --max-time 8
in_time "it hangs again" 3500
t_match "it hangs again: it is said" "$said" 'as at an earlier start'
t_is "the same without a lock: status" \
	"$(ctm hook --strict --max-time 2 $vmid pre-start >/dev/null 2>&1; echo $?)" 3
t_ok "the same without a lock: nobody holds it then" flock -n "$lock" true
kill -CONT "$fuse"
for ((i = 0; i < 100; i++)); do
	if ! pgrep -f "^$CTMEND --sysroot $TMP/sys " >/dev/null; then
		break
	fi
	sleep 0.05
done
t_is "when it answers, what was left behind is gone" \
	"$(pgrep -f "^$CTMEND --sysroot $TMP/sys ")" ""
t_is "and has changed nothing" "$(stat -c %u:%g "$dir/root")" 0:0
pct_start
t_match "and the next hook looks at it" "$said" 'FUSE'
t_umount "$TMP/tank"
rmdir "$TMP/tank"
mv "$TMP/real/tank" "$TMP/tank"

# --- the note ------------------------------------------------------------------------------------

# each inode that the walk reads costs time
cat >"$TMP/slow" <<-END
	#!/bin/bash
	$(declare -f strace)
	strace -f -qq -o /dev/null -e trace=llistxattr -e inject=llistxattr:delay_enter=500000 \
		'$CTMEND' "\$@"
END
chmod 755 "$TMP/slow"

chown 0:0 "$dir/root"
rm "$note"
CTMEND=$TMP/slow pct_start --max-time 4
in_time "a walk that takes too long" 4600
t_match "a walk that takes too long: it is said" "$said" 'nothing was changed'
t_ok "a walk that takes too long: it is noted" test -s "$note"
pct_start --max-time 10
in_time "the next start" 2500
t_match "the next start says so" "$said" 'not looked at: .* did not do at .* nor the root directory'
t_match "and what to do" "$said" "stop it and use: ctmend repair $vmid"
t_is "nothing is changed" "$(stat -c %u:%g "$dir/root")" 0:0
t_status "strict" 3 flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook --strict $vmid pre-start

# again NAME COMMAND...: with this the note holds no more
again()
{
	local name=$1
	shift

	cp "$TMP/note" "$note"
	chown 0:0 "$dir/root"
	"$@"
	pct_start --max-time 10
	t_is "$name: the hook works" "$(stat -c %u:%g "$dir/root")" 100000:100000
	t_ok "$name: and the note is gone" test ! -e "$note"
}
cp "$note" "$TMP/note"
again "the configuration has changed" pve_ct $vmid "tank:$vmid/subvol-$vmid-disk-0.subvol" '#x'
pve_ct $vmid "tank:$vmid/subvol-$vmid-disk-0.subvol"
again "the root has changed" touch "$dir"
CTMEND=$TMP/slow pct_start --max-time 4
cp "$note" "$TMP/note"
again "it is a week old" sed -i "s/^time .*/time $(($(date +%s) - 7 * 86400))/" "$note"
again "it is from the future" sed -i "s/^time .*/time $(($(date +%s) + 3600))/" "$note"
again "it is damaged" truncate -s -5 "$note"
cp "$TMP/note" "$note"
chown 0:0 "$dir/root"
t_ok "a person's repair" ctm repair --yes $vmid
t_ok "takes it away" test ! -e "$note"
t_is "and nothing else is there" "$(ls -A "$PVE_STATE/.late")" ""
t_no_match "it is no target's record" "$(ctm history)" late

# --- locks that are waited for -------------------------------------------------------------------

chown 0:0 "$dir/root"
flock --no-fork "$PVE_STATE/$vmid" sleep 60 &
holder=$!
until ! flock -n "$PVE_STATE/$vmid" true; do
	sleep 0.05
done
pct_start --max-time 4 --wait 60
in_time "records that are in work" 4500
t_match "records that are in work: it is said" "$said" 'another repair or undo'
kill $holder
wait $holder 2>/dev/null
t_is "records that are in work: nothing has changed" "$(stat -c %u:%g "$dir/root")" 0:0
rm -rf "$dir"

# --- an image, in the middle of the changes ------------------------------------------------------

pve_ct $vmid "tank:$vmid/vm-$vmid-disk-0.raw"
t_pve_image "$image" 64M
t_mount "$image" "$TMP/mnt"
zoo_healthy "$TMP/mnt"
mkdir "$TMP/mnt/root/many"
touch "$TMP/mnt/root/many/"{1..200}
chown 100000:100000 "$TMP/mnt/root/many" # the inodes in it are what is changed
t_umount "$TMP/mnt"
cp --sparse=always "$image" "$TMP/damaged.raw"

# owners: how many of the files are the container's, and the file system is clean
owners()
{
	t_mount "$image" "$TMP/mnt" -o ro
	find "$TMP/mnt/root/many" -type f -uid 100000 | wc -l
	t_umount "$TMP/mnt"
	e2fsck -fn "$image" >/dev/null 2>&1 || echo damaged
}

attached()
{
	losetup --noheadings --output NAME --associated "$image"
}

cat >"$TMP/slow" <<-END
	#!/bin/bash
	$(declare -f strace)
	strace -f -qq -o /dev/null -e trace=fchownat -e inject=fchownat:delay_enter=40000 \
		'$CTMEND' "\$@"
END
CTMEND=$TMP/slow pct_start --max-time 8
in_time "changes that take too long" 8500
t_is "changes that take too long: nothing is attached" "$(attached)" ""
t_match "changes that take too long: it is said" "$said" 'is not finished: .* the next start'
t_match "changes that take too long: the run is not finished" "$(ctm history $vmid)" \
	'repair by a hook .* interrupted'
t_ok "changes that take too long: that is nothing to note" test ! -e "$note"
got=$(owners)
t_match "changes that take too long: some are made" "$got" '^[1-9][0-9]*$'
t_is "changes that take too long: not all" "$((got < 200))" 1
t_ok "a repair finishes it" ctm repair --yes $vmid
t_is "all are the container's" "$(owners)" 200
t_ok "undo takes it back" ctm undo --yes $vmid
t_is "all of it" "$(owners)" 0
t_is "strict has it in the status" "$(
	cp --sparse=always "$TMP/damaged.raw" "$image"
	rm -rf "${PVE_STATE:?}/$vmid"
	flock -o "$lock" "$TMP/slow" --sysroot "$TMP/sys" hook --strict --max-time 8 $vmid \
		pre-start >/dev/null 2>&1
	echo $?
)" 4
pct_start
t_is "the next hook finishes it" "$(owners)" 200

# --- a supervisor that is killed -----------------------------------------------------------------

# killed SIGNAL: in the middle of the changes; the process that works is $work
killed()
{
	local i supervisor

	cp --sparse=always "$TMP/damaged.raw" "$image"
	rm -rf "${PVE_STATE:?}/$vmid"
	flock -o "$lock" "$TMP/slow" --sysroot "$TMP/sys" hook --max-time 60 $vmid pre-start \
		>"$TMP/said" 2>&1 &
	starter=$!
	for ((i = 0; i < 200; i++)); do
		if compgen -G "$PVE_STATE/$vmid/0*/journal" >/dev/null; then
			break
		fi
		sleep 0.05
	done
	sleep 0.3
	supervisor=$(pgrep -of "^$CTMEND --sysroot $TMP/sys hook")
	work=$(pgrep -P "$supervisor")
	kill "-$1" "$supervisor"
	wait $starter
	status=$?
}

killed TERM
t_is "SIGTERM: the start goes on" "$status" 0
t_is "SIGTERM: nothing is attached" "$(attached)" ""
t_match "SIGTERM: it is said" "$(cat "$TMP/said")" 'is not finished'
got=$(owners)
t_match "SIGTERM: the file system is clean, some are changed" "$got" '^[1-9][0-9]*$'
t_is "SIGTERM: not all" "$((got < 200))" 1
pct_start
t_is "SIGTERM: the next hook finishes it" "$(owners)" 200

killed KILL
for ((i = 0; i < 100; i++)); do
	if ! [ -e "/proc/$work" ]; then
		break
	fi
	sleep 0.05
done
t_ok "SIGKILL: the work ends" test ! -e "/proc/$work"
for ((i = 0; i < 100; i++)); do
	if [ -z "$(attached)" ]; then
		break
	fi
	sleep 0.05
done
t_is "SIGKILL: nothing is attached" "$(attached)" ""
got=$(owners)
t_match "SIGKILL: the file system is clean, some are changed" "$got" '^[1-9][0-9]*$'
t_is "SIGKILL: not all" "$((got < 200))" 1
pct_start
t_is "SIGKILL: the next hook finishes it" "$(owners)" 200

# --- an image whose storage does not answer ------------------------------------------------------

cp --sparse=always "$TMP/damaged.raw" "$image"
mkdir -p "$TMP/real"
mv "$TMP/tank" "$TMP/real/tank"
mkdir "$TMP/tank"
bindfs "$TMP/real/tank" "$TMP/tank"
t_defer t_umount "$TMP/tank"
fuse=$(pgrep -f "^bindfs $TMP/real/tank $TMP/tank\$")
t_defer kill -CONT "$fuse"
cat >"$TMP/slow" <<-END
	#!/bin/bash
	$(declare -f strace)
	strace -f -qq -o /dev/null -e trace=fsopen -e inject=fsopen:delay_enter=1000000 \
		'$CTMEND' "\$@"
END
flock -o "$lock" "$TMP/slow" --sysroot "$TMP/sys" hook --max-time 6 $vmid pre-start \
	>"$TMP/said" 2>&1 &
starter=$!
for ((i = 0; i < 200; i++)); do
	if [ -n "$(attached)" ]; then
		break
	fi
	sleep 0.02
done
kill -STOP "$fuse"
for ((i = 0; i < 200; i++)); do
	if [ -s "$TMP/said" ] || ! kill -0 $starter 2>/dev/null; then
		break
	fi
	sleep 0.1
done
t_ok "a loop that is not let go: the hook waits for it" kill -0 $starter
t_match "a loop that is not let go: and says so" "$(cat "$TMP/said")" \
	"does not let go of '$image'"
t_fails "a loop that is not let go: and keeps the lock" flock -n "$lock" true
kill -CONT "$fuse"
wait $starter
t_is "when it answers, the start goes on" $? 0
t_is "and nothing is attached" "$(attached)" ""
t_ok "nobody has the lock" flock -n "$lock" true
t_umount "$TMP/tank"
rmdir "$TMP/tank"
mv "$TMP/real/tank" "$TMP/tank"
rm -f "$image"

# --- btrfs ---------------------------------------------------------------------------------------

t_image btrfs "$TMP/pool.raw" 256M
t_mount "$TMP/pool.raw" "$TMP/pool"
printf 'btrfs: pool\n\tpath %s\n\tcontent rootdir\n' "$TMP/pool" >"$TMP/sys/etc/pve/storage.cfg"
mkdir -p "$TMP/pool/images/$vmid"
dir=$TMP/pool/images/$vmid/subvol-$vmid-disk-0.subvol
btrfs subvolume create "$dir" >/dev/null
zoo_healthy "$dir"
mkdir -p "$dir/root/files" "$dir/root/snapshots"
touch "$dir/root/files/"{1..2000}
chown -R 100000:100000 "$dir"
touch "$dir/root/files/from-the-host"
for i in {1..100}; do
	btrfs subvolume snapshot "$dir" "$dir/root/snapshots/$i" >/dev/null
done
pve_ct $vmid "pool:$vmid/subvol-$vmid-disk-0.subvol"
pct_start --jobs 1
in_time "100 snapshots" 5000
t_is "100 snapshots: what is the container's own is repaired" \
	"$(stat -c %u:%g "$dir/root/files/from-the-host")" 100000:100000
t_is "100 snapshots: what is in them is not" \
	"$(stat -c %u:%g "$dir/root/snapshots/"{1,100}/root/files/from-the-host | uniq)" 0:0
t_match "100 snapshots: it is said" "$said" '100 btrfs subvolumes'
mv "$dir/var/lib/apt" "$TMP/pool/apt"
btrfs subvolume create "$dir/var/lib/apt" >/dev/null
cp -a "$TMP/pool/apt/." "$dir/var/lib/apt"
touch "$dir/var/lib/apt/from-the-host"
pct_start
t_is "a required directory that is a subvolume is not entered" \
	"$(stat -c %u:%g "$dir/var/lib/apt/from-the-host")" 0:0
t_match "and counted" "$said" '101 btrfs subvolumes'
btrfs subvolume delete "$dir/root/snapshots/"* >/dev/null
t_status "a repair by hand does all of it" 0 ctm repair --yes $vmid
t_is "the subvolume" "$(stat -c %u:%g "$dir/var/lib/apt/from-the-host")" 100000:100000
t_done
