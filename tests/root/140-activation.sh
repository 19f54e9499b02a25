#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A volume that is not there is activated by Proxmox VE's storage library, which tests/perl stands
# in for, and only what was not active before is deactivated again. An LV is an image that has a
# loop device, and a link to it in /dev, while it is active.
. "${0%/*}/pve.sh"

installed=$CTMEND
CTMEND=${CTMEND%/*}/tests/ctmend # looks for the helper below --sysroot
helper=$TMP/sys/usr/libexec/ctmend/pve-storage.pl
active=$TMP/sys/run/ctmend/active
lock=$TMP/sys/run/lock/lxc/pve-config-
group=ctmend-test-$$
fsid=$(cat /proc/sys/kernel/random/uuid)
other=$(cat /proc/sys/kernel/random/uuid)
export STANDIN=$TMP/standin

mkdir -p "$STANDIN" "${helper%/*}"
tidy()
{
	find "/dev/$group" "/dev/rbd-pve/$fsid" "/dev/rbd-pve/$other" -depth -delete
	rmdir --ignore-fail-on-non-empty /dev/rbd-pve
}
t_defer tidy
cat >"$TMP/sys/etc/pve/storage.cfg" <<END
lvm: thick
	vgname $group
	content rootdir

rbd: ceph
	pool pool
	content rootdir
	krbd 1

rbd: far
	pool pool
	namespace space
	monhost 192.0.2.1
	content rootdir

nfs: nas
	path $TMP/nas
	server 192.0.2.2
	export /srv
	content rootdir

dir: usb
	path $TMP/usb
	is_mountpoint yes
	content rootdir

fancyfs: third
	content rootdir

lvm: off
	vgname $group
	disable
	content rootdir

lvm: elsewhere
	vgname $group
	nodes pve2
	content rootdir

iscsi: san
	portal 192.0.2.3
	target iqn.2003-01.example:tgt0
	content none
END
printf '[global]\n\tfsid = %s\n' "$fsid" >"$TMP/sys/etc/pve/ceph.conf"
mkdir -p "$TMP/sys/etc/pve/nodes/pve1"
ln -s nodes/pve1 "$TMP/sys/etc/pve/local"

# What the program may run. Like the real one it has an environment of its own; what it inherits
# and who holds the configuration's lock is noted, and it can be told to end its caller.
cat >"$helper" <<END
#!/bin/bash
verb=\$1
vmid=\$(grep -o -- '-[0-9]*-' <<<"\$2" | tr -d -)
if [ "\$verb" != look ]; then
	flock -n "$lock\${vmid:-\$(cat "$STANDIN/vmid")}.lock" true &&
		echo "the lock is free" >>"$STANDIN/log"
fi
(cd "/proc/\$\$/fd" && readlink * | grep -v ^pipe: | grep -v "^\$0" >"$STANDIN/descriptors")
env | LC_ALL=C sort | grep -vE '^(PWD|SHLVL|_)=' >"$STANDIN/environment"
if [ -e "$STANDIN/kill-before-\$verb" ]; then
	kill -9 \$PPID
	exit 1
fi
if [ "\$verb \$2" = "attach thick:vm-115-disk-0" ] && [ -p "$STANDIN/gate" ]; then
	kill -9 \$PPID
	cat "$STANDIN/gate"
	exec >/dev/null 2>&1
fi
STANDIN=$STANDIN PERL5LIB=\$(cat "$STANDIN/lib") "$T_TOP/share/pve-storage.pl" "\$@"
status=\$?
if [ -e "$STANDIN/kill-after-\$verb" ]; then
	kill -9 \$PPID
fi
exit \$status
END
chmod 755 "$helper"
echo "$T_TOP/tests/perl" >"$STANDIN/lib"

# volume VOLUME HOW PATH THING FORMAT BASE: what the library knows
volume()
{
	echo "$@" >>"$STANDIN/volumes"
}

# calls: what it was asked to do since the last time, on one line
calls()
{
	if [ -e "$STANDIN/log" ]; then
		xargs <"$STANDIN/log"
		rm "$STANDIN/log"
	fi
}

# ct VMID VOLUME [LINE...]: the container that is worked on next
ct()
{
	echo "$1" >"$STANDIN/vmid"
	pve_ct "$@"
}

# damaged DIR: the root of a container with two files of the host in it
damaged()
{
	mkdir -p "$1/etc" "$1/usr/bin"
	echo here >"$1/etc/hostname"
	echo there >"$1/usr/bin/tool"
	chmod 4755 "$1/usr/bin/tool"
	chown -R 100000:100000 "$1"
	chown 0:0 "$1/etc/hostname" "$1/usr/bin/tool"
	chmod 4755 "$1/usr/bin/tool"
}

# image FILE: with such a root
image()
{
	t_pve_image "$1" 32M
	t_mount "$1" "$TMP/fill"
	damaged "$TMP/fill"
	t_umount "$TMP/fill"
}

# plug FILE LINK: the image's device is active, and not by ctmend
plug()
{
	t_loop plugged "$1"
	mkdir -p "${2%/*}"
	# shellcheck disable=SC2154 # t_loop sets it
	ln -s "$plugged" "$2"
}

# pull LINK
pull()
{
	t_unloop "$(readlink "$1")"
	rm "$1"
}

# owners FILE: of the two files in an image
owners()
{
	debugfs -R 'stat /etc/hostname' "$1" 2>/dev/null | grep -oE 'User: +[0-9]+' | xargs
	debugfs -R 'stat /usr/bin/tool' "$1" 2>/dev/null | grep -oE 'User: +[0-9]+' | xargs
}

idle()
{
	t_is "$1: no note is left" "$(ls "$active" 2>/dev/null)" ""
	t_ok "$1: the lock is free again" flock -n "$lock$(cat "$STANDIN/vmid").lock" true
}

took=" activate thick:vm-115-disk-0 map thick:vm-115-disk-0"
gave=" unmap thick:vm-115-disk-0 deactivate thick:vm-115-disk-0"
took=${took# } gave=${gave# }
lv=/dev/$group/vm-115-disk-0

# --- an LV that is not active -------------------------------------------------------------------

image "$TMP/115.raw"
image "$TMP/116.raw"
volume thick:vm-115-disk-0 device "$lv" "$TMP/115.raw" raw 0
volume thick:vm-116-disk-0 device "/dev/$group/vm-116-disk-0" "$TMP/116.raw" raw 0
ct 115 thick:vm-115-disk-0
before=$(pve_trace "$TMP/115.raw")
t_status "inactive: check finds the work" 1 ctm check 115
t_is "inactive: by activating it" "$(calls)" "$took $gave"
t_ok "inactive: it is not active any more" test ! -e "$lv"
t_is "inactive: nothing was written" "$(pve_trace "$TMP/115.raw")" "$before"
idle "inactive"
t_is "the helper has an environment of its own" "$(cat "$STANDIN/environment")" \
	"$(printf '%s\n' LC_ALL=C LVM_SUPPRESS_FD_WARNINGS=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin)"
t_is "and inherits nothing but the note" "$(grep -v "^/dev/null" "$STANDIN/descriptors")" \
	"$active/thick%3Avm-115-disk-0"
t_status "inactive: diff" 1 ctm diff 115
t_is "inactive: diff gives back what it took" "$(calls)" "$took $gave"
plan=$(sed -n 's/^plan \([0-9a-f]*\) .*/\1/p' "$T_OUT")
t_ok "inactive: repair" ctm repair --approve "$plan" 115
t_is "inactive: repair gives back what it took" "$(calls)" "$took $gave"
t_is "inactive: it is repaired" "$(owners "$TMP/115.raw" | sort -u)" "User: 100000"
idle "inactive, repaired"
t_ok "inactive: a second time there is nothing to do" ctm check 115
t_ok "inactive: undo" ctm undo -y 115
t_is "inactive: it is taken back" "$(owners "$TMP/115.raw" | sort -u)" "User: 0"
t_ok "inactive: what an undo of it would do" ctm undo -n 115 1
calls >/dev/null
idle "inactive, undone"
t_is "the other container's volume was left alone" "$(owners "$TMP/116.raw" | sort -u)" "User: 0"
t_ok "inactive: the file system is sound" e2fsck -fn "$TMP/115.raw"

t_ok "inactive: map" ctm map 115
t_is "inactive: map activates nothing" "$(calls)" ""
t_match "inactive: map says what it has not seen" "$(cat "$T_OUT" "$T_ERR")" 'is not accessible'

# --- one that is active -------------------------------------------------------------------------

plug "$TMP/115.raw" "$lv"
t_status "active: check" 1 ctm check 115
t_ok "active: repair" ctm repair -y 115
t_is "active: the library is not asked" "$(calls)" ""
t_ok "active: it stays so" test -b "$lv"
pull "$lv"

# --- two containers on one storage --------------------------------------------------------------

ct 116 thick:vm-116-disk-0
before=$(pve_trace "$TMP/115.raw")
t_ok "two on one storage: one is repaired" ctm repair -y 116
t_is "two on one storage: only its volume is activated" "$(calls | tr ' ' '\n' | grep -c 116)" 4
t_is "two on one storage: it is repaired" "$(owners "$TMP/116.raw" | sort -u)" "User: 100000"
t_is "two on one storage: the other is left alone" "$(pve_trace "$TMP/115.raw")" "$before"
idle "two on one storage"

# --- what is refused ----------------------------------------------------------------------------

# refused NAME REGEX HINT [WORD...]: check refuses with these words, and so does repair
refused()
{
	local name=$1 regex=$2 hint=$3

	for verb in check "repair -y"; do
		# shellcheck disable=SC2086 # words
		t_status "$name: $verb is refused" 3 ctm $verb "$(cat "$STANDIN/vmid")"
		t_match "$name: $verb says why" "$(cat "$T_ERR")" "$regex"
		t_match "$name: $verb says what to do" "$(cat "$T_ERR")" "$hint"
	done
	idle "$name"
}

ct 117 thick:vm-117-disk-0
refused "no such volume" 'cannot activate .*no such logical volume thick:vm-117-disk-0' \
	'pvesm status --storage thick'
calls >/dev/null
ct 115 thick:vm-115-disk-0
echo "lvchange: device busy" >"$STANDIN/fail-activate"
refused "activation fails" "'$lv' does not exist: .*lvchange: device busy" 'pvesm status'
rm "$STANDIN/fail-activate"
calls >/dev/null
printf 'one\ntwo\033[31m\n' >"$STANDIN/fail-map"
refused "mapping fails" 'two\\x1b\[31m' 'pvesm status'
rm "$STANDIN/fail-map"
t_match "mapping fails: what was activated is not left" "$(calls)" 'deactivate'
t_ok "mapping fails: it is gone" test ! -e "$lv"

ct 118 thick:vm-118-disk-0
volume thick:vm-118-disk-0 lost "/dev/$group/vm-118-disk-0" none raw 0
refused "activated in vain" "there is no '/dev/$group/vm-118-disk-0'" 'pvesm status'
ct 115 off:vm-115-disk-0
refused "disabled" "storage 'off' is disabled" 'pvesm set off --disable 0'
ct 115 elsewhere:vm-115-disk-0
refused "another node's" "is not for node 'pve1'" 'run ctmend on a node'
ct 115 san:vm-115-disk-0
refused "wrong type" "is of type 'iscsi': Proxmox VE keeps no container volumes there" 'rootfs line'
calls >/dev/null
ct 115 thick:vm-115-disk-0 'template: 1'
t_status "template: repair is refused" 3 ctm repair -y 115
t_is "template: and activates nothing" "$(calls)" ""
ct 115 thick:vm-115-disk-0 'lock: backup'
t_status "locked: repair is refused" 3 ctm repair -y 115
t_is "locked: and activates nothing" "$(calls)" ""
ct 115 thick:vm-115-disk-0
mv "$TMP/sys/etc/pve/storage.cfg" "$TMP/storage.cfg"
mkdir "$TMP/sys/etc/pve/storage.cfg"
refused "storage.cfg is not to be read" 'storage.cfg' .
rmdir "$TMP/sys/etc/pve/storage.cfg"
mv "$TMP/storage.cfg" "$TMP/sys/etc/pve/storage.cfg"
t_is "storage.cfg is not to be read: nothing is activated" "$(calls)" ""

exec 8>>"${lock}115.lock"
flock 8
t_status "locked by another: check" 3 ctm check --wait 0 115
t_match "locked by another: says so" "$(cat "$T_ERR")" 'CT 115 is being worked on'
flock -u 8
exec 8>&-
t_is "locked by another: nothing is activated" "$(calls)" ""

# monitor: like the monitor of container 115, on its command socket, until calm
monitor()
{
	python3 - "$TMP/listens" <<-'END' &
		import socket, sys, time
		s = socket.socket(socket.AF_UNIX)
		s.bind("\0/var/lib/lxc/115/command")
		s.listen()
		open(sys.argv[1], "w").close()
		time.sleep(600)
	END
	monitor=$!
	for ((i = 0; i < 200; i++)); do
		if [ -e "$TMP/listens" ]; then
			break
		fi
		sleep 0.05
	done
}

calm()
{
	kill "$monitor" 2>/dev/null
	wait "$monitor" 2>/dev/null
	rm -f "$TMP/listens"
}
t_defer calm

monitor
t_status "running: repair is refused" 3 ctm repair -y 115
t_is "running: and activates nothing" "$(calls)" ""
calm

# a start that calls a hook has activated everything itself
t_ok "hook: no activation" flock "${lock}115.lock" "$CTMEND" --sysroot "$TMP/sys" hook 115 \
	pre-start
t_match "hook: why" "$(cat "$T_ERR")" "'$lv' does not exist"
t_is "hook: the library is not asked" "$(calls)" ""

# --- the helper ---------------------------------------------------------------------------------

chmod go+w "$helper"
refused "helper that others can write" 'not a file that root alone can write to' 'lvchange -ay -K'
chmod go-w "$helper"
mv "$helper" "$helper.away"
refused "no helper" "'$lv' does not exist: .*is not installed" \
	"lvchange -ay -K $group/vm-115-disk-0"
ln -s pve-storage.pl.away "$helper"
refused "helper behind a link" 'not a file that root alone can write to' 'lvchange -ay -K'
mv "$helper.away" "$helper"
t_is "the library is never asked that way" "$(calls)" ""
t_status "the installed program takes none from --sysroot" 3 "$installed" --sysroot "$TMP/sys" \
	check 115
t_match "the installed program: why" "$(cat "$T_ERR")" 'with --sysroot .* library is not asked'
t_is "the installed program does not run it" "$(calls)" ""
echo /nonexistent >"$STANDIN/lib"
refused "no library" 'PVE::Storage\) is not on this host' 'lvchange -ay -K'
echo "$T_TOP/tests/perl" >"$STANDIN/lib"
t_is "no library: nothing was called" "$(calls)" ""

# --- a killed run -------------------------------------------------------------------------------

# killed NAME WHEN: check of 115 is killed at that moment
killed()
{
	touch "$STANDIN/kill-$2"
	t_status "$1: check is killed" 137 ctm check 115
	rm "$STANDIN/kill-$2"
	t_is "$1: its note is there" "$(ls "$active")" "thick%3Avm-115-disk-0"
}

ct 115 thick:vm-115-disk-0
killed "killed before it is active" before-attach
t_is "killed before it is active: nothing was called" "$(calls)" ""
echo 116 >"$STANDIN/vmid"
t_ok "killed before it is active: another's check" ctm check 116
t_no_match "killed before it is active: there is nothing to undo" "$(calls)" 'thick:vm-115'
idle "killed before it is active"

for when in after-attach before-detach; do
	ct 115 thick:vm-115-disk-0
	killed "killed $when" "$when"
	t_ok "killed $when: it is active" test -b "$lv"
	calls >/dev/null

	# not while somebody works on the container
	exec 8>>"${lock}115.lock"
	flock 8
	echo 116 >"$STANDIN/vmid"
	t_ok "killed $when: another's check" ctm check 116
	flock -u 8
	exec 8>&-
	t_no_match "killed $when: not undone while its container is locked" "$(calls)" \
		'thick:vm-115'

	# not while it is in use
	t_mount "$(readlink "$lv")" "$TMP/used"
	t_ok "killed $when: another's check" ctm check 116
	t_no_match "killed $when: not undone while it is mounted" "$(calls)" 'thick:vm-115'
	t_umount "$TMP/used"

	echo 115 >"$STANDIN/vmid"
	t_ok "killed $when: nothing is found by a look at another" ctm history 116
	t_is "killed $when: which touches nothing" "$(calls)" ""
	t_ok "killed $when: another's check undoes it" ctm check 116
	t_match "killed $when: it is deactivated" "$(calls)" \
		"^$gave activate thick:vm-116"
	t_ok "killed $when: it is not active any more" test ! -e "$lv"
	idle "killed $when"
done

ct 115 thick:vm-115-disk-0
killed "killed, then started" after-attach
calls >/dev/null
monitor
echo 116 >"$STANDIN/vmid"
t_ok "killed, then started: another's check" ctm check 116
t_no_match "killed, then started: it belongs to the container now" "$(calls)" 'thick:vm-115'
t_ok "killed, then started: it stays active" test -b "$lv"
calm
idle "killed, then started"
pull "$lv"

# The helper outlives its caller for a while, and then activates.
ct 115 thick:vm-115-disk-0
mkfifo "$STANDIN/gate"
t_status "killed with the helper at work: check is killed" 137 ctm check 115
t_status "killed with the helper at work: the volume is left alone" 3 ctm check 115
t_match "killed with the helper at work: why" "$(cat "$T_ERR")" 'is still activating'
echo 116 >"$STANDIN/vmid"
t_ok "killed with the helper at work: another's check" ctm check 116
t_ok "killed with the helper at work: the note stays" test -e "$active/thick%3Avm-115-disk-0"
calls >/dev/null
exec 8<>"$STANDIN/gate"
rm "$STANDIN/gate"
echo go >&8
exec 8>&-
for ((i = 0; i < 200; i++)); do
	if [ -e "$lv" ] && flock -n "$active/thick%3Avm-115-disk-0" true; then
		break
	fi
	sleep 0.05
done
t_ok "killed with the helper at work: it is activated late" test -e "$lv"
t_ok "killed with the helper at work: another's check" ctm check 116
t_ok "killed with the helper at work: undoes it" test ! -e "$lv"
idle "killed with the helper at work"
calls >/dev/null

printf 'garbage\n' >"$active/thick%3Avm-115-disk-0"
t_ok "a note that says nothing is left alone" ctm check 116
t_ok "a note that says nothing is still there" test -e "$active/thick%3Avm-115-disk-0"
rm "$active/thick%3Avm-115-disk-0"
calls >/dev/null

ct 115 thick:vm-115-disk-0
echo "lvchange: still open" >"$STANDIN/fail-deactivate"
t_status "deactivation fails: check has its result" 0 ctm check 115
t_match "deactivation fails: and says so" "$(cat "$T_OUT")" 'stays active .*lvchange: still open'
t_ok "deactivation fails: the note stays" test -e "$active/thick%3Avm-115-disk-0"
rm "$STANDIN/fail-deactivate"
t_status "deactivation fails: the next run" 0 ctm check 115
t_ok "deactivation fails: does it" test ! -e "$lv"
idle "deactivation fails"
calls >/dev/null

# --- network storages, and where something must be mounted --------------------------------------

subvol=images/119/subvol-119-disk-0.subvol
mkdir -p "$TMP/nas/$subvol/etc" "$TMP/export/$subvol" "$TMP/usb/$subvol/etc"
damaged "$TMP/export/$subvol"
t_defer t_umount "$TMP/nas"
ct 119 "nas:119/subvol-119-disk-0.subvol"
volume "nas:119/subvol-119-disk-0.subvol" lost "$TMP/nas,/$subvol" none subvol 0
t_status "nfs: what lies below is not the volume" 3 ctm check 119
t_match "nfs: not mounted after all" "$(cat "$T_ERR")" "'$TMP/nas' does not exist, although"
sed -i '/^nas:/d' "$STANDIN/volumes"
volume "nas:119/subvol-119-disk-0.subvol" mount "$TMP/nas,/$subvol" "$TMP/export" subvol 0
calls >/dev/null
t_status "nfs: check mounts it" 1 ctm check 119
t_match "nfs: through the library" "$(calls)" '^activate nas:'
t_ok "nfs: repair" ctm repair -y 119
t_is "nfs: it is there now, nobody is asked" "$(calls)" ""
t_is "nfs: the volume is repaired" "$(stat -c %u "$TMP/export/$subvol/usr/bin/tool")" 100000
t_umount "$TMP/nas"
t_is "nfs: not what lies below" "$(stat -c %u "$TMP/nas/$subvol/etc")" 0
idle nfs

ct 119 "usb:119/subvol-119-disk-0.subvol"
refused "a folder that is no mount point" "nothing is mounted at '$TMP/usb'" \
	'pvesm status --storage usb'
cp "$TMP/115.raw" "$TMP/usb/images/119/vm-119-disk-1.raw"
cp "$TMP/115.raw" "$TMP/export/images/119/vm-119-disk-1.raw"
ct 119 "usb:119/vm-119-disk-1.raw"
refused "an image where nothing is mounted" "nothing is mounted at '$TMP/usb'" 'pvesm status'
t_mount "$TMP/export" "$TMP/usb" --bind
t_ok "an image where something is mounted" ctm check 119
ct 119 "usb:119/subvol-119-disk-0.subvol"
t_ok "a folder that is one" ctm check 119
t_umount "$TMP/usb"
t_is "nobody is asked for a directory" "$(calls)" ""

# --- rbd ----------------------------------------------------------------------------------------

image "$TMP/120.raw"
image=/dev/rbd-pve/$fsid/pool/vm-120-disk-0
volume ceph:vm-120-disk-0 map "$image" "$TMP/120.raw" raw 0
ct 120 ceph:vm-120-disk-0
t_status "rbd: check maps it" 1 ctm check 120
t_is "rbd: and unmaps it" "$(calls)" "$(printf '%s ceph:vm-120-disk-0\n' activate map unmap \
	deactivate | xargs)"
idle rbd
plug "$TMP/120.raw" "$image"
t_status "rbd, mapped: check" 1 ctm check 120
t_is "rbd, mapped: nobody is asked" "$(calls)" ""
pull "$image"
far=/dev/rbd-pve/$other/pool/space/vm-120-disk-1
volume far:vm-120-disk-1 map "$far" "$TMP/120.raw" raw 0
ct 120 far:vm-120-disk-1
t_ok "rbd of another cluster: repair" ctm repair -y 120
t_is "rbd of another cluster: found by the library" "$(calls | tr ' ' '\n' | grep -c far:)" 4
t_is "rbd of another cluster: repaired" "$(owners "$TMP/120.raw" | sort -u)" "User: 100000"
t_ok "rbd of another cluster: unmapped" test ! -e "$far"
idle "rbd of another cluster"

# --- a storage type that ctmend does not know ---------------------------------------------------

image "$TMP/121.raw"
third=/dev/$group/third
volume third:thing device "$third" "$TMP/121.raw" raw 0
ct 121 third:thing
t_status "third party: check" 1 ctm check 121
t_match "third party: it is activated" "$(calls)" '^activate third:thing .*deactivate third:thing$'
idle "third party"
plug "$TMP/121.raw" "$third"
t_ok "third party, active: repair" ctm repair -y 121
t_is "third party, active: it stays so" "$(calls)" "activate third:thing map third:thing"
t_ok "third party, active: it is there" test -b "$third"
idle "third party, active"
t_is "third party: repaired" "$(owners "$TMP/121.raw" | sort -u)" "User: 100000"
pull "$third"
mkdir -p "$TMP/pool"
t_defer t_umount "$TMP/pool"
volume third:tree mount "$TMP/pool,/$subvol" "$TMP/export" subvol 0
chown 0:0 "$TMP/export/$subvol/etc/hostname"
ct 121 third:tree
t_ok "third party, directory: repair" ctm repair -y 121
t_is "third party, directory: repaired" "$(stat -c %u "$TMP/export/$subvol/etc/hostname")" 100000
idle "third party, directory"
monitor
echo 115 >"$STANDIN/vmid"
sed 's/^rootfs: .*/rootfs: third:tree/' "$TMP/sys/etc/pve/lxc/121.conf" \
	>"$TMP/sys/etc/pve/lxc/115.conf"
calls >/dev/null
t_ok "third party, running: a directory is read where it is" ctm check 115
t_match "third party, running: says so" "$(cat "$T_OUT")" 'the container is running'
t_is "third party, running: nothing is activated" "$(calls)" ""
calm
volume third:base device "$third" "$TMP/121.raw" raw 1
ct 121 third:base
t_status "third party: a base volume is not repaired" 3 ctm repair -y 121
t_match "third party: a base volume, why" "$(cat "$T_ERR")" 'base volume of a template'
idle "third party, base volume"
volume third:disk device "$third" "$TMP/121.raw" qcow2 0
ct 121 third:disk
refused "third party: a format that no container has" "format 'qcow2'" .
ct 121 third:nowhere
refused "third party: no such volume" 'cannot find .third:nowhere.' 'pvesm status --storage third'
calls >/dev/null
ct 120 'far:vm-120-disk-1' 'mp0: third:thing,mp=/mnt'
t_status "third party: a mount point" 0 ctm check --volume mp0 120
idle "third party: a mount point"
t_done
