#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Taking back a repair of a tree in which somebody has worked since: what is still as the repair
# left it goes back, what is not is left and listed, and another volume is not touched.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

# work DIR: what somebody did after the repair. Each of these is a conflict.
work()
{
	(
		cd "$1" || return
		chmod 0700 zoo/modes/f4755 && chown 100001 zoo/modes/f0644 &&
			setfacl -m u:100099:r-- zoo/attr/file && setfacl -b zoo/attr/acl &&
			setcap -r zoo/attr/v2 && rm zoo/modes/f2755 &&
			rm zoo/kinds/empty && : >zoo/kinds/empty && chown 100000:100000 zoo/kinds/empty &&
			rm zoo/kinds/dangling && mkdir zoo/kinds/dangling &&
			# In the way of files that were removed.
			echo new >var/lib/dpkg/lock && chown 100000:100000 var/lib/dpkg/lock &&
			ln -s /etc/shadow var/cache/apt/pkgcache.bin &&
			rm -r var/cache/apt/archives
	)
}

# Their paths, as a report has them.
conflicts()
{
	printf '%s\n' /zoo/modes/f4755 /zoo/modes/f0644 /zoo/attr/file /zoo/attr/acl /zoo/attr/v2 \
		/zoo/modes/f2755 /zoo/kinds/empty /zoo/kinds/dangling /var/lib/dpkg/lock \
		/var/cache/apt/pkgcache.bin \
		/var/cache/apt/archives/partial/fifo /var/cache/apt/archives/lock | sort
}

# within VOLUME COMMAND...: run a command with the path of the volume's tree, writable
within()
{
	local volume=$1
	shift

	if [ -d "$volume" ]; then
		"$@" "$volume"
		return
	fi
	t_mount "$volume" "$TMP/within"
	"$@" "$TMP/within"
	t_umount "$TMP/within"
}

# undo_worked NAME VMID VOLUME
undo_worked()
{
	local name=$1 vmid=$2 volume=$3

	within "$volume" zoo_healthy
	within "$volume" zoo_damage
	pve_listing "$volume" "$TMP/before"
	t_status "$name: repair" 0 ctm repair --yes "$vmid"
	within "$volume" work
	pve_listing "$volume" "$TMP/worked"
	t_status "$name: a preview" 0 ctm undo --dry-run "$vmid"
	pve_listing "$volume" "$TMP/after"
	t_is "$name: changes nothing" "$(listing_diff "$TMP/worked" "$TMP/after")" ""
	t_status "$name: undo leaves what was changed" 4 ctm undo --yes --verbose "$vmid"
	t_is "$name: and names it" "$(sed -n 's/^  \(\/[^:]*\): left alone: .*/\1/p' "$T_OUT" | sort)" \
		"$(conflicts)"
	# What was worked on is as it was made, all else as before the repair.
	pve_listing "$volume" "$TMP/after"
	listing_select "var/cache/apt/archives $(conflicts | sed 's/^.//' | xargs)" \
		"$TMP/before" "$TMP/worked" "$TMP/want"
	# Their work shows in times and link counts of the directories around it.
	for file in want after; do
		awk -F '\t' -v OFS='\t' '$2 == "I" && $3 == "d" { $7 = $8 = "" } { print }' \
			"$TMP/$file" >"$TMP/$file.less"
	done
	t_is "$name: nothing else is left" "$(listing_diff "$TMP/want.less" "$TMP/after.less")" ""
	t_status "$name: it is taken back" 3 ctm undo --yes "$vmid"
	t_status "$name: the history has all of it" 0 ctm history "$vmid"
	t_is "$name: two runs" "$(grep -c '^0*[0-9]*-' "$T_OUT")" 2
}

pve_dir_ct 9375
dir=$(pve_dir 9375)
undo_worked directory 9375 "$dir"
image=$(pve_image 9376)
pve_ct 9376 tank:9376/vm-9376-disk-0.raw
mkdir -p "${image%/*}"
t_pve_image "$image" 48M
undo_worked image 9376 "$image"

# Another volume under the same name.
image=$(pve_image 9377)
pve_ct 9377 tank:9377/vm-9377-disk-0.raw
mkdir -p "${image%/*}"
t_pve_image "$image" 32M
within "$image" zoo_healthy
within "$image" zoo_damage
cp --sparse=always "$image" "$TMP/copy"
t_status "a repair" 0 ctm repair --yes 9377
mv "$image" "$TMP/original"
t_pve_image "$image" 32M
within "$image" zoo_healthy
trace=$(pve_trace "$image")
t_status "another image in its place is not touched" 3 ctm undo --yes 9377
t_match "and the message says what differs" "$(cat "$T_ERR")" 'UUID'
t_is "nothing has changed" "$(pve_trace "$image")" "$trace"
mv "$TMP/original" "$image"
pve_ct 9377 tank:9377/vm-9377-disk-0.raw 'lxc.idmap: u 0 200000 65536' 'lxc.idmap: g 0 200000 65536'
trace=$(pve_trace "$image")
t_status "under another map it is not taken back" 3 ctm undo --yes 9377
t_match "and the message names both" "$(cat "$T_ERR")" '100000.*200000'
t_is "nothing has changed there either" "$(pve_trace "$image")" "$trace"
pve_ct 9377 tank:9377/vm-9377-disk-0.raw
# The volume from a backup of before the repair: there is nothing to take back.
mv "$TMP/copy" "$image"
trace=$(pve_trace "$image")
t_status "of a copy of before there is nothing to take back" 0 ctm undo --yes 9377
t_match "which is said" "$(cat "$T_OUT")" '^of run 0001-.* there is nothing to take back$'
t_is "and nothing has changed" "$(pve_trace "$image")" "$trace"

mv "$dir" "$dir.old"
cp -a "$dir.old" "$dir"
t_status "a copy of a directory is another one" 3 ctm undo --yes 9375 1
t_done
