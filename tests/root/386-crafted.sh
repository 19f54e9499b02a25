#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Inodes as no kernel writes them: in a file system that somebody has crafted, or that is damaged.
. "${0%/*}/pve.sh"

vmid=9386
image=$(pve_image $vmid)
pve_ct $vmid tank:$vmid/vm-$vmid-disk-0.raw
mkdir -p "${image%/*}"
t_image ext4 "$image" 24M
t_mount "$image" "$TMP/in"
(
	cd "$TMP/in" || exit
	mkdir -p etc usr var/lib/dpkg var/lib/apt/lists/partial
	: >var/lib/dpkg/status
	touch usr/f{1..30}
	chown -R 100000:100000 .
	touch etc/{uid,type,names,size,sound} var/lib/apt/lists/partial/{odd,even}
	# No room for the four bytes by which a capability grows when it is bound to the container's root.
	cp /bin/true usr/full
	setcap cap_net_raw=ep usr/full
	python3 - usr/full <<-'END'
		import os, sys
		sizes = []
		def fits(i, size):
		    try:
		        os.setxattr(sys.argv[1], "user.%d" % i, b"x" * size)
		        return True
		    except OSError:
		        return False
		for size in 4096, 2048, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 0:
		    while fits(len(sizes), size):
		        sizes.append(size)
		# What is left between them: each one grows as far as it goes.
		for i, size in enumerate(sizes):
		    while fits(i, size + 4):
		        size += 4
	END
)
t_umount "$TMP/in"
# More than a second's worth of nanoseconds, an owner that is no id, a type that is none, more names
# than there are, more bytes than there can be.
debugfs -w -f - "$image" >/dev/null 2>&1 <<-'END'
	set_inode_field /var/lib/apt/lists/partial/odd mtime_extra 0xfffffffc
	set_inode_field /var/lib/apt/lists/partial mtime_extra 0xfffffffc
	set_inode_field /etc/uid uid 0xffffffff
	set_inode_field /etc/type mode 0
	set_inode_field /etc/names links_count 5
	set_inode_field /etc/size size 0x7fffffffffff
END
owners()
{
	debugfs -R "stat $1" "$image" 2>/dev/null | sed -n 's/^User: *\([0-9]*\) *Group: *\([0-9]*\).*/\1:\2/p'
}

t_status "check" 1 ctm check $vmid
t_match "what cannot be read is named" "$(cat "$T_OUT")" '/etc/(size|type): Structure needs cleaning'
t_status "what can be is repaired" 4 ctm repair --yes $vmid
for file in names sound; do
	t_is "$file" "$(owners /etc/$file)" 100000:100000
done
t_mount "$image" "$TMP/in" -o ro
t_match "no room for its capability: it is as it was" "$(getcap -n "$TMP/in/usr/full")" \
	'usr/full cap_net_raw=ep$'
t_is "with its owner" "$(stat -c %u:%g "$TMP/in/usr/full")" 0:0
t_umount "$TMP/in"
t_is "a file is gone whatever its times" \
	"$(debugfs -R 'ls /var/lib/apt/lists/partial' "$image" 2>/dev/null | grep -c odd)" 0
t_status "a second repair can do no more" 4 ctm repair --yes $vmid
t_status "and does not stand in the way of an undo" 0 ctm undo --yes $vmid
for file in names sound; do
	t_is "$file is back" "$(owners /etc/$file)" 0:0
done
t_match "the file too" "$(debugfs -R 'ls /var/lib/apt/lists/partial' "$image" 2>/dev/null)" ' odd '
t_done
