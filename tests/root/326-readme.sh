#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the README shows is what the demo prints.
. "${0%/*}/lib.sh"

# Digests depend on the file system that the demo has made.
normalise()
{
	sed -E 's/\b[0-9a-f]{32}\b/DIGEST/'
}

t_ok "the demo runs" env TMPDIR="$TMP" "$T_TOP/scripts/demo.sh"
normalise <"$T_OUT" >"$TMP/demo"
awk '/^```/ { inside = !inside; next } inside && NF' "$T_TOP/README.md" | normalise >"$TMP/readme"
t_ok "the README shows something" test "$(wc -l <"$TMP/readme")" -gt 20
t_is "every line of it is printed" "$(grep -vxFf "$TMP/demo" "$TMP/readme")" ""
t_done
