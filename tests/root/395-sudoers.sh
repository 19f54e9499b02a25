#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# share/ctmend.sudoers, as it is shipped, under the real sudo: the account looks and proposes, and
# gets nothing else through.
. "${0%/*}/pve.sh"

vmid=115
account=ctmend-watch

# A host of its own: a copy of /etc with the account, the fragment and a pretended Proxmox VE. The
# mounts are in this script's namespace and go away with it.
mkdir -p "$TMP/etc" "$TMP/sbin"
chmod 755 "$TMP" "$TMP/sbin"
cp -a /etc/. "$TMP/etc"
mkdir -p "$TMP/etc/pve/lxc" "$TMP/etc/sudoers.d"
cp "$TMP/sys/etc/pve/storage.cfg" "$TMP/etc/pve/"
ln -sfn nodes/here "$TMP/etc/pve/local"
mkdir -p "$TMP/etc/pve/nodes/here"
echo "$account:x:64999:64999::/nonexistent:/bin/sh" >>"$TMP/etc/passwd"
echo "$account:x:64999:" >>"$TMP/etc/group"
echo "$account:*:19000:0:99999:7:::" >>"$TMP/etc/shadow"
echo 'root ALL=(ALL:ALL) ALL' >"$TMP/etc/sudoers"
echo '@includedir /etc/sudoers.d' >>"$TMP/etc/sudoers"
chmod 440 "$TMP/etc/sudoers"
install -m 755 "$CTMEND" "$TMP/sbin/ctmend"
sed "s,@sbindir@,$TMP/sbin,g" "$T_TOP/share/ctmend.sudoers" >"$TMP/etc/sudoers.d/ctmend"
chmod 440 "$TMP/etc/sudoers.d/ctmend"

pve_dir_ct $vmid
dir=$(pve_dir $vmid)
mkdir -p "$dir/etc"
chown 100000:100000 "$dir/etc"
for i in 1 2 3 4; do
	install -m 644 -o 100000 -g 100000 /dev/null "$dir/etc/right$i"
done
install -m 644 -o 0 -g 0 /dev/null "$dir/etc/wrong"
cp "$TMP/sys/etc/pve/lxc/$vmid.conf" "$TMP/etc/pve/lxc/"
cp "$TMP/sys/etc/pve/lxc/$vmid.conf" "$TMP/etc/pve/lxc/117.conf"
mount --bind "$TMP/etc" /etc
t_defer t_umount /etc

# watch WORD...: the account asks sudo for this command line
watch()
{
	setpriv --reuid 64999 --regid 64999 --clear-groups env -i PATH=/usr/bin:/bin sudo -n "$@"
}

# may WORD... / may_not WORD...: what sudo's own listing says
may()
{
	t_ok "may: ${*@Q}" watch -l "$TMP/sbin/ctmend" "$@"
}
may_not()
{
	t_status "may not: ${*@Q}" 1 watch -l "$TMP/sbin/ctmend" "$@"
}

t_ok "the fragment is valid" visudo -cf "$TMP/etc/sudoers.d/ctmend"

for command in check diff; do
	may $command $vmid
	may $command --json $vmid
	may $command --format text $vmid
	may $command --format json $vmid
	may_not $command
	may_not $command 117
	may_not $command 1155
	may_not $command $vmid 117
	may_not $command -- $vmid
	may_not $command --sysroot /srv $vmid
	may_not --sysroot /srv $command $vmid
	may_not $command $vmid --sysroot /srv
	may_not $command $vmid --sysroot=/srv
	may_not $command --map 100000 /srv/rootfs
	may_not $command --map 100000 $vmid
	may_not $command /etc
	may_not $command ./$vmid
	may_not $command --ct-config /etc/shadow /srv/rootfs
	may_not $command --path etc $vmid
	may_not $command --format json --sysroot /srv $vmid
	may_not $command --format 'json --sysroot' /srv $vmid
	may_not $command "$vmid --sysroot /srv"
	may_not $command "$vmid"$'\n'"--sysroot /srv"
	may_not $command --from-map 0:100000:65536 $vmid
	may_not $command --fix base $vmid
	may_not $command --volume all $vmid
	may_not $command --all
	may_not $command --wait 86400 $vmid
done
for words in repair 'repair --dry-run' 'repair --yes' undo 'undo --dry-run' history 'history --prune' hook map list \
	'explain own.host' 'repair --approve 0123456789abcdef0123456789abcdef'; do
	# shellcheck disable=SC2086 # words
	may_not $words $vmid
done
may_not
may_not hook $vmid pre-start
t_status "may not: another program" 1 watch -l /bin/sh
t_status "may not: with a variable of its own" 1 \
	watch CTMEND_DEBUG=all "$TMP/sbin/ctmend" check $vmid

# And it works: what the account sees is what root sees.
t_status "check says that there is work" 1 watch "$TMP/sbin/ctmend" check $vmid
t_match "and what" "$(cat "$T_OUT")" '^ *own\.host'
watch "$TMP/sbin/ctmend" diff $vmid >"$TMP/seen"
ctm diff $vmid >"$TMP/want"
t_is "the account's diff has the digest" "$(grep '^plan' "$TMP/seen")" "$(grep '^plan' "$TMP/want")"
t_match "there is one" "$(cat "$TMP/seen")" '^plan [0-9a-f]{32}  1 changes?$'
t_status "sudo lets no repair through" 1 watch "$TMP/sbin/ctmend" repair --yes $vmid
t_is "nothing has changed" "$(stat -c %u:%g "$dir/etc/wrong")" 0:0
digest=$(sed -n 's/^plan \([0-9a-f]*\)  .*/\1/p' "$TMP/seen")
t_ok "a person approves what was shown" ctm repair --approve "$digest" $vmid
t_is "and it is done" "$(stat -c %u:%g "$dir/etc/wrong")" 100000:100000
t_done
