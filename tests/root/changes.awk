# SPDX-License-Identifier: GPL-3.0-or-later
#
# A listing (listing.sh) with the changes that a case wants. -v changes=FILE is the first of two
# files; a line of it is "now PATH MODE UID GID", "acl PATH OLD NEW", "cap PATH VALUE" or
# "gone PATH", with TAB between. A change that finds nothing to change becomes a line of its own.

BEGIN {
	FS = OFS = "\t"
}

function number(mode)
{
	sub(/^0+/, "", mode)
	return mode
}

FILENAME == changes {
	wanted[$1, $2, $1 == "acl" ? $3 : ""] = $0
	next
}

{
	key = ""
	if ($2 == "I") {
		key = "now" SUBSEP $1 SUBSEP ""
		if (("gone", $1, "") in wanted) {
			gone[$1] = 1
			delete wanted["gone", $1, ""]
		}
	} else if ($2 == "A") {
		key = "acl" SUBSEP $1 SUBSEP $3
	} else if ($2 == "X" && $3 ~ /^security\.capability=/) {
		key = "cap" SUBSEP $1 SUBSEP ""
	}
	if ($1 in gone) {
		next
	}
	if (key in wanted) {
		split(wanted[key], change, FS)
		delete wanted[key]
		if ($2 == "I") {
			if (number($4) != number(change[3])) {
				$4 = change[3]
			}
			$5 = change[4]
			$6 = change[5]
		} else if ($2 == "A") {
			$3 = change[4]
		} else {
			$3 = "security.capability=" change[3]
		}
	}
	print
}

END {
	for (key in wanted) {
		print "not in the recipe: " wanted[key]
	}
}
