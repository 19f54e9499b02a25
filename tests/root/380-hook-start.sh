#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever goes wrong in a hook, a start is not stopped by it, unless that was asked for.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9380
dir=$(pve_dir $vmid)
lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock
hook=("$CTMEND" --sysroot "$TMP/sys" hook "$vmid" pre-start)
strict=("${hook[@]}" --strict)

# starting NAME COMMAND...: the starter holds the configuration's lock and waits for the command
starting()
{
	local name=$1
	shift
	t_ok "$name: the start goes on" flock -o "$lock" "$@"
}

# stuck NAME WORDS: what is not understood, at a start and at one that asks for a veto
stuck()
{
	starting "$1" "${hook[@]}"
	t_match "$1: it is said why nothing was done" "$(cat "$T_ERR")" "$2"
	t_status "$1: with --strict it is refused" 3 flock -o "$lock" "${strict[@]}"
}

pve_dir_ct $vmid
zoo_healthy "$dir"
volume=tank:$vmid/subvol-$vmid-disk-0.subvol
pve_ct $vmid odd:vm-$vmid-disk-0
stuck "a storage that is not known" "storage 'odd'"
pve_ct $vmid $volume 'lxc.idmap: u 0 odd'
stuck "a map that makes no sense" 'id map'
pve_ct $vmid tank:$vmid/subvol-$vmid-disk-1.subvol
stuck "a volume that is not there" 'does not exist'
pve_ct $vmid $volume
flock --no-fork "$dir/var/lib/dpkg/lock" sleep 60 &
holder=$!
until ! flock -n "$dir/var/lib/dpkg/lock" true; do
	sleep 0.05
done
stuck "a lock that is held" 'lock is held'
kill $holder
wait $holder 2>/dev/null

# Nobody reads what a hook says.
: >"$dir/root/made"
starting "no room for the output" sh -c '"$@" >/dev/full' sh "${hook[@]}"
t_is "no room for the output: it is repaired" "$(stat -c %u:%g "$dir/root/made")" 100000:100000
chown 0:0 "$dir/root/made"
# shellcheck disable=SC2016 # bash's
starting "a closed pipe" bash -c '{ sleep 0.3; "$@"; echo $? >'"$TMP"'/status; } | exit 0' bash \
	"${hook[@]}"
t_is "a closed pipe: the hook's status" "$(cat "$TMP/status")" 0
t_is "a closed pipe: it is repaired" "$(stat -c %u:%g "$dir/root/made")" 100000:100000
chown 0:0 "$dir/root/made"
starting "no output at all" sh -c '"$@" >&- 2>&- <&-' sh "${hook[@]}"
t_is "no output at all: it is repaired" "$(stat -c %u:%g "$dir/root/made")" 100000:100000

# Plain LXC: what listens on the command socket is above us.
cat >"$TMP/monitor.pl" <<-'END'
	use Socket;
	my ($name, @hook) = @ARGV;
	socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
	bind($s, pack("Sa*", AF_UNIX, "\0$name")) or die "$!";
	listen($s, 1) or die;
	exit(system(@hook) >> 8);
END
mkdir -p "$TMP/sys/var/lib/lxc/web"
config=$TMP/sys/var/lib/lxc/web/config
# monitor NAME CONFIG: a start of web with this configuration
monitor()
{
	t_ok "$1: the start goes on" env LXC_NAME=web LXC_HOOK_TYPE=pre-start "LXC_CONFIG_FILE=$2" \
		"LXC_ROOTFS_PATH=$dir" perl "$TMP/monitor.pl" "$3" "$CTMEND" --sysroot "$TMP/sys" hook
	t_match "$1: it is said why nothing was done" "$(cat "$T_ERR")" "$4"
}
printf 'lxc.rootfs.path = overlay:%s:/nowhere\n' "$dir" >"$config"
monitor "LXC, an overlay" "$config" "$TMP/sys/var/lib/lxc/web/command" overlay
printf 'lxc.idmap = u 0 odd\nlxc.rootfs.path = dir:%s\n' "$dir" >"$config"
monitor "LXC, a map that makes no sense" "$config" "$TMP/sys/var/lib/lxc/web/command" 'id map'
printf 'lxc.idmap = %s 0 100000 65536\n' u g >"$TMP/elsewhere"
printf 'lxc.rootfs.path = dir:%s\n' "$dir" >>"$TMP/elsewhere"
monitor "LXC, another configuration" "$TMP/elsewhere" /var/lib/lxc/web/command elsewhere
t_done
