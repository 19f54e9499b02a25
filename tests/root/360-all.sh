#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# All containers of a host at once: check --all, and list with findings and the last repair.
. "${0%/*}/pve.sh"

# fill DIR
fill()
{
	mkdir -p "$1/etc" "$1/usr/bin" "$1/root"
	touch "$1/etc/hosts" "$1/usr/bin/su" "$1/root/x"
	chown -R 100000:100000 "$1"
}

# cell ID COLUMN: of the table of all
cell()
{
	ctm list --json -o "id,$2" | python3 -c '
import json, sys
for row in json.load(sys.stdin)["containers"]:
    if row["id"] == sys.argv[1]:
        print(row[sys.argv[2]])' "$1" "$2"
}

for id in 99 115 1000; do
	pve_dir_ct "$id" "hostname: ct$id"
	fill "$(pve_dir "$id")"
done
web=$TMP/sys/var/lib/lxc/web
mkdir -p "$web/rootfs"
chmod -R 755 "$TMP/sys/var"
fill "$web/rootfs"
printf 'lxc.idmap = u 0 100000 65536\nlxc.idmap = g 0 100000 65536\nlxc.rootfs.path = dir:%s\n' \
	"$web/rootfs" >"$web/config"

t_status "all are clean" 0 ctm check --all
t_is "each has its part, in order" "$(ctm check --all | grep -oP '^(CT )?\w+(?=: clean: )')" "CT 99
CT 115
CT 1000
web"
t_is "list: clean" "$(cell 115 findings)" clean

chown 0:0 "$(pve_dir 115)/etc/hosts"
chown 33:100000 "$(pve_dir 115)/root/x"
t_status "one has work" 1 ctm check --all
t_is "list counts inodes" "$(cell 115 findings)" "own.host 2"
t_status "list with findings" 1 ctm list -o id,findings
t_status "list without" 0 ctm list
t_is "no repair yet" "$(cell 115 repaired)" None

# One that cannot be read: the others are done all the same, the worst status counts.
echo 'lxc.idmap: b 0 1 1' >>"$TMP/sys/etc/pve/lxc/99.conf"
t_status "one is bad" 3 ctm check --all
t_match "it is named" "$(ctm check --all 2>&1 >/dev/null)" '^ctmend: 99: '
t_match "the one with work is reported" "$(ctm check --all 2>/dev/null)" '^own\.host'
t_match "the last one too" "$(ctm check --all 2>/dev/null)" '^web: clean: '
t_is "as JSON" "$(ctm check --all --json 2>/dev/null | python3 -c '
import json, sys
for one in json.load(sys.stdin)["targets"]:
    print(one["target"], one.get("clean", one.get("error", {}).get("code")))')" "99 refused
115 False
1000 True
web True"
t_status "list says it as well" 3 ctm list
t_is "and has a row for it" "$(cell 99 name 2>/dev/null)" ct99
rm -r "$(pve_dir 1000)"
t_status "a missing volume" 3 ctm list -o id,findings
t_is "the others are looked at" "$(cell 115 findings 2>/dev/null)" "own.host 2"

t_ok "repair one" ctm repair -y 115
t_match "list: the last repair" "$(cell 115 repaired 2>/dev/null)" \
	'^20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}$'
t_is "list: one run" "$(cell 115 runs 2>/dev/null)" 1
t_ok "undo it" ctm undo -y 115
t_match "list: undone" "$(cell 115 repaired 2>/dev/null)" ' undone$'
t_is "list: two runs" "$(cell 115 runs 2>/dev/null)" 2

# Running: the socket of its monitor.
python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
s.bind("\0/var/lib/lxc/115/command")
s.listen()
open(sys.argv[1], "w").close()
time.sleep(60)' "$TMP/up" &
monitor=$!
t_defer kill "$monitor"
until [ -e "$TMP/up" ]; do sleep 0.05; done
t_is "list: running" "$(cell 115 state 2>/dev/null)" running
kill "$monitor"
wait "$monitor" 2>/dev/null
t_is "list: stopped" "$(cell 115 state 2>/dev/null)" stopped
mkdir "$TMP/sys/var/lib/lxc/115"
touch "$TMP/sys/var/lib/lxc/115/reboot"
t_is "list: rebooting" "$(cell 115 state 2>/dev/null)" rebooting
t_done
