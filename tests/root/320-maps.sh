#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Id maps of every shape: what is right under them stays, and what is not moves id by id.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9321
dir=$(pve_dir $vmid)

# tree BASE-UID BASE-GID PAIR...: a healthy tree, and a file for each UID:GID
tree()
{
	local pair

	rm -rf "$dir"
	mkdir -p "$dir"/{etc,usr,var/lib/dpkg,probe} && touch "$dir/usr/"{1..60} &&
		touch "$dir/var/lib/dpkg/status" && chown -R "$1:$2" "$dir"
	shift 2
	for pair in "$@"; do
		echo "$pair" >"$dir/probe/$pair" && chown "$pair" "$dir/probe/$pair" &&
			chmod 6755 "$dir/probe/$pair" || return
	done
}

# case_of NAME UMAP GMAP STATUS WORD...: a repair makes of the tree what the maps say. STATUS is
# that of the repair.
case_of()
{
	local name=$1 umap=$2 gmap=$3 status=$4
	shift 4

	pve_listing "$dir" "$TMP/before"
	listing_shift "$umap" "$gmap" "$TMP/before" "$TMP/want"
	t_status "$name: check" 1 ctm check "$@"
	t_status "$name: repair" "$status" ctm repair --yes "$@"
	cp "$T_OUT" "$TMP/said"
	pve_listing "$dir" "$TMP/after"
	t_is "$name: every id is where the map has it" "$(listing_diff "$TMP/want" "$TMP/after")" ""
	t_is "$name: that did something" "$(listing_diff "$TMP/before" "$TMP/after" | wc -l)" \
		"$(listing_diff "$TMP/before" "$TMP/want" | wc -l)"
	t_status "$name: check has what is left" $((status ? 1 : 0)) ctm check "$@"
	t_status "$name: undo" 0 ctm undo --yes "${!#}"
	pve_listing "$dir" "$TMP/after"
	t_is "$name: as before" "$(listing_diff "$TMP/before" "$TMP/after")" ""
}

# config RANGE...: the container's map, as "u 0 100000 1000"
config()
{
	local line lines=()

	for line in "$@"; do
		lines+=("lxc.idmap: $line")
	done
	pve_ct $vmid "tank:$vmid/subvol-$vmid-disk-0.subvol" "${lines[@]}"
}

pairs=(0:0 33:33 999:999 1000:1000 1001:1001 5000:5000 65533:65533 65535:65535 0:1000 1000:0
	100000:0 0:100000 100033:1000 101000:101000 100999:1001 165535:33)

# 1000 is passed through: on disk it is right, and 101000 was written under the default map.
tree 100000 100000 "${pairs[@]}"
config "u 0 100000 1000" "g 0 100000 1000" "u 1000 1000 1" "g 1000 1000 1" \
	"u 1001 101001 64535" "g 1001 101001 64535"
punched=0:100000:1000,1000:1000:1,1001:101001:64535
case_of "a punched-through id" $punched $punched 4 $vmid
t_match "an id of the default map is left and named" "$(cat "$TMP/said")" \
	'^left: own.hole 1: .*/probe/101000:101000'
rm "$dir/probe/101000:101000"
chown -R 1000:1000 "$dir/usr" "$dir/var"
case_of "the passed-through id on most of the volume" $punched $punched 0 $vmid

tree 100000 200000 0:0 33:33 100000:0 0:200000 100033:200033 7:100000 65535:65535
config "u 0 100000 65536" "g 0 200000 65536"
case_of "other bases for uids and gids" 0:100000:65536 0:200000:65536 4 $vmid
t_match "a gid of the uids' range is one too many" "$(cat "$TMP/said")" \
	'^left: own.hole 1: .*/probe/7:100000'
chgrp 200000 "$dir/probe/7:100000"
case_of "the same, all of it repaired" 0:100000:65536 0:200000:65536 0 $vmid

# A hole at 1000..1999 and one behind 65535.
tree 300000 300000 0:0 999:999 2000:2000 1500:0 0:1500 65535:65535 301000:300000 363535:300000
config "u 0 300000 1000" "u 2000 301000 63536" "g 0 300000 1000" "g 2000 301000 63536"
holes=0:300000:1000,2000:301000:63536
case_of "holes" $holes $holes 4 $vmid
t_match "ids in a hole are left" "$(cat "$TMP/said")" '^left: own.beyond 2: '

tree 100000 100000 0:0 9:9 10:10 19:19 20:20 29:29 100000:100009 500000:500009 700000:700009 5:15
three=0:100000:10,10:500000:10,20:700000:10
config "u 0 100000 10" "u 10 500000 10" "u 20 700000 10" "g 0 100000 10" "g 10 500000 10" \
	"g 20 700000 10"
case_of "three ranges" $three $three 0 $vmid

# The same by path, in every form.
tree 100000 100000 "${pairs[@]}"
default=0:100000:65536
for spec in 100000 0:100000:65536 u:0:100000:65536,g:0:100000:65536; do
	case_of "--map $spec" $default $default 0 --map $spec "$dir"
done
tree 100000 100000 "${pairs[@]}"
rm "$dir/probe/101000:101000"
spec=u:0:100000:1000,u:1000:1000:1,u:1001:101001:64535
case_of "--map of six ranges" $punched $punched 0 --map "$spec,${spec//u/g}" "$dir"
for spec in "" nonsense 4294967295 0:1:0 0:0:4294967296 u:0:100000:65536:1 0:100000:10,5:200000:10 \
	0:100000:10,10:100005:10 -1; do
	t_status "--map '$spec' makes no sense" 2 ctm check --map "$spec" "$dir"
done

config "u 0 100000 1000" "g 0 100000 1000" "u 1000 1000 1" "g 1000 1000 1" \
	"u 1001 101001 64535" "g 1001 101001 64535"
case_of "--ct-config with Proxmox VE's file" $punched $punched 0 \
	--ct-config "$TMP/sys/etc/pve/lxc/$vmid.conf" "$dir"
cat >"$TMP/included" <<-END
	lxc.idmap = u 0 100000 1000
	lxc.idmap = u 1000 1000 1
	lxc.idmap = u 1001 101001 64535
END
cat >"$TMP/config" <<-END
	lxc.uts.name = web
	lxc.include = $TMP/included
	lxc.rootfs.path = dir:/somewhere/else
	lxc.idmap = g 0 100000 1000
	lxc.idmap = g 1000 1000 1
	lxc.idmap = g 1001 101001 64535
END
case_of "--ct-config with LXC's file" $punched $punched 0 --ct-config "$TMP/config" "$dir"
t_status "--ct-config of nothing" 5 ctm check --ct-config "$TMP/nowhere" "$dir"

# nothing_to_shift NAME REGEX TARGET...: both say so and change nothing
nothing_to_shift()
{
	local name=$1 regex=$2 trace
	shift 2

	trace=$(pve_trace "$dir")
	t_status "$name: check" 0 ctm check "$@"
	t_match "$name: says so" "$(cat "$T_OUT")" "$regex"
	t_status "$name: diff" 0 ctm diff "$@"
	t_match "$name: says so as well" "$(cat "$T_OUT")" "$regex"
	t_status "$name: repair" 0 ctm repair --yes "$@"
	t_match "$name: says so, too" "$(cat "$T_OUT")" "$regex"
	t_is "$name: nothing has changed" "$(pve_trace "$dir")" "$trace"
}

tree 0 0 0:0 33:33
printf '%s\n' 'arch: amd64' "rootfs: tank:$vmid/subvol-$vmid-disk-0.subvol,size=1G" \
	>"$TMP/sys/etc/pve/lxc/$vmid.conf"
nothing_to_shift "a privileged container" 'privileged container: nothing to shift' $vmid
nothing_to_shift "its configuration with a path" 'privileged container: nothing to shift' \
	--ct-config "$TMP/sys/etc/pve/lxc/$vmid.conf" "$dir"
pve_ct $vmid "tank:$vmid/subvol-$vmid-disk-0.subvol,idmap=passthrough"
nothing_to_shift "a volume that is passed through" 'nothing to shift' $vmid

# A path without a map can be looked at, and no more.
tree 165536 165536 0:0 33:33
trace=$(pve_trace "$dir")
t_status "a path without a map is looked at" 0 ctm check "$dir"
t_match "and its map guessed" "$(cat "$T_OUT")" '--map .*165536'
t_status "without a map there is no repair" 3 ctm repair --yes "$dir"
t_match "and the message says how to get one" "$(cat "$T_ERR")" '--map'
t_status "nor a diff, which would show no changes" 3 ctm diff "$dir"
t_is "nothing has changed" "$(pve_trace "$dir")" "$trace"
# Incus and LXD keep their maps where nobody else reads them.
incus=$TMP/storage-pools/default/containers/web/rootfs
mkdir -p "$incus/etc"
chown -R 1000000:1000000 "$incus"
t_status "a root of Incus can be looked at" 0 ctm check "$incus"
t_match "and it is said where its map is" "$(cat "$T_OUT")" 'volatile\.last_state\.idmap'
t_status "without its map nothing is repaired" 3 ctm repair --yes "$incus"
t_status "with it there is nothing to do" 0 ctm repair --yes --map 1000000 "$incus"

t_done
