#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmend as a hook of a start: of a real lxc-start, and as PVE calls a hook script.
. "${0%/*}/container.sh"
. "${0%/*}/damage.sh"

# What package managers and root's shell must be able to write.
REQUIRED="root usr/share/locale var/cache/apt var/lib/apt var/lib/dpkg var/log/apt"

ctm()
{
	"$CTMEND" --sysroot "$TMP/sys" "$@"
}
HOOK="lxc.hook.pre-start = $CTMEND --sysroot $TMP/sys hook"

# fresh DIR: a healthy root; fresh_damaged NAME DIR: a damaged one, and what the hook is to make of
# it
fresh()
{
	rm -rf --one-file-system "$1"
	ct_new_dir "$1"
	ct_unpack "$1"
}

fresh_damaged()
{
	fresh "$2"
	t_ok "$1: a root is damaged" damage_root "$2"
	listing_take "$2" "$TMP/was"
	want_after_hook
}

# want_after_hook: from the listing "was" to the listing "want"
want_after_hook()
{
	listing_shift "$CT_MAP" "$CT_MAP" "$TMP/was" "$TMP/shifted"
	damage_removed "$TMP/was" >"$TMP/removed"
	listing_without "$TMP/removed" "$TMP/shifted" "$TMP/cleaned"
	listing_select "$REQUIRED" "$TMP/was" "$TMP/cleaned" "$TMP/want"
}

# expect_required NAME DIR, expect_as_before NAME DIR
expect_required()
{
	listing_take "$2" "$TMP/now"
	t_is "$1: the required directories are right, all else is as it was" \
		"$(listing_diff "$TMP/want" "$TMP/now")" ""
}

expect_as_before()
{
	listing_take "$2" "$TMP/now"
	t_is "$1: nothing has changed" "$(listing_diff "$TMP/was" "$TMP/now")" ""
}

# hook_output NAME: what hooks printed, out of lxc's log
hook_output()
{
	grep -a 'produced output: ' "$TMP/$1.log" | sed 's/.*produced output: //'
}

fresh_damaged "damaged" "$TMP/root"
t_match "damaged: there is something to repair in the required directories" \
	"$(listing_changed "$TMP/was" "$TMP/want" | wc -l)" '^[0-9]{2}'
t_match "damaged: and elsewhere" "$(listing_changed "$TMP/want" "$TMP/cleaned" | wc -l)" '^[0-9]{3}'

# A real start of a plain LXC container.
ct_config plain "$TMP/root" "$HOOK"
t_ok "damaged: the container starts" ct_start plain
expect_required "damaged" "$TMP/root"
t_ok "damaged: apt-get works inside" ct_run plain 'apt-get update && apt-get check'
t_ok "damaged: so does dpkg" ct_run plain 'dpkg --configure -a'
t_match "damaged: few lines of output, or lxc would stop reading" \
	"$(hook_output plain | wc -l)" '^[1-9]$'

# By hand beside it: the same environment and arguments, but no start is going on.
echo made >"$TMP/root/root/made"
touch "$TMP/root/var/lib/dpkg/lock"
chown 0:0 "$TMP/root/var/lib/dpkg/lock"
listing_take "$TMP/root" "$TMP/was"
hook_env=(LXC_NAME=plain LXC_CONFIG_FILE=/var/lib/lxc/plain/config LXC_ROOTFS_PATH="$TMP/root"
	LXC_ROOTFS_MOUNT=/var/lib/lxc/plain LXC_HOOK_VERSION=0 LXC_LOG_LEVEL=DEBUG)
t_status "by hand while it runs: it refuses" 3 \
	env "${hook_env[@]}" "$CTMEND" --sysroot "$TMP/sys" hook --strict plain lxc pre-start
t_match "by hand while it runs: it says why" "$(cat "$T_ERR")" running
expect_as_before "by hand while it runs" "$TMP/root"
ct_stop plain

# Nothing to do: no write, no record.
fresh "$TMP/root"
ct_config healthy "$TMP/root" "$HOOK"
print=$(ct_fingerprint "$TMP/root")
t_ok "healthy: the container starts" ct_start healthy
ct_stop healthy
t_is "healthy: not an inode was written" "$(ct_fingerprint "$TMP/root")" "$print"
t_is "healthy: no record was made" \
	"$(find "$TMP/sys/var/lib/ctmend" -path '*healthy/*' 2>/dev/null)" ""

# A hook of other phases does nothing, and says so by success.
fresh_damaged "other phases" "$TMP/root"
ct_config phases "$TMP/root" "${HOOK/pre-start/start-host}" "${HOOK/pre-start/post-stop}"
t_ok "other phases: the container starts" ct_start phases
ct_stop phases
expect_as_before "other phases" "$TMP/root"

# As PVE calls a hook script: <vmid> <phase>, the configuration's lock held by the parent.
ct_pve_storage
lock=$TMP/sys/run/lock/lxc/pve-config-115.lock
mkdir -m 755 "$TMP/tank/images/115"
subvol=$TMP/tank/images/115/subvol-115-disk-0.subvol
ct_pve_config 115 subvol-115-disk-0.subvol
mv "$TMP/root" "$subvol"
for phase in post-start pre-stop post-stop; do
	t_ok "PVE $phase" flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook 115 "$phase"
done
expect_as_before "PVE other phases" "$subvol"

# Held by a process that is no ancestor of ours: somebody else is at work.
flock --no-fork "$lock" sleep 60 &
holder=$!
until ! flock -n "$lock" true; do
	sleep 0.05
done
t_status "PVE, locked by another process: it refuses" 3 ctm hook --strict 115 pre-start
t_match "PVE, locked by another process: it says so" "$(cat "$T_ERR")" locked
expect_as_before "PVE, locked by another process" "$subvol"
kill "$holder"
wait "$holder" 2>/dev/null

t_ok "PVE pre-start, locked by the parent" \
	flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook 115 pre-start
expect_required "PVE pre-start" "$subvol"
print=$(ct_fingerprint "$subvol")
t_ok "PVE pre-start again" flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook 115 pre-start
t_is "PVE pre-start again: not an inode was written" "$(ct_fingerprint "$subvol")" "$print"
chown 0:0 "$subvol/var/lib/dpkg/status"
t_ok "PVE pre-start by hand, nobody holds the lock" ctm hook 115 pre-start
expect_required "PVE pre-start by hand" "$subvol"

# PVE's own hook has mounted the volume where the container's root will be; ours comes after it.
image=$TMP/tank/images/115/vm-115-disk-0.raw
ct_pve_config 115 vm-115-disk-0.raw
t_pve_image "$image" 400M
t_mount "$image" "$TMP/mnt"
ct_unpack "$TMP/mnt"
t_ok "an image is damaged" damage_root "$TMP/mnt"
ct_umount "$TMP/mnt" "$image"
ct_listing "$TMP/was" "$image"
want_after_hook
mkdir -p /var/lib/lxc/115/rootfs
ct_config 115 /var/lib/lxc/115/rootfs "lxc.monitor.unshare = 1" \
	"lxc.hook.pre-start = mount -o loop $image /var/lib/lxc/115/rootfs #" "$HOOK"
t_ok "PVE, raw hook after the mount: the container starts" ct_start 115
ct_stop 115
ct_listing "$TMP/now" "$image"
t_is "PVE, raw hook after the mount: the required directories are right, all else is as it was" \
	"$(listing_diff "$TMP/want" "$TMP/now")" ""

# Whatever is wrong, the container starts; with --strict it does not.
conf=$TMP/sys/etc/pve/lxc/115.conf
cp "$conf" "$TMP/115.conf"
cp /var/lib/lxc/115/config "$TMP/115.lxc"
sed 's/ hook$/ hook --strict/' "$TMP/115.lxc" >"$TMP/115.strict"

# comes_up NAME WORDS: with the configuration as it is now
comes_up()
{
	cp "$TMP/115.lxc" /var/lib/lxc/115/config
	t_ok "$1: the container starts" ct_start 115
	ct_stop 115
	t_match "$1: it is said why nothing was done" "$(hook_output 115)" "$2"
	cp "$TMP/115.strict" /var/lib/lxc/115/config
	t_fails "$1: with --strict it does not" ct_start 115
	ct_stop 115
	cp "$TMP/115.conf" "$conf"
}
sed -i 's/^rootfs: .*/&,frob=1/' "$conf"
comes_up "an unknown property" frob
echo 'lxc.include: /nowhere/at-all.conf' >>"$conf"
comes_up "a missing lxc.include" at-all.conf
echo 'lxc.idmap: u 0 odd' >>"$conf"
comes_up "a map that makes no sense" 'id map'
cp "$TMP/115.lxc" /var/lib/lxc/115/config
flock --no-fork "$lock" sleep 60 &
holder=$!
until ! flock -n "$lock" true; do
	sleep 0.05
done
t_ok "somebody else has the lock of the configuration: the container starts" ct_start 115
ct_stop 115
kill "$holder"
wait "$holder" 2>/dev/null

# A plain LXC container on an image: lxc mounts it later, and a hook must not. It can only say what
# to do instead.
t_mount "$image" "$TMP/mnt"
chown 0:0 "$TMP/mnt/var/lib/dpkg/status"
ct_umount "$TMP/mnt" "$image"
ct_listing "$TMP/was" "$image"
ct_config image "$image" "$HOOK"
sed -i "s,^lxc.rootfs.path = dir:,lxc.rootfs.path = loop:," /var/lib/lxc/image/config
t_ok "plain LXC on an image: the container starts" ct_start image
ct_stop image
t_match "plain LXC on an image: it says what to do" "$(hook_output image)" 'ctmend repair image'
t_is "plain LXC on an image: in one line" "$(hook_output image | wc -l)" 1
ct_listing "$TMP/now" "$image"
t_is "plain LXC on an image: nothing has changed" "$(listing_diff "$TMP/was" "$TMP/now")" ""
t_done
