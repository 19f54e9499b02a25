#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A part of a volume, all of it, or none: what the options choose is repaired, and nothing else.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9341
dir=$(pve_dir $vmid)
map=0:100000:65536

same()
{
	t_is "$1" "$(listing_diff "$2" "$3")" ""
}

# part NAME STATUS PATHS WORD...: a repair with these words makes of the tree what it has to, at and
# below the paths, and leaves the rest; then it is taken back
part()
{
	local name=$1 status=$2 paths=$3
	shift 3

	listing_select "$paths" "$TMP/before" "$TMP/all" "$TMP/want"
	t_status "$name: check finds work" 1 ctm check "$@" $vmid
	t_status "$name: repair" "$status" ctm repair --yes "$@" $vmid
	cp "$T_OUT" "$TMP/said"
	pve_listing "$dir" "$TMP/after"
	same "$name: that is repaired and nothing else" "$TMP/want" "$TMP/after"
	t_status "$name: check has what is left" $((status ? 1 : 0)) ctm check "$@" $vmid
	t_status "$name: undo" 0 ctm undo --yes $vmid
	pve_listing "$dir" "$TMP/after"
	same "$name: all is as before" "$TMP/before" "$TMP/after"
}

pve_dir_ct $vmid
zoo_healthy "$dir"
zoo_damage "$dir"
mkdir "$dir/rooted" "$dir/var/lib/dpkg-old"
: >"$dir/root/.bashrc"
: >"$dir/rooted/file"
: >"$dir/var/lib/dpkg-old/status"
ln -s zoo "$dir/link"
pve_listing "$dir" "$TMP/before"
zoo_want "$TMP/before" "$TMP/all"
required="root usr/share/locale var/cache/apt var/lib/apt var/lib/dpkg var/log/apt var/cache/debconf"

part "the required directories" 0 "$required" --scope required
mkdir "$dir/usr/share/locale"
pve_listing "$dir" "$TMP/before"
zoo_want "$TMP/before" "$TMP/all"
part "one more of them" 0 "$required" --scope required
part "a directory" 0 zoo/modes --path zoo/modes
part "with slashes" 0 zoo/modes --path /zoo//modes/
part "a file" 0 zoo/modes/f4755 --path zoo/modes/f4755
part "a link, not what is behind it" 4 link --path link
t_match "which is said" "$(cat "$TMP/said")" '^left: path.link 1: '
part "two that lie in each other" 0 "zoo/names var/lib" \
	--path zoo/names --path var/lib --path var/lib/dpkg --path zoo/names
part "the root is everything" 0 "zoo var usr root rooted link etc" --path / --path etc
part "names that begin alike" 0 "root var/lib/dpkg" --path root --path var/lib/dpkg
part "one that is missing" 4 zoo/names --path zoo/names --path not/there
t_match "which is said, too" "$(cat "$TMP/said")" '^left: err 1: .*/not/there: No such file'
# The other names of these are elsewhere in the volume.
part "an inode with names elsewhere" 0 "zoo/kinds/one zoo/kinds/two/file zoo/kinds/two/again \
usr/share/doc/name zoo/kinds/fifo" --path zoo/kinds/one
t_status "which check says" 1 ctm check --verbose --path zoo/kinds/one $vmid
t_match "with numbers" "$(cat "$T_OUT")" \
	'/zoo/kinds/one/file: 1 of 4 names are inside the selection'
t_status "through a link there is nothing" 4 ctm repair --yes --path link/modes $vmid
t_match "and that is said" "$(cat "$T_OUT")" '^left: path.link 1: .*/link'

# What chown -R would do, but for what is right already.
flatten()
{
	find "$1" \( ! -uid 100000 -o ! -gid 100000 \) -exec chown -h 100000:100000 {} +
}
rm -rf "$TMP/flat"
cp -a "$dir" "$TMP/flat"
flatten "$TMP/flat/zoo"
listing_take "$TMP/flat" "$TMP/flat.list"
listing_content "$TMP/flat" "$TMP/flat.list"
# ACL entries move as in every repair.
listing_shift $map $map "$TMP/flat.list" "$TMP/flattened"
listing_select zoo "$TMP/before" "$TMP/flattened" "$TMP/want"
t_status "flatten: diff" 1 ctm diff --path zoo --flatten $vmid
t_match "it shows a setuid bit that goes" "$(grep -A 1 '/zoo/modes/f4755$' "$T_OUT")" \
	'^\+f 0755   100000:100000 /zoo/modes/f4755$'
t_match "and a capability" "$(grep -A 1 '/zoo/attr/v2 ' "$T_OUT")" \
	'^\+f 0755   100000:100000 /zoo/attr/v2$'
t_match "and no other user" "$(grep -A 1 '/zoo/modes/d0755$' "$T_OUT")" \
	'^\+d 0755   100000:100000 /zoo/modes/d0755$'
t_status "flatten: check says it in words" 1 ctm check --verbose --path zoo --flatten $vmid
t_match "of setuid" "$(cat "$T_OUT")" '/zoo/modes/f4755: loses setuid$'
t_match "of a capability" "$(cat "$T_OUT")" '/zoo/attr/v2 .*: loses its capabilities$'
t_status "flatten: repair" 0 ctm repair --yes --path zoo --flatten $vmid
pve_listing "$dir" "$TMP/after"
# The copy has hard links of its own, and the tree has names in usr as well.
sed -i '/^.\/usr\/share\/doc\/name\t/d' "$TMP/want" "$TMP/after"
same "flatten: it is as chown -R leaves it" "$TMP/want" "$TMP/after"
t_status "flatten: undo brings all of it back" 0 ctm undo --yes $vmid
pve_listing "$dir" "$TMP/after"
same "flatten: as before" "$TMP/before" "$TMP/after"
t_status "flatten of everything makes no sense" 2 ctm repair --yes --flatten $vmid
rm -rf "$TMP/flat"

# Which locks and caches go.
listing_shift $map $map "$TMP/before" "$TMP/none"
t_status "--clean none" 0 ctm repair --yes --clean none $vmid
pve_listing "$dir" "$TMP/after"
same "removes nothing" "$TMP/none" "$TMP/after"
t_status "and finds no more" 0 ctm check --clean none $vmid
t_status "--clean none: undo" 0 ctm undo --yes $vmid
printf '%s\n' ./var/lib/dpkg/lock-frontend >"$TMP/healthy"
listing_without "$TMP/healthy" "$TMP/all" "$TMP/want"
t_status "--clean all" 0 ctm repair --yes --clean all $vmid
pve_listing "$dir" "$TMP/after"
same "removes a healthy lock as well" "$TMP/want" "$TMP/after"
t_status "--clean all: undo" 0 ctm undo --yes $vmid
pve_listing "$dir" "$TMP/after"
same "brings it back" "$TMP/before" "$TMP/after"
# What is damaged inside, though its owner is right.
printf 'no cache at all' >"$dir/var/cache/apt/srcpkgcache.bin"
chown 100000:100000 "$dir/var/cache/apt/srcpkgcache.bin"
touch -d @1000000000 "$dir/var/cache/apt"
pve_listing "$dir" "$TMP/before"
zoo_want "$TMP/before" "$TMP/all"
echo ./var/cache/apt/srcpkgcache.bin >"$TMP/damaged"
listing_without "$TMP/damaged" "$TMP/all" "$TMP/want"
t_status "--clean stale" 0 ctm repair --yes --clean stale $vmid
pve_listing "$dir" "$TMP/after"
same "removes a cache with a damaged header" "$TMP/want" "$TMP/after"

# More than half of a volume.
fresh()
{
	rm -rf "$dir"
	pve_dir_ct $vmid
	zoo_healthy "$dir" 0
	chown 0:0 "$dir"
	mkdir "$dir/srv"
	: >"$dir/var/lib/dpkg/lock"
	chown 33:4 "$dir/var/lib/dpkg/lock" "$dir/srv"
	chmod 3777 "$dir/srv"
	touch -d @1000000000 "$dir/srv" "$dir/var/lib/dpkg"
}

fresh
trace=$(pve_trace "$dir")
pve_listing "$dir" "$TMP/before"
for words in "" "--scope required" "--path etc" "--clean all" "--path etc --flatten"; do
	# shellcheck disable=SC2086 # words
	{
		t_status "never shifted: check $words" 1 ctm check $words $vmid
		t_match "never shifted: it says so" "$(cat "$T_OUT")" '^tree.host  1 '
		t_status "never shifted: diff $words" 1 ctm diff $words $vmid
		t_match "never shifted: without a change" "$(cat "$T_OUT")" '^plan .*  0 changes$'
		t_status "never shifted: repair $words" 3 ctm repair --yes $words $vmid
		t_match "never shifted: how many" "$(cat "$T_ERR")" '[0-9]+ of [0-9]+ inodes \([0-9]+ %\)'
		t_match "never shifted: the way out" "$(cat "$T_ERR")" '--convert'
	}
done
t_is "never shifted: nothing has changed, no lock either" "$(pve_trace "$dir")" "$trace"
t_is "never shifted: nothing is recorded of it" "$(ctm history $vmid | grep -c '^[0-9]')" \
	"$(find "$PVE_STATE/$vmid" -mindepth 1 -maxdepth 1 -type d -name '0*' | wc -l)"
printf '%s\n' ./var/lib/dpkg/lock ./var/lib/dpkg/lock-frontend >"$TMP/removed"
listing_without "$TMP/removed" "$TMP/before" "$TMP/less"
listing_shift $map $map "$TMP/less" "$TMP/want"
t_status "never shifted: --convert" 0 ctm repair --yes --convert $vmid
pve_listing "$dir" "$TMP/after"
same "never shifted: all is converted" "$TMP/want" "$TMP/after"
t_status "never shifted: no finding is left" 0 ctm check $vmid
t_status "never shifted: and back" 0 ctm undo --yes $vmid
pve_listing "$dir" "$TMP/after"
same "never shifted: as before" "$TMP/before" "$TMP/after"

# half UID GID N: ten inodes, N of them with these ids, one of these with three names
half()
{
	rm -rf "$dir"
	pve_dir_ct $vmid
	mkdir "$dir/etc" && touch "$dir/etc/"{1..8} && ln "$dir/etc/1" "$dir/a" &&
		ln "$dir/etc/1" "$dir/b" && chown -R 100000:100000 "$dir" &&
		(cd "$dir/etc" && seq 1 "$3" | xargs chown "$1:$2")
}
for ids in 0:0 0:100000 100000:0; do
	half ${ids%:*} ${ids#*:} 5
	t_status "exactly half of $ids is repaired" 0 ctm repair --yes $vmid
	half ${ids%:*} ${ids#*:} 6
	t_status "one more is refused" 3 ctm repair --yes $vmid
	t_match "with the numbers" "$(cat "$T_ERR")" ' 6 of 10 inodes \(60 %\) '
	t_status "one more with --convert" 0 ctm repair --yes --convert $vmid
done
# Half by uid and the other half by gid is not more than half by either.
half 0 100000 5
chown 100000:0 "$dir/etc/"{6,7,8} "$dir/etc"
t_status "half by uid and less by gid" 0 ctm repair --yes $vmid
half 0 0 4
t_status "all of a part is not half of the volume" 0 \
	ctm repair --yes --path etc/1 --path etc/2 $vmid
t_done
