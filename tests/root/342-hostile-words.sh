#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever a word of the command line or of a configuration holds, nothing of it acts on the terminal:
# each command, with hostile words in each place, as text and as JSON.
. "${0%/*}/pve.sh"

evil=$'\e]0;x\a\e[2J\r\n\x7f\xff\xe2\x80\xae\xe2\x80\x8b\xc2\x9b31m'

cat >"$TMP/check.py" <<'END'
import re, sys
# Every file is to hold text without bytes that act: control bytes but newline and tab, DEL, C1, what is
# no UTF-8, and characters that hide or turn text.
bad = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
for path in sys.argv[1:]:
    raw = open(path, "rb").read()
    try:
        hit = bad.search(raw.decode())
        hit = hit and hit.group()
    except UnicodeDecodeError as e:
        hit = e
    if hit:
        print("%s: %r in %r" % (path, hit, raw[:2000]))
END

n=0
# quiet WORD...: a call whose stdout and stderr are kept for all_quiet
quiet()
{
	"$CTMEND" "$@" >"$TMP/out.$n" 2>"$TMP/err.$n" </dev/null
	n=$((n + 1))
}

# all_quiet NAME: nothing that was kept has bytes that act
all_quiet()
{
	t_is "$1: nothing that acts is written" \
		"$(python3 "$TMP/check.py" "$TMP"/out.* "$TMP"/err.* | head -n 20)" ""
	rm -f "$TMP"/out.* "$TMP"/err.*
	n=0
}

# --- words of the command line ---

quiet "$evil"
quiet "--$evil"
quiet "-$evil"
for word in check diff repair undo history map list explain hook __options; do
	quiet $word "$evil"
	quiet $word "./$evil"
	quiet $word --json "$evil"
	quiet $word 115 "$evil"
	quiet $word "--$evil" 115
	quiet $word $'-\e' 115
	quiet $word $'-\xff' 115
	quiet $word "--json=$evil" 115
	quiet $word --yes "$evil"
	quiet $word --dry-run "$evil"
	while read -r option; do
		for json in --color=never --json; do
			quiet $word $json "$option=$evil" 115
			quiet $word $json "$option" "$evil" "$TMP"
		done
	done < <("$CTMEND" __options $word | grep '^--' | grep -vx -e --help -e --version)
done
for code in "$evil" "err.$evil" "own.$evil"; do
	quiet explain "$code"
	quiet explain --json "$code"
done
quiet map 115 "$evil"
quiet history 115 "$evil"
quiet undo --yes 115 "$evil"
quiet hook "$evil" "$evil"
quiet hook 115 "$evil"
CTM_DEBUG=all quiet check --map 100000 "$TMP/$evil"
for name in LXC_NAME LXC_CONFIG_FILE LXC_ROOTFS_PATH LXC_HOOK_TYPE; do
	export LXC_NAME=web LXC_HOOK_TYPE=pre-start LXC_CONFIG_FILE=/x LXC_ROOTFS_PATH=/y
	export "$name=$evil"
	quiet hook
	quiet --sysroot "$TMP/sys" hook
done
unset LXC_NAME LXC_HOOK_TYPE LXC_CONFIG_FILE LXC_ROOTFS_PATH
all_quiet "words of the command line"

# --- words of configurations, and names on the disk ---

line=${evil//$'\n'/}
line=${line//$'\r'/x}
sys=(--sysroot "$TMP/sys")
export SUDO_USER=$evil
# every: all that is said of this target
every()
{
	for json in --color=never --json; do
		quiet "${sys[@]}" check $json "$@"
		quiet "${sys[@]}" check $json -v --volume all "$@"
		quiet "${sys[@]}" diff $json "$@"
		quiet "${sys[@]}" repair $json --yes "$@"
		quiet "${sys[@]}" history $json "${@: -1}"
		quiet "${sys[@]}" undo $json --yes "$@"
		quiet "${sys[@]}" map $json "${@: -1}"
	done
}

pve_dir_ct 115
dir=$(pve_dir 115)
mkdir -p "$dir/etc/$evil"
touch "$dir/etc/$evil/$evil"
every 115
own="tank:115/subvol-115-disk-0.subvol"
for extra in "lock: $line" "mp0: tank:$line,mp=/x" "mp0: $own,mp=/$line" "hookscript: $line" "$line: x" \
	"#$line" "$line" "lxc.idmap: $line" "lxc.idmap: u 0 $line 1" "lxc.include: /$line" \
	"unprivileged: $line" "[pve:pending]"$'\n'"lock: $line" "[a]"$'\n'"lxc.idmap: u 0 $line" \
	"snapstate: $line" "description: $line" "unused0: $line" "mp0: $line" "mp1: /$line,mp=/y" \
	"rootfs: $line" "rootfs: tank:115/$line" "rootfs: $line:x"; do
	pve_ct 115 "$own" "$extra"
	every 115
done
pve_ct 115 "$own"
quiet "${sys[@]}" list
quiet "${sys[@]}" list --json
quiet "${sys[@]}" check --all
mkdir -p "$TMP/sys/var/lib/lxc/web"
for extra in "lxc.rootfs.path = dir:/$line" "lxc.rootfs.path = $line" "lxc.idmap = $line" \
	"lxc.idmap = u 0 $line 1" "lxc.include = /$line" "lxc.$line" "lxc.rootfs.options = idmap=$line"; do
	printf '%s\n' "$extra" >"$TMP/sys/var/lib/lxc/web/config"
	every web
	every --ct-config "$TMP/sys/var/lib/lxc/web/config" "$dir"
done
rm -r "$TMP/sys/var/lib/lxc/web"
printf 'dir: %s\n\tpath /%s\n' "$line" "$line" >"$TMP/sys/etc/pve/storage.cfg"
every 115
mkdir -p "$TMP/$evil/rootfs/etc"
touch "$TMP/$evil/rootfs/etc/x" "$TMP/$evil/image"
every --map 100000 "$TMP/$evil/rootfs"
every --map 100000 "$TMP/$evil/image"
printf 'lxc.idmap = u 0 100000 65536\n' >"$TMP/$evil/conf"
every --ct-config "$TMP/$evil/conf" "$TMP/$evil/rootfs"
quiet "${sys[@]}" history
quiet "${sys[@]}" history --json
quiet "${sys[@]}" history --prune --keep-runs 1
all_quiet "words of configurations and names"

# --- the system's log: a /dev of our own, where its socket is ours ---

cat >"$TMP/log.py" <<'END'
import os, socket, subprocess, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("/dev/log")
s.setblocking(False)
for command in sys.argv[2:]:
    subprocess.run(["bash", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
with open(sys.argv[1], "wb") as out:
    while True:
        try:
            out.write(s.recv(65536) + b"\n")
        except BlockingIOError:
            break
END
touch "$TMP/$evil/rootfs/etc/y"
target=$(printf '%q' "$TMP/$evil/rootfs")
# shellcheck disable=SC2016 # for the other shell
unshare --mount sh -c 'mount -t tmpfs dev /dev && mknod -m 666 /dev/null c 1 3 && exec python3 "$@"' sh \
	"$TMP/log.py" "$TMP/log" \
	"$CTMEND --sysroot $TMP/sys repair --yes --map 100000 $target" \
	"$CTMEND --sysroot $TMP/sys undo --yes $target" \
	"$CTMEND --sysroot $TMP/sys repair --yes --map 100000 $target/none"
t_ok "the log has lines of it" test "$(grep -c 'ctmend.*repair of' "$TMP/log")" -ge 3
# the NUL and the priority are syslog(3)'s
tr -d '\000' <"$TMP/log" >"$TMP/out.log"
: >"$TMP/err.log"
all_quiet "the system's log"

t_done
