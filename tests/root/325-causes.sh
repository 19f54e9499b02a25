#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What happened to a volume: the sentence, the causes of groups and what speaks for them. The rows of
# tests/test_diagnosis.c are the same without a container around them.
. "${0%/*}/pve.sh"

vmid=9325
dir=$(pve_dir $vmid)
image=tank:$vmid/subvol-$vmid-disk-0.subvol

# tree: a healthy one, on 100000
tree()
{
	rm -rf "$dir"
	mkdir -p "$dir"/{etc,usr/bin,usr/share,var/lib/dpkg/info,var/log/apt,srv,home} &&
		touch "$dir/usr/share/"{1..60} "$dir/var/lib/dpkg/status" && chown -R 100000:100000 "$dir"
}

# host MODE FILE...: files that the host's root wrote
host()
{
	local mode=$1
	shift

	(cd "$dir" && mkdir -p "${@%/*}" && touch "$@" && chmod "$mode" "$@" && chown -h 0:0 "$@")
}

# group CODE KEY: what the JSON report has of a group; of "diagnosis" likewise
group()
{
	ctm check --json $vmid >"$TMP/json"
	python3 - "$TMP/json" "$1" "$2" <<'END'
import json, sys
with open(sys.argv[1]) as f:
    (target,) = json.load(f)["targets"]
part = target["diagnosis"] if sys.argv[2] == "diagnosis" else \
    next(g for g in target["groups"] if g["code"] == sys.argv[2])
value = part[sys.argv[3]]
print(*value if isinstance(value, list) else [value], sep="\n")
END
}

# cause_is NAME CODE WORD EVIDENCE: and the text report says the same
cause_is()
{
	t_is "$1: the cause" "$(group "$2" cause)" "$3"
	t_is "$1: what speaks for it" "$(group "$2" evidence)" "$4"
}

# sentence: the first line of the report
sentence()
{
	ctm check $vmid | head -n 1
}

pve_ct $vmid "$image"

# --- a package manager in a chroot, and lists that lie --------------------------------------------

tree
mkdir "$dir/usr/share/nano" && chown 100000:100000 "$dir/usr/share/nano"
host 0755 usr/bin/nano usr/bin/sudo usr/share/nano/a var/lib/dpkg/info/nano.list var/log/apt/term.log \
	etc/ld.so.cache
printf '/.\n/usr\n/usr/bin\n/usr/bin/nano\n/usr/share/nano\n/usr/share/nano/a\n' \
	>"$dir/var/lib/dpkg/info/nano.list"
printf '/.\n/usr\n/usr/bin/sudo\n' >"$dir/var/lib/dpkg/info/sudo.list"
chown 100000:100000 "$dir/var/lib/dpkg/info/sudo.list"
six='5 of 6 paths are files of packages (nano, sudo) and of the package manager itself'
cause_is "a package manager" own.host package-run "$six"
t_is "the sentence" "$(sentence)" "CT $vmid: a package manager was run from the host: 6 of $(find "$dir" | wc -l) \
inodes have the host's ids"
t_match "the text has the same" "$(ctm check $vmid)" '^ +cause: a package manager was run from the host: 5 of 6'

info=$dir/var/lib/dpkg/info
mkfifo "$info/fifo.list"
mkdir "$info/dir.list"
ln -s /etc/passwd "$info/link.list"
ln -s nano.list "$info/inside.list"
printf '/etc/ld.so.cache\n' >"$info/"$'esc\033[2J.list'
printf '/etc/ld.so.cache\n' >"$info/..list"
{ printf '/etc/ld.so.cache\n' && head -c 5M /dev/zero; } >"$info/huge.list"
printf '/etc/ld.so.cache\n' >"$info/sparse.list" && truncate -s 1T "$info/sparse.list"
{ head -c 300k /dev/urandom | tr -d '\n' && printf '\n\0\n/\n//\n'; } >"$info/binary.list"
chown -h 100000:100000 "$info"/*.list "$info/..list"
chown 0:0 "$info/nano.list"
t_status "lists of every kind but plain files: it ends" 1 \
	timeout 30 "$CTMEND" --sysroot "$TMP/sys" check -q $vmid
cause_is "and believes none of them" own.host package-run "$six"
before=$(pve_trace "$dir")
ctm check $vmid >/dev/null
t_is "nothing is changed by looking" "$(pve_trace "$dir")" "$before"

mv "$info" "$dir/var/lib/dpkg/elsewhere"
ln -s elsewhere "$info"
chown -h 100000:100000 "$info"
cause_is "a folder that is a link" own.host unknown None

# --- one cause after another ----------------------------------------------------------------------

tree
host 0600 home/data/a home/data/b
chown 0:0 "$dir/home/data"
cause_is "files copied in" own.host copied-in 'all are in /home/data'
t_match "a backup would miss them" "$(group own.host note)" '^2 of them may be read by their owner'

tree
mkdir "$dir/run" "$dir/srv/new"$'\n'"line" && chown 100000:100000 "$dir/run" "$dir/srv/new"$'\n'"line"
host 0644 srv/new$'\n'line/a
ln -s /nowhere "$dir/srv/link" && chown -h 0:0 "$dir/srv/link"
mkfifo "$dir/run/initctl"
cause_is "a shell loop" own.host converter-skipped \
	'2 are links, FIFOs, sockets or devices, 1 have a blank, quote or backslash in the path'

tree
chown 0:0 "$dir"
cause_is "the top alone" own.host pve-root-owner 'the top directory alone is wrong'

tree
touch "$dir/srv/link" && ln "$dir/srv/link" "$dir/srv/other" && chown 200033:200033 "$dir/srv/link"
cause_is "hard links shifted twice" own.twice converter-twice \
	'all are hard links, shifted once for each name'

tree
chown 165536 "$dir/home" "$dir/srv"
cause_is "another host's base" own.base other-host \
	'base 165536, uid of 2 inodes: --from-map u:0:165536:65536,g:0:100000:65536'
t_is "or the old map in the configuration" "$(group own.base lines)" \
	$'lxc.idmap: u 0 165536 65536\nlxc.idmap: g 0 100000 65536'

tree
chown 1029054284 "$dir/home"
cause_is "a vendor's id" own.beyond foreign-id None
t_is "and the map that would hold it" "$(group own.beyond lines)" 'lxc.idmap: u 0 100000 1028954285
lxc.idmap: g 0 100000 65536
/etc/subuid: root:100000:1028954285
/etc/subgid: root:100000:65536'
# it does: the same tree under that map is clean
mapfile -t lines < <(group own.beyond lines | grep ^lxc)
pve_ct $vmid "$image" "${lines[@]}"
t_status "under which nothing is wrong" 0 ctm check $vmid
t_match "it says what clean means" "$(sentence)" \
	"^CT $vmid: clean: every id of $(find "$dir" | wc -l) inodes belongs to the map \\(ids are checked, not who"
t_is "and why" "$(group diagnosis cause)" none

# --- counts ---------------------------------------------------------------------------------------

# ids_of KIND: "IDS BEFORE AFTER" of each row of the histogram in JSON
ids_of()
{
	ctm check --json $vmid | python3 -c '
import json, sys
(target,) = json.load(sys.stdin)["targets"]
for row in target["histogram"][sys.argv[1]]:
    print(row["ids"], row["before"], row["after"])' "$1"
}

tree
pve_ct $vmid "$image"
chown 0:0 "$dir/home" && chown 33:165536 "$dir/srv" && chown 165534:165534 "$dir/usr/share/1"
# of a directory, all that is right there is 100000 to 165535
right=$(find "$dir" -uid +99999 -uid -165536 | wc -l)
t_is "uids by base" "$(ids_of uid)" "mapped $right $((right + 2))"$'\n''host 2 0'
right=$(find "$dir" -gid +99999 -gid -165536 | wc -l)
t_is "gids by base" "$(ids_of gid)" "mapped $right $((right + 1))"$'\n''host 1 0'$'\n''base 1 1'
t_match "as a table" "$(ctm check -v $vmid)" '^gid +base 165536 +165536 +165536 +1 +1$'
t_match "nobody is no finding, but told of" "$(ctm check -v $vmid)" '^note: 1 inodes have the uid and 1 the gid'

# --- the configuration as a witness ---------------------------------------------------------------

tree
chown -R 1000:1000 "$dir/home"
pve_ct $vmid "$image" '[before]' "rootfs: $image,size=1G" 'unprivileged: 1' \
	'lxc.idmap: u 0 100000 1000' 'lxc.idmap: g 0 100000 1000' 'lxc.idmap: u 1000 1000 1' \
	'lxc.idmap: g 1000 1000 1' 'lxc.idmap: u 1001 101001 64535' 'lxc.idmap: g 1001 101001 64535'
t_is "an id that a snapshot's map passes through" "$(group own.host cause)" map-changed
t_match "is named" "$(group own.host evidence)" '^all ids fit .*\[before\]'

tree
chown -R 0:0 "$dir"
pve_ct $vmid "$image" '[before]' "rootfs: $image,size=1G"
cause_is "a snapshot of the privileged container" tree.host flag-flipped \
	'the container is privileged in the section [before]'
pve_ct $vmid "$image"
t_is "without it" "$(group diagnosis cause)" never-shifted
t_match "the last line is what to type" "$(ctm check $vmid | tail -n 3 | tr '\n' ' ')" \
	"^ ?Next: make a backup or a snapshot, then: ctmend repair --convert $vmid"

tree
chown -R 100000:100000 "$dir"
pve_ct $vmid "$image" 'lxc.idmap: u 0 0 1026' 'lxc.idmap: u 1026 101026 64510' 'lxc.idmap: g 0 0 1026' \
	'lxc.idmap: g 1026 101026 64510'
cause_is "a map that was pasted in" own.hole map-wrong \
	"$(find "$dir" | wc -l) of $(find "$dir" | wc -l) inodes fit the default map, and not the configuration"
t_is "its lines, corrected" "$(group own.hole lines)" \
	$'lxc.idmap: u 0 100000 65536\nlxc.idmap: g 0 100000 65536'
t_done
