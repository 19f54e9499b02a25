#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Nobody else may use a volume, and a report is in nobody's way.
. "${0%/*}/lib.sh"
other= # what t_background started

probe=${CTMEND%/*}/tests/root/attach-probe
sys=$TMP/sys
mkdir -p "$sys"
lock=$sys/run/lock/lxc/pve-config-115.lock

tree()
{
	mkdir -p "$1/etc" "$1/usr"
}

# refused NAME REGEX WORD...: exit status 3, and a line of the message matches
refused()
{
	local name=$1 regex=$2
	shift 2
	t_status "$name is refused" 3 "$probe" sysroot="$sys" "$@"
	t_match "$name: the message" "$(cat "$T_ERR")" "$regex"
}

# hint NAME REGEX: what the last refusal says about the next step
hint()
{
	t_match "$1: the next step" "$(sed -n 's/^hint: //p' "$T_ERR")" "$2"
}

allowed()
{
	local name=$1
	shift
	t_ok "$name" "$probe" sysroot="$sys" "$@"
}

# hold WORD...: the probe in the background until drop; $holder is its process
hold()
{
	rm -f "$TMP/in" "$TMP/out"
	mkfifo "$TMP/in"
	"$probe" sysroot="$sys" "$@" hold <"$TMP/in" >"$TMP/out" 2>&1 &
	holder=$!
	exec 9>"$TMP/in"
	for ((i = 0; i < 100; i++)); do
		if grep -qs '^attached$' "$TMP/out" || ! kill -0 "$holder" 2>/dev/null; then
			break
		fi
		sleep 0.05
	done
	if ! grep -q '^attached$' "$TMP/out"; then
		echo "the volume is not held:"
		cat "$TMP/out"
	fi
}

drop()
{
	exec 9>&-
	wait "$holder"
}


t_image ext4 "$TMP/ct.raw" 64M
mkdir "$TMP/mnt"
mount "$TMP/ct.raw" "$TMP/mnt"
tree "$TMP/mnt"
umount "$TMP/mnt"
t_loop dev "$TMP/ct.raw"
cp "$TMP/ct.raw" "$TMP/image.raw"
tree "$TMP/tree"
# shellcheck disable=SC2154 # t_loop sets it
block=(kind=block path="$dev" ct=115)
image=(kind=image path="$TMP/image.raw" ct=115)
dir=(kind=dir path="$TMP/tree" ct=115)

# --- what the configuration says ---------------------------------------------------------------------

for volume in block image dir; do
	declare -n words=$volume
	allowed "$volume: reading" "${words[@]}" guard=read
	allowed "$volume: writing" "${words[@]}" guard=write access=write
	refused "$volume: lock" '^CT 115 is locked \(backup\): a backup ' "${words[@]}" guard=write lock=backup
	hint "$volume: lock" 'pct unlock 115'
	refused "$volume: lock: mounted" 'locked \(mounted\)' "${words[@]}" guard=write lock=mounted
	hint "$volume: lock: mounted" 'pct unmount 115'
	allowed "$volume: reading with a lock" "${words[@]}" guard=read lock=backup
	refused "$volume: template" 'is a template' "${words[@]}" guard=write template
	refused "$volume: base volume" 'base volume' "${words[@]}" guard=write base
	allowed "$volume: reading a base volume" "${words[@]}" guard=read template base
done
refused "a bind mount" 'directory of the host' kind=bind path="$TMP/tree" ct=115 guard=read
t_is "no lock of a volume is left" "$(find "$sys/run/ctmend" -type f)" ""

# --- a running container ----------------------------------------------------------------------------

# listen NAME: like a monitor on its command socket
listen()
{
	exec perl -MSocket -e '
		socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
		bind($s, pack("Sa*", AF_UNIX, "\0$ARGV[0]")) or die "$!";
		listen($s, 1) or die;
		open(my $f, ">", $ARGV[1]); close($f);
		sleep 1000;' "$1" "$TMP/ready"
}
socket=ctmend-test-$$/115/command
t_background listen "$socket"
for volume in block image dir; do
	declare -n words=$volume
	refused "$volume: running" '^CT 115 is running$' "${words[@]}" guard=write socket="$socket"
	hint "$volume: running" '^stop it with: pct stop 115$'
	refused "$volume: running, not our starter" 'is running' "${words[@]}" guard=hook \
		socket="$socket"
	allowed "$volume: a socket of a longer name is another's" "${words[@]}" guard=write \
		socket="${socket%d}"
	allowed "$volume: so is one of a shorter name" "${words[@]}" guard=write socket="${socket}s"
done
refused "running: an image, by a socket without a container" 'no process of it is to be found' \
	"${image[@]}" guard=read socket="$socket"
refused "running: a device likewise" 'no process of it is to be found' "${block[@]}" guard=read \
	socket="$socket"
allowed "running: a directory is read" "${dir[@]}" guard=read socket="$socket"
t_match "running: which is said" "$(cat "$T_OUT")" '^guard the container is running'
refused "a running plain container" "container 'web' is running" kind=dir path="$TMP/tree" lxc=web \
	guard=write socket="$socket"
hint "a running plain container" 'lxc-stop -n web'
t_stop

mkdir -p "$sys/var/lib/lxc/115"
touch "$sys/var/lib/lxc/115/reboot"
refused "a container in the middle of a reboot" '^CT 115 is rebooting$' "${block[@]}" guard=write
refused "its device" 'rebooting' "${block[@]}" guard=read
allowed "its directory may be read" "${dir[@]}" guard=read
rm "$sys/var/lib/lxc/115/reboot"

# --- the flock of PVE -----------------------------------------------------------------------------

t_background flock -o "$lock" sh -c "touch '$TMP/ready'; exec sleep 1000"
refused "a held flock" '^CT 115 is being worked on: its configuration is locked by process' \
	"${block[@]}" guard=write wait=1
t_match "a held flock: the process" "$(cat "$T_ERR")" "locked by process $other \\(flock\\)"
hint "a held flock" '--wait'
refused "a held flock and an image" 'locked by process' "${image[@]}" guard=read wait=0
allowed "a held flock: a device is read without it" "${block[@]}" guard=read wait=0
allowed "a held flock: a directory too" "${dir[@]}" guard=read wait=0
allowed "a held flock: the hook does not want it" "${block[@]}" guard=hook wait=0
allowed "a held flock: a plain container has none" kind=dir path="$TMP/tree" lxc=web guard=write wait=0
t_stop
t_background flock -o "$lock" sh -c "touch '$TMP/ready'; exec sleep 1"
allowed "it is waited for" "${image[@]}" guard=read wait=10
t_stop
ln -s "$TMP/elsewhere" "$sys/run/lock/lxc/pve-config-116.lock"
t_status "a link is no lock file" 5 "$probe" sysroot="$sys" kind=dir path="$TMP/tree" ct=116 guard=write
t_ok "and is not followed" test ! -e "$TMP/elsewhere"
mkdir -p "$TMP/open/run/lock/lxc"
chmod 777 "$TMP/open/run/lock/lxc"
refused "a directory of locks that is open to all" 'written by others than root' "${dir[@]}" \
	guard=write sysroot="$TMP/open"

# --- two of us -------------------------------------------------------------------------------------

ln "$TMP/image.raw" "$TMP/other-name.raw"
hold "${image[@]}" guard=write guarded
refused "a second repair" 'locked by process' "${image[@]}" guard=write wait=0
refused "of a path to the same image" 'is being repaired by process' kind=image \
	path="$TMP/other-name.raw" guard=write wait=0
drop
rm "$TMP/other-name.raw"
hold kind=dir path="$TMP/tree" guard=write guarded
refused "a second repair of a directory" "repaired by process $holder \\(attach-probe\\)" \
	kind=dir path="$TMP/tree/../tree" guard=write wait=0
kill -9 "$holder"
wait "$holder" 2>/dev/null
exec 9>&-
allowed "a killed one holds nothing" kind=dir path="$TMP/tree" guard=write wait=0
t_is "its lock file is gone after the next" "$(find "$sys/run/ctmend" -type f)" ""

# --- mounted elsewhere -----------------------------------------------------------------------------

# in_namespace COMMAND...: in a mount namespace of its own, then tells and stays
in_namespace()
{
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare -m sh -c '"$@" && touch "$0" && exec sleep 1000' "$TMP/ready" "$@"
}

t_mount "$dev" "$TMP/mnt"
for mode in read write hook; do
	refused "$mode: a mounted device" "is mounted at '$TMP/mnt'" "${block[@]}" guard=$mode
done
hint "a mounted device" "umount '$TMP/mnt'"
t_umount "$TMP/mnt"
t_background in_namespace mount "$dev" "$TMP/mnt"
for mode in read write; do
	refused "$mode: a device mounted in another namespace" \
		"mounted at '$TMP/mnt' in the mount namespace of process $other \\(sleep\\)" \
		"${block[@]}" guard=$mode
done
t_stop
allowed "after that it is free" "${block[@]}" guard=write access=write

losetup --find "$TMP/image.raw"
t_defer sh -c "losetup -j '$TMP/image.raw' -O NAME -n | xargs -r losetup -d"
foreign=$(losetup -n -O NAME -j "$TMP/image.raw")
for mode in read write; do
	refused "$mode: an image on a foreign loop device" "attached to $foreign by somebody else" \
		"${image[@]}" guard=$mode
done
hint "a foreign loop device" "losetup -d $foreign"
t_background in_namespace mount "$foreign" "$TMP/mnt"
refused "an image mounted in another namespace" "mounted at '$TMP/mnt' in .* process $other" \
	"${image[@]}" guard=write
t_stop
losetup -d "$foreign"
foreign=$(losetup --find --show "$dev")
refused "a device below a foreign loop device" "attached to $foreign" "${block[@]}" guard=write
losetup -d "$foreign"

foreign=$(losetup --find --show --read-only "$dev")
refused "a device below a read-only one, for a repair" "attached to $foreign" "${block[@]}" guard=write
allowed "but a report does not mind it" "${block[@]}" guard=read
losetup -d "$foreign"
hold "${block[@]}" guard=read
allowed "nor another report" "${block[@]}" guard=read
refused "a repair minds a report" 'attached to /dev/loop' "${block[@]}" guard=write
drop

# chrooted: the first process of a namespace sees nothing of it
mkdir "$TMP/jail"
# (this script is the second one, so its number is higher)
cat >"$TMP/jail.pl" <<'SCRIPT'
my ($dev, $at, $jail, $ready) = @ARGV;
my $child = fork;
if ($child == 0) {
	system("mount", $dev, $at) == 0 or die;
	open(my $f, ">", $ready); close($f);
	sleep 1000;
	exit;
}
$SIG{TERM} = sub { kill "KILL", $child; waitpid($child, 0); exit };
chroot $jail or die "$!";
sleep 1000;
SCRIPT
jailed()
{
	exec unshare -m perl "$TMP/jail.pl" "$dev" "$TMP/mnt" "$TMP/jail" "$TMP/ready"
}
t_background jailed
refused "a mount beside a chrooted process" "mounted at '$TMP/mnt'" "${block[@]}" guard=write
t_stop

name=$'odd\n\033[1mname'
mkdir "$TMP/$name"
t_background in_namespace mount "$dev" "$TMP/$name"
refused "a mount point with an odd name" 'odd\\n\\x1b\[1mname' "${block[@]}" guard=write
t_stop

# --- a device that the kernel has given away ---------------------------------------------------------

claim()
{
	exec perl -MFcntl -e '
		sysopen(my $f, $ARGV[0], O_RDONLY | O_EXCL) or die "$!";
		open(my $r, ">", $ARGV[1]); close($r);
		sleep 1000;' "$dev" "$TMP/ready"
}
t_background claim
refused "a device that is claimed" 'kernel has .* in use' "${block[@]}" guard=write
hint "a device that is claimed" "lsblk $dev"
allowed "it may be read" "${block[@]}" guard=read
t_stop

# --- directories ------------------------------------------------------------------------------------

mkdir "$TMP/at"
t_background in_namespace mount --bind "$TMP/tree" "$TMP/at"
refused "a directory bound in another namespace" "mounted at '$TMP/at' in .* process $other" "${dir[@]}" \
	guard=write
allowed "it may be read all the same" "${dir[@]}" guard=read
t_stop
t_background in_namespace mount --bind "$TMP/tree/etc" "$TMP/at"
refused "a part of it" "mounted at '$TMP/at'" "${dir[@]}" guard=write
t_stop
mkdir "$TMP/tree-beside"
t_background in_namespace mount --bind "$TMP/tree-beside" "$TMP/at"
allowed "what only begins with its name is another" "${dir[@]}" guard=write
t_stop
mkdir "$TMP/home"
t_mount none "$TMP/home" -t tmpfs
tree "$TMP/home"
t_background in_namespace true
allowed "a file system at its own place is free, in every namespace" kind=dir path="$TMP/home" \
	guard=write
t_stop
t_background in_namespace mount --bind "$TMP/home" "$TMP/at"
refused "and not where it is mounted a second time" "mounted at '$TMP/at'" kind=dir path="$TMP/home" \
	guard=write
t_stop
t_umount "$TMP/home"

t_image btrfs "$TMP/pool.raw" 128M
t_mount "$TMP/pool.raw" "$TMP/pool"
btrfs subvolume create "$TMP/pool/one" >/dev/null
btrfs subvolume create "$TMP/pool/two" >/dev/null
tree "$TMP/pool/one"
t_background in_namespace mount --bind "$TMP/pool/two" "$TMP/at"
allowed "another subvolume is no matter" kind=dir path="$TMP/pool/one" guard=write
t_stop
pool=$(findmnt -n -o SOURCE "$TMP/pool")
t_background in_namespace mount -o subvol=one "$pool" "$TMP/at"
refused "this subvolume mounted by name" "mounted at '$TMP/at'" kind=dir path="$TMP/pool/one" \
	guard=write
t_stop
t_umount "$TMP/pool"

t_image btrfs "$TMP/b.raw" 128M
t_loop bdev "$TMP/b.raw"
# shellcheck disable=SC2154 # t_loop sets it
t_background in_namespace mount "$bdev" "$TMP/at"
refused "a device with btrfs, mounted" "mounted at '$TMP/at'" kind=block path="$bdev" guard=read
t_stop

# --- an idmapped mount -------------------------------------------------------------------------------

mkdir "$TMP/mapped"
unshare -U sleep 1000 &
userns=$!
t_defer kill "$userns"
for ((i = 0; i < 100; i++)); do
	if [ "$(readlink "/proc/$userns/ns/user")" != "$(readlink /proc/self/ns/user)" ]; then
		break
	fi
	sleep 0.05
done
echo "0 100000 65536" >"/proc/$userns/uid_map"
echo "0 100000 65536" >"/proc/$userns/gid_map"
"${CTMEND%/*}/tests/root/host-probe" idmap "$TMP/tree" "$TMP/mapped" <"/proc/$userns/ns/user"
t_defer t_umount "$TMP/mapped"
t_is "an idmapped mount shows other owners" "$(stat -c %u "$TMP/mapped")" 100000
refused "an idmapped mount" 'idmapped mount' kind=dir path="$TMP/mapped"
t_umount "$TMP/mapped"

# --- a report is in nobody's way -----------------------------------------------------------------------

# PVE and a block device: plain mount.
hold "${block[@]}" guard=read
t_ok "a device that is being read can be mounted" mount "$dev" "$TMP/mnt"
t_ok "for writing" touch "$TMP/mnt/by-pve"
drop
t_ok "and stays so" touch "$TMP/mnt/by-pve-too"
t_ok "and can be unmounted" umount "$TMP/mnt"
hold "${block[@]}" guard=read
t_ok "a device that is being read can be claimed by who holds the flock" flock -n "$lock" \
	perl -MFcntl -e "sysopen(my \$f, \$ARGV[0], O_RDWR | O_EXCL) or die" "$dev"
drop

# pve COMMAND: what pct start does with an image, under the flock that it takes first
cat >"$TMP/pve.sh" <<'SCRIPT'
dev=$(losetup -n -O NAME -j "$1")
if [ -z "$dev" ]; then
	dev=$(losetup --find --show "$1") || exit
	own=1
fi
mount "$dev" "$2" || exit
if [ -n "${own-}" ]; then
	losetup -d "$dev"
fi
touch "$2/by-pve" && umount "$2"
SCRIPT
hold "${image[@]}" guard=read
t_status "an image that is being read is not touched by who takes the flock" 1 \
	flock -w 1 "$lock" bash "$TMP/pve.sh" "$TMP/image.raw" "$TMP/mnt"
flock -w 10 "$lock" bash "$TMP/pve.sh" "$TMP/image.raw" "$TMP/mnt" 9>&- &
pve=$!
sleep 0.3
drop
wait "$pve"
t_is "but by who waits for it, and that one writes" "$?" 0

hold "${image[@]}" guard=read
kill -9 "$holder"
wait "$holder" 2>/dev/null
exec 9>&-
t_ok "a killed reader is in nobody's way" flock -w 5 "$lock" bash "$TMP/pve.sh" "$TMP/image.raw" \
	"$TMP/mnt"
t_done
