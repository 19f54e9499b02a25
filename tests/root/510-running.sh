#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Running containers: what reads them, what refuses, and what must neither hang nor be in their way.
. "${0%/*}/container.sh"
. "${0%/*}/hold.sh"

ctm()
{
	timeout 120 "$CTMEND" --sysroot "$TMP/sys" "$@"
}

# volume VMID N: the path of an image on tank
volume()
{
	echo "$TMP/tank/images/$1/vm-$1-disk-$2.raw"
}

# damage DIR: files from the host
damage()
{
	mkdir -p "$1/srv/app" && echo 1 >"$1/srv/app/setting" && echo 2 >"$1/srv/app/secret" &&
		chown 1000:33 "$1/srv/app/secret" && chmod 4750 "$1/srv/app/secret"
}

# start_as_pve VMID [MP...]: what pct start does: in the mount namespace of the monitor a hook
# mounts the rootfs, and disk 1, 2, ... at the mount points below, through loop devices that go with
# the mounts; everything else is the container's own
start_as_pve()
{
	local vmid=$1
	shift

	mkdir -p "/var/lib/lxc/$vmid/rootfs"
	cat >"$TMP/hook-$vmid" <<-SCRIPT
		#!/bin/bash
		set -e
		rootfs=/var/lib/lxc/$vmid/rootfs
		attach()
		{
			dev=\$(losetup -n -O NAME -j "\$1")
			if [ -z "\$dev" ]; then
				dev=\$(losetup --find --show "\$1")
				own=1
			fi
			mount "\$dev" "\$2"
			[ -z "\${own-}" ] || losetup -d "\$dev"
		}
		n=0
		for mp in / $*; do
			attach "$TMP/tank/images/$vmid/vm-$vmid-disk-\$n.raw" "\$rootfs\$mp"
			n=\$((n + 1))
		done
	SCRIPT
	chmod 755 "$TMP/hook-$vmid"
	ct_config "$vmid" "/var/lib/lxc/$vmid/rootfs" 'lxc.monitor.unshare = 1' \
		"lxc.hook.pre-start = $TMP/hook-$vmid" \
		"lxc.mount.entry = $TMP/fuse dev/fuse none bind,create=file"
	ct_start "$vmid"
}

# stop VMID: until the images are free again
stop()
{
	local i

	ct_stop "$1"
	for ((i = 0; i < 200; i++)); do
		if ! losetup -n -O BACK-FILE | grep -q "$TMP/tank"; then
			return 0
		fi
		sleep 0.05
	done
	return 1
}

# init VMID: the number of its first process
init()
{
	lxc-info -n "$1" -p -H
}

# loops: the loop devices on volumes, and whether they are read-only
loops()
{
	losetup -n -O NAME,RO,BACK-FILE | grep "$TMP/tank" | sort
}

# unchanged NAME: a report has left nothing behind
unchanged()
{
	t_is "$1: the loop devices are as before" "$(loops)" "$loops_before"
	t_is "$1: no mount is to be seen" "$(grep -c "$TMP/tank\|/dev/loop" /proc/self/mountinfo)" \
		"$mounts_before"
}

# as udev makes it: for everybody
mknod -m 666 "$TMP/fuse" c 10 229
mounts_before=$(grep -c "$TMP/tank\|/dev/loop" /proc/self/mountinfo)
ct_pve_storage
mkdir -m 755 "$TMP/tank/images/115"
ct_pve_config 115 vm-115-disk-0.raw
t_pve_image "$(volume 115 0)" 400M
t_mount "$(volume 115 0)" "$TMP/root"
ct_unpack "$TMP/root"
# a FUSE for the container: the program and its library from this host
have_fuse=
if command -v bindfs >/dev/null && [ -c /dev/fuse ]; then
	have_fuse=1
	cp "$(command -v bindfs)" "$TMP/root/usr/bin/bindfs"
	library=$(ldd "$(command -v bindfs)" | awk '/libfuse/ { print $3 }')
	cp "$library" "$TMP/root${library%/*}/"
	chown 100000:100000 "$TMP/root/usr/bin/bindfs" "$TMP/root$library"
	mkdir -p "$TMP/root/srv/fuse" "$TMP/root/srv/source"
	chown 100000:100000 "$TMP/root/srv/fuse" "$TMP/root/srv/source"
	echo seen >"$TMP/root/srv/source/file"
	chown 100000:100000 "$TMP/root/srv/source/file"
fi
mkdir -p "$TMP/root/data" "$TMP/root/srv/source/inner"
chown 100000:100000 "$TMP/root/data" "$TMP/root/srv/source/inner"
damage "$TMP/root"
ct_umount "$TMP/root" "$(volume 115 0)"

# --- a raw rootfs -----------------------------------------------------------------------------

t_status "stopped: diff" 1 ctm diff 115
stopped=$(cat "$T_OUT")
t_match "stopped: the damage is there" "$stopped" '^-f 4750 +1000:33 +/srv/app/secret$'
t_no_match "stopped: nothing is said of running" "$stopped" 'running'
t_ok "the container starts" start_as_pve 115
loops_before=$(loops)
t_match "its image is on a loop device" "$loops_before" ' 0 .*vm-115-disk-0.raw$'
t_status "running: check" 1 ctm check 115
t_match "running: it says so" "$(cat "$T_OUT")" '^note: the container is running'
t_match "running: the damage is found" "$(cat "$T_OUT")" '^own.host  '
unchanged "check"
t_status "running: diff" 1 ctm diff 115
t_is "running: it is the same plan" "$(tail -n 1 "$T_OUT")" "$(tail -n 1 <<<"$stopped")"
t_is "running: each change too" "$(grep '^[-+][fdl]' "$T_OUT")" "$(grep '^[-+][fdl]' <<<"$stopped")"
unchanged "diff"
t_status "running: no lock is needed" 1 flock "$TMP/sys/run/lock/lxc/pve-config-115.lock" \
	timeout 60 "$CTMEND" --sysroot "$TMP/sys" check --wait 0 115
for words in 'check 115' 'diff 115' 'map 115' 'check --all' list; do
	# shellcheck disable=SC2086 # words
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 strace -f -qq -o "$TMP/strace" \
		-e trace=openat,openat2,mount,fsopen,move_mount \
		timeout 60 "$CTMEND" --sysroot "$TMP/sys" $words >"$TMP/out" 2>&1
	t_no_match "running: $words attaches and mounts nothing of its own" "$(cat "$TMP/strace")" \
		'loop-control|fsopen|^[0-9]+ +mount\(|move_mount'
	t_match "running: $words has read" "$(cat "$TMP/strace")" "openat"
done
ct_run 115 'touch -a -d 2001-01-01 /etc /usr/bin'
t_status "running: check once more" 1 ctm check 115
t_is "running: no access time has moved" \
	"$(ct_run 115 'stat -c %x /etc /usr/bin' | cut -c 1-10 | xargs)" '2001-01-01 2001-01-01'
t_status "running: repair refuses" 3 ctm repair --yes 115
t_match "running: with the next step" "$(cat "$T_ERR")" 'stop it with: pct stop 115'
t_status "running: undo refuses" 3 ctm undo --yes 115
ct_run 115 'touch /srv/new'
t_ok "the container can write all the while" ct_run 115 'test -e /srv/new && rm /srv/new'
t_is "what the host has in its root is changed by nobody" \
	"$(stat -c '%u:%g %a' "/proc/$(init 115)/root/srv/app/secret")" '1000:33 4750'

# --- a FUSE that sleeps -----------------------------------------------------------------------

# fuse_signal SIGNAL: to the server, from inside
fuse_signal()
{
	# shellcheck disable=SC2016 # the shell inside
	ct_run 115 'for p in /proc/[0-9]*; do
		if [ "$(cat $p/comm 2>/dev/null)" = bindfs ]; then kill -'"$1"' ${p#/proc/}; fi
	done; true'
}

# sleeping_fuse OPTION: serve /srv/source at /srv/fuse, and stop the server
sleeping_fuse()
{
	t_ok "$1: a FUSE is mounted inside" ct_run 115 \
		"bindfs $1 /srv/source /srv/fuse && test -e /srv/fuse/file"
	fuse_signal STOP
	t_status "$1: it hangs whoever asks it" 137 timeout 20 lxc-attach -n 115 --clear-env -- \
		timeout -s KILL 1 stat /srv/fuse/never-asked
}

wake_fuse()
{
	fuse_signal CONT
	ct_run 115 'umount /srv/fuse'
}

if [ -z "$have_fuse" ]; then
	t_skip "a sleeping FUSE" "no bindfs or no /dev/fuse"
else
	for option in --no-allow-other -oallow_other; do
		sleeping_fuse "$option"
		t_status "$option: check does not hang" 1 ctm check 115
		t_no_match "$option: nor does it complain" "$(cat "$T_OUT")" '^err\.'
		t_status "$option: nor does diff" 1 ctm diff 115
		t_is "$option: which has the same plan" "$(tail -n 1 "$T_OUT")" \
			"$(tail -n 1 <<<"$stopped")"
		t_status "$option: nor does a path that leads there" 1 ctm check 115 \
			--path srv/app --path srv/fuse
		unchanged "$option"
		t_ok "$option: the FUSE can be unmounted" wake_fuse
	done
fi
# A report that is slow holds the file system, but stands in nobody's way.
hold check 115
t_ok "the container stops during a report" ct_stop 115 8>&-
t_ok "and starts again" start_as_pve 115 8>&-
t_ok "and can write" ct_run 115 'touch /usr/again && rm /usr/again' 8>&-
go_on
# shellcheck disable=SC2154 # go_on sets them
t_is "the report has its result" "$status" 1
# shellcheck disable=SC2154
t_no_match "and no complaints" "$said" 'ctmend: 115'
t_ok "the container can still write" ct_run 115 'touch /usr/again && rm /usr/again'
t_ok "the container stops" stop 115

# --- mount points -----------------------------------------------------------------------------

for n in 1 2; do
	t_pve_image "$(volume 115 $n)" 32M
	t_mount "$(volume 115 $n)" "$TMP/root"
	damage "$TMP/root"
	# more right than wrong: half of a volume would be another disease
	mkdir "$TMP/root/right" && touch "$TMP/root/right/"{1..20}
	chown -R 100000:100000 "$TMP/root/right"
	ct_umount "$TMP/root" "$(volume 115 $n)"
done
t_status "stopped: check before mount points" 1 ctm check 115
cat >>"$TMP/sys/etc/pve/lxc/115.conf" <<-END
	mp0: tank:115/vm-115-disk-1.raw,mp=/data,size=32M
	mp1: tank:115/vm-115-disk-2.raw,mp=/srv/source/inner,size=32M
END
for key in rootfs mp0 mp1; do
	ctm diff --volume $key 115 >"$TMP/stopped-$key" 2>&1
done
t_ok "a container with mount points starts" start_as_pve 115 /data /srv/source/inner
loops_before=$(loops)
for key in rootfs mp0 mp1; do
	t_status "$key: running: diff" 1 ctm diff --volume $key 115
	t_is "$key: running: each change is the same" "$(grep '^[-+][fdl]\|^plan' "$T_OUT")" \
		"$(grep '^[-+][fdl]\|^plan' "$TMP/stopped-$key")"
	unchanged "$key"
done
if [ -n "$have_fuse" ]; then
	for option in --no-allow-other -oallow_other; do
		sleeping_fuse "$option"
		t_status "mount points and $option: check does not hang" 1 ctm check 115
		t_no_match "mount points and $option: nor does it complain" "$(cat "$T_OUT")" \
			'^err\.'
		t_ok "mount points and $option: the FUSE can be unmounted" wake_fuse
	done
	ct_run 115 'bindfs /srv/source /srv/source'
	fuse_signal STOP
	t_status "a mount point behind a FUSE is not asked for" 3 ctm check --volume mp1 115
	t_match "and the report says why" "$(cat "$T_ERR")" \
		'FUSE or network mount stands in the way'
	fuse_signal CONT
	ct_run 115 'umount /srv/source'
fi
ct_run 115 'mount -t tmpfs none /data'
t_status "what the container has mounted over the volume" 3 ctm check --volume mp0 115
t_match "is not taken for it" "$(cat "$T_ERR")" 'another volume'
ct_run 115 'umount /data'
t_status "without that it is read" 1 ctm check --volume mp0 115
ct_run 115 'mkdir -p /srv/link && ln -sfn /data /srv/link/data'
sed -i 's|mp=/data|mp=/srv/link/data|' "$TMP/sys/etc/pve/lxc/115.conf"
t_status "a link that the container planted is not followed" 3 ctm check --volume mp0 115
t_match "it is said" "$(cat "$T_ERR")" 'symbolic links'
sed -i 's|mp=/srv/link/data|mp=/data|' "$TMP/sys/etc/pve/lxc/115.conf"
ct_run 115 'mount --bind /data/right /data'
t_status "a part of a volume is not the volume" 3 ctm check --volume mp0 115
t_match "it says a part" "$(cat "$T_ERR")" 'only a part of the volume'
ct_run 115 'umount /data'

# --- not what the configuration says ----------------------------------------------------------

cp "$TMP/sys/etc/pve/lxc/115.conf" "$TMP/conf"
printf '%s\n' 'lxc.idmap: u 0 200000 65536' 'lxc.idmap: g 0 200000 65536' \
	>>"$TMP/sys/etc/pve/lxc/115.conf"
t_status "a map that was changed since the start" 3 ctm check 115
t_match "both are told apart" "$(cat "$T_ERR")" 'has the map u 0 100000 65536, g 0 100000 65536'
cp "$TMP/conf" "$TMP/sys/etc/pve/lxc/115.conf"
sed -i 's|disk-0.raw|disk-3.raw|' "$TMP/sys/etc/pve/lxc/115.conf"
cp --sparse=always "$(volume 115 1)" "$(volume 115 3)"
t_status "another rootfs than the one it runs on" 3 ctm check 115
t_match "is not taken for it" "$(cat "$T_ERR")" 'another volume'
cp "$TMP/conf" "$TMP/sys/etc/pve/lxc/115.conf"
rm "$(volume 115 3)"
t_status "and the right one is read" 1 ctm check 115
t_ok "the container stops again" stop 115

t_status "stopped again: it can be repaired" 0 ctm repair --yes 115
t_ok "and starts once more" start_as_pve 115 /data /srv/source/inner
t_status "running: a repaired rootfs is clean" 0 ctm check 115
t_match "running: which is said with its proviso" "$(cat "$T_OUT")" \
	'^note: the container is running'
t_status "running: undo refuses now as well" 3 ctm undo --yes 115
t_match "running: because it runs" "$(cat "$T_ERR")" 'CT 115 is running'
t_ok "and it stops" stop 115
t_done
