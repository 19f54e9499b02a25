#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The other half of 400-cases.sh: what is beside the owner, configurations, ids that cannot fit, the
# walk, and what is no fault of owners.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"
. "${0%/*}/recipe.sh"
. "${0%/*}/cases.sh"

case_host
case_all C D E F G
if [ -n "${CASES-}" ]; then
	t_done
fi

# G7, beside a target that can be done
case=G7-lock-left
case__build "$T_TOP/fixtures/cases/$case/recipe"
pve_dir_ct 116
cp -a "$CASE_DIR/." "$(pve_dir 116)/"
touch "$(pve_dir 116)/etc/hosts"
t_status "$case: one of two targets" 3 ctm repair --yes 115 116
t_match "$case: the locked one is named" "$(cat "$T_ERR")" 'CT 115 is locked \(snapshot-delete\)'
t_is "$case: the other one is done" "$(stat -c %u:%g "$(pve_dir 116)/etc/hosts")" 100000:100000

# F4, a mount that is read-only
case=F4b-read-only
sed -e 's/^option .*/volume path/' "$T_TOP/fixtures/cases/$case/recipe" >"$TMP/recipe"
case__build "$TMP/recipe"
trace=$(case__trace)
read_only=$(case__seen "$CASE_DIR")
t_status "$case: a mount, check" 1 ctm check --map 100000 "$read_only"
t_status "$case: a mount, repair" 3 ctm repair --yes --map 100000 "$read_only"
t_is "$case: a mount, said once" "$(grep -c 'read-only' "$T_ERR")" 1
t_no_match "$case: a mount, of no entry" "$(cat "$T_OUT" "$T_ERR")" 'etc/hosts'
t_is "$case: a mount, nothing is changed" "$(case__trace)" "$trace"
t_done
