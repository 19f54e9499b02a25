#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Two repairs, the second of which removes what the first has chowned: taking back both ends with the
# original, though the file has become another inode in between.
. "${0%/*}/pve.sh"

# all DIR: what must come back
all()
{
	(cd "$1" && find . -printf '%p %y %m %n %U:%G %s %T@\n' | LC_ALL=C sort)
	getfattr -R -d -h -m - --absolute-names "$1"
}

# listing VOLUME: the same of an image or a directory
listing()
{
	if [ -d "$1" ]; then
		all "$1"
		return
	fi
	t_mount "$1" "$TMP/look" -o ro,noload
	all "$TMP/look" | grep -v lost+found
	t_umount "$TMP/look"
}

damage()
{
	local dir=$1 i

	mkdir -p "$dir"/{etc,usr/bin,var/lib/dpkg,var/cache/apt/archives/partial} "$dir"/srv/{1..60}
	echo >"$dir/var/lib/dpkg/status"
	for i in lock lock-frontend; do
		echo "$i" >"$dir/var/lib/dpkg/$i"
	done
	for i in $(seq 1 30); do
		echo "$i" >"$dir/var/cache/apt/archives/partial/$i.deb"
	done
	setfattr -n user.note -v kept "$dir/var/lib/dpkg/lock"
	chmod 0640 "$dir"/var/lib/dpkg/lock*
	find "$dir" -name lost+found -prune -o -exec chown -h 100000:100000 {} +
	chown 0:0 "$dir"/var/lib/dpkg/lock* "$dir"/var/cache/apt/archives/partial/*
	chown 7:42 "$dir/var/lib/dpkg/lock-frontend"
	echo host >"$dir/usr/bin/other" # only the first repair is about it
}

# both NAME VMID VOLUME
both()
{
	local name=$1 vmid=$2 volume=$3 before chowned removed

	before=$(listing "$volume")
	t_status "$name: a repair that removes nothing" 0 ctm repair --yes --clean none "$vmid"
	chowned=$(listing "$volume")
	t_status "$name: one that removes" 0 ctm repair --yes --clean all "$vmid"
	removed=$(listing "$volume")
	t_is "$name: the locks are gone" "$(grep -c '/lock\|deb ' <<<"$removed")" 0

	t_status "$name: undo" 0 ctm undo --yes "$vmid"
	t_is "$name: they are back as the first one left them" "$(listing "$volume")" "$chowned"
	t_status "$name: undo of that one" 0 ctm undo --yes "$vmid"
	t_is "$name: all is as it was" "$(listing "$volume")" "$before"
	t_match "$name: both are undone" "$(ctm history "$vmid" | grep -c ' undone$')" '^2$'

	# Through a longer chain: taken back, done again, and taken back.
	t_status "$name: the first one again" 0 ctm undo --yes "$vmid" 4
	t_is "$name: as it left them" "$(listing "$volume")" "$chowned"
	t_status "$name: and the second" 0 ctm undo --yes "$vmid" 3
	t_is "$name: as it left them, too" "$(listing "$volume")" "$removed"
	t_status "$name: once more back" 0 ctm undo --yes "$vmid"
	t_status "$name: once more back, the first" 0 ctm undo --yes "$vmid"
	t_is "$name: all is as it was, once more" "$(listing "$volume")" "$before"
	rm -rf "${PVE_STATE:?}/$vmid"

	# The first one first: what the second has removed is not there, and is not forgotten.
	t_status "$name: once more" 0 ctm repair --yes --clean none "$vmid"
	t_status "$name: once more, and remove" 0 ctm repair --yes --clean all "$vmid"
	t_status "$name: undo of the first, by name" 4 ctm undo --yes --verbose "$vmid" 1
	t_match "$name: says which run has removed it" "$(cat "$T_OUT")" \
		'^  /var/lib/dpkg/lock: left alone: removed by run 0002-[0-9TZ]+$'
	t_status "$name: undo of the second" 0 ctm undo --yes "$vmid"
	t_status "$name: and then of what is left of the first" 0 ctm undo --yes "$vmid"
	t_is "$name: all is as it was after all" "$(listing "$volume")" "$before"
	t_status "$name: nothing is left to take back" 3 ctm undo --yes "$vmid"
	rm -rf "${PVE_STATE:?}/$vmid"

	# Interrupted where the files come back.
	t_status "$name: again" 0 ctm repair --yes --clean none "$vmid"
	t_status "$name: again, and remove" 0 ctm repair --yes --clean all "$vmid"
	strace -f -qq -o /dev/null -e trace=linkat -e inject=linkat:signal=KILL:when=9 \
		"$CTMEND" --sysroot "$TMP/sys" undo --yes "$vmid" >/dev/null 2>&1
	t_is "$name: an undo is killed" $? 137
	t_status "$name: and finished" 0 ctm undo --yes "$vmid"
	t_status "$name: undo of the first all the same" 0 ctm undo --yes "$vmid"
	t_is "$name: all is as it was all the same" "$(listing "$volume")" "$before"
}

t_image ext4 "$TMP/tank.img" 64M
rm -rf "$TMP/tank"
t_mount "$TMP/tank.img" "$TMP/tank"
mkdir -p "$TMP/tank/images"
pve_dir_ct 9374
damage "$(pve_dir 9374)"
both directory 9374 "$(pve_dir 9374)"

image=$(pve_image 9378)
pve_ct 9378 tank:9378/vm-9378-disk-0.raw
mkdir -p "${image%/*}"
t_pve_image "$image" 24M
t_mount "$image" "$TMP/within"
damage "$TMP/within"
t_umount "$TMP/within"
both image 9378 "$image"
t_done
