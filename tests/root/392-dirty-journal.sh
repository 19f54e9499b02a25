#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the journal of an image holds since its last clean unmount is seen by no reader; a repair
# brings it in before it says that there is nothing to do.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

# crash COMMAND...: run in the volume's tree; the image is then as if the power had failed after that.
# To sync one file puts the change into the journal, and leaves it there.
crash()
{
	local dev

	dev=$(losetup --find --show "$image")
	mkdir -p "$TMP/crashing"
	mount "$dev" "$TMP/crashing" && (cd "$TMP/crashing" && "$@" && sync etc/passwd)
	cp --sparse=always "$image" "$TMP/copy"
	umount "$TMP/crashing"
	losetup -d "$dev"
	mv "$TMP/copy" "$image"
}

# owner PATH: of the volume, as it is after its journal was brought in
owner()
{
	t_mount "$image" "$TMP/in"
	stat -c %u "$TMP/in/$1"
	t_umount "$TMP/in"
}

image=$(pve_image 9392)
pve_ct 9392 tank:9392/vm-9392-disk-0.raw
mkdir -p "${image%/*}"
t_image ext4 "$image" 16M -E root_owner=100000:100000
t_mount "$image" "$TMP/in"
zoo_healthy "$TMP/in"
t_umount "$TMP/in"

crash chown 0 etc/passwd
trace=$(pve_trace "$image")
t_status "what the journal holds is not seen" 0 ctm check 9392
t_match "check says so" "$(cat "$T_OUT")" 'journal is dirty'
t_is "and brings nothing in" "$(pve_trace "$image")" "$trace"
cp "$image" "$TMP/dirty"
plan=$(ctm diff 9392 | sed -n 's/^plan \([0-9a-f]*\) .*/\1/p')
t_status "the plan without it is not the one of a repair" 3 ctm repair --approve \
	"${plan:-00112233445566778899aabbccddeeff}" 9392
t_is "nothing was repaired" "$(owner etc/passwd)" 0
cp "$TMP/dirty" "$image"
t_status "repair sees it" 0 ctm repair --yes 9392
t_is "and cures it" "$(owner etc/passwd)" 100000

crash touch etc/passwd
t_status "a journal without harm in it" 0 ctm repair --yes 9392
t_match "needs no repair" "$(cat "$T_OUT")" 'nothing to repair'
trace=$(pve_trace "$image")
t_status "what is clean now" 0 ctm repair --yes 9392
t_is "is not written to" "$(pve_trace "$image")" "$trace"
t_done
