#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A path whose meaning changes between the look, the answer, the lock and the repair: what was seen
# first is repaired, or nothing.
. "${0%/*}/pve.sh"

# rootfs DIR: a tree with two files of the host's
rootfs()
{
	mkdir -p "$1/etc" "$1/usr/bin"
	: >"$1/etc/passwd"
	: >"$1/usr/bin/sudo"
	for i in {1..20}; do
		: >"$1/usr/bin/$i"
	done
	chown -R 100000:100000 "$1"
	chown 0:0 "$1/etc/passwd" "$1/usr/bin/sudo"
	chmod 4755 "$1/usr/bin/sudo"
}

# image FILE: an ext4 image of such a tree
image()
{
	rm -rf "$TMP/tree"
	rootfs "$TMP/tree"
	truncate -s 16M "$1"
	mkfs.ext4 -q -F -d "$TMP/tree" -E root_owner=100000:100000 "$1"
}

# what DIR: the inodes two levels below it, with the ctime, which every change moves; what lies above is
# exchanged
what()
{
	find "$1" -mindepth 2 -printf '%P %U:%G %m %C@\n' | LC_ALL=C sort
}

# exchange A B: each gets the other's name
exchange()
{
	python3 - "$1" "$2" <<-'END'
		import ctypes, sys
		libc = ctypes.CDLL(None, use_errno=True)
		a, b = (p.encode() for p in sys.argv[1:])
		# AT_FDCWD, RENAME_EXCHANGE
		if libc.renameat2(-100, a, -100, b, 2):
		    raise OSError(ctypes.get_errno(), "renameat2")
	END
}

# ask COMMAND...: the program on a terminal; when it asks, $one and $two are exchanged, and the answer
# is yes. Prints what it said, then its status.
ask()
{
	ONE=$one TWO=$two python3 - "$@" <<-'END'
		import ctypes, os, pty, sys
		libc = ctypes.CDLL(None, use_errno=True)
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], sys.argv[1:])
		said, asked = b"", 0
		while True:
		    try:
		        got = os.read(fd, 65536)
		    except OSError:
		        break
		    if not got:
		        break
		    said += got
		    if said.count(b"[y/N]") > asked:
		        asked += 1
		        if asked == 1 and libc.renameat2(-100, os.environ["ONE"].encode(), -100,
		                                         os.environ["TWO"].encode(), 2):
		            raise OSError(ctypes.get_errno(), "renameat2")
		        os.write(fd, b"y\n")
		sys.stdout.buffer.write(said)
		print("\nstatus", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

# swapped NAME TARGET: with $one and $two exchanged at the question nothing is done to either
swapped()
{
	local name=$1 target=$2 before
	shift 2

	before=$(what "$one"; what "$two")
	ask "$CTMEND" --sysroot "$TMP/sys" repair --map 100000 "$target" >"$TMP/said" 2>&1
	t_match "$name: refused" "$(cat "$TMP/said")" '^status 3'
	t_match "$name: it says why" "$(cat "$TMP/said")" 'leads to something else now'
	exchange "$one" "$two"
	t_is "$name: nothing was changed" "$(what "$one"; what "$two")" "$before"
}

chmod 755 "$TMP"
home=$TMP/home
mkdir -p "$home/a" "$home/b"

# Directories of the way, a link on the way, the directory itself.
one=$home/a two=$home/b
rootfs "$one/rootfs"
rootfs "$two/rootfs"
swapped "a directory on the way" "$one/rootfs"
ln -s a "$home/now"
ln -s b "$home/other"
one=$home/now two=$home/other
before=$(what "$home/a"; what "$home/b")
ask "$CTMEND" --sysroot "$TMP/sys" repair --map 100000 "$home/now/rootfs" >"$TMP/said" 2>&1
t_match "a link on the way: refused" "$(cat "$TMP/said")" '^status 3'
t_match "a link on the way: it says why" "$(cat "$TMP/said")" 'leads to something else now'
t_is "a link on the way: nothing was changed" "$(what "$home/a"; what "$home/b")" "$before"
one=$home/a/rootfs two=$home/b/rootfs
swapped "the directory itself" "$one"
t_status "of undo: a repair first" 0 ctm repair --yes --map 100000 "$one"
before=$(what "$two")
ask "$CTMEND" --sysroot "$TMP/sys" undo "$one" >"$TMP/said" 2>&1
t_match "undo: refused" "$(cat "$TMP/said")" '^status 3'
t_match "undo: it says why" "$(cat "$TMP/said")" 'leads to something else now'
exchange "$one" "$two"
t_is "undo: the other one was not changed" "$(what "$two")" "$before"

# Images: two that nothing tells apart but where they are.
image "$home/a.raw"
cp --sparse=always "$home/a.raw" "$home/b.raw"
one=$home/a.raw two=$home/b.raw
before=$(sha256sum <"$one"; sha256sum <"$two")
ask "$CTMEND" --sysroot "$TMP/sys" repair --map 100000 "$one" >"$TMP/said" 2>&1
t_match "an image: refused" "$(cat "$TMP/said")" '^status 3'
t_match "an image: it says why" "$(cat "$TMP/said")" 'leads to something else now'
t_is "an image: nothing was changed" "$(sha256sum <"$one"; sha256sum <"$two")" "$before"

# While it waits for the lock of what it saw first.
rm -rf "$home"/{a,b}
rootfs "$home/a/rootfs"
rootfs "$home/b/rootfs"
rm "$home/now" "$home/other"
ln -s a "$home/now"
ln -s b "$home/other"
key=$(stat -c '%d %i' "$home/a/rootfs" | {
	read -r dev ino
	printf 'dir-%d:%d-%s.lock' $((dev >> 8 & 0xfff)) $((dev & 0xff | dev >> 12 & 0xfff00)) "$ino"
})
mkdir -p "$TMP/sys/run/ctmend/lock"
before=$(what "$home/a"; what "$home/b")
exec 9>"$TMP/sys/run/ctmend/lock/$key"
flock 9
ctm repair --yes --wait 20 --map 100000 "$home/now/rootfs" >"$TMP/said" 2>&1 9>&- &
waiter=$!
# It has located its target long before, or it refuses for another reason, which shows below.
sleep 1
exchange "$home/now" "$home/other"
exec 9>&-
wait "$waiter"
t_is "under the lock: refused" "$?" 3
t_match "under the lock: it says why" "$(cat "$TMP/said")" 'leads to something else now'
t_is "under the lock: nothing was changed" "$(what "$home/a"; what "$home/b")" "$before"
exchange "$home/now" "$home/other"

# Exchanged all the time. What was agreed to is the plan of a; b must never be touched, and a only by a
# repair that ends well.
digest=$(ctm diff --map 100000 "$home/now/rootfs" | sed -n 's/^plan \([0-9a-f]\{32\}\).*/\1/p')
t_ok "there is a digest" test -n "$digest"
before=$(what "$home/b")
cat >"$TMP/swapper" <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None)
a, b = (p.encode() for p in sys.argv[1:3])
open(sys.argv[3], "w")
while os.getppid() != 1:
    libc.renameat2(-100, a, -100, b, 2)
END
t_background python3 "$TMP/swapper" "$home/now" "$home/other" "$TMP/ready"
refused=0 done=0 odd=
for ((i = 0; i < 15; i++)); do
	ctm check --map 100000 "$home/now/rootfs" >/dev/null 2>&1
	ctm repair --approve "$digest" --map 100000 "$home/now/rootfs" >"$TMP/said" 2>&1
	case $? in
	0) done=$((done + 1)) ;;
	3) refused=$((refused + 1)) ;;
	*) odd="$odd $(cat "$TMP/said")" ;;
	esac
done
t_stop
t_is "exchanged all the time: done or refused, nothing else" "$odd" ""
t_ok "exchanged all the time: refused at least once" test "$refused" -gt 0
t_is "exchanged all the time: the other one is as it was" "$(what "$home/b")" "$before"

t_done
