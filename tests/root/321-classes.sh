# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Ids that are off the map for another reason than that the host wrote them: what check says, what a
# repair leaves, and what it moves when asked. On ext4; expected owners are written down here.
. "${0%/*}/pve.sh"

t_image ext4 "$TMP/tank.img" 64M
rm -rf "$TMP/tank"
t_mount "$TMP/tank.img" "$TMP/tank"
mkdir -p "$TMP/tank/images"

# fresh [LINE...]: container 115 with a healthy tree for the default map
fresh()
{
	rm -rf "$(pve_dir 115)"
	pve_dir_ct 115 "$@"
	dir=$(pve_dir 115)
	mkdir -p "$dir"/{etc,home/a,srv/share,usr/bin,var/cache/man,var/lib/dpkg,var/www/data}
	for i in $(seq 1 30); do
		echo "$i" >"$dir/usr/bin/f$i"
	done
	echo >"$dir/var/lib/dpkg/status"
	find "$dir" -exec chown -h 100000:100000 {} +
}

# put MODE OWNER PATH [CONTENT]: a file, or with a mode that begins with d a directory
put()
{
	if [ "${1#d}" != "$1" ]; then
		(cd "$dir" && mkdir -p "$3" && while [ "$(dirname "$3")" != . ]; do
			set -- "$1" 100000:100000 "$(dirname "$3")"
			[ "$(stat -c %u "$3")" != 0 ] || chown "$2" "$3"
		done)
	else
		echo "${4-x}" >"$dir/$3"
	fi
	chown -h "$2" "$dir/$3" && chmod "${1#d}" "$dir/$3"
}

# is PATH "UID:GID MODE"
is()
{
	t_is "$case: $1" "$(stat -c '%u:%g %a' "$dir/$1")" "$2"
}

acl_of()
{
	getfacl -n -s -E -P -p -c "$dir/$1" | sed '/^$/d' | tr '\n' ' '
}

# codes: those that check has, with their counts
codes()
{
	ctm check "$@" 115 >"$TMP/check"
	sed -n -E 's/^([a-z]+\.[a-z]+)  ([0-9]+)  .*/\1=\2/p' "$TMP/check" | tr '\n' ' '
}

# listing of all that a repair may change
all()
{
	pve_listing "$dir" "$TMP/now"
	cat "$TMP/now"
}

# undone NAME: the last repair can be taken back; $before is what was there
undone()
{
	t_status "$case: undo" 0 ctm undo --yes 115
	t_is "$case: undo brings everything back" "$(all)" "$before"
}

case="two bases, uid on one and gid on the other"
fresh
find "$dir" -exec chown -h 165536:100000 {} +
put 0640 165536:100042 etc/shadow
put d2755 165542:100012 var/cache/man
before=$(all)
t_is "$case: check" "$(codes)" "own.base=47 "
t_match "$case: what to say to have it right" "$(cat "$TMP/check")" \
	': --from-map u:0:165536:65536,g:0:100000:65536$'
t_status "$case: a repair changes nothing" 4 ctm repair --yes 115
t_is "$case: by default all stays" "$(all)" "$before"
t_status "$case: that is the whole volume" 3 ctm repair --yes --fix base 115
t_match "$case: and said so" "$(cat "$T_ERR")" \
	"nothing was changed: 47 of 47 inodes \(100 %\) would get another owner"
t_is "$case: so nothing is changed" "$(all)" "$before"
for words in "--fix base --convert" "--from-map u:0:165536:65536,g:0:100000:65536" \
	"--from-map u:0:165536:65536"; do
	# shellcheck disable=SC2086 # several words
	t_status "$case: $words" 0 ctm repair --yes $words 115
	is . "100000:100000 755"
	is etc/shadow "100000:100042 640"
	is var/cache/man "100006:100012 2755"
	t_status "$case: $words: clean" 0 ctm check 115
	undone
done

case="stray gids of another base"
fresh
put d0755 100000:165545 var/backups
put d0755 100033:165569 var/www
put d1777 100000:165536 tmp/a
before=$(all)
t_is "$case: check" "$(codes)" "own.base=3 "
t_status "$case: repair" 0 ctm repair --yes --fix base 115
is var/backups "100000:100009 755"
is var/www "100033:100033 755"
is tmp/a "100000:100000 1777"
undone

case="two old bases"
fresh "lxc.idmap: u 0 1000000 65536" "lxc.idmap: g 0 1000000 65536"
find "$dir" -exec chown -h 1000000:1000000 {} +
put 0644 1066536:1066536 home/a/x
setfacl -m u:1066536:rwx "$dir/home/a/x"
put 0644 1131072:1131072 srv/y
put 0644 0:0 etc/new
before=$(all)
t_is "$case: check" "$(codes)" "own.host=1 own.base=2 acl.base=1 "
t_status "$case: repair" 4 ctm repair --yes 115
is etc/new "1000000:1000000 644"
is home/a/x "1066536:1066536 674"
t_status "$case: one of them" 4 ctm repair --yes --from-map 0:1065536:65536 115
is home/a/x "1001000:1001000 674"
is srv/y "1131072:1131072 644"
t_is "$case: the ACL, too" "$(acl_of home/a/x)" \
	"user::rw- user:1001000:rwx group::r-- mask::rwx other::r-- "
t_status "$case: the other one" 0 ctm repair --yes --fix base 115
is srv/y "1000000:1000000 644"
for _ in 1 2 3; do
	t_status "$case: undo" 0 ctm undo --yes 115
done
t_is "$case: undo brings everything back" "$(all)" "$before"
t_status "$case: all at once" 0 ctm repair --yes --fix base 115
is home/a/x "1001000:1001000 674"
is srv/y "1000000:1000000 644"

case="the converter was run twice, once for each name"
fresh
put 0644 200000:200000 etc/hostname
put 0640 200000:200042 etc/shadow
put 4755 200000:200000 usr/bin/su
put 2755 200007:200007 usr/bin/a
ln "$dir/usr/bin/a" "$dir/usr/bin/b"
put 4755 300009:300009 usr/bin/c
ln "$dir/usr/bin/c" "$dir/srv/c" && ln "$dir/usr/bin/c" "$dir/home/c"
setcap cap_net_raw=ep "$dir/usr/bin/c"
before=$(all)
t_is "$case: check" "$(codes)" "own.twice=5 "
t_status "$case: a repair changes nothing" 4 ctm repair --yes 115
t_is "$case: by default all stays" "$(all)" "$before"
t_status "$case: repair" 0 ctm repair --yes --fix twice 115
is etc/hostname "100000:100000 644"
is etc/shadow "100000:100042 640"
is usr/bin/su "100000:100000 4755"
is usr/bin/a "100007:100007 2755"
is srv/c "100009:100009 4755"
t_is "$case: the capability is the container's" "$(getcap -n "$dir/usr/bin/c")" \
	"$dir/usr/bin/c cap_net_raw=ep [rootid=100000]"
t_is "$case: still one inode" "$(stat -c %h "$dir/home/c")" 3
t_status "$case: clean" 0 ctm check 115
undone

case="a container in the container"
fresh "lxc.idmap: u 0 100000 1000000" "lxc.idmap: g 0 100000 1000000"
put d0755 200000:200000 var/lib/lxc/inner/rootfs
put d0755 200000:200000 var/lib/lxc/inner/rootfs/etc
put 0644 200033:200033 var/lib/lxc/inner/rootfs/etc/x
t_is "$case: its ids are in a large map" "$(codes)" ""
pve_ct 115 tank:115/subvol-115-disk-0.subvol
before=$(all)
t_is "$case: and beyond a small one" "$(codes)" "own.beyond=3 "
t_match "$case: the map that it would need" "$(cat "$TMP/check")" \
	'the map would need . 0 100000 165536 at least'
t_status "$case: it is not repaired" 4 ctm repair --yes --fix twice 115
t_is "$case: and stays" "$(all)" "$before"

case="a hole was punched later"
fresh "lxc.idmap: u 0 100000 33" "lxc.idmap: u 33 33 1" "lxc.idmap: u 34 100034 65502" \
	"lxc.idmap: g 0 100000 33" "lxc.idmap: g 33 33 1" "lxc.idmap: g 34 100034 65502"
put d2770 100033:100033 var/www/data
put 0640 100033:100033 var/www/data/c.php
put 0644 33:33 var/www/new
setcap cap_net_raw=ep "$dir/usr/bin/f1"
setfacl -m u:100033:rwx "$dir/srv/share"
before=$(all)
t_is "$case: check" "$(codes)" "own.hole=2 acl.hole=1 "
t_status "$case: a repair changes nothing" 4 ctm repair --yes 115
t_is "$case: by default all stays" "$(all)" "$before"
t_status "$case: repair" 0 ctm repair --yes --fix hole 115
is var/www/data "33:33 2770"
is var/www/data/c.php "33:33 640"
is var/www/new "33:33 644"
t_is "$case: the ACL" "$(acl_of srv/share)" \
	"user::rwx user:33:rwx group::r-x mask::rwx other::r-x "
t_is "$case: a capability whose file stays" "$(getcap -n "$dir/usr/bin/f1")" \
	"$dir/usr/bin/f1 cap_net_raw=ep"
undone

case="a map that was pasted in"
pasted=("lxc.idmap: u 0 0 1026" "lxc.idmap: u 1026 1026 1" "lxc.idmap: u 1027 101027 64509"
	"lxc.idmap: g 0 0 1026" "lxc.idmap: g 1026 1026 1" "lxc.idmap: g 1027 101027 64509")
fresh "${pasted[@]}"
before=$(all)
t_is "$case: check" "$(codes)" "own.hole=46 "
t_status "$case: a repair changes nothing" 4 ctm repair --yes 115
t_status "$case: the whole volume needs more words" 3 ctm repair --yes --fix hole 115
t_is "$case: so all stays" "$(all)" "$before"
t_status "$case: with them" 0 ctm repair --yes --fix hole --convert 115
is etc "0:0 755"
undone

case="a foreign archive"
fresh
put 4755 1029054284:100000 usr/bin/tool
before=$(all)
t_is "$case: check" "$(codes)" "own.beyond=1 "
t_status "$case: left" 4 ctm repair --yes --fix base,hole,twice,overflow 115
t_is "$case: as it was" "$(all)" "$before"
t_status "$case: named" 0 ctm repair --yes \
	--from-map u:0:1029054284:1,g:0:100000:65536 115
is usr/bin/tool "100000:100000 4755"

case="nobody"
fresh
put 0644 165534:165534 home/a/x
t_is "$case: some files are nobody's" "$(codes)" ""
put 0644 65534:65534 home/a/y
put 0644 65534:100000 home/a/z
t_is "$case: a relic" "$(codes)" "own.overflow=2 "
t_status "$case: left" 4 ctm repair --yes 115
is home/a/y "65534:65534 644"
t_status "$case: asked for" 0 ctm repair --yes --fix overflow 115
is home/a/y "165534:165534 644"
is home/a/z "165534:100000 644"
for i in $(seq 1 120); do
	put 0644 165534:165534 "srv/n$i"
done
t_is "$case: in bulk" "$(codes)" "own.overflow=2 "
t_match "$case: how that comes about" "$(cat "$TMP/check")" \
	'^ +123 of [0-9]+ inodes .* a backup or a copy was made through the map$'

case="volumes of their own"
fresh "mp0: tank:115/subvol-115-disk-1.subvol,mp=/shared,size=1G"
dir=$TMP/tank/images/115/subvol-115-disk-1.subvol
mkdir -p "$dir/etc" && echo >"$dir/etc/x"
find "$dir" -exec chown -h 300000:300000 {} +
pve_ct 116 tank:116/subvol-116-disk-0.subvol "lxc.idmap: u 0 300000 65536" \
	"lxc.idmap: g 0 300000 65536"
t_is "$case: another container's" "$(codes --volume mp0)" "own.base=3 "
t_match "$case: whose" "$(cat "$TMP/check")" 'base 300000 of container 116, uid of 3 inodes'
t_status "$case: left" 4 ctm repair --yes --fix twice --volume mp0 115
is etc/x "300000:300000 644"
t_done
