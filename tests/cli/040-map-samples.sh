# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# fixtures/parse/pve through the program: map says of every sample what Proxmox VE's own parser
# makes of it (EXPECTED.json), and refuses what the two readers of the file do not agree on.
. "${0%/*}/../lib.sh"

samples=$T_TOP/fixtures/parse/pve
sys=$TMP/sys
mkdir -p "$sys/etc/pve/nodes/pve1/lxc" "$sys/var/lib/dpkg"
printf '%s\n' 'Package: pve-container' 'Status: install ok installed' 'Version: 6.1.10' \
	>"$sys/var/lib/dpkg/status"
ln -s nodes/pve1 "$sys/etc/pve/local"
ln -s nodes/pve1/lxc "$sys/etc/pve/lxc"
cp "$samples/storage.cfg" "$sys/etc/pve/"
for file in "$samples"/*.conf; do
	name=${file##*/}
	cp "$file" "$sys/etc/pve/nodes/pve1/lxc/${name%%-*}.conf"
done

# compare FILE: runs map and compares every field of the row; says what differs
compare()
{
	python3 - "$samples/EXPECTED.json" "$1" "$CTMEND" "$sys" <<-'END'
		import json, subprocess, sys

		rows, name, program, sysroot = sys.argv[1:]
		row = json.load(open(rows))[name]
		vmid = name.split("-")[0]
		run = subprocess.run([program, "--sysroot", sysroot, "map", "--json", vmid],
		                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
		got = json.loads(run.stdout)

		def differ(what, a, b):
		    if a != b:
		        print("%s: %r, not %r" % (what, a, b))

		refused = "ctmend" in row or "idmap_error" in row
		differ("exit status is a refusal", run.returncode == 3, refused)
		differ("error", got.get("error", {}).get("code"), "refused" if refused else None)
		for key, want in row.items():
		    if key == "ctmend" or key == "volumes":
		        continue
		    if key == "root" and refused:
		        differ("root", got["root"], None)
		        continue
		    differ(key, got[key], want)
		for key in "lock", "template", "unprivileged", "idmap_error":
		    if key not in row:
		        differ(key, got.get(key), None)
		for key in "pending", "snapshots":
		    if key not in row:
		        differ(key, got[key], [])
		if "idmap_error" in row:
		    differ("idmap", got["idmap"], None)
		differ("number of volumes", len(got["volumes"]), len(row["volumes"]))
		for volume, want in zip(got["volumes"], row["volumes"]):
		    for key, value in want.items():
		        if volume["storage_type"] == "rbd" and key == "path":
		            value = None  # no place on the host before it is mapped
		        differ(want["key"] + " " + key, volume[key], value)
		    for key in "path", "format":
		        if key not in want:
		            differ(want["key"] + " " + key, volume[key], None)
		    differ(want["key"] + " base", volume["base"], want.get("base", 0))
		    differ("disk_to_host", "disk_to_host" in volume, "disk_to_host" in want)
		print("compared")
	END
}

for file in "$samples"/*.conf; do
	t_is "${file##*/}" "$(compare "${file##*/}")" compared
done

# status VMID WORD...: exit status and codes of the findings
status()
{
	local vmid=$1 out status
	shift

	out=$("$CTMEND" --sysroot "$sys" map --json "$vmid" "$@" 2>"$TMP/err")
	status=$?
	printf '%s %s\n' "$status" \
		"$(grep -oP '"code": "\K[^"]*' <<<"$out" | sort -u | paste -sd ' ')"
}

# No sample has a volume here, so nothing inside is looked at.
t_is "the default map" "$(status 101)" "0 "
t_is "passed-through ids without a grant" "$(status 102)" "1 map.subid"
t_is "a snapshot with another map" "$(status 103)" "0 conf.snapshot"
t_is "privileged" "$(status 104)" "0 "
t_is "uids and gids apart, not granted" "$(status 105)" "1 map.asym map.subid"
t_is "the default written out" "$(status 107)" "0 "
t_is "lines that nobody reads" "$(status 108)" "0 conf.unknown"
t_is "a line that cannot be read" "$(status 111)" "3 refused"
t_is "a lock is no fault of the map" "$(status 114)" "0 "
t_is "numbers that are read in two ways" "$(status 118)" "3 refused"

printf 'root:100000:65536\nroot:1005:1\nroot:200000:200000\n' >"$sys/etc/subuid"
cp "$sys/etc/subuid" "$sys/etc/subgid"
t_is "passed-through ids with their grant" "$(status 102)" "0 "
t_is "uids and gids apart, granted" "$(status 105)" "0 map.asym"
t_done
