#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# tests/test_large.c with ten million inodes: a whole tree in less memory than its plan takes, from
# facts to an undo. Takes some minutes, and 12 GiB of disk in $TMPDIR (/var/tmp).
#
# Environment: BUILD (build); CTM_LONG, a file that the figures are appended to; LARGE_N. The last
# line is "N passed, N failed, N skipped".
set -u -o pipefail

cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}" "${LARGE_N:=10000000}"
LARGE_DIR=$(mktemp -d "${TMPDIR:-/var/tmp}/ctmend-large.XXXXXX") || exit 1
export LARGE_N LARGE_DIR
trap 'rm -rf --one-file-system "$LARGE_DIR"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

echo "large: $LARGE_N inodes, memory limited to 64 MiB of the plan and 24 MiB beside it"
if "$BUILD/tests/test_large" 2>&1 | tee "$LARGE_DIR/log" | grep --line-buffered '^large:'; then
	echo "1 passed, 0 failed, 0 skipped"
	status=0
else
	tail -n 20 "$LARGE_DIR/log"
	echo "0 passed, 1 failed, 0 skipped"
	status=1
fi
if [ -n "${CTM_LONG-}" ]; then
	grep '^large:' "$LARGE_DIR/log" >>"$CTM_LONG"
fi
exit "$status"
