#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# repair --snapshot: Proxmox VE's pct takes a snapshot first, or there is no repair.
. "${0%/*}/pve.sh"

vmid=9530
dir=$(pve_dir $vmid)
lock=$TMP/sys/run/lock/lxc/pve-config-$vmid.lock

# pct: a program in its place that tells how it was called and does what LINE... say
pct()
{
	mkdir -p "$TMP/sys/usr/sbin"
	{
		printf '%s\n' '#!/bin/bash' "exec 9>>'$TMP/called'" 'printf "%s\n" "$*" >&9' \
			"env | LC_ALL=C sort | sed 's/^/env /' >&9" \
			"ls -l /proc/self/fd | sed -n 's/.* \([0-9]*\) -> /fd \1 /p' >&9" "$@"
	} >"$TMP/sys/usr/sbin/pct"
	chmod 755 "$TMP/sys/usr/sbin/pct"
	rm -f "$TMP/called"
}

# damaged: a container with one file from the host
damaged()
{
	rm -rf "$dir"
	pve_dir_ct $vmid "$@"
	mkdir "$dir/etc" "$dir/usr"
	touch "$dir/usr/"{1..20} "$dir/etc/hosts"
	chown -R 100000:100000 "$dir"
	echo mine >"$dir/etc/mine" && chown 0:42 "$dir/etc/mine"
}

damaged
before=$(pve_trace "$dir")
rm -rf "$TMP/sys/usr"
t_status "without pct there is no repair" 3 ctm repair --yes --snapshot $vmid
t_match "it says what is missing" "$(cat "$T_ERR")" "there is no '$TMP/sys/usr/sbin/pct'"
t_is "nothing has changed" "$(pve_trace "$dir")" "$before"

pct 'echo "some preparation"' 'echo "snapshot feature is not available" >&2' 'echo' 'exit 25'
t_status "a snapshot that fails refuses the repair" 3 ctm repair --yes --snapshot $vmid
t_match "with pct's own reason" "$(cat "$T_ERR")" \
	'pct ended with status 25: snapshot feature is not available$'
t_match "and a next step" "$(cat "$T_ERR")" 'without --snapshot'
t_is "nothing has changed again" "$(pve_trace "$dir")" "$before"
t_is "and nothing is recorded" "$(find "$PVE_STATE" -mindepth 2 2>/dev/null)" ""
# shellcheck disable=SC2016 # pct's shell
pct 'kill -KILL $$'
t_status "one that is killed does, too" 3 ctm repair --yes --snapshot $vmid
t_match "by a signal" "$(cat "$T_ERR")" 'a signal ended pct'
pct 'printf "a \033[31mred\033[0m end" >&2' 'exit 1'
t_status "what pct says is no terminal's to obey" 3 ctm repair --yes --snapshot $vmid
t_match "so it is escaped" "$(cat "$T_ERR")" 'a \\x1b\[31mred'
pct 'head -c 300000 /dev/zero | tr "\0" x' 'echo' 'echo the end >&2' 'exit 1'
t_status "long words are cut" 3 ctm repair --yes --snapshot $vmid
t_match "their end stays" "$(cat "$T_ERR")" 'status 1: the end$'
chmod 644 "$TMP/sys/usr/sbin/pct"
t_status "a pct that is no program is none" 3 ctm repair --yes --snapshot $vmid
t_is "still nothing has changed" "$(pve_trace "$dir")" "$before"

# pct takes the lock of the configuration, and sees the volume as it was
pct "flock -n '$lock' echo locked >&9" "stat -c 'owner %u:%g' '$dir/etc/mine' >&9"
t_ok "with it the container is repaired" env SECRET=1 PATH="$TMP/bin:$PATH" "$CTMEND" --sysroot \
	"$TMP/sys" repair --yes --snapshot $vmid
called=$(cat "$TMP/called")
name=$(sed -n "s/^snapshot $vmid \(ctmend_[0-9]\{8\}T[0-9]\{6\}Z\) .*/\1/p" <<<"$called")
t_match "pct was asked for a snapshot that is named after the time" "$called" \
	"^snapshot $vmid ctmend_[0-9]{8}T[0-9]{6}Z --description "
t_match "while nobody held the configuration's lock" "$called" '^locked$'
t_match "and before anything was changed" "$called" '^owner 0:42$'
t_is "it got a clean environment" "$(sed -n 's/^env //p' <<<"$called" | grep -vE '^(_|SHLVL|PWD)=' |
	xargs)" 'LC_ALL=C LVM_SUPPRESS_FD_WARNINGS=1 PATH=/usr/sbin:/usr/bin:/sbin:/bin'
t_is "and no descriptors but the usual" \
	"$(sed -n 's/^fd \([0-9]*\) .*/\1/p' <<<"$called" | sort -n | xargs)" '0 1 2 3 9'
t_match "the report tells how to roll back" "$(cat "$T_OUT")" \
	"^snapshot $name was taken before: 'pct rollback $vmid $name'"
t_match "and how to remove it" "$(cat "$T_OUT")" "'pct delsnapshot $vmid $name'"
t_is "the repair was made" "$(stat -c %u:%g "$dir/etc/mine")" 100000:100042
t_match "the record has the snapshot's name" \
	"$(strings -n 8 "$PVE_STATE/$vmid"/*/* | grep -o -e '--snapshot=ctmend_[0-9TZ]*')" \
	"^--snapshot=$name\$"
rm "$TMP/called"
t_ok "a second repair" ctm repair --yes --snapshot $vmid
t_ok "has nothing to do and takes none" test ! -e "$TMP/called"
t_no_match "and names none" "$(cat "$T_OUT")" 'snapshot'

# --- when not to ask for one ------------------------------------------------------------------

damaged 'lock: backup'
t_status "what would be refused" 3 ctm repair --yes --snapshot $vmid
t_ok "is not snapshot before" test ! -e "$TMP/called"
damaged
t_status "another plan than the one that was approved" 3 ctm repair --snapshot $vmid \
	--approve 0123456789abcdef0123456789abcdef
t_ok "gets none either" test ! -e "$TMP/called"
plan=$(ctm diff $vmid | sed -n 's/^plan \([0-9a-f]*\) .*/\1/p')
t_status "the approved one does" 0 ctm repair --snapshot --approve "$plan" --json $vmid
t_is "and JSON has its name" "$(python3 -c '
import json, sys
print(json.load(sys.stdin)["targets"][0]["snapshot"])' <"$T_OUT")" \
	"$(sed -n 's/^snapshot [0-9]* \([^ ]*\) .*/\1/p' "$TMP/called")"
t_status "a path is no container" 2 ctm repair --yes --snapshot --map 100000 "$dir"
t_match "that pct could do something with" "$(cat "$T_ERR")" 'containers of Proxmox VE'
t_status "--snapshot without a repair" 2 ctm repair --dry-run --snapshot $vmid
damaged
# somebody changes the volume while pct works, after the plan was approved
pct "chown 0:0 '$dir/etc/hosts'"
plan=$(ctm diff $vmid | sed -n 's/^plan \([0-9a-f]*\) .*/\1/p')
t_status "a volume that changes during the snapshot" 3 ctm repair --snapshot --approve "$plan" $vmid
t_match "leaves a snapshot that is named" "$(cat "$T_ERR")" \
	"remove it with: pct delsnapshot $vmid ctmend_"
t_is "and is not repaired by another plan" "$(stat -c %u:%g "$dir/etc/mine")" 0:42

# --- several volumes --------------------------------------------------------------------------

damaged "mp0: tank:$vmid/subvol-$vmid-disk-1.subvol,mp=/data" \
	"mp1: tank:$vmid/subvol-$vmid-disk-2.subvol,mp=/more"
for n in 1 2; do
	mkdir -p "$TMP/tank/images/$vmid/subvol-$vmid-disk-$n.subvol"
	touch "$TMP/tank/images/$vmid/subvol-$vmid-disk-$n.subvol/"{1..20}
	chown -R 100000:100000 "$TMP/tank/images/$vmid/subvol-$vmid-disk-$n.subvol"
	chown 0:0 "$TMP/tank/images/$vmid/subvol-$vmid-disk-$n.subvol/1"
done
pct
t_ok "a repair of all volumes" ctm repair --yes --snapshot --volume all $vmid
t_is "takes one snapshot" "$(grep -c "^snapshot $vmid " "$TMP/called")" 1
t_is "and repairs each" "$(grep -c '^run ' "$T_OUT")" 3
t_done
