#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# More is wrong than the memory of a plan holds: it lies in files, and where there is no room for
# them nothing is changed.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

# dig DIR LEVELS WIDE: directories below each other, with names as long as they can be, and so many side by
# side in the last one
dig()
{
	python3 - "$@" <<-'END'
		import os, sys

		os.chdir(sys.argv[1])
		for i in range(int(sys.argv[2])):
		    os.mkdir("d" * 255)
		    os.chdir("d" * 255)
		for i in range(int(sys.argv[3])):
		    os.mkdir(str(i))
	END
}

# in_dir DIR ARGUMENT...: ctm with DIR for temporary files
in_dir()
{
	local TMPDIR=$1
	shift

	export TMPDIR
	ctm "$@"
}

pve_dir_ct 9312
dir=$(pve_dir 9312)
zoo_healthy "$dir"
mkdir "$dir/deep"
# 256 * 250 for each of them: more than 64 MiB of paths
t_ok "1100 directories at long paths" dig "$dir/deep" 250 1100
wrong=$(find "$dir" -uid -100000 | wc -l)
mkdir "$TMP/small" "$TMP/large"
mount -t tmpfs -o size=8m none "$TMP/small"
t_defer umount "$TMP/small"

t_status "a plan without room is refused" 3 in_dir "$TMP/small" check 9312
t_match "it is said where" "$(<"$T_ERR")" "no room for the plan in '$TMP/small'"
t_match "and what to do" "$(<"$T_ERR")" "set TMPDIR"
t_status "so is its repair" 3 in_dir "$TMP/small" repair --yes --convert 9312
t_is "nothing was changed" "$(find "$dir" -uid -100000 | wc -l)" "$wrong"
t_is "nothing is left there" "$(find "$TMP/small" -mindepth 1)" ""
t_is "not even without a name" "$(df --output=used "$TMP/small" | tail -n 1 | tr -d ' ')" 0
t_status "a directory that is not there is no room" 3 in_dir "$TMP/none" check 9312
t_status "with room there is a plan" 1 in_dir "$TMP/large" check 9312

# The server of a FUSE could change what the plan says: it is not used, and /var/tmp is.
mkdir "$TMP/fuse" "$TMP/served"
t_ok "bindfs mounts" bindfs "$TMP/served" "$TMP/fuse"
t_defer umount -l "$TMP/fuse"
t_status "a FUSE is no place for a plan" 1 strace -f -E "TMPDIR=$TMP/fuse" -o "$TMP/trace" \
	-e trace=openat "$CTMEND" --sysroot "$TMP/sys" check 9312
t_is "no file is made there" "$(grep -c "$TMP/fuse.*O_TMPFILE\|$TMP/fuse/" "$TMP/trace")" 0
t_match "but on a local disk" "$(<"$TMP/trace")" '"/var/tmp", .*O_TMPFILE'
t_status "and a repair" 0 in_dir "$TMP/large" repair --yes --convert 9312
t_is "none is the host's" "$(find "$dir" -uid -100000 -o -gid -100000 | wc -l)" 0
t_is "nothing is left there either" "$(find "$TMP/large" -mindepth 1)" ""
t_status "undo needs no plan" 0 ctm undo --yes 9312
t_is "all is as before" "$(find "$dir" -uid -100000 | wc -l)" "$wrong"
t_done
