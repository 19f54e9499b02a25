# SPDX-License-Identifier: GPL-3.0-or-later
#
# The computing half of listing.sh; -v op=NAME chooses what is done. See there for the format.

BEGIN {
	FS = OFS = "\t"
	if (op == "shift" || op == "foreign") {
		map_load("u", umap)
		map_load("g", gmap)
	}
}

# Name as find and cksum print it (with \001 for newline) -> as getfacl and getfattr print it.
function escape(name)
{
	gsub(/\\/, "\\134", name)
	gsub(/\t/, "\\011", name)
	gsub(/\r/, "\\015", name)
	gsub(/\001/, "\\012", name)
	return name
}

# Name as getfacl and getfattr print it -> the same with TAB and backslash as escape() makes them.
function reescape(name)
{
	gsub(/\\\\/, "\\134", name)
	gsub(/\t/, "\\011", name)
	return name
}

function map_load(kind, text,	n, i, range, part)
{
	n = split(text, range, ",")
	for (i = 1; i <= n; i++) {
		split(range[i], part, ":")
		map_ct[kind, i] = part[1] + 0
		map_disk[kind, i] = part[2] + 0
		map_len[kind, i] = part[3] + 0
	}
	map_n[kind] = n
}

function map_holds(kind, id,	i)
{
	for (i = 1; i <= map_n[kind]; i++) {
		if (id >= map_disk[kind, i] && id < map_disk[kind, i] + map_len[kind, i]) {
			return 1
		}
	}
	return 0
}

function map_shift(kind, id,	i)
{
	id += 0
	if (map_holds(kind, id)) {
		return id
	}
	for (i = 1; i <= map_n[kind]; i++) {
		if (id >= map_ct[kind, i] && id < map_ct[kind, i] + map_len[kind, i]) {
			return id - map_ct[kind, i] + map_disk[kind, i]
		}
	}
	return id
}

function hex_digit(c)
{
	return index("0123456789abcdef", c) - 1
}

# Eight hexadecimal digits, little endian, <-> number.
function from_le32(text,	i, n)
{
	n = 0
	for (i = 7; i >= 1; i -= 2) {
		n = n * 256 + hex_digit(substr(text, i, 1)) * 16 + hex_digit(substr(text, i + 1, 1))
	}
	return n
}

function to_le32(n,	i, text)
{
	text = ""
	for (i = 0; i < 4; i++) {
		text = text sprintf("%02x", n % 256)
		n = int(n / 256)
	}
	return text
}

# An ACL entry with its qualifier, if it has one, through the map: user:33:r-x, default:group:4:rwx.
function acl_shift(entry,	n, part, i, out)
{
	n = split(entry, part, ":")
	if (part[n - 1] != "" && part[n - 1] ~ /^[0-9]+$/) {
		part[n - 1] = map_shift(substr(part[n - 2], 1, 1), part[n - 1])
	}
	out = part[1]
	for (i = 2; i <= n; i++) {
		out = out ":" part[i]
	}
	return out
}

# security.capability in hexadecimal: magic, four words, in version 3 the root id. The last digits
# of the magic are the version.
function cap_shift(value, owner_moves,	version, body, rootid)
{
	version = substr(value, 7, 2)
	body = substr(value, 1, 6)
	if (version == "03") {
		rootid = from_le32(substr(value, 41, 8))
	} else if (version == "02" && owner_moves) {
		rootid = 0
	} else {
		return value
	}
	return body "03" substr(value, 9, 32) to_le32(map_shift("u", rootid))
}

# --- from the tools' output to lines of a listing ---

# Three lines for each inode: facts, name, target of a link.
op == "inodes" {
	if (NR % 3 == 1) {
		facts = $0
	} else if (NR % 3 == 2) {
		path = escape($0)
	} else {
		split(facts, f)
		size = f[1] == "d" ? "-" : f[7]
		print path, "I", f[1], f[2], f[3], f[4], f[5], f[6], size, f[8], escape($0)
	}
	next
}

# Sorted lines of the above: dev:ino becomes the inode's first name.
op == "names" {
	if (!($10 in first)) {
		first[$10] = $1
	}
	$10 = first[$10]
	print
	next
}

# Blocks of getfacl or getfattr.
op == "blocks" {
	if (sub(/^# file: /, "")) {
		path = reescape($0)
	} else if ($0 != "" && $0 !~ /^# (owner|group|flags): /) {
		print path, kind, $0
	}
	next
}

# Two lines for each: name, value.
op == "pairs" {
	if (NR % 2 == 1) {
		path = escape($0)
	} else {
		print path, kind, $0
	}
	next
}

# --- computing with listings ---

op == "shift" {
	if ($2 == "I") {
		uid = map_shift("u", $5)
		gid = map_shift("g", $6)
		moves = uid != $5
		$5 = uid
		$6 = gid
	} else if ($2 == "A") {
		$3 = acl_shift($3)
	} else if ($2 == "X" && sub(/^security\.capability=0x/, "", $3)) {
		$3 = "security.capability=0x" cap_shift($3, moves)
	}
	print
	next
}

op == "foreign" {
	bad = 0
	if ($2 == "I") {
		bad = !map_holds("u", $5) || !map_holds("g", $6)
	} else if ($2 == "A") {
		n = split($3, part, ":")
		bad = part[n - 1] ~ /^[0-9]+$/ && !map_holds(substr(part[n - 2], 1, 1), part[n - 1])
	} else if ($2 == "X" && sub(/^security\.capability=0x/, "", $3)) {
		bad = substr($3, 7, 2) == "03" && !map_holds("u", from_le32(substr($3, 41, 8)))
	}
	if (bad && $1 != last) {
		print last = $1
	}
	next
}

# First file: paths; second: a listing, printed without them.
op == "without" {
	if (FNR == NR) {
		drop[$0] = 1
	} else if (!($1 in drop)) {
		print
	}
	next
}

# Two listings: of the first what is outside of the selection, of the second what is inside.
op == "select" {
	inside = 0
	for (i = split(below, root, " "); i > 0; i--) {
		inside = inside || $1 == "./" root[i] || index($1, "./" root[i] "/") == 1
	}
	if (inside == (FNR != NR)) {
		print
	}
	next
}

# Two listings: first names of the inodes of the first that are gone or differ in the second.
op == "changed" {
	if (FNR == NR) {
		if ($2 == "I") {
			inode[$1] = $10
		}
		old[$1] = old[$1] "\n" $0
	} else {
		new[$1] = new[$1] "\n" $0
	}
	next
}

END {
	if (op == "changed") {
		for (path in old) {
			if (old[path] != new[path] && !(inode[path] in seen)) {
				seen[inode[path]] = 1
				print inode[path]
			}
		}
	}
}
