#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A volume of one guest in the configuration of another: reported, and never worked on.
. "${0%/*}/pve.sh"

nodes=$TMP/sys/etc/pve/nodes
images=$TMP/tank/images
mkdir -p "$nodes"/pve{1,2}/{lxc,qemu-server}
printf 'dir: tank\n\tpath %s\n\tcontent rootdir,images\n\ndir: alias\n\tpath %s\n\tcontent rootdir\n' \
	"$TMP/tank" "$TMP/tank" >"$TMP/sys/etc/pve/storage.cfg"

# volume VMID NAME: a tree with one file of the host's; $dir is its place
volume()
{
	dir=$images/$1/$2
	mkdir -p "$dir/etc"
	: >"$dir/etc/passwd"
	chown -R 100000:100000 "$dir"
	chown 0:0 "$dir/etc/passwd"
}

# guest NODE KIND VMID LINE...: the configuration of the other one, alone
guest()
{
	rm -f "$nodes"/*/*/*.conf
	printf '%s\n' "${@:4}" >"$nodes/$1/$2/$3.conf"
}

# foreign NAME REGEX [WORD...]: 115 is refused, for this guest's sake
foreign()
{
	local name=$1 regex=$2 before
	shift 2

	before=$(stat -c '%u:%g %Z' "$dir/etc/passwd")
	t_status "$name: check" 1 ctm check "$@" 115
	t_match "$name: check says it" "$(cat "$T_OUT")" '^conf\.foreign +1 +the volume belongs to another guest'
	t_match "$name: and whose it is" "$(tr -s ' \n' ' ' <"$T_OUT")" "$regex"
	t_status "$name: repair" 3 ctm repair --yes "$@" 115
	t_match "$name: repair says whose it is" "$(cat "$T_ERR")" "is the volume of another guest: $regex"
	t_is "$name: nothing was changed" "$(stat -c '%u:%g %Z' "$dir/etc/passwd")" "$before"
}

# own NAME [WORD...]: 115 may have it; it is repaired, and the repair taken back
own()
{
	local name=$1
	shift

	t_status "$name: check" 1 ctm check "$@" 115
	t_no_match "$name: no finding" "$(cat "$T_OUT")" 'conf\.foreign'
	t_status "$name: repair" 0 ctm repair --yes "$@" 115
	t_is "$name: it was done" "$(stat -c %u:%g "$dir/etc/passwd")" 100000:100000
	t_status "$name: undo" 0 ctm undo --yes "$@" 115
}

volume 116 subvol-116-disk-0.subvol
id=tank:116/subvol-116-disk-0.subvol
pve_ct 115 "$id"
guest pve1 lxc 116 "rootfs: $id,size=1G"
foreign "a container's rootfs" "container 116 on node 'pve1' has it as rootfs"
guest pve2 lxc 116 'arch: amd64' "mp3: volume=$id,mp=/srv"
foreign "a mount point, on another node" "container 116 on node 'pve2' has it as mp3"
guest pve1 lxc 116 "unused0: $id"
foreign "one that is detached" "container 116 on node 'pve1' has it as unused0"
guest pve1 qemu-server 116 "scsi1: $id,size=32G"
foreign "a VM's" "VM 116 on node 'pve1' has it as scsi1"
guest pve1 qemu-server 116 "scsi1: file=$id,size=32G"
foreign "a VM's, written out" "VM 116 on node 'pve1' has it as scsi1"
guest pve1 lxc 116 "rootfs: tank:114/base-114-disk-0.subvol/116/subvol-116-disk-0.subvol"
foreign "as a linked clone" "container 116"
guest pve1 lxc 116 "rootfs: alias:116/subvol-116-disk-0.subvol"
foreign "by another storage that leads there" "container 116"

# undo and the hook, where a run was made before the other guest had it.
rm "$nodes"/*/*/*.conf
t_status "nobody else has it: repair" 0 ctm repair --yes 115
guest pve1 lxc 116 "rootfs: $id,size=1G"
before=$(stat -c '%u:%g %Z' "$dir/etc/passwd")
for how in "undo --yes" "undo --dry-run"; do
	# shellcheck disable=SC2086 # several words
	t_status "$how is refused" 3 ctm $how 115
	t_match "$how says why" "$(cat "$T_ERR")" 'is the volume of another guest'
done
chown 0:0 "$dir/etc/passwd"
before=$(stat -c '%u:%g %Z' "$dir/etc/passwd")
ctm hook 115 pre-start >"$TMP/said" 2>&1
t_match "the hook says why" "$(cat "$TMP/said")" 'is the volume of another guest'
t_is "nothing was changed" "$(stat -c '%u:%g %Z' "$dir/etc/passwd")" "$before"

# What the name says is not so, or not any more.
rm "$nodes"/*/*/*.conf
own "no such guest"
guest pve1 lxc 116 'rootfs: tank:116/subvol-116-disk-1.subvol'
own "a guest with other volumes"
guest pve1 lxc 116 'rootfs: tank:116/subvol-116-disk-1.subvol' '[old]' "rootfs: $id"
own "a guest that had it once"
guest pve1 lxc 116 "rootfs: $id" "rootfs: tank:116/subvol-116-disk-1.subvol"
own "a line that does not count"
guest pve1 lxc 117 "rootfs: $id"
own "another guest than the name says"
guest pve1 lxc 116 'rootfs: other:116/subvol-116-disk-0.subvol' 'mp0: tank:117/subvol-116-disk-0.subvol,mp=/x'
own "the same name elsewhere"

volume 115 subvol-115-disk-0.subvol
pve_ct 115 tank:115/subvol-115-disk-0.subvol "mp0: $id,mp=/srv"
guest pve1 lxc 116 "rootfs: $id" "mp0: tank:115/subvol-115-disk-0.subvol,mp=/x"
own "its own, that another one has, too"
dir=$images/116/subvol-116-disk-0.subvol
foreign "a mount point of its own" "container 116 on node 'pve1' has it as rootfs" --volume mp0
pve_ct 115 tank:116/subvol-116-disk-0.subvol/115/subvol-115-disk-0.subvol
dir=$images/115/subvol-115-disk-0.subvol
own "a linked clone of the other one's"

t_done
