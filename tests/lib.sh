# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For test scripts that say one line for each test. A script looks like this:
#
#	. "${0%/*}/../lib.sh"
#	touch "$TMP/a"
#	t_is "a new file is empty" "$(stat -c %s "$TMP/a")" 0
#	t_done
#
# $CTMEND is the program, $TMP an empty directory that goes away in the end. The lines are "ok
# NAME", "not ok NAME", "skip NAME # REASON" and, from t_done, the plan "1..N"; a script without its
# plan has died. Whatever else a script prints is kept in its log, and is shown when a test fails.
set -u -o pipefail

T_COUNT=0
T_FAILED=0
T_DEFERRED=()
T_NAME=$(basename "$0" .sh)
T_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${CTMEND:=$T_TOP/build/ctmend}"
export CTMEND
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1

TMP=$(mktemp -d "${CTM_SCRATCH:-${TMPDIR:-/tmp}}/ctmend-$T_NAME.XXXXXX") || exit 1
# stdout and stderr of the last command of t_ok, t_fails and t_status
T_OUT=$TMP/.stdout
T_ERR=$TMP/.stderr

# LeakSanitizer cannot work in a process that is traced.
strace()
{
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 command strace "$@"
}

t__say()
{
	T_COUNT=$((T_COUNT + 1))
	printf '%s\n' "$1"
}

t__fail()
{
	T_FAILED=$((T_FAILED + 1))
	t__say "not ok $1"
}

t__run()
{
	"$@" >"$T_OUT" 2>"$T_ERR" </dev/null
}

# t__show STATUS COMMAND...: the command and what it wrote
t__show()
{
	printf '  exit status %s of:%s\n' "$1" "$(printf ' %q' "${@:2}")"
	head -n 40 "$T_OUT" | sed 's/^/  stdout: /'
	head -n 40 "$T_ERR" | sed 's/^/  stderr: /'
}

# t_status NAME STATUS COMMAND...: the command ends with this exit status
t_status()
{
	local name=$1 want=$2 got
	shift 2

	t__run "$@"
	got=$?
	if [ "$got" = "$want" ]; then
		t__say "ok $name"
	else
		t__fail "$name"
		t__show "$got" "$@"
	fi
}

# t_ok NAME COMMAND...: the command succeeds
t_ok()
{
	t_status "$1" 0 "${@:2}"
}

# t_fails NAME COMMAND...: the command ends with a status from 1 to 125: no success, not unknown,
# not killed
t_fails()
{
	local name=$1 got
	shift

	t__run "$@"
	got=$?
	if [ "$got" -ge 1 ] && [ "$got" -le 125 ]; then
		t__say "ok $name"
	else
		t__fail "$name"
		t__show "$got" "$@"
	fi
}

# t_is NAME GOT WANT: two texts are equal; long ones are shown as a diff
t_is()
{
	if [ "$2" = "$3" ]; then
		t__say "ok $1"
		return
	fi
	t__fail "$1"
	if [[ $2$3 == *$'\n'* ]]; then
		diff -u --label want --label got <(printf '%s\n' "$3") <(printf '%s\n' "$2") |
			head -n 60 | sed 's/^/  /'
	else
		printf '  got:  %s\n  want: %s\n' "$2" "$3"
	fi
}

# t_match NAME TEXT REGEX: a line of the text matches the extended regular expression
t_match()
{
	if grep -qE -e "$3" <<<"$2"; then
		t__say "ok $1"
	else
		t__fail "$1"
		printf '  no line matches: %s\n' "$3"
		head -n 40 <<<"$2" | sed 's/^/  text: /'
	fi
}

# t_no_match NAME TEXT REGEX: no line matches
t_no_match()
{
	local hit

	if hit=$(grep -E -e "$3" <<<"$2"); then
		t__fail "$1"
		printf '  these lines match: %s\n' "$3"
		head -n 20 <<<"$hit" | sed 's/^/  text: /'
	else
		t__say "ok $1"
	fi
}

# t_skip NAME REASON
t_skip()
{
	t__say "skip $1 # $2"
}

# t_skip_all REASON: skip the rest of the script
t_skip_all()
{
	t_skip "the rest" "$1"
	t_done
}

# t_defer COMMAND...: run it when the script ends, however that comes about; the last one first
t_defer()
{
	T_DEFERRED+=("$(printf '%q ' "$@")")
}

t__cleanup()
{
	local i

	cd / || return
	for ((i = ${#T_DEFERRED[@]} - 1; i >= 0; i--)); do
		eval "${T_DEFERRED[i]}"
	done
	T_DEFERRED=()
}

# tests/root/lib.sh looks for mounts and loop devices here.
t__leftovers()
{
	:
}

t__exit()
{
	t__cleanup
	if [ -n "$(t__leftovers)" ]; then
		remove_leftovers "$TMP"
	fi
	rm -rf --one-file-system "$TMP"
}
trap t__exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# t_done: the last line of every script
t_done()
{
	local left

	t__cleanup
	left=$(t__leftovers)
	if [ -n "$left" ]; then
		t__fail "nothing is left behind"
		sed 's/^/  /' <<<"$left"
	fi
	echo "1..$T_COUNT"
	exit $((T_FAILED > 0))
}
