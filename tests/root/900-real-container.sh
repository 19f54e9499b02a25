#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The main job, end to end: a real container that the host damaged is checked, repaired, put to
# work, and the repair is taken back. Once on an ext4 image as PVE makes it, once on a directory.
. "${0%/*}/container.sh"
. "${0%/*}/damage.sh"

ctm()
{
	"$CTMEND" --sysroot "$TMP/sys" "$@"
}

# open_volume VOLUME: puts the path of its tree into $tree
open_volume()
{
	tree=$1
	if [ ! -d "$1" ]; then
		tree=$TMP/root
		t_mount "$1" "$tree"
	fi
}

close_volume()
{
	if [ ! -d "$1" ]; then
		ct_umount "$tree" "$1"
	fi
}

# work VMID VOLUME EXPECT HOW: starts the container on a copy of the volume and tries all that
# damage breaks; EXPECT is t_ok or t_fails
work()
{
	local vmid=$1 copy=$TMP/copy expect=$3 how=$4 command

	cp -a --sparse=auto "$2" "$copy"
	open_volume "$copy"
	ct_config "$vmid" "$tree"
	t_ok "$vmid $how: it starts" ct_start "$vmid"
	for command in "${DAMAGE_BREAKS[@]}"; do
		"$expect" "$vmid $how: $command" ct_run "$vmid" "$command"
	done
	ct_stop "$vmid"
	close_volume "$copy"
	rm -rf --one-file-system "$copy"
}

# expect_unchanged NAME VOLUME: the volume is as $print says, and nothing holds it
expect_unchanged()
{
	t_is "$1: not a byte of the volume has changed" "$(ct_fingerprint "$2")" "$print"
	t_is "$1: nothing is mounted or attached" "$(leftovers "$TMP/tank")" ""
}

# diff_owners: what a diff on stdin says of owners, as "- f 4755 0:0 /path"; only of paths that
# need no escape
diff_owners()
{
	local path='(/[!-[^-~]*)( (->|acl=|default=|cap=|dev=).*)?'

	sed -nE "s,^([-+])([fdlpscb]) +([0-7]+) +([0-9]+:[0-9]+) +$path\$,\1 \2 \3 \4 \5,p" |
		LC_ALL=C sort -u
}

# listing_owners SIGN LISTING PATHS: the same from a listing, of the inodes that the file PATHS
# names
listing_owners()
{
	awk -F '\t' -v sign="$1" '
		FNR == NR { want[$0] = 1; next }
		$2 == "I" && $1 == $10 && $1 in want && $1 ~ /^[!-\[^-~]*$/ {
			printf "%s %s %04o %d:%d ", sign, $3, mode($4), $5, $6
			print $1 == "." ? "/" : substr($1, 2)
		}
		function mode(text,	i, n) {
			for (i = 1; i <= length(text); i++) {
				n = n * 8 + substr(text, i, 1)
			}
			return n
		}' "$3" "$2"
}

# story VMID VOLUME
story()
{
	local vmid=$1 volume=$2 print tree plan changes

	ct_listing "$TMP/healthy" "$volume"
	t_is "$vmid healthy: find sees nothing off the map" \
		"$(ct_off_map "$TMP/healthy")" ""
	print=$(ct_fingerprint "$volume")
	t_ok "$vmid healthy: check finds nothing" ctm check "$vmid"
	t_ok "$vmid healthy: repair has nothing to do" ctm repair "$vmid" --yes
	expect_unchanged "$vmid healthy" "$volume"

	open_volume "$volume"
	t_ok "$vmid is damaged" damage_root "$tree"
	close_volume "$volume"
	ct_listing "$TMP/damaged" "$volume" content
	damage_removed "$TMP/damaged" >"$TMP/removed"
	listing_shift "$CT_MAP" "$CT_MAP" "$TMP/damaged" "$TMP/shifted"
	listing_without "$TMP/removed" "$TMP/shifted" "$TMP/want"
	listing_changed "$TMP/damaged" "$TMP/want" >"$TMP/changed"
	changes=$(wc -l <"$TMP/changed")
	expect_damage "$vmid"
	work "$vmid" "$volume" t_fails "before the repair"

	print=$(ct_fingerprint "$volume")
	t_status "$vmid damaged: check says so" 1 ctm check "$vmid"
	t_match "$vmid damaged: check names owners from the host" "$(cat "$T_OUT")" '\<own\.host\>'
	t_match "$vmid damaged: check names ACL entries from the host" "$(cat "$T_OUT")" \
		'\<acl\.host\>'
	t_match "$vmid damaged: check names stale locks" "$(cat "$T_OUT")" '\<pkg\.lock\>'
	expect_unchanged "$vmid after check" "$volume"
	t_status "$vmid damaged: diff says so" 1 ctm diff "$vmid"
	cp "$T_OUT" "$TMP/diff"
	plan=$(tail -n 1 "$TMP/diff")
	t_match "$vmid damaged: diff ends with the plan, $changes changes by find and getfacl" \
		"$plan" "^plan [0-9a-f]{32}  $changes changes\$"
	t_is "$vmid damaged: diff shows each owner as find does, before and after" \
		"$(diff_owners <"$TMP/diff")" "$(
			{
				listing_owners - "$TMP/damaged" "$TMP/changed"
				listing_owners + "$TMP/want" "$TMP/changed"
			} | LC_ALL=C sort
		)"
	expect_unchanged "$vmid after diff" "$volume"
	expect_refusal "$vmid" "$volume"

	t_ok "$vmid is repaired" ctm repair "$vmid" --yes
	t_is "$vmid after repair: nothing is mounted or attached" "$(leftovers "$TMP/tank")" ""
	ct_listing "$TMP/repaired" "$volume" content
	t_is "$vmid after repair: each inode is what it has to be" \
		"$(listing_diff "$TMP/want" "$TMP/repaired")" ""
	t_is "$vmid after repair: find sees nothing off the map" \
		"$(ct_off_map "$TMP/repaired")" ""
	if [ ! -d "$volume" ]; then
		open_volume "$volume"
		t_is "$vmid after repair: lost+found is left alone" \
			"$(stat -c '%a %u:%g' "$tree/lost+found")" "700 0:0"
		close_volume "$volume"
	fi
	work "$vmid" "$volume" t_ok "after the repair"

	print=$(ct_fingerprint "$volume")
	t_ok "$vmid after repair: check finds nothing" ctm check "$vmid"
	t_ok "$vmid after repair: a second repair has nothing to do" ctm repair "$vmid" --yes
	expect_unchanged "$vmid after a second repair" "$volume"

	t_ok "$vmid: the repair is taken back" ctm undo "$vmid" --yes
	t_is "$vmid after undo: nothing is mounted or attached" "$(leftovers "$TMP/tank")" ""
	ct_listing "$TMP/undone" "$volume" content
	t_is "$vmid after undo: each inode and each removed file is what it was" \
		"$(listing_diff "$TMP/damaged" "$TMP/undone")" ""
	t_status "$vmid after undo: diff" 1 ctm diff "$vmid"
	# But for the digest: a file that was put back is another inode.
	t_is "$vmid after undo: the diff is the same again" "$(sed '$d' "$T_OUT")" \
		"$(sed '$d' "$TMP/diff")"
}

# expect_damage VMID: what the story wants to see survive is there to begin with
expect_damage()
{
	local name regex

	t_is "$1 damaged: the locks, caches and broken downloads of dpkg and apt" \
		"$(cat "$TMP/removed")" "$(
		printf './var/%s\n' cache/apt/archives/lock cache/apt/archives/partial/ed.deb \
			cache/apt/pkgcache.bin cache/apt/srcpkgcache.bin lib/apt/lists/lock \
			lib/apt/lists/partial/repo_Packages lib/dpkg/lock lib/dpkg/lock-frontend
	)"
	while read -r name regex; do
		t_match "$1 damaged: there is a $name" "$(cat -v "$TMP/damaged")" "$regex"
	done <<-'END'
		setuid-program-of-root ^./usr/bin/sudo.I.f.04755.0.0.
		setuid-program-with-a-group ^./usr/lib/dbus-1.0/.*helper.I.f.04754.0.[1-9]
		setgid-program ^./usr/bin/crontab.I.f.02755.0.[1-9]
		capability-of-a-package ^./usr/bin/arping.X.security.capability=0x01000002
		capability-of-a-file ^./srv/app/cap.X.security.capability=0x01000002
		access-ACL ^./srv/app/shared.A.user:33:rwx
		default-ACL ^./srv/app/shared.A.default:group:4:r-x
	END
}

# expect_refusal VMID VOLUME: nothing is repaired while the container runs
expect_refusal()
{
	local vmid=$1 volume=$2

	open_volume "$volume"
	ct_config "$vmid" "$tree"
	ct_start "$vmid"
	# What starting and mounting change of themselves is done by now.
	listing_take "$tree" "$TMP/running"
	t_status "$vmid running: repair refuses" 3 ctm repair "$vmid" --yes --wait 0
	t_match "$vmid running: it says what to do" "$(cat "$T_ERR")" "pct stop $vmid"
	listing_take "$tree" "$TMP/refused"
	t_is "$vmid running: nothing has changed" "$(listing_diff "$TMP/running" "$TMP/refused")" ""
	ct_stop "$vmid"
	close_volume "$volume"
}

ct_pve_storage

mkdir -m 755 "$TMP/tank/images/115" "$TMP/tank/images/116"
image=$TMP/tank/images/115/vm-115-disk-0.raw
ct_pve_config 115 vm-115-disk-0.raw
t_pve_image "$image" 400M
open_volume "$image"
ct_unpack "$tree"
close_volume "$image"
story 115 "$image"

subvol=$TMP/tank/images/116/subvol-116-disk-0.subvol
ct_pve_config 116 subvol-116-disk-0.subvol
ct_new_dir "$subvol"
ct_unpack "$subvol"
story 116 "$subvol"
t_done
