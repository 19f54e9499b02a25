#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Every call that a repair makes fails once, or from then on, with a full disk, an exceeded quota, a
# read-only file system or an input/output error. Whatever it was: success is claimed only when all is
# repaired, a fault before the record is sealed changes nothing, and from everything else the next
# repair goes on and undo goes back.
. "${0%/*}/pve.sh"

vmid=9372
dir=$(pve_dir $vmid)
pve_dir_ct $vmid
mkdir -p "$dir"/{etc,bin,var/lib/dpkg,var/cache/apt/archives/partial}
for i in $(seq 1 30); do
	echo "$i" >"$dir/etc/$i"
done
echo >"$dir/var/lib/dpkg/status"
find "$dir" -exec chown -h 100000:100000 {} +
echo su >"$dir/bin/su"
ln "$dir/bin/su" "$dir/bin/su2"
ln -s su "$dir/bin/link"
chown -h 0:42 "$dir/bin/su" "$dir/bin/link"
chmod 4755 "$dir/bin/su"
echo cap >"$dir/bin/cap"
setcap cap_net_raw=ep "$dir/bin/cap"
mkdir "$dir/srv"
setfacl -m u:33:rwx,d:g:4:r-x "$dir/srv"
: >"$dir/var/lib/dpkg/lock"
echo half >"$dir/var/cache/apt/archives/partial/half"
setfattr -n user.note -v kept "$dir/var/cache/apt/archives/partial/half"
touch -d '2002-02-02 02:02:02.2 UTC' "$dir/var/cache/apt/archives/partial"

now()
{
	pve_listing "$dir" "$TMP/now" && cat "$TMP/now"
}

before=$(now)
t_status "a repair" 0 ctm repair --yes $vmid
after=$(now)
t_status "taken back" 0 ctm undo --yes $vmid
t_is "all of it" "$(now)" "$before"
rm -rf "$PVE_STATE"

# back NAME: takes back all that was done, and forgets it
back()
{
	local i

	for ((i = 0; i < 3; i++)); do
		if [ "$(now)" = "$before" ]; then
			break
		fi
		ctm undo --yes $vmid >>"$TMP/said" 2>&1 || break
	done
	t_is "$1: undo brings everything back" "$(now)" "$before"
	if [ "$T_FAILED" -gt 0 ]; then
		sed 's/^/  said: /' "$TMP/said"
		t_done
	fi
	rm -rf "$PVE_STATE"
}

# fault CALL ERROR WHEN: one repair with this fault; false when the fault did not come any more
fault()
{
	local name="$1 fails with $2 ($3)" status

	strace -f -qq -o "$TMP/trace" -e "trace=$1" -e "inject=$1:error=$2:when=$3" \
		"$CTMEND" --sysroot "$TMP/sys" repair --yes -j1 $vmid >"$TMP/said" 2>&1
	status=$?
	if ! grep -q INJECTED "$TMP/trace"; then
		back "$1 fails $3 times too seldom"
		return 1
	fi
	case $status in
	0) t_is "$name: all is done, as it says" "$(now)" "$after" ;;
	3 | 5)
		t_match "$name: says why" "$(cat "$TMP/said")" '^ctmend: '
		if grep -q 'nothing was changed' "$TMP/said"; then
			t_is "$name: nothing was changed, as it says" "$(now)" "$before"
		fi
		;;
	4) t_match "$name: says what is left" "$(cat "$TMP/said")" '^(left|failed|.*conflict|[^ ]+: )' ;;
	*) t_is "$name: ends with a status of its own" "$status" "0, 3, 4 or 5" ;;
	esac
	t_no_match "$name: no crash" "$(cat "$TMP/said")" 'Sanitizer|core dumped'
	if [ -z "${turn-}" ]; then
		turn=1
		ctm repair --yes $vmid >>"$TMP/said" 2>&1
		t_is "$name: the next repair comes to the end" "$(now)" "$after"
	else
		turn=
	fi
	back "$name"
}

errors=(ENOSPC EDQUOT EIO EROFS)
seen=0
for call in pwrite64 fsync fdatasync syncfs mkdirat renameat2 unlinkat fchownat chmod setxattr utimensat ftruncate \
	fallocate; do
	for ((n = 1; n < 20; n++)); do
		fault $call "${errors[n % 4]}" $n || break
		seen=$((seen + 1))
		if ((n <= 2)); then
			fault $call "${errors[(n + 1) % 4]}" "$n+"
		fi
	done
	t_ok "$call was made, and failed $((n - 1)) times" test $n -gt 1
done
t_ok "there were faults: $seen" test "$seen" -ge 30

# The state directory on a small disk that fills up at every point of the way.
t_image ext4 "$TMP/small" 1M -N 64 -m 0 -b 1024
mkdir -p "$PVE_STATE"
t_mount "$TMP/small" "$PVE_STATE"
rmdir "$PVE_STATE/lost+found"
chmod 700 "$PVE_STATE"
full=0
for ((room = 0; room < 8; room++)); do
	rm -rf "${PVE_STATE:?}"/*
	dd if=/dev/zero of="$PVE_STATE/filler" bs=1k status=none 2>/dev/null
	truncate -s -${room}k "$PVE_STATE/filler"
	ctm repair --yes $vmid >"$TMP/said" 2>&1
	status=$?
	if [ $status = 0 ]; then
		t_status "$room KiB for records: all is done" 0 ctm check $vmid
	else
		full=$((full + 1))
		t_match "$room KiB for records: says why" "$(cat "$TMP/said")" 'No space left|too large'
	fi
	if [ $status = 5 ] && grep -q 'nothing was changed' "$TMP/said"; then
		t_is "$room KiB for records: nothing was changed" "$(now)" "$before"
	fi
	rm "$PVE_STATE/filler"
	while [ "$(now)" != "$before" ] && ctm undo --yes $vmid >>"$TMP/said" 2>&1; do :; done
	t_is "$room KiB for records: undo brings everything back" "$(now)" "$before"
done
t_ok "there was too little room at first ($full times)" test $full -ge 3
t_ok "and enough in the end" test "$status" = 0
t_umount "$PVE_STATE"
t_done
