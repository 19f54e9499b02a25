#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A walk that gets nowhere is ended: its file system has stopped answering.
. "${0%/*}/lib.sh"

dump=${CTMEND%/*}/tests/root/walk-dump

mkdir -p "$TMP/real/dir/sub" "$TMP/mnt"
touch "$TMP/real/dir/file"
t_ok "bindfs mounts" bindfs "$TMP/real" "$TMP/mnt"
t_defer umount -l "$TMP/mnt"
server=$(pgrep -f -x "bindfs $TMP/real $TMP/mnt")
t_defer kill -CONT "$server"
t_ok "it can be walked" "$dump" "$TMP/mnt" all patience=4

kill -STOP "$server"
SECONDS=0
t_status "it is given up when nothing comes" 5 timeout 60 "$dump" "$TMP/mnt" all patience=4
t_match "with the reason" "$(<"$T_ERR")" "has read nothing new for 4 seconds"
if ((SECONDS < 4 || SECONDS > 15)); then
	t_is "in time" "$SECONDS seconds" "4 seconds"
fi
t_is "nobody waits there any more" "$(pgrep -f -x "$dump $TMP/mnt all patience=4")" ""
kill -CONT "$server"
t_ok "and it can be walked again" "$dump" "$TMP/mnt" all patience=4
t_done
