#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each volume of a container has its own map, its own plan and its own records; what is the host's
# is never touched.
. "${0%/*}/pve.sh"

vmid=9510
tank=$TMP/tank/images/$vmid
rootfs=$(pve_dir $vmid)

# subvol N, image N: the paths of this container's disks
subvol()
{
	echo "$tank/subvol-$vmid-disk-$1.subvol"
}
image()
{
	echo "$tank/vm-$vmid-disk-$1.raw"
}

# fill DIR OWNER: what belongs there, so that little that does not is no other disease
fill()
{
	mkdir -p "$1/right" && touch "$1/right/"{1..20} && chown -R "$2:$2" "$1"
}

# put DIR UID:GID...: a setuid program of each owner
put()
{
	local owner dir=$1
	shift

	for owner in "$@"; do
		echo "$owner" >"$dir/of-$owner" && chown "$owner" "$dir/of-$owner" &&
			chmod 4755 "$dir/of-$owner"
	done
}

# owners N: name and owner of what put() made on an image or a subvol, as find sees it
owners()
{
	local at
	at=$(subvol "$1")
	if [ -d "$at" ]; then
		pve_peek "$at" find . -name 'of-*' -printf '%f %U:%G %m\n' | LC_ALL=C sort
	else
		t_mount "$(image "$1")" "$TMP/image" -o ro,noload,noatime
		find "$TMP/image" -name 'of-*' -printf '%f %U:%G %m\n' | LC_ALL=C sort
		t_umount "$TMP/image"
	fi
}

# traces FILE: a text for each volume, and for what is the host's
traces()
{
	local n

	{
		echo "rootfs $(pve_trace "$rootfs")"
		for n in 1 2; do
			echo "disk-$n $(pve_trace "$(image $n)")"
		done
		for n in 3 4; do
			echo "disk-$n $(pve_trace "$(subvol $n)")"
		done
		echo "host $(pve_trace "$TMP/host")"
		echo "device $(pve_trace "$TMP/device.raw")"
	} | LC_ALL=C sort >"$1"
}

# changed: the volumes that are not as before
changed()
{
	traces "$TMP/now"
	LC_ALL=C comm -3 "$TMP/before" "$TMP/now" | awk '{ print $1 }' | sort -u | xargs
	cp "$TMP/now" "$TMP/before"
}

mkdir -p "$tank" "$TMP/host" "$TMP/mnt"
fill "$TMP/host" 0
for n in 1 2; do
	t_pve_image "$(image $n)" 32M
done
t_mount "$(image 1)" "$TMP/mnt"
fill "$TMP/mnt" 100000 && put "$TMP/mnt" 0:0 33:33 100000:100000
t_umount "$TMP/mnt"
t_mount "$(image 2)" "$TMP/mnt"
fill "$TMP/mnt" 300000 && put "$TMP/mnt" 300033:300033
t_umount "$TMP/mnt"
mkdir "$(subvol 3)" "$(subvol 4)"
fill "$(subvol 3)" 0 && put "$(subvol 3)" 0:0 1000:1000
fill "$(subvol 4)" 100000 && put "$(subvol 4)" 0:0 1000:1000 999:1001
t_image ext4 "$TMP/device.raw" 16M
t_loop device "$TMP/device.raw"
# shellcheck disable=SC2154 # t_loop sets it
pve_dir_ct $vmid "mp0: tank:$vmid/vm-$vmid-disk-1.raw,mp=/data,size=32M" \
	"mp1: tank:$vmid/vm-$vmid-disk-2.raw,mp=/shared,size=32M" \
	"mp2: $TMP/host,mp=/host" \
	"mp3: tank:$vmid/subvol-$vmid-disk-3.subvol,mp=/same,idmap=passthrough" \
	"mp4: tank:$vmid/subvol-$vmid-disk-4.subvol,mp=/part,idmap=u:1000:1000:1;g:1000:1000:1" \
	"mp5: $device,mp=/device"
mkdir "$rootfs/etc" "$rootfs/usr"
fill "$rootfs" 100000 && put "$rootfs" 0:0
traces "$TMP/before"

# --- looking ----------------------------------------------------------------------------------

t_status "check looks at the rootfs" 1 ctm check $vmid
t_match "and says of which volume it speaks" "$(cat "$T_OUT")" "^rootfs tank:$vmid/subvol"
t_match "and at which it has not looked" "$(cat "$T_OUT")" \
	'^note: not looked at: mp0 \(/data\), mp1 \(/shared\), mp3 \(/same\), mp4 \(/part\); see '
t_match "a directory of the host is named as such" "$(cat "$T_OUT")" \
	"^note: mp2 at /host is '$TMP/host' of the host: it is never touched"
t_match "so is a device" "$(cat "$T_OUT")" "^note: mp5 at /device is '$device' of the host"
t_status "check of all" 1 ctm check --volume all $vmid
t_is "one report for each volume, in order" \
	"$(sed -nE "s/^(CT $vmid, )?(rootfs|mp[0-9]) tank:.*/\2/p" "$T_OUT" | xargs)" 'rootfs mp0 mp1 mp3 mp4'
t_no_match "nothing is left to name" "$(cat "$T_OUT")" 'not looked at'
t_is "the host's are named once" "$(grep -c 'of the host: it is never' "$T_OUT")" 2
t_match "a map of its own counts" "$(cat "$T_OUT")" "^mp4 tank:.* map .*u 1000 1000 1"
t_match "on passthrough there is nothing to shift" "$(cat "$T_OUT")" \
	'^note: idmap= of the volume: nothing to shift'
t_status "check of all, as JSON" 1 ctm check --volume all --json $vmid
t_is "has one object for each" "$(python3 -c '
import json, sys
print(*[t["key"] for t in json.load(sys.stdin)["targets"]])' <"$T_OUT")" 'rootfs mp0 mp1 mp3 mp4'
t_status "the volume of another container's map" 1 ctm check --volume mp1 $vmid
t_no_match "is none to be shifted by default" "$(cat "$T_OUT")" '^own\.host'
t_status "a volume where ids are right" 0 ctm check --volume mp3 $vmid
t_status "what is the host's is refused" 3 ctm check --volume mp2 $vmid
t_match "by its name" "$(cat "$T_ERR")" "$vmid mp2: .*directory of the host"
t_status "a device likewise" 3 ctm repair --yes --volume mp5 $vmid
t_status "one that is not there" 2 ctm check --volume mp7 $vmid
for words in "check --path etc" "repair --yes --approve 0123456789abcdef0123456789abcdef" \
	"undo --yes"; do
	# shellcheck disable=SC2086 # words
	t_status "all and: $words" 2 ctm $words --volume all $vmid
done
t_is "no volume has changed" "$(changed)" ""

# --- changing ---------------------------------------------------------------------------------

t_status "diff of all" 1 ctm diff --volume all $vmid
for where in / /data /part; do
	t_match "diff names its place: $where" "$(cat "$T_OUT")" "^--- $vmid:$where as found"
done
t_is "diff has a plan for each" "$(grep -c '^plan ' "$T_OUT")" 4
plan=$(ctm diff --volume mp0 $vmid | sed -n 's/^plan \([0-9a-f]*\) .*/\1/p')
t_status "a plan is of one volume" 3 ctm repair --approve "$plan" $vmid
t_is "another volume's plan has changed nothing" "$(changed)" ""
t_status "a plan is carried out on its volume" 0 ctm repair --approve "$plan" --volume mp0 $vmid
t_is "and on no other" "$(changed)" "disk-1"
t_is "each owner there is where the map has it" "$(owners 1)" \
	"$(printf '%s\n' 'of-0:0 100000:100000 4755' 'of-100000:100000 100000:100000 4755' \
		'of-33:33 100033:100033 4755')"
t_match "the run's name is told, since it is not the only volume" \
	"$(ctm undo --dry-run $vmid | head -n 3)" '^-f 4755'
t_status "repair of all" 4 ctm repair --yes --volume all $vmid
t_match "each says what was done" "$(cat "$T_OUT")" "^mp4 tank:$vmid/subvol-$vmid-disk-4"
t_match "and how to take just that back" "$(cat "$T_OUT")" \
	"^'ctmend undo $vmid 0002-[0-9TZ]+' takes it back"
t_is "it changes what was left to be done" "$(changed)" "disk-4 rootfs"
t_is "by the volume's own map" "$(owners 4)" \
	"$(printf '%s\n' 'of-0:0 100000:100000 4755' 'of-1000:1000 1000:1000 4755' \
		'of-999:1001 100999:101001 4755')"
t_is "where ids are the same on disk, none is moved" "$(owners 3)" \
	"$(printf '%s\n' 'of-0:0 0:0 4755' 'of-1000:1000 1000:1000 4755')"
t_is "another container's volume is as it was" "$(owners 2)" 'of-300033:300033 300033:300033 4755'
t_status "history has a run for each volume" 0 ctm history $vmid
t_is "with its name" "$(awk '/^[0-9]/ { print $6 }' "$T_OUT" | xargs)" 'mp0 rootfs mp4'
t_status "a second repair of all" 4 ctm repair --yes --volume all $vmid
t_is "changes nothing" "$(changed)" ""

# --- taking back ------------------------------------------------------------------------------

t_status "undo takes back the newest run, whatever its volume" 0 ctm undo --yes $vmid
t_is "which is that of mp4" "$(changed)" "disk-4"
t_is "all is as before there" "$(owners 4)" \
	"$(printf '%s\n' 'of-0:0 0:0 4755' 'of-1000:1000 1000:1000 4755' \
		'of-999:1001 999:1001 4755')"
t_status "a run by its number is of its own volume" 0 ctm undo --yes $vmid 1
t_is "which is mp0" "$(changed)" "disk-1"
t_is "all is as before there too" "$(owners 1)" \
	"$(printf '%s\n' 'of-0:0 0:0 4755' 'of-100000:100000 100000:100000 4755' \
		'of-33:33 33:33 4755')"
t_status "a run of another volume than the one that is named" 3 ctm undo --yes --volume mp0 $vmid 2
t_match "is refused by name" "$(cat "$T_ERR")" 'was of volume rootfs, not of mp0'
t_status "the last one is left" 0 ctm undo --yes --volume rootfs $vmid
t_is "and it is the rootfs" "$(changed)" "rootfs"
t_status "after that there is none" 3 ctm undo --yes $vmid
t_is "so nothing changes" "$(changed)" ""

# --- one bad volume stops no other ------------------------------------------------------------

mv "$rootfs" "$rootfs.away"
t_status "without its rootfs, check of all" 3 ctm check --volume all $vmid
t_match "says that of the rootfs" "$(cat "$T_ERR")" "^ctmend: $vmid rootfs: .*does not exist"
t_is "and looks at the others" \
	"$(sed -nE "s/^(CT $vmid, )?(rootfs|mp[0-9]) tank:.*/\2/p" "$T_OUT" | xargs)" 'mp0 mp1 mp3 mp4'
mv "$rootfs.away" "$rootfs"
sed -i "s|idmap=passthrough|idmap=passthrough,unheard=1|" "$TMP/sys/etc/pve/lxc/$vmid.conf"
t_status "a property that is not known refuses its volume" 3 ctm check --volume mp3 $vmid
t_status "and no other" 1 ctm check --volume mp4 $vmid
t_status "a container that is not there has no volumes" 3 ctm check --volume all 9599
t_match "which is said once" "$(cat "$T_ERR")" '^ctmend: 9599: there is no container 9599'

# --- required directories on a volume of their own --------------------------------------------

vmid=9511
mkdir -p "$TMP/tank/images/$vmid"
tank=$TMP/tank/images/$vmid
rootfs=$(pve_dir $vmid)
pve_dir_ct $vmid "mp0: tank:$vmid/subvol-$vmid-disk-1.subvol,mp=/var/,size=0T" \
	"mp1: tank:$vmid/subvol-$vmid-disk-2.subvol,mp=/var/lib/dpkg/info,size=0T" \
	"mp2: tank:$vmid/subvol-$vmid-disk-3.subvol,mp=/srv,size=0T"
mkdir "$rootfs/etc" "$(subvol 1)" "$(subvol 2)" "$(subvol 3)"
for n in 1 2 3; do
	mkdir -p "$(subvol $n)/"{lib/dpkg,var/lib/dpkg,root,log}
	fill "$(subvol $n)" 100000
	for dir in lib/dpkg var/lib/dpkg root log; do
		put "$(subvol $n)/$dir" 0:0
	done
done
fill "$rootfs" 100000

# selected N: the directories of a volume where --scope required finds something
selected()
{
	ctm diff --scope required --volume "mp$1" $vmid | sed -n 's|^-f .* /\(.*\)/of-0:0$|\1|p' |
		LC_ALL=C sort | xargs
}
t_is "of /var, what is below it there" "$(selected 0)" 'lib/dpkg'
t_is "of a place within a required directory, all" "$(selected 1)" 'lib/dpkg log root var/lib/dpkg'
t_is "of another place, nothing, whatever its directories are called" "$(selected 2)" ''
t_status "and so nothing is to be done" 0 ctm check --scope required --volume mp2 $vmid
t_status "the whole volume is another matter" 1 ctm check --volume mp2 $vmid
t_done
