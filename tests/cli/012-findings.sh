# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# explain and ctmend-findings(7) are one table, with a page for every code. UPDATE=1 writes the list
# of the manual page anew.
. "${0%/*}/../lib.sh"

man=$T_TOP/man/ctmend-findings.7

# section NAME: what stands below a head of the page
section()
{
	awk -v name="$1" '/^\.Sh / { inside = $2 == name; next } inside' "$man"
}

# same NAME COMMAND: the section is what the program prints
same()
{
	local text

	text=$("$CTMEND" "$2")
	if [ -n "${UPDATE-}" ]; then
		TEXT=$text awk -v name="$1" '
			/^\.Sh / { skip = 0 }
			!skip { print }
			/^\.Sh / && $2 == name { print ENVIRON["TEXT"]; skip = 1 }' "$man" >"$TMP/page"
		cat "$TMP/page" >"$man"
	fi
	t_is "the manual's $1 are the table (UPDATE=1 make check-cli T=012-findings writes them)" \
		"$(section "$1")" "$text"
}

same CODES __pages
same CAUSES __causes

mapfile -t codes < <("$CTMEND" explain | awk '{ print $1 }')
t_ok "there are codes" test "${#codes[@]}" -ge 45
t_is "explain lists the codes of the manual" "${codes[*]}" \
	"$(section CODES | sed -n 's/^\.It Li \([a-z]*\.*[a-zA-Z]*\)$/\1/p' | paste -sd ' ')"
for code in "${codes[@]}"; do
	"$CTMEND" explain "$code" >"$TMP/page"
	t_is "$code: its page begins with its line of the list" "$(head -n 1 "$TMP/page")" \
		"$("$CTMEND" explain | awk -v code="$code" '$1 == code { sub(/^[^ ]+ +/, code ": "); print }')"
	for part in 'How it comes about' 'What repair does' 'To look further'; do
		t_ok "$code: it has: $part" grep -qx "$part" "$TMP/page"
	done
	t_ok "$code: no line is wider than a terminal" awk 'NR > 1 && length > 80 { exit 1 }' "$TMP/page"
done
t_ok "the pages are JSON too" sh -c "'$CTMEND' explain --json | python3 -c '
import json, sys
doc = json.load(sys.stdin)
assert doc[\"command\"] == \"explain\" and [p[\"code\"] for p in doc[\"pages\"]] == sys.argv[1:]
assert all(p[k] for p in doc[\"pages\"] for k in (\"title\", \"severity\", \"why\", \"how\", \"repair\", \"look\"))
' ${codes[*]}"
t_ok "one page as well, of an error with the general page" sh -c "'$CTMEND' explain --json err.EFBIG |
	python3 -c 'import json, sys; (p,) = json.load(sys.stdin)[\"pages\"]; assert p[\"code\"] == \"err.EFBIG\"'"
t_ok "and of a name that is no text" sh -c "'$CTMEND' explain --json \"\$(printf 'err.\\377')\" |
	python3 -m json.tool"
t_done
