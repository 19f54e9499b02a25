#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# undo --path takes back a part of a run; what a running container has written in the meantime
# stays, and what was only read or written to goes back.
. "${0%/*}/pve.sh"

vmid=376
root=$(pve_dir $vmid)
pve_dir_ct $vmid
mkdir -p "$root"/{etc,usr/bin,usr/binary,var/lib/dpkg}
for i in $(seq 1 120); do
	echo "$i" >"$root/usr/bin/f$i"
done
echo >"$root/usr/binary/x"
echo >"$root/etc/passwd"
echo >"$root/var/lib/dpkg/status"
echo >"$root/var/lib/dpkg/lock"
find "$root" -exec chown -h 100000:100000 {} +
for i in $(seq 1 20); do
	chown 0:42 "$root/usr/bin/f$i"
	chmod 4755 "$root/usr/bin/f$i"
done
chown 0:0 "$root/usr/binary/x" "$root/etc/passwd" "$root/var/lib/dpkg/lock"

# entries DIR...: how many there are in it
entries()
{
	find "$@" -mindepth 1 -maxdepth 1 | wc -l
}

all()
{
	(cd "$root" && find "${@:-.}" -printf '%p %y %m %U:%G %T@\n' | LC_ALL=C sort)
}
before=$(all)
bin_before=$(all ./usr/bin)

t_ok "repair" ctm repair --yes $vmid
after=$(all)
t_status "a preview of a part" 0 ctm undo --dry-run --path /usr/bin $vmid
t_is "is of that part alone" "$(sed -n 's|^+.* \(/[^ ]*\)$|\1|p' "$T_OUT" | sort)" \
	"$(for i in $(seq 1 20); do echo "/usr/bin/f$i"; done | sort)"
t_status "a part" 0 ctm undo --yes --path /usr/bin $vmid
t_is "is as before" "$(all ./usr/bin)" "$bin_before"
t_is "and nothing else" "$(all ./etc ./usr/binary ./var)" \
	"$(grep -E '^\./(etc|usr/binary|var)[/ ]' <<<"$after")"
t_match "the list says so" "$(ctm history $vmid)" '^0001-.* partly undone$'
t_match "of both" "$(ctm history $vmid)" '^0002-.* undo of a part of 0001-.* done$'
t_status "that part once more: there is nothing" 0 ctm undo --yes --path usr/bin $vmid
t_is "and no record of it" "$(entries "$PVE_STATE/$vmid")" 2
t_status "two parts" 0 ctm undo --yes --path etc --path var/lib $vmid
t_is "the removed file is back" "$(all ./etc ./var)" "$(grep -E '^\./(etc|var)[/ ]' <<<"$before")"
t_status "the rest" 0 ctm undo --yes $vmid
t_is "all is as before" "$(all)" "$before"
t_match "the list says that, too" "$(ctm history $vmid)" '^0001-.* undone$'
t_status "nothing is left to undo" 3 ctm undo --yes $vmid

# An undo of an undo, by name.
t_status "the part by name" 0 ctm undo --yes $vmid 2
t_is "is repaired again" "$(all ./usr/bin)" "$(grep -E '^\./usr/bin[/ ]' <<<"$after")"
t_status "and again taken back" 0 ctm undo --yes $vmid "$(ctm history $vmid | sed -n 's/^\(0005-[^ ]*\).*/\1/p')"
t_is "all is as before" "$(all)" "$before"

# The container has run: content alone is its business, and its work is kept.
t_ok "repaired again" ctm repair --yes $vmid
echo "more" >>"$root/etc/passwd"
chown 100000:100000 "$root/usr/bin/f1"
chmod 0755 "$root/usr/bin/f1"
rm "$root/usr/bin/f2"
rm "$root/usr/bin/f3" && echo new >"$root/usr/bin/f3" && chown 100000:100042 "$root/usr/bin/f3" &&
	chmod 4755 "$root/usr/bin/f3"
kept=$(all ./usr/bin/f1 ./usr/bin/f3 | cut -d' ' -f1-4)
t_status "what was changed is left" 4 ctm undo --yes $vmid
t_is "and listed" "$(sed -n 's|^  \(/[^:]*\): left alone.*|\1|p' "$T_OUT" | sort)" \
	"$(printf '%s\n' /usr/bin/f1 /usr/bin/f2 /usr/bin/f3)"
t_is "as it was made" "$(all ./usr/bin/f1 ./usr/bin/f3 | cut -d' ' -f1-4)" "$kept"
t_is "what was only written to went back" "$(stat -c '%u:%g' "$root/etc/passwd")" 0:0
t_is "with what was written" "$(tail -n 1 "$root/etc/passwd")" more
t_is "and all else" "$(all | grep -vE '^\./(etc/passwd|usr/bin/f[123]|usr/bin) ')" \
	"$(grep -vE '^\./(etc/passwd|usr/bin/f[123]|usr/bin) ' <<<"$before")"

# No part of what is not finished.
strace -f -qq -o /dev/null -e trace=fchownat -e inject=fchownat:signal=KILL:when=5 \
	"$CTMEND" --sysroot "$TMP/sys" repair --yes $vmid >/dev/null 2>&1
t_status "a part of an interrupted run" 3 ctm undo --yes --path usr $vmid
t_match "is refused with the way on" "$(cat "$T_ERR")" 'undo without --path'
t_ok "which is open" ctm undo --yes $vmid
t_done
