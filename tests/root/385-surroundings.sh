#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Scripts and odd surroundings: documents are whole whatever happened, and streams, limits and masks
# of the caller are no reason for half a repair.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

vmid=9385
dir=$(pve_dir $vmid)
command=("$CTMEND" --sysroot "$TMP/sys")

fresh()
{
	rm -rf --one-file-system "$dir" "$PVE_STATE"
	pve_dir_ct $vmid
	zoo_healthy "$dir"
	: >"$dir/etc/made"
	: >"$dir/var/lib/dpkg/lock"
}

# owner NAME WANT: of the file that a repair changes
owner()
{
	t_is "$1" "$(stat -c %u:%g "$dir/etc/made")" "$2"
}

# document NAME STATUS FILTER WANT WORD...: stdout is one JSON document, of which python's FILTER d
# is WANT
document()
{
	local name=$1 status=$2 filter=$3 want=$4
	shift 4

	t_status "$name" "$status" ctm "$@" --json
	t_is "$name: the document" "$(python3 -c '
import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$filter" <"$T_OUT" 2>&1)" "$want"
}

fresh
code='d["command"], d["targets"][0]["error"]["code"]'
document "check of nothing" 3 "$code" "('check', 'refused')" check 9999
document "diff of nothing" 3 "$code" "('diff', 'refused')" diff 9999
document "repair of nothing" 3 "$code" "('repair', 'refused')" repair --yes 9999
document "undo of nothing" 3 "$code" "('undo', 'refused')" undo --yes 9999
document "undo where nothing was done" 3 "$code" "('undo', 'refused')" undo --yes $vmid
document "a dry run of it" 3 "$code" "('undo', 'refused')" undo --dry-run $vmid
document "history of nothing" 0 'd["targets"][0]["runs"]' '[]' history $vmid
document "bytes that are no text" 3 'd["targets"][0]["target"]' '/no\xff\x1b[2J' \
	check --map 100000 $'/no\xff\e[2J'
t_no_match "and none of them reaches a terminal" "$(LC_ALL=C sed 's/[ -~]//g' "$T_ERR")" '.'
document "one of two" 3 '["error" in t for t in d["targets"]]' '[False, True]' \
	repair --yes $vmid 9999
owner "the one is repaired" 100000:100000
document "what an undo would do" 0 \
	'[(a["action"], a["path"], a.get("after", {}).get("uid")) for a in d["targets"][0]["actions"]]' \
	"[('set', '/etc/made', 0), ('restore', '/var/lib/dpkg/lock', 0)]" undo --dry-run $vmid
owner "is not done" 100000:100000
printf x >>"$PVE_STATE/$vmid"/0001-*/removed.tar
document "an undo from a damaged record" 5 "$code" "('undo', 'corrupt')" undo --yes $vmid

fresh
t_status "no stdout is no report" 5 sh -c '"$@" >&-' sh "${command[@]}" check $vmid
t_status "a full disk neither" 5 sh -c '"$@" >/dev/full' sh "${command[@]}" check $vmid
t_status "a repair is done all the same" 5 sh -c '"$@" >&- 2>&- <&-' sh \
	"${command[@]}" repair --yes $vmid
owner "a repair without any stream" 100000:100000

fresh
t_ok "a mask that forbids all" sh -c 'umask 0777; "$@"' sh "${command[@]}" repair --yes $vmid
t_is "records have the modes they should" \
	"$(find "$PVE_STATE" -type d -printf '%m\n' | sort -u; find "$PVE_STATE" -type f \
		-printf '%m\n' | sort -u)" $'700\n600'
t_ok "a mask that forbids nothing" sh -c 'umask 0; "$@"' sh "${command[@]}" undo --yes $vmid
t_is "nor is anything open to others" "$(find "$PVE_STATE" "$TMP/sys/run" -perm /022)" ""

fresh
t_status "a limit of file sizes" 5 bash -o pipefail -c '(ulimit -f 0; exec "$@" 2>&1) | cat' \
	bash "${command[@]}" repair --yes $vmid
t_match "is an error like others" "$(cat "$T_OUT")" 'nothing was changed: .*File too large'
owner "and nothing has changed" 0:0
t_is "no half of a record is left" "$(find "$PVE_STATE" -type f)" ""
t_status "few descriptors" 5 sh -c 'ulimit -n 10; "$@"' sh "${command[@]}" repair --yes $vmid
owner "few descriptors: nothing has changed" 0:0

# Out of memory, the host's kernel should not have to choose a guest.
flock --no-fork "$TMP/sys/run/lock/lxc/pve-config-$vmid.lock" sleep 60 &
holder=$!
"${command[@]}" repair --yes --wait 20 $vmid >/dev/null 2>&1 &
waiter=$!
for ((i = 0; i < 100; i++)); do
	score=$(cat "/proc/$waiter/oom_score_adj")
	if [ "$score" = 1000 ]; then
		break
	fi
	sleep 0.05
done
t_is "it would go before any guest" "$score" 1000
kill $holder
wait $holder $waiter 2>/dev/null
fresh

chmod 711 "$TMP"
cp "$CTMEND" "$TMP/ctmend"
chmod -R a+rX "$TMP/sys/etc"
for words in check diff "repair --yes" "undo --yes"; do
	# shellcheck disable=SC2086 # words
	t_status "not root: $words" 3 setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$TMP/ctmend" --sysroot "$TMP/sys" $words $vmid
	t_match "not root: $words says so" "$(cat "$T_ERR")" 'only root'
done
owner "not root: nothing has changed" 0:0
t_done
