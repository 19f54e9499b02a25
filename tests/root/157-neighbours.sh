#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What a local user or another tenant does on the host: sockets that imitate a container, crowds of
# mounts and namespaces.
# Runs alone: every program that looks at the host's mounts would have to read those crowds.
. "${0%/*}/pve.sh"
other= # what t_background started

probe=${CTMEND%/*}/tests/root/attach-probe
lock=$TMP/sys/run/lock/lxc/pve-config-115.lock

# spoil: a file that a repair and a hook put right
spoil()
{
	chown 0:0 "$(pve_dir 115)/root/x"
}

owner()
{
	stat -c %u:%g "$(pve_dir 115)/root/x"
}

pve_dir_ct 115
chmod 755 "$TMP"
mkdir -p "$(pve_dir 115)/etc" "$(pve_dir 115)/usr" "$(pve_dir 115)/root"
touch "$(pve_dir 115)/root/x"
chown -R 100000:100000 "$(pve_dir 115)"
mkdir -p "$TMP/tank/images/116"
t_pve_image "$(pve_image 116)" 64M
t_mount "$(pve_image 116)" "$TMP/mnt"
mkdir -p "$TMP/mnt/etc" "$TMP/mnt/usr" "$TMP/mnt/root"
chown 100000:100000 "$TMP/mnt/usr" "$TMP/mnt/root"
t_umount "$TMP/mnt"
pve_ct 116 tank:116/vm-116-disk-0.raw

# end PID: ends it, if it is still there
end()
{
	if kill -0 "$1" 2>/dev/null; then
		kill "$1"
		wait "$1" 2>/dev/null
	fi
}

# --- a socket that imitates a running container -------------------------------------------------------

# take SOCKET UID LISTEN: a process of that user has the abstract name, and listens there or not
take()
{
	exec perl -MSocket -e '
		my ($name, $uid, $listen, $ready) = @ARGV;
		open(my $f, ">", "$ready.new") or die;
		$) = "$uid $uid"; $( = $uid; ($<, $>) = ($uid, $uid);
		socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
		bind($s, pack("Sa*", AF_UNIX, "\0$name")) or die "$!";
		!$listen or listen($s, 1) or die;
		$0 = "[lxc monitor] /var/lib/lxc 115";
		$0 = "lxc-start";
		($<, $>) == ($uid, $uid);
		rename("$ready.new", $ready) or print {$f} "x";
		sleep 1000;' "$1" "$2" "$3" "$TMP/ready"
}
chmod 777 "$TMP"
for listen in 1 0; do
	spoil
	t_background take /var/lib/lxc/115/command 65534 $listen
	t_ok "the name is taken ($listen)" grep -qF '@/var/lib/lxc/115/command' /proc/net/unix
	t_status "a report says so" 1 ctm check 115
	t_match "with the process" "$(cat "$T_OUT")" \
		"process $other \\(lxc-start\\) of uid 65534 has taken the container's command socket"
	t_status "it is stopped for a repair" 0 ctm repair --yes 115
	t_is "which is done" "$(owner)" 100000:100000
	spoil
	t_ok "and for a hook" flock -o "$lock" "$CTMEND" --sysroot "$TMP/sys" hook 115 pre-start
	t_is "which is done" "$(owner)" 100000:100000
	t_match "the list shows it as stopped" "$(ctm list 115 2>/dev/null || ctm list)" '^115 .* stopped '
	t_stop
	t_background take /var/lib/lxc/116/command 100000 $listen
	t_status "an image: a report reads it by itself" 1 ctm check 116
	t_status "a repair too" 0 ctm repair --yes --convert 116
	t_status "and an undo" 0 ctm undo --yes 116
	t_stop
done
# A line end in a name makes a row of /proc/net/unix up.
spoil
t_background take $'x\n0000000000000000: 00000002 00000000 00010000 0001 01 1 @/var/lib/lxc/115/command' \
	65534 0
t_ok "a row is made up" grep -q ' 1 @/var/lib/lxc/115/command$' /proc/net/unix
t_status "it counts for nothing in a repair" 0 ctm repair --yes 115
t_is "which is done" "$(owner)" 100000:100000
t_stop
chmod 755 "$TMP"
spoil
t_background take /var/lib/lxc/115/command 0 1
t_status "one of root's may be a monitor" 3 ctm repair --yes 115
t_match "it counts as running" "$(cat "$T_ERR")" 'CT 115 is running'
t_stop

# A process in a cgroup of the container is a proof, whoever has the socket.
cgroup=
for top in /sys/fs/cgroup /sys/fs/cgroup/unified /sys/fs/cgroup/pids; do
	if [ -e "$top/cgroup.procs" ] && mkdir -p "$top/lxc/115" 2>/dev/null; then
		cgroup=$top/lxc/115
		t_defer rmdir "$top/lxc/115" "$top/lxc"
		break
	fi
done
if [ -n "$cgroup" ]; then
	sleep 1000 &
	inside=$!
	t_defer end "$inside"
	t_ok "a process is in a cgroup of the container" sh -c "echo $inside >'$cgroup/cgroup.procs'"
	chmod 777 "$TMP"
	t_background take /var/lib/lxc/115/command 65534 1
	chmod 755 "$TMP"
	t_status "then it runs" 3 ctm repair --yes 115
	t_match "which is said" "$(cat "$T_ERR")" 'CT 115 is running'
	t_stop
	kill "$inside"
	wait "$inside" 2>/dev/null
else
	t_skip "a process in a cgroup of the container" "no cgroup can be made here"
fi

# --- a process whose root is in the volume --------------------------------------------------------------

cat >"$TMP/jail.pl" <<'SCRIPT'
my ($jail, $ready) = @ARGV;
open(my $f, ">", $ready) or die; close($f);
chroot($jail) or die "$!";
sleep 1000;
SCRIPT
for jail in "$(pve_dir 115)" "$(pve_dir 115)/root"; do
	t_background perl "$TMP/jail.pl" "$jail" "$TMP/ready"
	sleep 0.2
	t_status "a chroot into ${jail##*/}" 3 ctm repair --yes 115
	t_match "is named" "$(cat "$T_ERR")" \
		"process $other \\(perl\\) has its root directory in 'tank:115/.*', at '$jail'"
	t_stop
done
mkdir "$(pve_dir 115)-beside"
t_background perl "$TMP/jail.pl" "$(pve_dir 115)-beside" "$TMP/ready"
t_status "one beside it is no matter" 0 ctm repair --yes 115
t_stop
rmdir "$(pve_dir 115)-beside"
mkdir "$TMP/elsewhere"
spoil
# shellcheck disable=SC2016 # for the inner shell
t_background unshare -m sh -c 'mount --bind "$1/.." "$2" && exec perl "$3" "$2/${1##*/}/root" "$4"' sh \
	"$(pve_dir 115)" "$TMP/elsewhere" "$TMP/jail.pl" "$TMP/ready"
sleep 0.2
t_status "a chroot by another way, in another namespace" 3 ctm repair --yes 115
t_match "is named as it is there" "$(cat "$T_ERR")" \
	"has its root directory in .*, at '$TMP/elsewhere/subvol-115-disk-0.subvol/root'"
t_stop

# --- crowds -----------------------------------------------------------------------------------------

cat >"$TMP/crowd.pl" <<'SCRIPT'
# MOUNTS NAMESPACES DIR READY: so many mounts, in so many namespaces (x86_64)
my ($mounts, $spaces, $dir, $ready) = @ARGV;
my ($none, $root, @children) = ("none", "/");
syscall(272, 0x00020000) == 0 or die "$!";
syscall(165, $none, $root, 0, 0x40000 | 0x4000, 0);
for my $n (1 .. $mounts) {
	my $at = "$dir/$n";
	mkdir $at;
	syscall(165, "$dir", $at, 0, 0x1000, 0) == 0 or die "$!";
}
for (1 .. $spaces) {
	my $pid = fork;
	if ($pid == 0) {
		syscall(272, 0x00020000) == 0 or die;
		open(my $f, ">", "$ready.$$"); close($f);
		sleep 1000;
		exit;
	}
	push @children, $pid;
	select(undef, undef, undef, 0.01) while ! -e "$ready.$pid";
}
$SIG{TERM} = sub { kill "KILL", @children; exit };
open(my $f, ">", $ready); close($f);
sleep 1000;
SCRIPT
if [ "$(uname -m)" = x86_64 ]; then
	mkdir "$TMP/crowd"
	t_mount none "$TMP/crowd" -t tmpfs
	perl "$TMP/crowd.pl" 2000 20 "$TMP/crowd" "$TMP/crowded" &
	crowd=$!
	t_defer end "$crowd"
	for ((i = 0; i < 400; i++)); do
		if [ -e "$TMP/crowded" ]; then
			break
		fi
		sleep 0.05
	done
	t_ok "a crowd of mounts and namespaces" test -e "$TMP/crowded"
	# (other processes' mountinfo, and the calls that newer kernels have for it)
	for words in 'check 116' 'repair --yes --convert 116'; do
		# shellcheck disable=SC2086 # words
		strace -f -qq -o "$TMP/trace" "$CTMEND" --sysroot "$TMP/sys" $words >"$TMP/out" 2>&1
		t_match "$words: it has done its work" "$(cat "$TMP/out")" '116'
		t_is "$words: no namespace is looked into" "$(grep -cE \
			'"/proc/[0-9]+/(mountinfo|ns/mnt)"|syscall_0x1c[9a]|listmount|statmount' "$TMP/trace")" 0
	done
	t_ok "a directory is settled all the same" timeout 15 "$probe" sysroot="$TMP/sys" kind=dir \
		path="$(pve_dir 115)" ct=115 guard=write
	kill "$crowd"
	wait "$crowd"
	t_umount "$TMP/crowd"
fi

# A search that takes long: the hook gives it up, a repair goes on.
for ((i = 0; i < 40; i++)); do
	sleep 1000 &
	sleepers[i]=$!
done
t_defer kill "${sleepers[@]}"
# slow_by MICROSECONDS: what makes each look at a link take so long. LeakSanitizer does not work under
# ptrace(2).
slow_by()
{
	slowly=(env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" strace -f -qq -o /dev/null
		-e trace=readlink -e "inject=readlink:delay_enter=$1")
}
slow_by 60000
begun=$SECONDS
t_ok "a hook with a search that takes long" flock -o "$lock" "${slowly[@]}" \
	"$CTMEND" --sysroot "$TMP/sys" hook 115 pre-start
said=$(cat "$T_ERR")
t_ok "ends soon" test $((SECONDS - begun)) -le 12
t_match "and says why it did nothing" "$said" 'was not found out in [1-3] s: this host has very many'
t_is "nothing was changed" "$(owner)" 0:0
slow_by 15000
t_ok "a repair looks until it knows" "${slowly[@]}" "$probe" sysroot="$TMP/sys" kind=dir \
	path="$(pve_dir 115)" ct=115 guard=write
t_done
