#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A map that somebody else than root can write gives away no ids but his own. Whose a file is and
# what has become of it is what stat(1) says.
. "${0%/*}/pve.sh"

joe=54321
home=$TMP/home/joe
tree=$home/rootfs
prog=$tree/usr/bin/prog

printf '%s\n' root:x:0:0::/root:/bin/sh "joe:x:$joe:54322::/home/joe:/bin/sh" \
	"ann:x:54330:54330::/home/ann:/bin/sh" >"$TMP/sys/etc/passwd"
printf '%s\n' root:100000:65536 joe:700000:65536 "54330:900000:10" >"$TMP/sys/etc/subuid"
cp "$TMP/sys/etc/subuid" "$TMP/sys/etc/subgid"
chmod 755 "$TMP"
mkdir -p "$home"
chown $joe:54322 "$home"

# tree_of UID: joe's own tree, with a program that he made setuid
tree_of()
{
	rm -rf "$tree"
	mkdir -p "$tree/usr/bin" "$tree/etc"
	touch "$prog"
	chown -R "$1:$1" "$tree"
	chmod 4755 "$prog"
}

# conf FILE LINE...: an LXC configuration of these idmap lines
conf()
{
	local file=$1
	shift

	mkdir -p "${file%/*}"
	printf 'lxc.idmap = %s\n' "$@" >"$file"
}

# refused NAME REGEX OPTION...: check, diff, dry run and repair of the tree say why they refuse, and
# the program stays as it is
refused()
{
	local name=$1 regex=$2 before how
	shift 2

	before=$(stat -c '%u:%g %a %Z' "$prog")
	for how in check diff "repair --dry-run" "repair --yes" "repair --yes --convert --flatten --path usr"; do
		# shellcheck disable=SC2086 # several words
		t_status "$name: $how" 3 ctm $how "$@" "$tree"
		t_match "$name: $how says why" "$(cat "$T_ERR")" "$regex"
	done
	t_is "$name: nothing was changed" "$(stat -c '%u:%g %a %Z' "$prog")" "$before"
}

# done_by NAME WANT OPTION...: the repair makes the program WANT ("UID:GID MODE")
done_by()
{
	local name=$1 want=$2
	shift 2

	t_status "$name" 0 ctm repair --yes --convert "$@" "$tree"
	t_is "$name: the program" "$(stat -c '%u:%g %a' "$prog")" "$want"
}

# His container's uid 0 would be the host's 101000, and its 1000 the host's root.
tree_of 1000
conf "$home/ct.conf" "u 1000 0 1" "g 1000 0 1" "u 0 700000 1000" "g 0 700000 1000"
chown $joe "$home/ct.conf"
refused "root's own id" "ct.conf' can be changed by user 'joe', .*uid 0 of the host" \
	--ct-config "$home/ct.conf"
conf "$home/ct.conf" "u 0 101000 65536" "g 0 101000 65536"
refused "ids that are not granted" \
	"'joe', by way of '.*/home/joe', .*uid 101000 of the host, which /etc/subuid does not grant" \
	--ct-config "$home/ct.conf"
conf "$home/ct.conf" "u 0 700000 65536" "g 0 700000 65537"
refused "one gid too many" "gid 765536 of the host, which /etc/subgid does not grant" \
	--ct-config "$home/ct.conf"
printf 'lxc.uts.name = web\n' >"$home/ct.conf"
refused "no map at all" "uid 0 of the host" --ct-config "$home/ct.conf"
t_status "no map at all, from another one" 3 ctm repair --yes --from-map 1000 \
	--ct-config "$home/ct.conf" "$tree"
t_is "nothing went back to root" "$(stat -c '%u:%g %a' "$prog")" "1000:1000 4755"
printf 'arch: amd64\nunprivileged: 1\n' >"$home/ct.conf"
refused "Proxmox VE's default" "uid 100000 of the host" --ct-config "$home/ct.conf"

# What he has is his to give, with himself alone as newuidmap(1) allows it.
conf "$home/ct.conf" "u 0 700000 1000" "g 0 700000 1000" "u 1000 $joe 1" "g 1000 54322 1" \
	"u 1001 701001 64535" "g 1001 701001 64535"
done_by "his own ids" "$joe:54322 4755" --ct-config "$home/ct.conf"
tree_of 0
done_by "his range" "700000:700000 4755" --ct-config "$home/ct.conf"
tree_of 0
conf "$home/ct.conf" "u 0 $joe 2" "g 0 700000 2"
refused "his own id and the next one" "uid $joe of the host" --ct-config "$home/ct.conf"
conf "$home/ct.conf" "u 0 700000 65536" "g 0 $joe 1"
refused "his uid as a gid" "gid $joe of the host" --ct-config "$home/ct.conf"

# Wherever he gets between root and the file.
foreign=("u 0 100000 65536" "g 0 100000 65536")
conf "$TMP/mine/ct.conf" "${foreign[@]}"
ln -sfn "$TMP/mine/ct.conf" "$home/link.conf"
refused "root's file by his link" "by way of '.*/home/joe'" --ct-config "$home/link.conf"
conf "$home/ct.conf" "${foreign[@]}"
chown root "$home/ct.conf"
refused "root's file in his folder" "by way of '.*/home/joe'" --ct-config "$home/ct.conf"
refused "the same, as seen from there" "by way of '.*/home/joe'" \
	--ct-config "$TMP/mine/../home/joe/ct.conf"
conf "$TMP/mine/his.conf" "${foreign[@]}"
chown $joe "$TMP/mine/his.conf"
refused "his file in root's folder" "by way of '.*/mine/his.conf'" --ct-config "$TMP/mine/his.conf"
conf "$TMP/mine/open.conf" "${foreign[@]}"
chmod 664 "$TMP/mine/open.conf"
done_by "a file of root's own group" "100000:100000 4755" --ct-config "$TMP/mine/open.conf"
tree_of 0
chgrp 54322 "$TMP/mine/open.conf"
refused "a group's file" "by others than root, by way of '.*/open.conf'" \
	--ct-config "$TMP/mine/open.conf"
conf "$TMP/mine/acl.conf" "${foreign[@]}"
setfacl -m "u:$joe:rw" "$TMP/mine/acl.conf"
refused "a file with an ACL for him" "by way of '.*/acl.conf'" --ct-config "$TMP/mine/acl.conf"
setfacl -m "u:$joe:r,m::rw" "$TMP/mine/acl.conf"
done_by "an ACL that lets him read" "100000:100000 4755" --ct-config "$TMP/mine/acl.conf"
tree_of 0
mkdir "$TMP/open"
chmod 777 "$TMP/open"
conf "$TMP/open/ct.conf" "${foreign[@]}"
refused "a folder that is open to all" "by others than root, by way of '.*/open'" \
	--ct-config "$TMP/open/ct.conf"
conf "$home/inc.conf" "${foreign[@]}"
printf 'lxc.include = %s\n' "$home/inc.conf" >"$TMP/mine/including.conf"
refused "what root's file includes" "by way of '.*/home/joe'" --ct-config "$TMP/mine/including.conf"
mkdir "$TMP/incdir"
conf "$TMP/incdir/a.conf" "${foreign[@]}"
chmod 1777 "$TMP/incdir"
printf 'lxc.include = %s\n' "$TMP/incdir" >"$TMP/mine/including.conf"
refused "a folder of includes that is open to all" "by way of '.*/incdir'" \
	--ct-config "$TMP/mine/including.conf"
conf "$TMP/ann/ct.conf" "u 0 700000 10" "g 0 700000 10"
chown 54330 "$TMP/ann"
chown $joe "$TMP/ann/ct.conf"
refused "two authors, of whom one has been granted it" "'ann'.*uid 700000" \
	--ct-config "$TMP/ann/ct.conf"
chmod 666 "$TMP/sys/etc/subuid"
conf "$home/ct.conf" "u 0 700000 65536" "g 0 700000 65536"
refused "grants that anybody can write" "'.*/etc/subuid' can be changed by others than root" \
	--ct-config "$home/ct.conf"
chmod 644 "$TMP/sys/etc/subuid"

# Root's own word counts as it stands: a file in a sticky folder is its owner's, too.
mkdir "$TMP/sticky"
chmod 1777 "$TMP/sticky"
conf "$TMP/sticky/ct.conf" "${foreign[@]}"
tree_of 0
done_by "root's file in a sticky folder" "100000:100000 4755" --ct-config "$TMP/sticky/ct.conf"
tree_of 0
done_by "root's file by root's link" "100000:100000 4755" --ct-config "$TMP/mine/../mine/ct.conf"
tree_of 0
done_by "a map that root types" "100000:100000 4755" --map 100000

# A plain container: whoever writes its configuration names the tree, too.
victim=$TMP/srv/backup
mkdir -p "$victim/etc" "$TMP/sys/var/lib/lxc/web"
touch "$victim/etc/shadow"
chmod 640 "$victim/etc/shadow"
web=$TMP/sys/var/lib/lxc/web/config
conf "$web" "u 0 700000 65536" "g 0 700000 65536"
printf 'lxc.rootfs.path = dir:%s\n' "$victim" >>"$web"
t_status "root's container is worked on" 1 ctm check web
chown $joe "$web"
for how in check diff "repair --yes --convert" "undo --yes"; do
	# shellcheck disable=SC2086 # several words
	t_status "his container is not: $how" 3 ctm $how web
	t_match "it says why: $how" "$(cat "$T_ERR")" \
		"/web/config' can be changed by uid $joe, .*which tree is worked on"
done
conf "$web" "u 0 100000 65536" "g 0 100000 65536"
printf 'lxc.rootfs.path = dir:%s\n' "$victim" >>"$web"
t_status "nor with ids of others" 3 ctm repair --yes --convert web
t_match "which are named first" "$(cat "$T_ERR")" "'joe', .*uid 100000"
t_is "the file of root's stays root's" "$(stat -c '%u:%g %a' "$victim/etc/shadow")" "0:0 640"
t_status "the list has it all the same" 3 ctm list
t_match "with its map" "$(cat "$T_OUT")" "^web .*0:100000:65536"
t_match "and the reason" "$(cat "$T_ERR")" "can be changed by user 'joe'"

# lxc-create(1) makes the folder the container's root's, 0770, or root's with the same mode.
chown 0:0 "$web"
chmod 770 "${web%/*}"
t_status "a folder that root's group may write to" 1 ctm check web
chown 100000:100000 "${web%/*}"
t_status "a folder of the container's own root" 1 ctm check web
chown 100000:100001 "${web%/*}"
t_status "but of another group" 3 ctm check web
t_match "which is none of its own" "$(cat "$T_ERR")" "can be changed by others than root"
conf "$web" "u 0 700000 65536" "g 0 700000 65536"
printf 'lxc.rootfs.path = dir:%s\n' "$victim" >>"$web"
chown 700000:700000 "${web%/*}"
t_status "nor where a user may run as that root" 3 ctm check web
t_match "with which id" "$(cat "$T_ERR")" "can be changed by uid 700000"
chown 0:0 "${web%/*}"
chmod 755 "${web%/*}"
chown $joe "$web"

# The same for who starts it, by its own configuration.
start()
{
	env LXC_NAME=web LXC_HOOK_TYPE=pre-start LXC_CONFIG_FILE="$web" \
		LXC_ROOTFS_PATH="$victim" "$CTMEND" --sysroot "$TMP/sys" hook
}
start >"$TMP/said" 2>&1
t_is "a start changes nothing either" "$(stat -c '%u:%g %a' "$victim/etc/shadow")" "0:0 640"

t_done
