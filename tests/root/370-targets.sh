#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# One volume under several names, several volumes of one container, and what a report says of them
# to a program.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9371
dir=$(pve_dir $vmid)

same()
{
	t_is "$1" "$(listing_diff "$2" "$3")" ""
}

damaged()
{
	find "$1" \( -uid -100000 -o -gid -100000 \) | wc -l
}

pve_dir_ct $vmid
zoo_healthy "$dir"
zoo_damage "$dir"
pve_listing "$dir" "$TMP/before"
zoo_want "$TMP/before" "$TMP/want"

# What a program reads is what find sees, names of any bytes included.
t_status "check --json" 1 ctm check --json $vmid
cp "$T_OUT" "$TMP/report"
python3 - "$TMP/report" >"$TMP/reported" <<-'END'
	import base64, json, sys

	target = json.load(open(sys.argv[1], encoding="utf-8"))["targets"][0]
	paths = set()
	for f in target["findings"]:
	    if f["code"] == "own.host":
	        raw = f.get("path_raw")
	        paths.add(base64.b64decode(raw) if raw else f["path"].encode())
	sys.stdout.buffer.write(b"\n".join(p.hex().encode() for p in sorted(paths)) + b"\n")
END
# One name for each inode, the first; removed files have findings of another code.
zoo_removed | sed 's/\\012/\n/' >"$TMP/removed"
python3 - "$dir" "$TMP/removed" >"$TMP/seen" <<-'END'
	import os, sys

	root = sys.argv[1].encode()
	removed = open(sys.argv[2], "rb").read()
	first = {}
	for top, dirs, files in os.walk(root):
	    for name in dirs + files:
	        path = os.path.join(top, name)
	        st = os.lstat(path)
	        rel = path[len(root) + 1:]
	        if (st.st_uid < 100000 or st.st_gid < 100000) and b"./" + rel + b"\n" not in removed:
	            key = rel.split(b"/")
	            if st.st_ino not in first or key < first[st.st_ino]:
	                first[st.st_ino] = key
	print("\n".join(p.hex() for p in sorted(b"/".join(k) for k in first.values())))
END
t_is "it names each inode that find sees, byte for byte" \
	"$(sed 's/^2f//' "$TMP/reported" | diff - "$TMP/seen")" ""
t_is "no text of it can move the cursor or hide" \
	"$(ctm check --verbose $vmid | LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]')" 0
t_is "nor of a diff" \
	"$(ctm diff $vmid | LC_ALL=C grep -cP '[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80\xae')" 0
t_ok "all of it is UTF-8" iconv -f utf-8 -t utf-8 -o /dev/null <(ctm diff $vmid)
t_status "a path of any bytes can be chosen" 1 ctm diff --path $'zoo/names/new\nline' \
	--path $'zoo/names/\xc3\x28' $vmid
t_is "and no other" "$(grep -c '^+' "$T_OUT")" 3

# By id and by path at the same time: one does it, the other waits and finds nothing.
"$CTMEND" --sysroot "$TMP/sys" repair --yes $vmid >"$TMP/first" 2>&1 &
first=$!
"$CTMEND" --sysroot "$TMP/sys" repair --yes --map 100000 "$dir" >"$TMP/second" 2>&1 &
second=$!
wait $first
statuses=$?
wait $second
statuses+=" $?"
t_is "two repairs at once both end well" "$statuses" "0 0"
t_is "one did it all" "$(cat "$TMP/first" "$TMP/second" | grep -c ' changes made$')" 1
t_is "the other found nothing" "$(cat "$TMP/first" "$TMP/second" | grep -c '^nothing to repair$')" 1
pve_listing "$dir" "$TMP/after"
same "everything is done once" "$TMP/want" "$TMP/after"
# Whoever did it has the record.
if grep -q ' changes made$' "$TMP/first"; then
	who=$vmid
else
	who=$dir
fi
t_status "it can be taken back by who did it" 0 ctm undo --yes "$who"

# The same path, written otherwise.
cd "$TMP/tank/images" || exit
t_status "repair by an absolute path" 0 ctm repair --yes --map 100000 "$dir"
t_status "history by one with slashes" 0 ctm history "$dir//"
t_match "has it" "$(cat "$T_OUT")" '^0*[0-9]+-'
t_status "undo by a relative one" 0 ctm undo --yes "./$vmid/../$vmid/subvol-$vmid-disk-0.subvol/"
pve_listing "$dir" "$TMP/after"
same "it is as before" "$TMP/before" "$TMP/after"
cd /

# A link to a disk is a name of it, as /dev/vg/lv is; a link to a directory is not.
t_image ext4 "$TMP/disk.raw" 32M
dev=
t_loop dev "$TMP/disk.raw"
t_mount "$dev" "$TMP/in"
zoo_healthy "$TMP/in"
: >"$TMP/in/etc/damaged"
t_umount "$TMP/in"
mkdir "$TMP/vg"
ln -s "$dev" "$TMP/vg/lv"
t_status "a link to a block device" 0 ctm repair --yes --map 100000 "$TMP/vg/lv"
t_status "the device has nothing more" 0 ctm check --map 100000 "$dev"
t_status "undo by the link" 0 ctm undo --yes "$TMP/vg/lv"
t_status "it is back" 1 ctm check --map 100000 "$dev"
t_unloop "$dev"
ln -s "$dir" "$TMP/vg/dir"
t_status "a link to a directory is refused" 3 ctm check --map 100000 "$TMP/vg/dir"

# A mount point of the container: a volume with runs of its own.
mkdir -p "$TMP/tank/images/$vmid/subvol-$vmid-disk-1.subvol"
mp=$TMP/tank/images/$vmid/subvol-$vmid-disk-1.subvol
mkdir "$mp/data"
touch "$mp/data/"{1..9}
chown -R 100000:100000 "$mp"
chown 33:33 "$mp/data/1"
pve_ct $vmid tank:$vmid/subvol-$vmid-disk-0.subvol \
	"mp0: tank:$vmid/subvol-$vmid-disk-1.subvol,mp=/srv/data,size=1G" "mp1: /etc,mp=/etc/host"
n=$(damaged "$dir")
t_status "a mount point is checked" 1 ctm check --volume mp0 $vmid
t_status "and repaired" 0 ctm repair --yes --volume mp0 $vmid
t_is "id by id" "$(stat -c %u:%g "$mp/data/1")" 100033:100033
t_is "the rootfs is not" "$(damaged "$dir")" "$n"
t_status "the rootfs after it" 0 ctm repair --yes $vmid
t_status "undo takes back that of the volume" 0 ctm undo --yes --volume mp0 $vmid
t_is "alone" "$(stat -c %u:%g "$mp/data/1") $(damaged "$dir")" "33:33 0"
t_status "then that of the rootfs" 0 ctm undo --yes $vmid
t_is "all is back" "$(damaged "$dir")" "$n"
t_status "a bind mount is the host's" 3 ctm check --volume mp1 $vmid
t_status "no such volume" 2 ctm check --volume mp7 $vmid

# A plain LXC container by its name.
web=$TMP/web
mkdir -p "$TMP/sys/var/lib/lxc/web" "$web"
chown 200000:200000 "$web"
zoo_healthy "$web" 200000
: >"$web/etc/damaged"
printf '%s\n' 'lxc.uts.name = web' "lxc.rootfs.path = dir:$web" 'lxc.idmap = u 0 200000 65536' \
	'lxc.idmap = g 0 200000 65536' >"$TMP/sys/var/lib/lxc/web/config"
t_status "a container by its name" 1 ctm check web
t_status "is repaired" 0 ctm repair --yes web
t_is "by its own map" "$(stat -c %u:%g "$web/etc/damaged")" 200000:200000
t_status "and taken back" 0 ctm undo --yes web
t_is "to the host's" "$(stat -c %u:%g "$web/etc/damaged")" 0:0

# What is no tree of its own.
mkdir "$TMP/upper" "$TMP/work" "$TMP/merged"
t_ok "an overlay" mount -t overlay \
	-o "lowerdir=$web,upperdir=$TMP/upper,workdir=$TMP/work" overlay "$TMP/merged"
t_defer t_umount "$TMP/merged"
t_status "an overlay is not repaired" 3 ctm repair --yes --map 200000 "$TMP/merged"
t_is "so its upper directory stays empty" "$(find "$TMP/upper" -mindepth 1 | wc -l)" 0
t_done
