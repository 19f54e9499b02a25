#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# System calls of a walk fail one by one: what can be said is said, and the rest is found.
. "${0%/*}/lib.sh"

dump=${CTMEND%/*}/tests/root/walk-dump

if ! strace -f -o /dev/null true 2>/dev/null; then
	t_skip_all "strace cannot trace here"
fi

root=$TMP/root
mkdir -p "$root"/{a,b,c}/sub/deep
touch "$root"/{a,b,c}/{one,two,three} "$root"/{a,b,c}/sub/{file,deep/file}
setfacl -m u:1000:r "$root/b/one"
chown -R 100000:100000 "$root"
everything=$(find "$root" -printf '%P\n' | LC_ALL=C sort)
everything_n=$(wc -l <<<"$everything")

# A program is loaded with the calls that open the tree's directories, too: only what names or has a
# directory of the tree is traced there, and the tree itself is spelled in another way.
opens=()
while read -r dir; do
	opens+=(-P "$dir")
done < <(find "$root" -type d)

# inject WHAT WORD...: walk with this fault; lines are sorted into $TMP/out, messages into $TMP/err
inject()
{
	local what=$1 only=()
	shift

	if [[ $what == openat:* ]]; then
		only=("${opens[@]}")
	fi
	strace -f -qq -o "$TMP/trace" "${only[@]}" -e "inject=$what" "$dump" "$root/." "$@" \
		>"$TMP/unsorted" 2>"$TMP/err"
	local status=$?
	LC_ALL=C sort "$TMP/unsorted" >"$TMP/out"
	return $status
}

errors()
{
	grep -c '	error	' "$TMP/out"
}

# inodes without error lines, each once
paths()
{
	grep -v '	error	' "$TMP/out" | cut -f 1
}

# fault NAME SYSCALL ERRNO NUMBER OP: one call in the middle fails and makes one error
fault()
{
	t_ok "$1: the walk goes on" inject "$2:error=$3:when=$4" all jobs=1
	t_is "$1: one error" "$(errors)" 1
	t_match "$1: it is said" "$(cat "$TMP/out")" "	error	$5	$6\$"
	t_is "$1: it is counted" "$(sed -n 's/^errors=//p' "$TMP/err")" 1
}

fault "reading a directory" getdents64 EIO 3 read 5
fault "opening a directory" openat EIO 3 open 5
fault "changing into a directory" fchdir EIO 3 open 5
at=$(grep '	error	' "$TMP/out" | cut -f 1)
t_match "changing into a directory: it is found itself" "$(cat "$TMP/out")" "^$at	d	"
t_is "changing into a directory: but nothing in it" "$(grep -c "^$at/" "$TMP/out")" 0
fault "looking at an entry" statx EACCES 6 stat 13
fault "listing attributes" llistxattr EIO 4 xattr 5
t_is "listing attributes: the rest is found" "$(paths | wc -l)" $((everything_n - 1))
fault "reading an attribute" lgetxattr EIO 1 xattr 5
t_is "reading an attribute: the rest is found" "$(paths)" "$(grep -vx b/one <<<"$everything")"

# silent NAME FAULT [JOBS]: nothing is lost and nothing is said
silent()
{
	t_ok "$1: the walk goes on" inject "$2" all jobs="${3:-1}"
	t_is "$1: everything is found" "$(cut -f 1 "$TMP/out")" "$everything"
	t_is "$1: nothing is said" "$(errors)" 0
}

silent "no more descriptors for a moment" openat:error=EMFILE:when=5
silent "O_NOATIME is not ours to ask" openat:error=EPERM:when=1
silent "an attribute gone since it was listed" lgetxattr:error=ENODATA:when=1
silent "no attributes here" llistxattr:error=EOPNOTSUPP:when=1+
silent "interrupted" openat:error=EINTR:when=2..4
silent "no second thread" clone3:error=EAGAIN:when=1+ 4
t_ok "entries gone since their names were read" inject statx:error=ENOENT:when=8..9 all jobs=1
t_is "entries gone: nothing is said" "$(errors)" 0

# failed NAME FAULT MESSAGE: the walk as a whole fails
failed()
{
	t_status "$1: the walk fails" 5 inject "$2" all jobs=2
	t_match "$1: it is said" "$(cat "$TMP/err")" "$3"
	t_is "$1: there are no totals" "$(grep -c ^entries= "$TMP/err")" 0
}

failed "the root cannot be opened" openat:error=EIO:when=1 \
	'walk the tree: open: Input/output error'
failed "no working directory of its own" unshare:error=EPERM:when=1 \
	'walk the tree: thread: Operation not permitted'
# unconfined NAME FAULT MESSAGE: so nothing is read
unconfined()
{
	failed "$@"
	t_is "$1: nothing is found" "$(cat "$TMP/out")" ""
}

unconfined "descriptors cannot be closed" close_range:error=EPERM:when=1 \
	'walk the tree: confine: descriptors: Operation not permitted'
unconfined "no root directory" chroot:error=EPERM:when=1 'confine: root directory: Operation'
unconfined "no user" setresuid:error=EAGAIN:when=1 'confine: user: Resource temporarily unavailable'
unconfined "no group" setresgid:error=EINVAL:when=1 'confine: user: Invalid argument'
unconfined "groups stay" setgroups:error=EPERM:when=1 'confine: user: Operation not permitted'
unconfined "capabilities stay" capset:error=EPERM:when=2 'confine: capabilities: Operation not'
unconfined "no death signal" prctl:error=EINVAL:when=1+ 'confine: .*: Invalid argument'
unconfined "no filter" seccomp:error=ENOSYS:when=1+ 'confine: system calls: '
failed "no pipe" pipe2:error=EMFILE:when=1 'make a pipe for the walk: Too many open files'
failed "no process" clone:error=EAGAIN:when=1 "start the walk's process: "
failed "the process cannot be watched" pidfd_open:error=EMFILE:when=1 "watch the walk's process"

# The first write of the other process is its message.
t_status "the pipe breaks: the walk fails" 5 inject write:error=EIO:when=1 all jobs=1

t_done
