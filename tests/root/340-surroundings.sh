#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What is wrong beside the volume: the flag in the wrong section or gone, and a directory above the
# root file system that the container's root cannot enter.
. "${0%/*}/pve.sh"

mkdir -p "$TMP/sys/var/lib/lxc"
chmod -R 755 "$TMP/sys/var"

# fill DIR BASE: a small healthy tree
fill()
{
	mkdir -p "$1/etc" "$1/usr/bin" "$1/root"
	install -m 640 /dev/null "$1/etc/shadow"
	install -m 4755 /dev/null "$1/usr/bin/su"
	chown -R "$2:$2" "$1"
	chown "$2:$(($2 + 42))" "$1/etc/shadow"
	chmod 4755 "$1/usr/bin/su"
}

# codes TARGET: those of a check's findings
codes()
{
	ctm check --json "$1" | grep -oP '"code": "\K[^"]*' | sort -u | paste -sd ' '
}

untouched()
{
	t_is "$1: nothing changed" "$(pve_trace "$dir")" "$before"
}

pve_dir_ct 115
dir=$(pve_dir 115)
fill "$dir" 100000
conf=$TMP/sys/etc/pve/lxc/115.conf
inodes=$(find "$dir" | wc -l)
pve_age "$dir"
before=$(pve_trace "$dir")
t_status "healthy" 0 ctm check 115

# The flag was added at the end of a file that has a snapshot.
sed -i '/^unprivileged/d' "$conf"
printf '[before]\nsnaptime: 1\nunprivileged: 1\n' >>"$conf"
t_status "flag in a snapshot section" 1 ctm check 115
t_is "it is conf.section" "$(codes 115)" conf.section
t_match "names line and section" "$(ctm check 115)" \
	"line 6, 'unprivileged: 1', stands in the snapshot section \[before\] \(line 4\)"
t_match "and the next step" "$(ctm check 115 | tr -s '\n ' ' ')" 'move the line above the first'
t_status "repair is refused" 3 ctm repair -y 115
t_status "diff finds no change to show" 1 ctm diff 115
t_match "diff: an empty plan" "$(ctm diff 115)" '^plan [0-9a-f]{32}  0 changes$'
untouched "flag in a snapshot section"
t_ok "no record" test ! -e "$PVE_STATE/115"

# Mirror image: the live section counts.
sed -i '/^\[before\]/,$d' "$conf"
printf 'unprivileged: 1\n[before]\nsnaptime: 1\n' >>"$conf"
t_status "flag gone from the snapshot" 0 ctm check 115
t_is "an information" "$(codes 115)" conf.snapshot
t_status "nothing to repair" 0 ctm repair -y 115

# Removed everywhere.
sed -i '/^unprivileged/d; /^\[before\]/,$d' "$conf"
t_status "flag removed everywhere" 1 ctm check 115
t_is "it is tree.mapped" "$(codes 115)" tree.mapped
t_match "with the numbers" "$(ctm check 115)" \
	"$inodes of $inodes inodes have a uid from 100000 to 165535"
t_status "repair is refused" 3 ctm repair -y 115
untouched "flag removed"

# Really privileged: nothing to say.
chown -R 0:0 "$dir"
t_status "privileged, and the disk agrees" 0 ctm check 115
t_status "nothing to repair" 0 ctm repair -y 115
printf '[before]\nunprivileged: 1\n' >>"$conf"
t_status "whatever a snapshot says" 0 ctm check 115

# A plain container, whose root goes to the directory itself.
web=$TMP/sys/var/lib/lxc/web
mkdir -p "$web/rootfs"
fill "$web/rootfs" 100000
printf 'lxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 100000 65536\nlxc.rootfs.path = dir:%s\n' \
	"$web/rootfs" >"$web/config"
t_status "open way" 0 ctm check web
chmod 770 "$web"
dir=$web/rootfs
pve_age "$dir"
before=$(pve_trace "$dir")
t_status "closed way" 1 ctm check web
t_is "it is path.parent" "$(codes web)" path.parent
t_match "names directory, mode and id" "$(ctm check web)" \
	"$(readlink -f "$web"), mode 0770, owner 0:0: uid 100000, gid 100000 cannot enter"
t_match "and the next step" "$(ctm check web | tr -s '\n ' ' ')" 'chmod o\+x'
t_status "repair can do nothing about it" 4 ctm repair -y web
untouched "closed way"
t_is "no directory above is changed" "$(stat -c %a "$web")" 770
setfacl -m u:100000:x "$web"
t_status "an ACL lets it pass" 0 ctm check web
setfacl -b "$web"
chmod 711 "$web"
t_status "open again" 0 ctm check web

# Never shifted, and the way is closed: the tree is repaired, the way stays.
chown -R 0:0 "$dir"
chmod 770 "$web"
t_is "both are said" "$(codes web)" "own.host path.parent tree.host"
t_status "the tree is converted, the way is left" 4 ctm repair -y --convert web
t_is "the tree" "$(find "$dir" -not -uid 100000 -o -not -gid 100000)" ""
t_is "only the way is left" "$(codes web)" path.parent
t_is "no directory above is changed" "$(stat -c %a "$web")" 770

# Proxmox VE mounts volumes below /var/lib/lxc as the host's root: the storage may be closed.
chmod 700 "$TMP/tank/images"
printf 'arch: amd64\nrootfs: tank:115/subvol-115-disk-0.subvol\nunprivileged: 1\n' >"$conf"
chown -R 100000:100000 "$(pve_dir 115)"
t_status "a closed storage" 0 ctm check 115
mkdir -m 700 "$TMP/sys/var/lib/lxc/115"
t_status "a closed place" 1 ctm check 115
t_is "it is path.parent" "$(codes 115)" path.parent
t_done
