#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Trees whose paths are longer than any path that a system call takes.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

# dig DIR LEVELS NAME: directories below each other, and a file with setuid in the last one
dig()
{
	python3 - "$@" <<-'END'
		import os, sys

		os.chdir(sys.argv[1])
		for i in range(int(sys.argv[2])):
		    os.mkdir(sys.argv[3])
		    os.chdir(sys.argv[3])
		open("file", "w").close()
		os.chmod("file", 0o4755)
	END
}

# owners DIR: how many of each type and mode belong to whom
owners()
{
	find "$1" -mindepth 1 -printf '%y %m %U:%G\n' | sort | uniq -c | sed 's/^ *//'
}

pve_dir_ct 9311
dir=$(pve_dir 9311)
zoo_healthy "$dir"
long=$(printf '%0255d' 0)
mkdir "$dir/deep" "$dir/long" "$dir/full" "$dir/right"
t_ok "2000 directories below each other" dig "$dir/deep" 2000 d
t_ok "14 with names as long as they can be" dig "$dir/long" 14 "$long"
t_ok "200 with such names: 51,000 bytes" dig "$dir/full" 200 "$long"
t_ok "and as many healthy ones" dig "$dir/right" 2000 d
chown -R 100000:100000 "$dir/right"
before=$(owners "$dir")
trace=$(pve_trace "$dir")
t_status "check finds work" 1 ctm check --json 9311
t_is "in every inode" "$(python3 -c '
import json, sys
plan = json.load(sys.stdin)["targets"][0]
print(len({f["path"] for f in plan["findings"] if f["code"] == "own.host"}))' <"$T_OUT" 2>&1)" \
	"$(find "$dir" -uid 0 | wc -l)"
t_is "and leaves no trace" "$(pve_trace "$dir")" "$trace"
t_status "repair goes down to the last" 0 ctm repair --yes 9311
t_is "none is the host's" "$(find "$dir" -uid -100000 -o -gid -100000 | wc -l)" 0
t_is "all are the container's, with setuid" "$(owners "$dir")" \
	"$(sed 's/ 0:0$/ 100000:100000/' <<<"$before" |
		awk '{ n[$2 " " $3 " " $4] += $1 } END { for (k in n) print n[k], k }' |
		sort -k 2)"
t_status "the next repair has nothing to do" 0 ctm repair --yes 9311
t_status "undo goes down to the last" 0 ctm undo --yes 9311
t_is "all is as before" "$(owners "$dir")" "$before"
t_done
