#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a container can make the host save: as much of the host's disk as it costs itself, at most,
# within limits for all records together; and nothing that it does pushes out a person's record.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9335
dir=$(pve_dir $vmid)
lck=$dir/var/lib/pacman/db.lck
records=$PVE_STATE/$vmid

# start: a start of the container, whose hook runs under the starter's lock
start()
{
	flock -o "$TMP/sys/run/lock/lxc/pve-config-$vmid.lock" \
		"$CTMEND" --sysroot "$TMP/sys" hook $vmid pre-start >"$TMP/hook.out" 2>&1
}

# kib: what the records take
kib()
{
	du -sk "$PVE_STATE" | cut -f1
}

# runs [WHAT]: the names of the records, or of those that a hook made, or people
runs()
{
	ctm history --json $vmid | python3 -c 'import json, sys
for run in json.load(sys.stdin)["targets"][0]["runs"]:
    if sys.argv[1] in ("all", "hook" if run["hook"] else "people"): print(run["run"])' "${1-all}"
}

# data FILE: where it has data, as the kernel says
data()
{
	python3 - "$1" <<-'END'
		import os, sys

		fd = os.open(sys.argv[1], os.O_RDONLY)
		size = os.fstat(fd).st_size
		at = 0
		try:
		    while at < size:
		        at = os.lseek(fd, at, os.SEEK_DATA)
		        end = os.lseek(fd, at, os.SEEK_HOLE)
		        print(at, end)
		        at = end
		except OSError:
		    pass
	END
}

pve_dir_ct $vmid
zoo_healthy "$dir"
mkdir -p "$dir/var/lib/pacman/local"
chown -R 100000:100000 "$dir/var/lib/pacman"
chown 0:0 "$dir/etc/passwd"
t_ok "a person repairs" ctm repair -q --yes $vmid
person=$(runs)

# The container's root makes it at each start: for nothing, if holes cost nothing.
began=$SECONDS
for ((i = 0; i < 20; i++)); do
	rm -f "$lck"
	truncate -s 255M "$lck"
	chown 100000:100000 "$lck"
	start
done
t_match "twenty starts with a long lock: in little time" $((SECONDS - began)) '^1?[0-9]$'
t_match "and little room" "$(kib)" '^[0-9]{1,2}$'
t_is "the person's record is there" "$(runs people)" "$person"
t_is "what is no lock stays" "$(stat -c '%s %u:%g' "$lck")" "$((255 << 20)) 100000:100000"
t_status "check says so" 0 ctm check $vmid
t_match "by its code" "$(cat "$T_OUT")" '^pkg\.large  1'
t_match "and the length" "$(cat "$T_OUT")" 'no lock is 267386880 bytes long'
chown 0:0 "$lck"
t_ok "its owner is repaired as any other's" ctm repair -q --yes $vmid
t_is "its owner" "$(stat -c '%s %u:%g' "$lck")" "$((255 << 20)) 100000:100000"
t_status "and nothing is left" 0 ctm repair -q --yes $vmid

# As long as a lock may be: each start removes it and leaves a record.
for ((i = 0; i < 25; i++)); do
	head -c 4096 /dev/zero >"$lck"
	chown 100000:100000 "$lck"
	start
done
t_ok "a page is a lock" test ! -e "$lck"
t_is "few records of hooks stay" "$(runs hook | wc -l)" 5
t_match "in little room" "$(kib)" '^[0-9]{1,3}$'
t_match "the person's first record is there" "$(runs people)" "^$person"
t_ok "and can be taken back" ctm undo -q --yes $vmid 1
t_is "as it was" "$(stat -c %u:%g "$dir/etc/passwd")" 0:0
t_ok "repaired again" ctm repair -q --yes $vmid
t_ok "nor do people push out a hook's" test "$(runs hook | wc -l)" = 5

# Nor does a lock at each start push out what a hook has repaired.
touch "$dir/root/.profile"
chown 0:0 "$dir/root/.profile"
start
repaired=$(runs hook | tail -n 1)
t_is "a hook repairs" "$(stat -c %u:%g "$dir/root/.profile")" 100000:100000
for ((i = 0; i < 7; i++)); do
	: >"$lck"
	chown 100000:100000 "$lck"
	start
done
t_is "six records of hooks stay" "$(runs hook | wc -l)" 6
t_match "the one of the repair is there" "$(runs hook)" "^$repaired"
t_ok "and can be taken back" ctm undo -q --yes $vmid "$repaired"
t_is "as it was then" "$(stat -c %u:%g "$dir/root/.profile")" 0:0
t_ok "and again" ctm repair -q --yes $vmid

# --prune with other numbers: those of hooks are counted apart here, too.
t_status "a prune to two" 0 ctm history --prune --keep-runs 2 $vmid
t_is "leaves two of each, and the undone repair" "$(runs hook | wc -l) $(runs people | wc -l)" "3 2"

# Holes are saved as holes, and come back as such.
part=$dir/var/cache/apt/archives/partial/large.deb
python3 - "$part" <<'END'
import os, sys

with open(sys.argv[1], "wb") as f:
    for at in (1 << 20, (1 << 20) + 65536, 100 << 20, (150 << 20) + 4096):
        f.seek(at)
        f.write(os.urandom(8192))
    f.truncate((200 << 20) + 77)
END
sync -f "$part"
chown 0:0 "$part"
was=$(sha256sum <"$part"; stat -c '%s %b %u:%g %a %y' "$part"; data "$part")
ctm history --prune -q --keep-runs 1 $vmid
before=$(kib)
t_ok "a download with holes is removed" ctm repair -q --yes $vmid
t_ok "it is gone" test ! -e "$part"
t_match "its record has its data, and not its holes" $(($(kib) - before)) '^[0-9]{1,2}$'
tar=$(find "$records" -name removed.tar -newer "$TMP/hook.out" | sort | tail -n 1)
t_match "bsdtar reads its length" "$(bsdtar -tvf "$tar")" ' 209715277 .* var/cache/apt/archives/partial/large.deb$'
t_is "and its content" "$(bsdtar -xOf "$tar" | sha256sum)" "$(head -n 1 <<<"$was")"
t_ok "undone" ctm undo -q --yes $vmid
t_is "it is as it was, holes and all" \
	"$(sha256sum <"$part"; stat -c '%s %b %u:%g %a %y' "$part"; data "$part")" "$was"

# Too long to go over, though there is next to nothing in it.
truncate -s 5G "$part"
t_status "longer than 4 GiB" 1 ctm check $vmid
t_match "longer than 4 GiB: it is said" "$(cat "$T_OUT")" 'large.deb.*5368709120 bytes long, holes included'
t_ok "longer than 4 GiB: a repair" ctm repair -q --yes $vmid
t_is "longer than 4 GiB: it has its owner" "$(stat -c '%s %u:%g' "$part")" "5368709120 100000:100000"
rm "$part"

# All records together have a limit: here a tenth of what would be free without them.
rm -rf "${PVE_STATE:?}"
t_mount tmpfs "$PVE_STATE" -t tmpfs -o size=40M,mode=0700
for i in 1 2 3; do
	head -c 1500000 /dev/urandom >"$part"
	chown 0:0 "$part"
	ctm repair -q --yes $vmid
	printf '%s ' $? "$([ -e "$part" ] && stat -c %u:%g "$part" || echo gone)"
done >"$TMP/three"
t_is "two files of 1.5 MB fit a tenth of 40 MiB, a third does not" "$(cat "$TMP/three")" \
	"0 gone 0 gone 0 100000:100000 "
rm "$part"
head -c 1500000 /dev/urandom >"$part"
chown 0:0 "$part"
t_status "what does not fit" 1 ctm check $vmid
t_match "is said" "$(cat "$T_OUT")" '^pkg\.large  1'
t_match "with what is left" "$(cat "$T_OUT")" 'more than the [0-9]{6,7} bytes that are left for it'
t_ok "room is made" ctm history -q --prune --keep-runs 1 $vmid
t_ok "then it goes" ctm repair -q --yes $vmid
t_ok "it is gone at last" test ! -e "$part"
t_done
