# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Listings of a tree: what find, stat, getfacl and getfattr say about every inode, as text that can
# be compared and computed with. Sourced; knows nothing of ctmend.
#
# A listing has one fact a line, fields separated by TAB, sorted by bytes:
#
#	PATH I type mode uid gid mtime nlink size name target	the inode
#	PATH A entry		one ACL entry as getfacl -n prints it
#	PATH D major:minor	of a device node, hexadecimal
#	PATH X name=0xhex	one extended attribute (ACLs are in A)
#	PATH C checksum		content, only after listing_content
#
# PATH begins with "."; backslash, TAB, newline and CR in it are octal escapes. mtime has
# nanoseconds. The size of a directory, which is the file system's own affair, is "-". name is the
# first path of this inode, component by component in the order of bytes, so hard links share it.
# target is that of a symbolic link.
#
# A map is a list of ranges, commas between: "0:100000:65536" is container id, disk id, length.

listing__dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

listing__awk()
{
	LC_ALL=C awk -f "$listing__dir/listing.awk" "$@"
}

# listing_take DIR FILE: lists the tree at DIR, DIR included. Changes no atime that a noatime mount
# keeps.
listing_take()
{
	(
		cd "$1" || exit 1
		{
			find . -printf '%y\t%#m\t%U\t%G\t%T@\t%n\t%s\t%D:%i\0%p\0%l\0' |
				tr '\n\0' '\1\n' | listing__awk -v op=inodes |
				tr / '\1' | LC_ALL=C sort -t $'\t' -k 1,1 | tr '\1' / |
				listing__awk -v op=names
			getfacl -n -s -E -R -P -p . | listing__awk -v op=blocks -v kind=A
			find . \( -type b -o -type c \) -exec stat --printf '%n\0%t:%T\0' {} + |
				tr '\n\0' '\1\n' | listing__awk -v op=pairs -v kind=D
			# ACLs are listed above; xfs shows them a second time under names of its
			# own.
			getfattr --absolute-names -R -P -h -d -m - -e hex . |
				LC_ALL=C sed -E '/^(system\.posix_acl|trusted\.SGI_ACL)_/d' |
				listing__awk -v op=blocks -v kind=X
		} | LC_ALL=C sort
	) >"$2"
}

# listing_content DIR FILE: adds a checksum of every regular file to the listing FILE of DIR.
listing_content()
{
	(
		cd "$1" || exit 1
		find . -type f -print0 | xargs -0r sha256sum -z -- | tr '\n\0' '\1\n' |
			LC_ALL=C sed 's/^\([0-9a-f]*\)  \(.*\)/\2\n\1/' |
			listing__awk -v op=pairs -v kind=C | LC_ALL=C sort
	) >"$2.content"
	LC_ALL=C sort -o "$2" -m "$2" "$2.content"
	rm "$2.content"
}

# listing_shift UMAP GMAP IN OUT: what a repair has to make of a listing. An id on the disk side of
# the map stays, one on its container side moves through it, any other stays. A version 2
# capability of a file whose uid moves becomes version 3 with the disk id of the container's root
# as its root id; a gid alone that moves leaves it.
listing_shift()
{
	listing__awk -v op=shift -v umap="$1" -v gmap="$2" "$3" | LC_ALL=C sort >"$4"
}

# listing_foreign UMAP GMAP FILE: paths with an owner, ACL entry or capability root id off the
# map's disk side.
listing_foreign()
{
	listing__awk -v op=foreign -v umap="$1" -v gmap="$2" "$3"
}

# listing_without PATHS IN OUT: the listing less the paths that the file PATHS names, one a line.
listing_without()
{
	if [ -s "$1" ]; then
		listing__awk -v op=without "$1" "$2" >"$3"
	else
		cp "$2" "$3"
	fi
}

# listing_changed OLD NEW: the inodes of OLD, by first name, that are gone or differ in NEW; each
# once.
listing_changed()
{
	listing__awk -v op=changed "$1" "$2" | LC_ALL=C sort
}

# listing_diff WANT GOT: nothing when two listings are equal, else the lines that differ
listing_diff()
{
	diff -a -U 0 --label want --label got "$1" "$2"
}

# listing_select BELOW OLD NEW OUT: OLD, but for the paths at or below those that the list BELOW
# names ("var/lib etc/x"), which are as in NEW
listing_select()
{
	listing__awk -v op=select -v below="$1" "$2" "$3" | LC_ALL=C sort >"$4"
}
