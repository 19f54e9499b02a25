# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# list: this node's containers and plain ones, good and bad, without a look at any volume.
sys=$TMP/sys
on()
{
	ctm --sysroot "$sys" list "$@" | sed 's/ *$//'
}

mkdir -p "$sys"
on
on --json

pve=$sys/etc/pve
mkdir -p "$pve/nodes/pve1/lxc" "$pve/nodes/pve2/lxc" "$pve/ha" "$sys/var/lib/lxc/web" \
	"$sys/var/lib/lxc/broken" "$sys/var/lib/lxc/115"
ln -s nodes/pve1 "$pve/local"
ln -s nodes/pve1/lxc "$pve/lxc"
printf 'lvmthin: local-lvm\n\tvgname pve\n\tthinpool data\n' >"$pve/storage.cfg"
printf 'ct: 115\n\tstate started\n\nct: 1001\n\tstate ignored\n' >"$pve/ha/resources.cfg"
printf 'local: 115-0\n\ttarget pve2\n\nlocal: 116-0\n\ttarget pve2\n' >"$pve/replication.cfg"

# ct VMID LINE...
ct()
{
	local vmid=$1
	shift
	printf '%s\n' "rootfs: local-lvm:vm-$vmid-disk-0,size=1G" "$@" \
		>"$pve/nodes/pve1/lxc/$vmid.conf"
}
ct 115 'hostname: web' 'unprivileged: 1'
ct 116 'hostname: files' 'lock: backup' 'lxc.idmap: u 0 100000 65536' \
	'lxc.idmap: g 0 100000 44' 'lxc.idmap: g 44 44 1' 'lxc.idmap: g 45 100045 65491'
ct 99 'hostname: old' '[before]' 'unprivileged: 1'
ct 1001 'hostname: base' 'unprivileged: 1' 'template: 1' 'Lock: x'
echo 'rootfs: local-lvm:vm-300-disk-0' >"$pve/nodes/pve2/lxc/300.conf"
printf '%s\n' 'lxc.idmap = u 0 200000 65536' 'lxc.idmap = g 0 200000 65536' \
	'lxc.rootfs.path = dir:/srv/w' >"$sys/var/lib/lxc/web/config"
touch "$sys/var/lib/lxc/115/config"
on
rm -r "$sys/var/lib/lxc/broken"
on -o id,lock,volume,runs
on --json -o ID,MANAGED,MAP
on -o +lock
on -o id,ID
on -o size
on -o ''
on 115

# One that cannot be read stops no other.
ct 200 'unprivileged: 1' 'lxc.idmap: b 0 1 1'
ct 201 'unprivileged: 1' 'rootfs: elsewhere:vm-201-disk-0'
mkdir "$sys/var/lib/lxc/broken"
echo 'lxc.idmap' >"$sys/var/lib/lxc/broken/config"
on
ctm --sysroot "$sys" check --all 115
ctm --sysroot "$sys" check
