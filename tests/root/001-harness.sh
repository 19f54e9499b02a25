#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The test helpers themselves: images have the owner they are asked for, and what is left is found.
. "${0%/*}/lib.sh"

t_ok "a PVE image can be made" t_pve_image "$TMP/pve.raw" 64M 200000
t_mount "$TMP/pve.raw" "$TMP/pve" -o ro
t_is "its root belongs to the base" "$(stat -c %u:%g "$TMP/pve")" 200000:200000
t_match "it has multi-mount protection" "$(dumpe2fs -h "$TMP/pve.raw" 2>/dev/null)" \
	'features:.* mmp'
t_match "a mount is found" "$(leftover_mounts "$TMP")" "/pve$"
t_umount "$TMP/pve"
t_is "and is gone" "$(leftovers "$TMP")" ""

t_image ext4 "$TMP/below.raw" 16M
t_loop below "$TMP/below.raw"
# shellcheck disable=SC2154 # t_loop sets them
t_loop above "$below"
# shellcheck disable=SC2154
t_is "a loop device on a loop device is found, the upper one first" "$(leftover_loops "$TMP")" \
	"$above"$'\n'"$below"
t_unloop "$above"
t_unloop "$below"
t_is "both are gone" "$(leftovers "$TMP")" ""

mkdir "$TMP/tree"
touch -d @1000000000 "$TMP/tree/file"
chown 7:8 "$TMP/tree/file"
chmod 4750 "$TMP/tree/file"
t_match "a listing names owner, mode and mtime" "$(t_listing "$TMP/tree")" \
	$'^file\tf\t7:8\t4750\t1000000000\\.0+\t1\t$'
setfattr -n user.x -v 0x00ff "$TMP/tree/file"
t_match "metadata has attributes in hexadecimal" "$(t_metadata "$TMP/tree")" '^user.x=0x00ff$'
t_done
