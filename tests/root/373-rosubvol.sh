#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Read-only btrfs subvolumes: left and reported, or with --fix rosubvol made writable, repaired and
# read-only again, whatever kills the program in between.
. "${0%/*}/pve.sh"

sys=$TMP/sys
t_image btrfs "$TMP/btrfs.img" 320M
t_mount "$TMP/btrfs.img" "$TMP/mnt" -o loop
root=$TMP/mnt/rootfs
subvols=(snap snap/inner deep/er/snap)

# all: owner, mode, time and capability of everything, and which subvolumes are read-only
all()
{
	local sub

	(cd "$root" && find . -printf '%P %y %m %U:%G %T@\n' | LC_ALL=C sort
		getcap -n -r . | LC_ALL=C sort
		for sub in "${subvols[@]}" writable; do
			echo "$sub $(btrfs property get -t subvol "$sub" ro)"
		done)
}

wanted()
{
	sed -E -e 's/ 0:0 / 100000:100000 /; s/ 0:42 / 100000:100042 /' -e '\|/partial/x |d' \
		-e 's|^(.* cap_net_raw=ep)$|\1 [rootid=100000]|' <<<"$1"
}

ctmend()
{
	"$CTMEND" --sysroot "$sys" "$@"
}

mkdir -p "$root/deep/er" "$root/etc" "$root/var/lib/dpkg"
touch "$root"/etc/right{1..60} "$root/var/lib/dpkg/status"
for sub in "${subvols[@]}" writable; do
	t_ok "a subvolume" btrfs -q subvolume create "$root/$sub"
	touch "$root/$sub"/{plain,suid,cap,right}
done
find "$root" -exec chown -h 100000:100000 {} +
for sub in "${subvols[@]}" writable; do
	chown 0:0 "$root/$sub"/{plain,suid,cap}
	chmod 4755 "$root/$sub/suid"
	setcap cap_net_raw=ep "$root/$sub/cap"
done
chown 0:42 "$root/etc/right1" "$root/snap"
# A file to be removed, in a subvolume that stands at a rule's place
mkdir -p "$root/var/cache/apt/archives"
btrfs -q subvolume create "$root/var/cache/apt/archives/partial"
echo half >"$root/var/cache/apt/archives/partial/x"
chown -R 100000:100000 "$root/var/cache"
chown 0:0 "$root/var/cache/apt/archives/partial/x"
subvols+=(var/cache/apt/archives/partial)
for sub in "${subvols[@]}"; do
	btrfs property set -t subvol "$root/$sub" ro true
done
before=$(all)

# Without the option
t_status "check" 1 ctmend check -v --map 100000 "$root"
t_match "says what is left" "$(cat "$T_OUT")" '^ *attr\.rosubvol '
t_match "and how much" "$(cat "$T_OUT")" '^ */snap: 4 changes needed in it$'
t_is "once for each" "$(grep -c 'needed in it' "$T_OUT")" 4
t_no_match "and not by inode" "$(cat "$T_OUT")" '/snap/(inner/)?(plain|suid|cap)'
t_status "repair leaves them" 4 ctmend repair --yes --map 100000 "$root"
t_match "and says so" "$(cat "$T_OUT")" '^left: attr\.rosubvol 4'
t_no_match "without having tried" "$(cat "$T_OUT")" 'Read-only file system'
t_is "what is writable is repaired" "$(stat -c %u:%a "$root/writable/suid")" 100000:4755
once=$(all)
t_status "again" 4 ctmend repair --yes --map 100000 "$root"
t_is "and no other change" "$(all)" "$once"
t_ok "undo" ctmend undo --yes --map 100000 "$root"
t_is "as before" "$(all)" "$before"

# With it
t_status "diff" 1 ctmend diff --fix rosubvol --map 100000 "$root"
t_match "the diff says it" "$(cat "$T_OUT")" '^note: read-only subvolume /snap: made writable'
t_is "diff changes nothing" "$(all)" "$before"
t_ok "repair" ctmend repair --yes --fix rosubvol --map 100000 "$root"
t_is "everything is right, and read-only" "$(all)" "$(wanted "$before")"
t_ok "check is content" ctmend check --map 100000 "$root"
t_ok "a second repair has nothing to do" ctmend repair --yes --fix rosubvol --map 100000 "$root"
run=$(sed -n 's/^run \([^:]*\):.*/\1/p' "$T_OUT" | head -n 1)
t_is "and makes no run" "$run" ""
t_ok "undo" ctmend undo --yes --map 100000 "$root"
t_is "everything as before, and read-only" "$(all)" "$before"

# What btrfs receive has made is its own.
mkdir "$TMP/mnt/received"
t_ok "send and receive" bash -c "btrfs -q send '$root/snap' | btrfs -q receive '$TMP/mnt/received'"
mv "$root/deep" "$TMP/mnt/away"
mkdir "$root/deep"
chown 100000:100000 "$root/deep"
t_ok "received into the tree" bash -c \
	"btrfs -q send '$root/snap' | btrfs -q receive '$root/deep'"
t_status "repair with a received one" 4 ctmend repair --yes --fix rosubvol --map 100000 "$root"
t_match "which it leaves" "$(cat "$T_OUT")" '^left: attr\.rosubvol 1: .*\(/deep/snap\)$'
t_is "as it was" "$(stat -c %u "$root/deep/snap/suid")" 0
t_is "and where it came from" \
	"$(btrfs subvolume show "$root/deep/snap" | grep -c 'Received UUID:.*[0-9a-f]-')" 1
t_ok "undo" ctmend undo --yes --map 100000 "$root"
btrfs -q subvolume delete "$root/deep/snap" >/dev/null
rmdir "$root/deep"
mv "$TMP/mnt/away" "$root/deep"

# Killed at each ioctl(2) and each change: whoever comes next, forwards or back, finds its way.
before=$(all)
command=("$CTMEND" --sysroot "$sys" repair --yes --fix rosubvol --map 100000 "$root")
kills=0
for call in ioctl fchownat fchmodat setxattr unlinkat; do
	for when in $(seq 1 80); do
		strace -f -qq -o /dev/null -e "trace=$call" \
			-e "inject=$call:signal=KILL:when=$when" "${command[@]}" >/dev/null 2>&1
		status=$?
		# Killed was a process that looks at the host for the one that works.
		if [ $status = 5 ]; then
			t_is "a child killed at $call $when: nothing has changed" "$(all)" "$before"
			continue
		fi
		if [ $status != 137 ]; then
			t_is "$call: $((when - 1)) points" "$status" 0
			t_ok "taken back" ctmend undo --yes --map 100000 "$root"
			break
		fi
		kills=$((kills + 1))
		if [ $((when % 2)) = 0 ]; then
			t_ok "killed at $call $when: the next repair finishes it" "${command[@]}"
			t_is "killed at $call $when: everything is right" "$(all)" \
				"$(wanted "$before")"
		fi
		# Killed before its record was whole there is no run.
		ctmend undo --yes --map 100000 "$root" >"$TMP/undo" 2>&1
		status=$?
		t_ok "killed at $call $when: undo ($status)" [ $status = 0 -o $status = 3 ]
		t_is "killed at $call $when: everything is as before" "$(all)" "$before"
	done
done
t_ok "many points" [ $kills -ge 30 ]
echo "# $kills points"

t_done
