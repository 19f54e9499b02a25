#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The status of a hook is 0, whatever it finds and however it is called, unless --strict asks for a
# veto. A VM, and every phase but pre-start, are none of its business.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9381
dir=$(pve_dir $vmid)
lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock
volume=tank:$vmid/subvol-$vmid-disk-0.subvol
pve_dir_ct $vmid
zoo_healthy "$dir"

# free NAME TEXT, locked NAME TEXT: pre-start as vzdump's restart calls it, with nobody holding the
# lock, and as pct start does. What is found does not stop the start, is said, and does with --strict.
WANT=3
free()
{
	t_ok "$1, unlocked: the start goes on" ctm hook $vmid pre-start
	t_match "$1, unlocked: it is said" "$(cat "$T_OUT" "$T_ERR")" "$2"
	t_status "$1, unlocked, strict: no start" "$WANT" ctm hook --strict $vmid pre-start
	t_match "$1, unlocked, strict: it is said" "$(cat "$T_OUT" "$T_ERR")" "$2"
}

locked()
{
	t_ok "$1, locked: the start goes on" \
		flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook $vmid pre-start
	t_match "$1, locked: it is said" "$(cat "$T_OUT" "$T_ERR")" "$2"
	t_status "$1, locked, strict: no start" "$WANT" \
		flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook --strict $vmid pre-start
}

# both NAME TEXT
both()
{
	free "$@"
	locked "$@"
}

# --- what it does ------------------------------------------------------------------------------

chown 0:0 "$dir/root"
t_ok "vzdump's restart: the hook works where nobody holds the lock" ctm hook $vmid pre-start
t_is "and repairs" "$(stat -c %u:%g "$dir/root")" 100000:100000
t_match "which it says" "$(cat "$T_OUT")" '1 entries repaired'
t_ok "the lock is free again" flock -n "$lock" true
t_ok "nothing to do, strict" ctm hook --strict $vmid pre-start
t_is "is silent" "$(cat "$T_OUT" "$T_ERR")" ""

# --- what it finds -----------------------------------------------------------------------------

pve_ct $vmid "$volume" 'lxc.include: /nowhere/at-all.conf'
both "a missing lxc.include" at-all.conf
pve_ct $vmid "$volume,frob=1"
both "an unknown property" frob
pve_ct $vmid "tank:$vmid/subvol-$vmid-disk-7.subvol"
both "a volume that is not there" 'does not exist'
pve_ct $vmid "$volume" 'lock: backup'
both "a lock: in the configuration" backup
pve_ct $vmid "$volume"

flock --no-fork "$dir/var/lib/dpkg/lock-frontend" sleep 60 &
holder=$!
until ! flock -n "$dir/var/lib/dpkg/lock-frontend" true; do
	sleep 0.05
done
both "a package manager's lock is held" 'lock is held'
kill $holder
wait $holder 2>/dev/null

chown 0:0 "$dir/root"
flock --no-fork "$lock" sleep 60 &
holder=$!
until ! flock -n "$lock" true; do
	sleep 0.05
done
free "somebody else holds the configuration's lock" 'locked by a process'
t_is "somebody else holds the configuration's lock: nothing has changed" \
	"$(stat -c %u:%g "$dir/root")" 0:0
kill $holder
wait $holder 2>/dev/null

mkdir -p "$TMP/sys/var/lib/lxc/$vmid"
touch "$TMP/sys/var/lib/lxc/$vmid/reboot"
free "it reboots" 'rebooting'
t_ok "who starts it with the lock knows that it does not" \
	flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook --strict $vmid pre-start
rm "$TMP/sys/var/lib/lxc/$vmid/reboot"
t_is "and then it is repaired" "$(stat -c %u:%g "$dir/root")" 100000:100000

# A part that only a person can decide about.
WANT=4
mkdir "$dir/root/odd"
chown 4000000:4000000 "$dir/root/odd"
chown 0:0 "$dir/root"
t_ok "a part is left: the start goes on" ctm hook $vmid pre-start
t_is "a part is left: the rest is repaired" "$(stat -c %u:%g "$dir/root")" 100000:100000
t_status "a part is left, strict: no start" 4 ctm hook --strict $vmid pre-start
rmdir "$dir/root/odd"

# --- how it is called --------------------------------------------------------------------------

# words NAME STATUS WORD...: what the hook is called with, and a status with --strict
words()
{
	local name=$1 status=$2
	shift 2

	t_ok "$name" "$CTMEND" "$@"
	t_status "$name, strict" "$status" "$CTMEND" "$@" --strict
}

chown 0:0 "$dir/root"
words "an unknown option" 2 --sysroot "$TMP/sys" hook --frob $vmid pre-start
words "an option of other commands" 2 --sysroot "$TMP/sys" hook --scope required $vmid pre-start
words "a value that makes no sense" 2 --sysroot "$TMP/sys" hook --max-time soon $vmid pre-start
words "no time at all" 2 --sysroot "$TMP/sys" hook --max-time 0 $vmid pre-start
words "an option in front of the command" 2 --sysroot relative hook $vmid pre-start
words "no container's id" 2 --sysroot "$TMP/sys" hook web pre-start
words "an id too long" 2 --sysroot "$TMP/sys" hook 99999999999 pre-start
words "there is no such container" 3 --sysroot "$TMP/sys" hook 4711 pre-start
words "LXC's words without its environment" 2 --sysroot "$TMP/sys" hook web lxc pre-start
t_is "nothing has changed by all these" "$(stat -c %u:%g "$dir/root")" 0:0
if id nobody >/dev/null 2>&1; then
	cp "$CTMEND" "$TMP/ctmend"
	chmod 755 "$TMP" "$TMP/ctmend"
	t_ok "who is not root" setpriv --reuid nobody --clear-groups \
		"$TMP/ctmend" --sysroot "$TMP/sys" hook $vmid pre-start
	t_match "is told" "$(cat "$T_ERR")" .
fi
(
	# the leak checker wants a process of its own
	export ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
	ulimit -u 0
	setpriv --reuid nobody --clear-groups "$TMP/ctmend" --sysroot "$TMP/sys" hook $vmid pre-start
) 2>"$TMP/said"
t_is "no process can be made: the start goes on" $? 0
t_match "no process can be made: it is said" "$(cat "$TMP/said")" 'start the work'
for strict in "" --strict; do
	# shellcheck disable=SC2086 # a word or none
	(
		ulimit -n 12
		"$CTMEND" --sysroot "$TMP/sys" hook $strict $vmid pre-start
	) 2>"$TMP/said"
	t_is "too few files may be open $strict" $? $((${#strict} ? 5 : 0))
	t_match "too few files may be open $strict: it is said" "$(cat "$TMP/said")" 'could not be set up'
done
t_status "a person without words" 2 "$CTMEND" hook
t_status "a person with an option alone" 2 "$CTMEND" hook --frob
t_status "a person with one word" 2 "$CTMEND" --sysroot "$TMP/sys" hook $vmid
t_status "other commands keep their status" 2 env LXC_NAME=a LXC_CONFIG_FILE=b \
	"$CTMEND" -q check --frob hook pre-start

# idle NAME WORD...: silent, also with --strict
idle()
{
	local name=$1
	shift

	t_ok "$name" ctm hook --strict "$@"
	t_is "$name: is silent" "$(cat "$T_OUT" "$T_ERR")" ""
}

for phase in post-start pre-stop post-stop warm-up ''; do
	idle "PVE, phase '$phase'" $vmid "$phase"
done
for type in start-host pre-mount mount autodev start stop post-stop clone destroy warm-up; do
	idle "LXC, type $type" web lxc $type
done
idle "LXC, a network device" web net up veth vethXYZ
idle "LXC, a type with more words" web lxc clone one two
export LXC_NAME=web LXC_CONFIG_FILE=/c LXC_ROOTFS_PATH=/r LXC_HOOK_SECTION=lxc
for type in mount post-stop warm-up; do
	LXC_HOOK_TYPE=$type idle "LXC version 1, type $type"
done
LXC_HOOK_SECTION=net LXC_HOOK_TYPE=up idle "LXC version 1, a network device"
unset LXC_NAME LXC_CONFIG_FILE LXC_ROOTFS_PATH LXC_HOOK_SECTION

# A VM, of this node and of another one.
mkdir -p "$TMP/sys/etc/pve/qemu-server" "$TMP/sys/etc/pve/nodes/other/qemu-server"
echo 'memory: 512' >"$TMP/sys/etc/pve/qemu-server/4000.conf"
echo 'memory: 512' >"$TMP/sys/etc/pve/nodes/other/qemu-server/4001.conf"
for vm in 4000 4001; do
	for phase in pre-start post-start pre-stop post-stop; do
		idle "VM $vm, $phase" $vm $phase
	done
done
t_is "a VM gets no lock file of a container" \
	"$(find "$TMP/sys/run/lock/lxc" -name 'pve-config-400?.lock')" ""

# A record of what a hook has done cannot be made.
WANT=3
rm -rf "$PVE_STATE"
touch "$PVE_STATE"
t_ok "the state directory is a file: the start goes on" ctm hook $vmid pre-start
t_match "the state directory is a file: it is said" "$(cat "$T_ERR")" 'var/lib/ctmend'
t_fails "the state directory is a file, strict: no start" ctm hook --strict $vmid pre-start
t_is "nothing has changed by that" "$(stat -c %u:%g "$dir/root")" 0:0
t_done
