#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A setuid program that the container has rewritten since a repair is not made host root's again,
# whatever its mode looks like; one that was only renamed, linked or touched is.
. "${0%/*}/pve.sh"

# Programs of host root, as somebody has installed them from the host.
programs()
{
	local file

	mkdir -p "$1"/{etc,usr/bin} "$1"/srv/{1..60} && chown -R 100000:100000 "$1" || return
	for file in sudo su mount umount passwd chsh newgrp same; do
		echo "the host's $file" >"$1/usr/bin/$file"
		chmod 4755 "$1/usr/bin/$file"
	done
	echo "the host's wall" >"$1/usr/bin/wall" && chown 0:5 "$1/usr/bin/wall" && chmod 2755 "$1/usr/bin/wall"
	echo "the host's ping" >"$1/usr/bin/ping" && setcap cap_net_raw=ep "$1/usr/bin/ping"
	echo "the host's cap" >"$1/usr/bin/cap" && setcap cap_net_raw=ep "$1/usr/bin/cap"
	echo "the host's less" >"$1/usr/bin/less"
	# more than is read: their content is known by the ctime alone
	truncate -s 65M "$1/usr/bin/large" "$1/usr/bin/large-written"
	chmod 4755 "$1"/usr/bin/large*
}

# rewrite FILE: in place, and then owner and mode as they were
rewrite()
{
	local owner mode

	owner=$(stat -c %u:%g "$1")
	mode=$(stat -c %a "$1")
	echo "the container's" >"$1" && chown "$owner" "$1" && chmod "$mode" "$1"
}

# What the container's root does, who owns all of them.
work()
{
	cd "$1/usr/bin" || return
	rewrite sudo
	rewrite wall
	rewrite ping
	setcap -n 100000 cap_net_raw=ep ping
	rewrite less
	touch mount
	ln umount umount.link
	mv passwd pass && mv pass passwd
	chmod 0755 chsh && chmod 4755 chsh
	echo "the host's same" >same && chmod 4755 same
	printf x | dd of=large-written bs=1 seek=4096 conv=notrunc status=none
	chmod 4755 large-written
	touch large-written
}
WRITTEN=$(printf '/usr/bin/%s\n' large-written ping sudo wall)

# within VOLUME COMMAND...: run a command with the path of the volume's tree
within()
{
	local volume=$1
	shift

	if [ -d "$volume" ]; then
		("$@" "$volume")
		return
	fi
	t_mount "$volume" "$TMP/within"
	("$@" "$TMP/within")
	t_umount "$TMP/within"
}

# What the kernel and its tools say: owners, modes, capabilities.
look()
{
	cd "$1/usr/bin" || return
	find . -type f -printf '%p %U:%G %m\n' | LC_ALL=C sort
	getcap -n ./*
}

left()
{
	sed -n 's/^  \(\/[^:]*\): left alone: changed$/\1/p' "$T_OUT" | LC_ALL=C sort
}

# Programs that a host user could run with the power of an id that is not the container's.
powers()
{
	find "$1" -type f \( -uid -100000 -perm /4000 -o -gid -100000 -perm /2000 \) -exec grep -l container {} +
	find "$1" -type f -uid -100000 -exec grep -l container {} + | xargs -r getcap
}

rewritten()
{
	local name=$1 vmid=$2 volume=$3

	within "$volume" programs
	within "$volume" look >"$TMP/before"
	t_status "$name: repair" 0 ctm repair --yes "$vmid"
	within "$volume" look >"$TMP/repaired"
	t_match "$name: the container has its programs" "$(cat "$TMP/repaired")" './sudo 100000:100000 4755'
	within "$volume" work
	within "$volume" look >"$TMP/worked"
	t_is "$name: after some work nothing shows but a link" \
		"$(grep -v umount.link "$TMP/worked")" "$(cat "$TMP/repaired")"
	t_status "$name: a preview" 0 ctm undo --dry-run --json "$vmid"
	t_is "$name: names what was rewritten" \
		"$(python3 -c '
import json, sys
failed = json.load(sys.stdin)["targets"][0]["failed"]
print("\n".join(sorted(f["path"] for f in failed if f["result"] == "conflict")))' <"$T_OUT")" "$WRITTEN"
	t_status "$name: undo" 4 ctm undo --yes --verbose "$vmid"
	t_is "$name: leaves and lists what was rewritten" "$(left)" "$WRITTEN"
	within "$volume" look >"$TMP/undone"
	t_is "$name: as the container has it" "$(grep -E '^./(large-written|ping|sudo|wall) ' "$TMP/undone")" \
		"$(grep -E '^./(large-written|ping|sudo|wall) ' "$TMP/worked")"
	t_is "$name: and all else is as before the repair" \
		"$(grep -vE '^./(large-written|ping|sudo|wall|umount.link) ' "$TMP/undone")" \
		"$(grep -vE '^./(large-written|ping|sudo|wall) ' "$TMP/before")"
	t_is "$name: nothing that it wrote has the host's power" \
		"$(within "$volume" powers; grep "large-written 0:" "$TMP/undone")" ""
}

rewrite_su()
{
	rewrite "$1/usr/bin/su"
}

# The other way: what the host has rewritten since the undo is not given to the container as it is.
redone()
{
	local name=$1 vmid=$2 volume=$3

	within "$volume" rewrite_su
	t_status "$name: redo" 4 ctm undo --yes --verbose "$vmid" 2
	t_is "$name: leaves what was rewritten" "$(left)" /usr/bin/su
	within "$volume" look >"$TMP/redone"
	t_is "$name: with its owner" "$(grep '^./su ' "$TMP/redone")" "./su 0:0 4755"
	t_is "$name: and all else is as repaired" "$(grep -v '^./\(su\|umount.link\) ' "$TMP/redone")" \
		"$(grep -v '^./su ' "$TMP/repaired")"
}

pve_dir_ct 9371
dir=$(pve_dir 9371)
rewritten directory 9371 "$dir"
redone directory 9371 "$dir"
image=$(pve_image 9372)
pve_ct 9372 tank:9372/vm-9372-disk-0.raw
mkdir -p "${image%/*}"
t_pve_image "$image" 48M
rewritten image 9372 "$image"
redone image 9372 "$image"

# Moved elsewhere in an image: the handle finds it.
move_mount()
{
	mv "$1/usr/bin/mount" "$1/etc/mount"
}
owner_of_mount()
{
	stat -c '%u:%g %a' "$1/etc/mount"
}
within "$image" move_mount
t_status "image: undo of what was renamed" 0 ctm undo --yes 9372 3
t_is "image: gives it back" "$(within "$image" owner_of_mount)" "0:0 4755"

# killed CALL N COMMAND...: the program, killed when it makes the Nth such call
killed()
{
	local call=$1 n=$2
	shift 2

	strace -f -qq -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n" \
		"$CTMEND" --sysroot "$TMP/sys" "$@" >/dev/null 2>&1
}

# An undo that was interrupted, and the container ran before it was finished.
for by in undo repair; do
	pve_dir_ct 9373
	dir=$(pve_dir 9373)
	programs "$dir"
	t_status "repair, for an undo to be finished by $by" 0 ctm repair --yes 9373
	killed fchownat 6 undo --yes 9373
	t_is "an undo is killed" $? 137
	find "$dir/usr/bin" -type f -uid 100000 -perm /6000 -size -9 >"$TMP/mine"
	t_ok "some programs are still the container's" [ -s "$TMP/mine" ]
	t_ok "some are not" [ "$(find "$dir/usr/bin" -type f -uid 0 | wc -l)" -gt 3 ]
	while read -r file; do
		rewrite "$file"
	done <"$TMP/mine"
	t_status "$by finishes it" 4 ctm "$by" --yes --verbose 9373
	t_is "$by: nothing that the container wrote has the host's power" "$(powers "$dir")" ""
	rm -rf "$dir" "$PVE_STATE/9373"
done

# A repair that was interrupted, and taken back after the container ran.
pve_dir_ct 9373
programs "$dir"
killed fchownat 8 repair --yes 9373
t_is "a repair is killed" $? 137
find "$dir/usr/bin" -type f -uid 100000 -size -9 >"$TMP/mine"
t_ok "some programs are the container's" [ "$(wc -l <"$TMP/mine")" -gt 3 ]
while read -r file; do
	rewrite "$file"
done <"$TMP/mine"
t_status "undo takes it back" 4 ctm undo --yes --verbose 9373
t_is "nothing that the container wrote has the host's power" "$(powers "$dir")" ""
rm -rf "$dir" "$PVE_STATE/9373"

# From one container's map to another's: the first one's root writes before it is finished.
pve_dir_ct 9373 "lxc.idmap: u 0 300000 65536" "lxc.idmap: g 0 300000 65536"
programs "$dir"
chown -R 200000:200000 "$dir"
chmod 4755 "$dir"/usr/bin/{sudo,su,mount,umount,passwd,chsh}
killed fchownat 8 repair --yes --from-map 200000 9373
t_is "a repair with --from-map is killed" $? 137
find "$dir/usr/bin" -type f -uid 200000 -perm /6000 >"$TMP/mine"
t_ok "some programs are still the first one's" [ -s "$TMP/mine" ]
while read -r file; do
	rewrite "$file"
done <"$TMP/mine"
t_status "it is finished" 4 ctm repair --yes --verbose --from-map 200000 9373
t_is "nothing that the first one wrote has the other's power" \
	"$(find "$dir" -type f -uid +299999 -perm /6000 -exec grep -l container {} +)" ""
t_is "what it wrote is its own" "$(xargs stat -c '%u %a' <"$TMP/mine" | sort -u)" "200000 4755"
rm -rf "$dir" "$PVE_STATE/9373"

# Somebody who still has a file open, or mapped, from when it was the container's.
pve_dir_ct 9373
programs "$dir"
t_status "repair" 0 ctm repair --yes 9373
for how in open mapped; do
	file=$dir/usr/bin/su
	python3 - "$file" "$how" "$TMP/ready" <<-'END' &
		import mmap, os, signal, sys

		fd = os.open(sys.argv[1], os.O_RDWR)
		if sys.argv[2] == "mapped":
		    there = mmap.mmap(fd, 0)
		    os.close(fd)
		open(sys.argv[3], "w").close()
		signal.pause()
	END
	pid=$!
	while [ ! -e "$TMP/ready" ]; do
		sleep 0.05
	done
	t_status "$how: undo" 4 ctm undo --yes --verbose 9373
	t_match "$how: says so" "$(cat "$T_OUT")" '^  /usr/bin/su: check for writers: Text file busy$'
	t_is "$how: the file is left" "$(stat -c '%u %a' "$file")" "100000 4755"
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm "$TMP/ready"
	t_status "$how: nobody has it any more" 0 ctm undo --yes 9373
	t_is "$how: then it goes back" "$(stat -c '%u %a' "$file")" "0 4755"
	rm -rf "$PVE_STATE/9373"
	t_status "$how: repair again" 0 ctm repair --yes 9373
done
t_done
