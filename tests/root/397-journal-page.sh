#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ctmend-journal(5) is right and complete: a reader written from it finds in a record what stat(1)
# says of the tree before and after.
. "${0%/*}/lib.sh"

root=$TMP/root
sys=$TMP/sys
mkdir -p "$sys" "$root"/{etc,usr/bin,var/lib/dpkg}
for i in $(seq 1 400); do
	echo "$i" >"$root/usr/bin/f$i"
done
ln "$root/usr/bin/f7" "$root/usr/bin/a-link"
ln -s f1 "$root/usr/bin/symlink"
echo >"$root/var/lib/dpkg/status"
echo locked >"$root/var/lib/dpkg/lock"
touch -d '2001-01-01 01:01:01 UTC' "$root/var/lib/dpkg/lock"
touch -d '2002-02-02 02:02:02 UTC' "$root/var/lib/dpkg"
find "$root" -exec chown -h 100000:100000 {} +
for i in $(seq 1 190); do
	chown $((i % 7)):$((i % 50)) "$root/usr/bin/f$i"
	chmod $((i % 2 ? 4755 : 2755)) "$root/usr/bin/f$i"
done
chown -h 0:0 "$root/usr/bin/symlink" "$root/var/lib/dpkg/lock"
setcap cap_net_raw=ep "$root/usr/bin/f2"
truncate -s 65M "$root/usr/bin/f5"
setfacl -m u:33:r "$root/usr/bin/f3" && chown 100000:100000 "$root/usr/bin/f3"
ctm()
{
	"$CTMEND" --sysroot "$sys" "$@"
}

# all: what the kernel says, of each inode by its first name: "path inode uid:gid mode links"
all()
{
	(cd "$root" && find . -mindepth 1 -printf '%P\0' | LC_ALL=C sort -z |
		xargs -0 stat -c '%n %i %u:%g %f %h' | awk '!seen[$2]++' |
		while read -r path inode owner mode links; do
			printf '%s %s %s %o %s\n' "$path" "$inode" "$owner" "0x$mode" "$links"
		done)
}
read_record()
{
	python3 "$T_TOP/tests/journal.py" "$(echo "$sys"/var/lib/ctmend/*/"$1"-*)" >"$TMP/read"
}

all >"$TMP/before"
large_before=$(stat -c '%s %.9Z' "$root/usr/bin/f5")
getfattr -d -e hex -m system.posix_acl_access --absolute-names "$root/usr/bin/f3" >"$TMP/acl"
t_ok "a repair" env SUDO_USER=alice "$CTMEND" --sysroot "$sys" repair --yes --clean stale --map 100000 "$root"
large=$(stat -c '%s %.9Z' "$root/usr/bin/f5")
all >"$TMP/after"
t_ok "its record reads by the page" read_record 0001
# path, inode, owner and mode before, owner and mode after, links: of what differs
join -j 2 -o 1.1,1.2,1.3,1.4,2.3,2.4,1.5 <(sort -k2,2 "$TMP/before") <(sort -k2,2 "$TMP/after") |
	awk '$3 != $5 || $4 != $6' | LC_ALL=C sort >"$TMP/want"
t_match "many inodes have changed" "$(wc -l <"$TMP/want")" '^1[89][0-9]$'
t_is "each is an entry, with what it was and is" \
	"$(awk '$1 == "S" { split($9, l, "/"); print $2, $3, $4, $5, $6, $7, l[1] }' "$TMP/read" |
		grep -v '^usr/bin/f3 ' | LC_ALL=C sort)" "$(cat "$TMP/want")"
t_is "an ACL alone is, too" \
	"$(awk '$1 == "S" && $2 == "usr/bin/f3" { print "0x" $11 }' "$TMP/read")" \
	"$(sed -n 's/^system.posix_acl_access=//p' "$TMP/acl")"
t_is "each with set-id bits or a capability has its content" \
	"$(awk '$1 == "content" && $3 == 1 { print $5, $4, $2 }' "$TMP/read" | LC_ALL=C sort)" \
	"$(cd "$root" && awk '{ print $1 }' "$TMP/want" | grep '/\(f[0-9]*\|a-link\)$' | grep -v '/f5$' |
		while read -r file; do
			echo "$(sha256sum <"$file" | cut -d' ' -f1) $(stat -c %s "$file") $file"
		done | LC_ALL=C sort)"
t_is "but for a large one" "$(awk '$1 == "content" && $3 == 2 { print $2, $4, $5 }' "$TMP/read")" \
	"usr/bin/f5 $large_before"
t_is "whose ctime is there, as the repair left it" "$(awk '$1 == "M" { print $3 }' "$TMP/read")" \
	"${large#* }"
t_is "the removed file is one" "$(awk '$1 == "R" { print $2, $4, $5 }' "$TMP/read")" \
	"$(awk '$1 == "var/lib/dpkg/lock" { print $1, $3, $4 }' "$TMP/before")"
sha256=$(echo locked | sha256sum | cut -d' ' -f1)
file_time=$(date -u -d '2001-01-01 01:01:01' +%s)
dir_time=$(date -u -d '2002-02-02 02:02:02' +%s)
t_is "with size, SHA-256, times and its directory" \
	"$(awk '$1 == "R" { getline; print $1, $2, $3, $(NF - 1), $NF }' "$TMP/read")" \
	"7 $sha256 $file_time $(stat -c %i "$root/var/lib/dpkg") $dir_time"
n=$(grep -c '^[SRT] ' "$TMP/read")
t_is "it is sealed, done and ended" "$(grep '^[ZDE] ' "$TMP/read" | sed 's/ [0-9]*$/ T/; s/^Z.*/Z/')" \
	"$(printf '%s\n' Z "D 0 T" "E $n 0 0 0 T")"
t_is "fields of the header" \
	"$(sed -n 's/^field \(2\|3\|5\|7\|8\|9\|10\|12\|13\|14\) /\1 /p' "$TMP/read" |
		sed "s|$root|ROOT|; s/ 0001-.*/ RUN/")" \
	"$(printf '%s\n' "2 ROOT" "3 rootfs" "5 u 0 100000 65536, g 0 100000 65536" "7 alice" \
		"8 --clean=stale --map=100000" "10 " "12 RUN" "13 " "14 " "9 repair")"
t_match "and the identity's" "$(grep '^field 4 ' "$TMP/read")" \
	"volume $root .*root-inode $(stat -c %i "$root") "
t_is "bsdtar reads the archive" "$(bsdtar -xOf "$sys"/var/lib/ctmend/*/0001-*/removed.tar)" locked

cp "$TMP/read" "$TMP/read.1"
t_ok "an undo" ctm undo --yes --map 100000 "$root"
t_ok "its record, too" read_record 0002
t_is "says what it takes back" "$(sed -n 's/^field 10 //p' "$TMP/read")" \
	"$(basename "$sys"/var/lib/ctmend/*/0001-*)"
t_is "with the file that comes back" "$(awk '$1 == "T" { print $2, $4, $5 }' "$TMP/read")" \
	"$(awk '$1 == "var/lib/dpkg/lock" { print $1, $3, $4 }' "$TMP/before")"

handle=$(awk '$1 == "R" { print $3 }' "$TMP/read.1")
t_is "which it was" "$(awk '$1 == "T" { print $3 }' "$TMP/read")" "$handle"
t_is "and what it is now" "$(awk '$1 == "N" { print $4 }' "$TMP/read")" \
	"$(stat -c %i "$root/var/lib/dpkg/lock")"
t_match "by its handle" "$(awk '$1 == "N" { print $5, $6 }' "$TMP/read")" '^[0-9]+ ([0-9a-f][0-9a-f])+$'

# Interrupted, and something failed.
strace -f -qq -o /dev/null -e trace=fchownat -e inject=fchownat:signal=KILL:when=20 \
	"$CTMEND" --sysroot "$sys" repair --yes --map 100000 "$root" 2>/dev/null
chattr +i "$root/usr/bin/f99"
t_status "continued" 4 ctm repair --yes --map 100000 "$root"
chattr -i "$root/usr/bin/f99"
t_ok "reads by the page" read_record 0003
t_match "it was continued" "$(cat "$TMP/read")" '^C [0-9]* 0.*root$'
t_match "what failed is said" "$(cat "$TMP/read")" '^F [0-9]* 1 chown$'

# The page has every number that the program's tables have.
page=$T_TOP/man/ctmend-journal.5
tags=$(sed -n 's/^\t{ \([0-9]*\), offsetof.*/\1/p; s/^#define TAG_\(TIME\|KIND\) *\([0-9]*\)$/\2/p' \
	"$T_TOP/lib/run/journal_header.c" | sort -n)
t_is "every field of the header" \
	"$(sed -n '/^.It Li H$/,/^.El/s/^.It \([0-9]*\)$/\1/p' "$page" | sort -n)" "$tags"
flags=$(sed -n '/F_ALL/d; s/^\tCTM_CODEC_F_[A-Z]* = \(0x[0-9a-f]*\),$/\1/p' \
	"$T_TOP/lib/run/codec_parts.h" | while read -r flag; do echo $((flag)); done | sort -n)
t_is "every flag of an entry" \
	"$(sed -n '/^.Ss Entries/,/^.Ss Archives/s/^.It \([0-9]*\)$/\1/p' "$page" | sort -n)" "$flags"
kinds=$(sed -n "s/^\tCTM_ENTRY_[A-Z]* = '\(.\)',.*/\1/p" "$T_TOP/lib/run/entry.h" | sort)
t_is "every kind of entry" \
	"$(sed -n '/^.Ss Kinds of records/,/^.Ss Entries/s/^.It Li \(.*\)$/\1/p' "$page" | tr -d ' ' | tr ',' '\n' |
		grep -v '^[HZDFMNCE]$' | sort)" "$kinds"
t_is "every field of the identity" \
	"$(sed -n 's/^\t{ "\([a-z-]*\)", "[^"]*", [A-Z]*, FIELD.*/\1/p' "$T_TOP/lib/target/identity.c" |
		while read -r word; do grep -q "^.Li $word\$\|^.Li $word ,\$" "$page" || echo "$word"; done)" ""
t_done
