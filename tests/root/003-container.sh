#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The rig of the container tests: a healthy volume is healthy, and its container can do its work.
# What fails elsewhere in a damaged one fails because of the damage.
. "${0%/*}/container.sh"
. "${0%/*}/damage.sh"

t_pve_image "$TMP/root.raw" 400M
t_mount "$TMP/root.raw" "$TMP/root"
t_ok "a root is unpacked in the user namespace" ct_unpack "$TMP/root"
t_ok "the image can be let go" ct_umount "$TMP/root" "$TMP/root.raw"
ct_listing "$TMP/healthy" "$TMP/root.raw"
t_is "nothing but lost+found is off the map" "$(ct_off_map "$TMP/healthy")" ""
t_is "a capability got the container's root id" \
	"$(grep -aP '^./usr/bin/ping\tX\t' "$TMP/healthy")" \
	$'./usr/bin/ping\tX\tsecurity.capability=0x0100000300200000000000000000000000000000a0860100'
print=$(ct_fingerprint "$TMP/root.raw")
ct_listing "$TMP/again" "$TMP/root.raw"
t_is "looking at it has not changed it" "$(ct_fingerprint "$TMP/root.raw")" "$print"

t_mount "$TMP/root.raw" "$TMP/root"
print=$(ct_fingerprint "$TMP/root")
chown -h 100000:100000 "$TMP/root/etc/os-release"
t_ok "a chown to the same owner shows in a fingerprint" \
	[ "$(ct_fingerprint "$TMP/root")" != "$print" ]
ct_config 115 "$TMP/root"
t_ok "its container starts" ct_start 115
t_is "it is an unprivileged one" "$(ct_run 115 'cat /proc/self/uid_map' | xargs)" "0 100000 65536"
t_ok "packages can be installed inside" ct_run 115 \
	'apt-get update && apt-get -y --no-install-recommends install cron logrotate nano'
for work in "${DAMAGE_BREAKS[@]}"; do
	t_ok "inside: $work" ct_run 115 "$work"
done
t_ok "it stops" ct_stop 115
t_ok "the image can be let go again" ct_umount "$TMP/root" "$TMP/root.raw"
ct_listing "$TMP/used" "$TMP/root.raw"
t_is "what the container wrote is on the map" "$(ct_off_map "$TMP/used")" ""
t_done
