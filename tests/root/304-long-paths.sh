#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Trees that are cheap for a tenant and whose paths are megabytes: they cost the host next to nothing.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

# dig DIR LEVELS WIDE: directories below each other, with names as long as they can be, and so many side by
# side in the last one; all of them are a tenant's own
dig()
{
	python3 - "$@" <<-'END'
		import os, sys

		at = os.open(sys.argv[1], os.O_RDONLY)
		def make(name):
		    os.mkdir(name, dir_fd=at)
		    os.chown(name, 100000, 100000, dir_fd=at)
		os.chown(at, 100000, 100000)
		for i in range(int(sys.argv[2])):
		    make("d" * 255)
		    new = os.open("d" * 255, os.O_RDONLY, dir_fd=at)
		    os.close(at)
		    at = new
		for i in range(int(sys.argv[3])):
		    make("w%d" % i)
	END
}

# filled DIR: bytes in use there, those of files without a name too
filled()
{
	df --output=used -B1 "$1" | tail -n 1 | tr -d ' '
}

# most DIR COMMAND...: runs it with DIR for temporary files, and keeps the most that was ever in use in $peak
most()
{
	local dir=$1 pid now
	shift

	peak=0
	TMPDIR=$dir "$@" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		now=$(filled "$dir")
		peak=$((now > peak ? now : peak))
		sleep 0.05
	done
	wait "$pid"
}

# bounded NAME STATUS COMMAND...: it ends within seconds, and takes a few megabytes of the host's disk
bounded()
{
	local name=$1 want=$2 start=$SECONDS
	shift 2

	most "$TMP/spill" "$@" >"$TMP/out" 2>"$TMP/err"
	t_is "$name" "$?" "$want"
	t_is "$name: soon" "$((SECONDS - start < 15))" 1
	t_is "$name: without the host's disk" "$((peak < 64 << 20))" 1
	t_is "$name: no line is long" "$(awk 'length > 8192' "$TMP/out" "$TMP/err" | wc -l)" 0
}

mkdir "$TMP/spill"
mount -t tmpfs -o size=4g none "$TMP/spill"
t_defer umount "$TMP/spill"

pve_dir_ct 9313
dir=$(pve_dir 9313)
zoo_healthy "$dir"
mkdir "$dir/wide" "$dir/deep"
t_ok "400 directories at the end of 4 MiB" dig "$dir/wide" 16380 400
t_ok "3000 with names of 255 bytes" dig "$dir/deep" 3000 0
bounded "check of a tenant's tree" 1 ctm check 9313
t_match "says what it did not see" "$(<"$TMP/out")" "1 directory is too deep to be looked at"
t_is "once for each tree" "$(grep -c 'too deep to be looked at' "$TMP/out")" 2
bounded "check --json" 1 ctm check --json 9313
t_is "has paths of some KiB" "$(python3 -c '
import json, sys
plan = json.load(sys.stdin)["targets"][0]
print(max(len(f["path"]) for f in plan["findings"] if "path" in f) <= 1025)' <"$TMP/out")" True
bounded "diff" 1 ctm diff 9313
bounded "repair" 4 ctm repair --yes 9313

# Names of one file that cannot be read, at the end of a path of 64 KiB: on tmpfs, where attributes may
# be as many as no list of them can hold.
mkdir "$TMP/many"
mount -t tmpfs -o size=256m none "$TMP/many"
t_defer umount "$TMP/many"
mkdir -p "$TMP/many/rootfs/"{etc,usr}
name_it()
{
	python3 - "$@" <<-'END'
		import os, sys

		at = os.open(sys.argv[1], os.O_RDONLY)
		for i in range(254):
		    os.mkdir("d" * 255, dir_fd=at)
		    new = os.open("d" * 255, os.O_RDONLY, dir_fd=at)
		    os.close(at)
		    at = new
		file = os.open("file", os.O_CREAT | os.O_RDONLY, dir_fd=at)
		for i in range(400):
		    os.setxattr(file, "user.%0240d" % i, b"x")
		for i in range(2999):
		    os.link("file", "n%d" % i, src_dir_fd=at, dst_dir_fd=at)
	END
}
t_ok "3000 names of a file that cannot be read" name_it "$TMP/many/rootfs"
chown -R 100000:100000 "$TMP/many/rootfs"
bounded "check of unreadable names" 1 ctm check --map 100000 "$TMP/many/rootfs"
t_match "counts them" "$(<"$TMP/out")" ": Argument list too long: far below it, 3000 entries could not be looked at$"

# The hook of a start looks at the required directories alone.
mv "$dir/wide" "$dir/deep" "$dir/root/"
: >"$dir/root/damaged"
since=$(date +%s%N)
bounded "hook" 0 ctm hook 9313 pre-start
echo "the hook took $((($(date +%s%N) - since) / 1000000)) ms"
t_is "hook: the rest is repaired" "$(stat -c %u:%g "$dir/root/damaged")" 100000:100000
t_done
