# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What a golden script of tests/cli finds ready: it starts in the empty directory $TMP.

# ctm ARGUMENT...: run ctmend and show the command, its stdout, its stderr behind "2> ", and its
# exit status
ctm()
{
	local status

	printf '$ ctmend%s\n' "$([ $# -eq 0 ] || printf ' %q' "$@")"
	"$CTMEND" "$@" 2>"$TMP/.stderr" </dev/null
	status=$?
	sed 's/^/2> /' "$TMP/.stderr"
	rm -f "$TMP/.stderr"
	printf 'exit %d\n' "$status"
}
