#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Nothing keeps lxc-start from starting a plain container while it is repaired: that is found out at
# the end, and said.
. "${0%/*}/container.sh"

ctm()
{
	"$CTMEND" --sysroot "$TMP/sys" "$@"
}

ct_new_dir "$TMP/root"
ct_unpack "$TMP/root"
ct_config plain "$TMP/root"
for i in $(seq 1 40); do
	echo "$i" >"$TMP/root/srv/f$i"
	chown 0:0 "$TMP/root/srv/f$i"
done

# beside VERB: what the program says of a run of it during which the container is started
beside()
{
	local was

	was=$(stat -c %u "$TMP"/root/srv/f*)
	strace -f -qq -o /dev/null -e trace=fchownat -e inject=fchownat:delay_enter=150000 \
		"$CTMEND" --sysroot "$TMP/sys" "$1" --yes plain >"$TMP/said" 2>&1 &
	program=$!
	while [ "$(stat -c %u "$TMP"/root/srv/f*)" = "$was" ]; do
		sleep 0.02
	done
	t_ok "$1: the container is started meanwhile" ct_start plain
	wait "$program"
	t_is "$1: that is no plain success" $? 4
	t_match "$1: and is said" "$(cat "$TMP/said")" '^note: the container was started while'
	ct_stop plain
}

beside repair
t_is "what was to be done is done" "$(stat -c %u "$TMP"/root/srv/f* | sort -u)" 100000
t_status "a check finds nothing more" 0 ctm check plain
beside undo
t_is "taken back" "$(stat -c %u "$TMP"/root/srv/f* | sort -u)" 0
t_status "alone, it is a plain success" 0 ctm repair --yes plain
t_is "about which there is nothing to say" "$(grep -c 'was started' "$T_OUT")" 0
t_done
