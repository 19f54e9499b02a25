#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The listings that other scripts compare trees with, on a tree whose every fact is known.
. "${0%/*}/lib.sh"
. "${0%/*}/listing.sh"

tree=$TMP/tree
mkdir "$tree"
echo content >"$tree/a"
ln "$tree/a" "$tree/b"
chown 7:65535 "$tree/a"
chmod 2745 "$tree/a"
ln -s 'to nowhere' "$tree/link"
mknod "$tree/null" c 1 3
printf 'x' >"$tree/"$'new\nline\\'
setfattr -n user.note -v 0x00ff "$tree/"$'new\nline\\'
cp /bin/true "$tree/cap"
chown 65536:100000 "$tree/cap"
setcap cap_net_raw=ep "$tree/cap"
mkdir "$tree/shared"
chown 100000:100000 "$tree/shared"
setfacl -m u:33:rwx,g:100004:r-x,d:g:4:r-x "$tree/shared"
touch -h -d '2001-02-03 04:05:06.000000789 UTC' "$tree/a" "$tree/link" "$tree/null" \
	"$tree"/new* "$tree/cap" "$tree/shared" "$tree"
chown -h 0:0 "$tree"

# line PATH KIND REST...: one line of a listing, and all of it before the time stamp
mtime=981173106.0000007890
line()
{
	local IFS=$'\t'

	printf '%s\n' "$*"
}

want=$(
	line . I d 0755 0 0 $mtime 3 - . ""
	line ./a I f 02745 7 65535 $mtime 2 8 ./a ""
	line ./b I f 02745 7 65535 $mtime 2 8 ./a ""
	line ./cap I f 0755 65536 100000 $mtime 1 "$(stat -c %s /bin/true)" ./cap ""
	line ./cap X security.capability=0x0100000200200000000000000000000000000000
	line ./link I l 0777 0 0 $mtime 1 10 ./link "to nowhere"
	line './new\012line\134' I f 0644 0 0 $mtime 1 1 './new\012line\134' ""
	line './new\012line\134' X user.note=0x00ff
	line ./null D 1:3
	line ./null I c 0644 0 0 $mtime 1 0 ./null ""
	line ./shared A default:group:4:r-x
	line ./shared A default:group::r-x
	line ./shared A default:mask::r-x
	line ./shared A default:other::r-x
	line ./shared A default:user::rwx
	line ./shared A group:100004:r-x
	line ./shared A group::r-x
	line ./shared A mask::rwx
	line ./shared A other::r-x
	line ./shared A user:33:rwx
	line ./shared A user::rwx
	line ./shared I d 0775 100000 100000 $mtime 2 - ./shared ""
)
listing_take "$tree" "$TMP/was"
t_is "a listing says all that there is" "$(cat "$TMP/was")" "$want"

map=0:100000:65536
t_is "what is off the map" "$(listing_foreign $map $map "$TMP/was")" \
	"$(printf '%s\n' . ./a ./b ./cap ./link './new\012line\134' ./null ./shared)"
listing_shift $map $map "$TMP/was" "$TMP/want"
t_is "a shift moves owners and ACL entries one by one" "$(cat "$TMP/want")" "$(sed \
	-e 's/\t0\t0\t9/\t100000\t100000\t9/' -e 's/\t7\t65535\t/\t100007\t165535\t/' \
	-e 's/:33:/:100033:/' -e 's/:4:/:100004:/' <<<"$want")"
t_is "what fits no range is off the map afterwards too" \
	"$(listing_foreign $map $map "$TMP/want")" ./cap
listing_shift $map,65536:200000:1 $map "$TMP/was" "$TMP/want"
t_is "a capability moves with its owner" "$(grep -a capability "$TMP/want")" \
	"$(line ./cap X security.capability=0x0100000300200000000000000000000000000000a0860100)"
t_is "nothing is off that map afterwards" \
	"$(listing_foreign $map,65536:200000:1 $map "$TMP/want")" ""
t_is "each inode that changes is named once" "$(listing_changed "$TMP/was" "$TMP/want")" \
	"$(printf '%s\n' . ./a ./cap ./link './new\012line\134' ./null ./shared)"
# A low id on the disk side of a map is right; 33 is such a one here, and 7 is none.
punched=0:100000:33,33:33:1,34:100034:65502
listing_shift $punched $punched "$TMP/was" "$TMP/want"
t_is "an id that the map leaves alone stays" "$(grep -a 'user:33' "$TMP/want")" \
	"$(line ./shared A user:33:rwx)"

listing_shift $map $map "$TMP/was" "$TMP/want"
listing_select "shared null" "$TMP/was" "$TMP/want" "$TMP/part"
t_is "a part of two listings can be chosen" "$(listing_changed "$TMP/was" "$TMP/part")" \
	"$(printf '%s\n' ./null ./shared)"
t_is "and the rest is the first one's" "$(listing_changed "$TMP/want" "$TMP/part")" \
	"$(printf '%s\n' . ./a ./link './new\012line\134')"
t_is "equal listings do not differ" "$(listing_diff "$TMP/was" "$TMP/was")" ""
t_match "others do" "$(listing_diff "$TMP/was" "$TMP/part")" $'^-./null\tI\tc\t0644\t0\t0\t'

echo ./a >"$TMP/gone"
listing_without "$TMP/gone" "$TMP/was" "$TMP/less"
t_is "a path can be left out" "$(diff "$TMP/was" "$TMP/less" | grep -c '^[<>]')" 1
t_is "and its inode counts as changed" "$(listing_changed "$TMP/was" "$TMP/less")" ./a
listing_content "$tree" "$TMP/was"
t_is "content is one more line for each regular file" "$(grep -aP '\tC\t' "$TMP/was")" "$(
	sum=$(sha256sum <"$tree/a")
	line ./a C "${sum%% *}"
	line ./b C "${sum%% *}"
	sum=$(sha256sum </bin/true)
	line ./cap C "${sum%% *}"
	sum=$(printf x | sha256sum)
	line './new\012line\134' C "${sum%% *}"
)"

# "d" comes before "d-x", though "-" comes before "/".
mkdir "$tree/d" "$tree/d-x"
echo linked >"$tree/d-x/name"
ln "$tree/d-x/name" "$tree/d/name"
listing_take "$tree" "$TMP/was"
t_is "an inode's first name is first by components" \
	"$(awk -F '\t' '$2 == "I" && $1 ~ "/name$" { print $1, $10 }' "$TMP/was")" \
	$'./d-x/name ./d/name\n./d/name ./d/name'
t_done
