#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Who holds a lock, and who starts a container: what the kernel says against what somebody claims.
. "${0%/*}/container.sh"
other= # what t_background started

programs=${CTMEND%/*}/tests/root
ask=$programs/host-probe
probe=$programs/attach-probe


# --- holders of locks --------------------------------------------------------------------------------

# locker FILE KIND: holds a lock of the kind on the file: flock, shared, fcntl, ofd
locker()
{
	# shellcheck disable=SC2016 # perl's
	exec perl -MFcntl=:DEFAULT,:flock -e '
		my ($file, $kind, $ready) = @ARGV;
		open(my $f, "+<", $file) or die "$!";
		if ($kind eq "flock") { flock($f, LOCK_EX) or die "$!"; }
		elsif ($kind eq "shared") { flock($f, LOCK_SH) or die "$!"; }
		else {
			# struct flock: l_type, l_whence, l_start, l_len, l_pid; 37 is F_OFD_SETLK
			my $lock = pack("ssx4qqix4", F_WRLCK, 0, 0, 0, 0);
			fcntl($f, $kind eq "ofd" ? 37 : F_SETLK, $lock) or die "$!";
		}
		open(my $r, ">", $ready); close($r);
		sleep 1000;' "$1" "$2" "$TMP/ready"
}

echo content >"$TMP/file"
for kind in flock shared fcntl ofd; do
	t_background locker "$TMP/file" "$kind"
	case $kind in
	flock | shared) how=flock ;;
	*) how=fcntl ;;
	esac
	t_is "$kind: the holder is found" "$("$ask" holder "$TMP/file")" "held $how $other perl"
	t_stop
	t_is "$kind: and then nobody" "$("$ask" holder "$TMP/file")" free
done
cp "$TMP/file" "$TMP/beside"
t_background locker "$TMP/file" flock
t_is "another file is free" "$("$ask" holder "$TMP/beside")" free
t_stop
t_background unshare --pid --fork --kill-child bash -c "$(declare -f locker); TMP='$TMP' locker '$TMP/file' ofd"
t_match "a holder in another pid namespace is found" "$("$ask" holder "$TMP/file")" '^held fcntl [1-9][0-9]* perl$'
t_stop
t_image btrfs "$TMP/pool.raw" 128M
t_mount "$TMP/pool.raw" "$TMP/pool"
btrfs subvolume create "$TMP/pool/sub" >/dev/null
echo content >"$TMP/pool/sub/file"
t_background locker "$TMP/pool/sub/file" flock
t_is "one in a btrfs subvolume too, whose device number is its own" \
	"$("$ask" holder "$TMP/pool/sub/file")" "held flock $other perl"
t_stop
t_umount "$TMP/pool"

# --- the config flock ---------------------------------------------------------------------------------

lock=$TMP/sys/run/lock/lxc/pve-config-115.lock
t_is "nobody holds the config flock: called by hand" "$("$ask" config 115 "$TMP/sys")" none
t_is "it is given back" "$("$ask" config 115 "$TMP/sys")" none
t_is "our starter holds it" "$(flock -o "$lock" "$ask" config 115 "$TMP/sys")" ancestor
t_is "with a shell in between" "$(flock -o "$lock" sh -c "'$ask' config 115 '$TMP/sys'; true")" ancestor
t_background flock -o "$lock" sh -c "touch '$TMP/ready'; exec sleep 1000"
t_is "somebody else does" "$("$ask" config 115 "$TMP/sys")" other
t_stop

# --- the command socket ------------------------------------------------------------------------------

ct_new_dir "$TMP/root"
ct_unpack "$TMP/root"
cat >"$TMP/hook" <<SCRIPT
#!/bin/sh
# called by lxc: NAME lxc TYPE
"$ask" monitor "/var/lib/lxc/\$1/command" >"$TMP/said-\$3" 2>&1
"$probe" kind=dir path="$TMP/root" lxc="\$1" socket="/var/lib/lxc/\$1/command" guard=hook access=write \
	sysroot="$TMP/sys" >"$TMP/guard-\$3" 2>&1
echo "status \$?" >>"$TMP/guard-\$3"
SCRIPT
chmod 755 "$TMP/hook"
ct_config web "$TMP/root" "lxc.hook.pre-start = $TMP/hook" "lxc.hook.start-host = $TMP/hook"
socket=/var/lib/lxc/web/command

t_is "nobody listens yet" "$("$ask" monitor "$socket")" no
t_ok "the container starts as a daemon" ct_start web
t_is "its pre-start hook is called by the monitor" "$(cat "$TMP/said-pre-start")" yes
t_match "and may work on the rootfs" "$(cat "$TMP/guard-pre-start")" '^status 0$'
t_is "its start-host hook too, but the init is there" "$(cat "$TMP/said-start-host")" no
t_match "so it may not" "$(cat "$TMP/guard-start-host")" "^container 'web' is running$"
t_is "by hand it is not our monitor" "$("$ask" monitor "$socket")" no
t_status "and the guard refuses" 3 "$probe" kind=dir path="$TMP/root" lxc=web socket="$socket" \
	guard=hook sysroot="$TMP/sys"
t_match "because it runs" "$(cat "$T_ERR")" "^container 'web' is running$"
t_status "as it does a repair" 3 "$probe" kind=dir path="$TMP/root" lxc=web socket="$socket" \
	guard=write sysroot="$TMP/sys"
t_status "even when the socket is left out, since the rootfs is mounted" 3 "$probe" kind=dir \
	path="$TMP/root" lxc=web guard=write sysroot="$TMP/sys"
t_match "which is said" "$(cat "$T_ERR")" 'is mounted at .* in the mount namespace of process'
t_ok "it stops" ct_stop web

rm -f "$TMP"/said-* "$TMP"/guard-*
lxc-start -F -n web &
for ((i = 0; i < 200; i++)); do
	if ct_running web; then
		break
	fi
	sleep 0.05
done
t_is "started in the foreground, the hook is believed as well" "$(cat "$TMP/said-pre-start")" yes
t_match "and may work on the rootfs as well" "$(cat "$TMP/guard-pre-start")" '^status 0$'
t_ok "it stops again" ct_stop web
wait

# A user who binds the socket of a stopped container and has the right to call the hook.
cat >"$TMP/trick.pl" <<'SCRIPT'
use Socket;
my ($name, @command) = @ARGV;
socket(my $s, AF_UNIX, SOCK_STREAM, 0) or die;
bind($s, pack("Sa*", AF_UNIX, "\0$name")) or die "$!";
if (($ENV{AS} // 0) != 0) { $) = $ENV{AS}; $> = $ENV{AS}; }
listen($s, 1) or die;
$> = 0;
system(@command);
SCRIPT
t_is "a socket of root's in an ancestor would be believed" \
	"$(AS=0 perl "$TMP/trick.pl" "$socket" "$ask" monitor "$socket")" yes
t_is "that of a user is not" "$(AS=12345 perl "$TMP/trick.pl" "$socket" "$ask" monitor "$socket")" no
t_done
