#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A million entries in one directory go through in little memory.
. "${0%/*}/lib.sh"

dump=${CTMEND%/*}/tests/root/walk-dump
limit=65536 # KiB, of each process

# What a sanitizer keeps of freed memory for a while is not the walk's.
if [ -n "${ASAN_OPTIONS-}" ]; then
	export ASAN_OPTIONS=$ASAN_OPTIONS:quarantine_size_mb=4:thread_local_quarantine_size_kb=64
fi

total()
{
	sed -n "s/^$1=//p" "$T_ERR"
}

mkdir "$TMP/mem"
mount -t tmpfs -o nr_inodes=0,size=75% tmpfs "$TMP/mem"
t_defer t_umount "$TMP/mem"
mkdir "$TMP/mem/files" "$TMP/mem/dirs"
(cd "$TMP/mem/files" && seq -f 'a-file-%.0f' 1000000 | xargs -n 20000 touch)
(cd "$TMP/mem/dirs" && seq -f 'directory-%.0f' 200000 | xargs -n 20000 mkdir)

for jobs in 1 2 4; do
	t_ok "files, $jobs threads" "$dump" "$TMP/mem/files" jobs="$jobs" map=100000 none
	t_is "files, $jobs threads: all counted" "$(total entries)" 1000001
	t_is "files, $jobs threads: in little memory" $(($(total child_rss) < limit)) 1
	t_ok "directories, $jobs threads" "$dump" "$TMP/mem/dirs" jobs="$jobs" map=100000 none
	t_is "directories, $jobs threads: all counted" "$(total dirs)" 200001
	t_is "directories, $jobs threads: in little memory" $(($(total child_rss) < limit)) 1
done
t_ok "a million facts" "$dump" "$TMP/mem/files" map=100000
t_is "each name once" "$(LC_ALL=C cut -f 1 "$T_OUT" | LC_ALL=C sort -u | wc -l)" 1000001
t_is "sent in little memory" $(($(total child_rss) < limit && $(total rss) < limit)) 1

t_done
