# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034
#
# The state of a container on disk, from a file "recipe" (fixtures/cases). Sourced after pve.sh and
# zoo.sh.
#
# recipe, a line each; around it lies a healthy tree of 300 inodes, of which it changes parts:
#
#	tree UID:GID		owner of the healthy tree (100000:100000)
#	volume dir|raw|lxc|path	where it is: a directory or an image of Proxmox VE's (dir), the rootfs
#				of a plain container, a directory that is named with its path
#	option TEXT		behind the volume in the configuration: "ro=1"
#	privileged		no "unprivileged: 1"
#	config LINE		further lines of the configuration, those of snapshots too;
#				@ROOT@ is the rootfs
#	map SPEC		--map of volume path
#	also mpN UID:GID	a second volume with a healthy tree of this owner
#	neighbour ID BASE	another container, with its map
#	above MODE		mode of the directory above the rootfs
#	mkfs OPTION...		of the image
#	broken OFFSET		4096 bytes of the image are overwritten
#	MODE UID:GID PATH	a file
#	TYPE[MODE] UID:GID PATH	a directory (d), symbolic link (l), FIFO (p), socket (s); a device is
#				cMAJOR,MINOR (character) or bMAJOR,MINOR MODE UID:GID PATH
#	    ... -> TARGET	of a link; @OUT@ is a directory of the host's
#	    ... cap=v2 | cap=v3(ROOTID)		cap_net_raw=ep
#	link OLD NEW		a second name
#	acl SPEC PATH		setfacl -m
#	xattr NAME=VALUE PATH
#	flag +i PATH		chattr; volume raw
#	content PATH TEXT
#	owner UID:GID PATTERN	of all paths that match, as find -path has it
#
# Paths have backslash escapes as printf %b has them; a blank is \040. A path of a second volume begins
# with its name: "mp0:etc/x".

CASE_VMID=115

# What the name of a path is in a recipe -> as it is
case__path()
{
	printf -v "$1" '%b' "$2"
}

# --- the tree ---

# case__healthy OWNER: a healthy tree of this owner, made once; $healthy is its place
case__healthy()
{
	healthy=$TMP/healthy-$1
	if [ -d "$healthy" ]; then
		return
	fi
	mkdir -p "$healthy"/{etc,home,opt,root,srv,tmp,usr/{bin,lib,sbin,local,share/doc}} \
		"$healthy"/var/{lib/{dpkg/{info,updates},apt/lists/partial},log,mail,www,lock,run} \
		"$healthy"/var/{cache/apt/archives/partial,backups} &&
		touch "$healthy/usr/share/doc/"{1..200} "$healthy/usr/lib/"{1..50} \
			"$healthy/var/lib/dpkg/status" "$healthy/etc/passwd" \
			"$healthy/var/lib/dpkg/info/"{1..20} &&
		chmod 1777 "$healthy/tmp" && chown -R "$1" "$healthy"
}

# case__parents PATH: the directories above it, as the healthy tree has them
case__parents()
{
	local dir=${1%/*}

	if [ "$dir" = "$1" ] || [ -e "$dir" ]; then
		return
	fi
	case__parents "$dir" && mkdir "$dir" && chown "$case_tree" "$dir"
}

# case__inode TYPE+MODE OWNER PATH [TARGET]
case__inode()
{
	local kind=$1 owner=$2 path=$3

	case__parents "$path" || return
	case $kind in
	d*) mkdir -p "$path" ;;
	l*) ln -s "${4//@OUT@/$TMP/out}" "$path" ;;
	p*) mkfifo "$path" ;;
	s*) python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$path" ;;
	[bc]*) IFS=, read -r -a device <<<"${kind:1}" && mknod "$path" "${kind:0:1}" "${device[@]}" ;;
	*) : >>"$path" ;;
	esac && chown -h "$owner" "$path"
}

# case__line WORD...: a line of the recipe that makes something, in the volume it belongs to
case__line()
{
	local line=$1 first owner rest path target cap mode

	read -r first owner rest <<<"$line"
	case $first in
	link | acl | xattr | flag | content | owner)
		case__more "$first" "$owner" "$rest"
		return
		;;
	[bc][0-9]*,*)
		mode=$owner
		read -r owner rest <<<"$rest"
		;;
	[dps]*) mode=${first:1} ;;
	l) mode='' ;;
	*) mode=$first ;;
	esac
	target='' cap=''
	if [[ $rest == *' -> '* ]]; then
		target=${rest#* -> } rest=${rest%% -> *}
	fi
	if [[ $rest == *' cap='* ]]; then
		cap=${rest#* cap=} rest=${rest%% cap=*}
	fi
	case__path path "$rest"
	case__inode "$first" "$owner" "$path" "$target" || return
	if [ -n "$cap" ]; then
		setfattr -n security.capability -v "$(case__cap "$cap")" "$path" || return
	fi
	if [ -n "$mode" ]; then
		chmod "$mode" "$path"
	fi
}

case__cap()
{
	local root=${1#v3(}

	if [ "$1" = v2 ]; then
		zoo_capability 2
	else
		zoo_capability 3 "${root%)}"
	fi
}

# The other lines of a recipe: KIND FIRST-WORD REST
case__more()
{
	local path

	case__path path "$3"
	case $1 in
	link) case__parents "$path" && ln "$2" "$path" ;;
	acl) setfacl -m "$2" "$path" ;;
	xattr) setfattr -n "${2%%=*}" -v "${2#*=}" "$path" ;;
	content) printf '%b' "$3" >"$2" ;;
	owner) find . -path "./$3" -exec chown -h "$2" {} + ;;
	flag) chattr "$2" "$path" ;;
	esac
}

# --- from the recipe to a container ---

# case__read RECIPE: the lines that say how it is stored; those of the tree are left in case_lines
case__read()
{
	local word rest

	case_tree=100000:100000 CASE_VOLUME=dir case_option='' case_flag='unprivileged: 1'
	CASE_MAP='' case_above='' CASE_BROKEN=
	case_neighbour=()
	case_config=() case_lines=() CASE_FLAGGED=() case_also=() case_mkfs=()
	while read -r word rest; do
		case $word in
		'' | '#'*) ;;
		tree) case_tree=$rest ;;
		volume) CASE_VOLUME=$rest ;;
		option) case_option=,$rest ;;
		privileged) case_flag= ;;
		config) case_config+=("$rest") ;;
		map) CASE_MAP=$rest ;;
		also) case_also+=("$rest") ;;
		neighbour) read -r -a case_neighbour <<<"$rest" ;;
		above) case_above=$rest ;;
		mkfs) read -r -a case_mkfs <<<"$rest" ;;
		broken) CASE_BROKEN=$rest ;;
		*) case_lines+=("$word $rest") ;;
		esac
	done <"$1"
}

# case__fill DIR OWNER PREFIX: the healthy tree, and the lines of the recipe for this volume
case__fill()
{
	local line

	case__healthy "$2"
	cp -a "$healthy/." "$1/" || return
	for line in "${case_lines[@]}"; do
		if [[ $line =~ ' mp'[0-9]: ]]; then
			[ -n "$3" ] || continue
			line=${line/ $3/ }
		elif [ -n "$3" ] || [[ $line == 'flag '* ]]; then
			continue
		fi
		if ! (cd "$1" && case__line "$line"); then
			printf '  recipe: %s\n' "$line"
			return 1
		fi
	done
	pve_age "$1"
	for line in "${case_lines[@]}"; do
		if [[ $line == 'flag '* ]] && [ -z "$3" ]; then
			(cd "$1" && case__line "$line") || return
			CASE_FLAGGED+=("${line##* }")
		fi
	done
}

case__conf()
{
	local line

	case $CASE_VOLUME in
	path) return ;;
	lxc) printf '%s\n' "lxc.rootfs.path = dir:$CASE_DIR" ;;
	*)
		printf '%s\n' 'arch: amd64' 'ostype: debian' "rootfs: $1,size=1G$case_option"
		[ -z "$case_flag" ] || printf '%s\n' "$case_flag"
		;;
	esac
	for line in "${case_config[@]}"; do
		printf '%s\n' "${line//@ROOT@/$CASE_DIR}"
	done
}

# case__build RECIPE: $CASE_DIR is the directory of the volume or its image, $CASE_TARGET what names
# it to the program
case__build()
{
	local images=$TMP/tank/images/$CASE_VMID also name n=0

	case__read "$1"
	rm -rf --one-file-system "$TMP"/{tank/images,sys/var,sys/etc/pve/lxc,place/rootfs}
	mkdir -p "$images" "$TMP"/sys/{etc/pve/lxc,var/lib/lxc}
	CASE_TARGET=("$CASE_VMID")
	declare -gA CASE_MOUNTS=()
	case $CASE_VOLUME in
	dir)
		CASE_DIR=$images/subvol-$CASE_VMID-disk-0.subvol
		case__conf "tank:$CASE_VMID/${CASE_DIR##*/}" >"$TMP/sys/etc/pve/lxc/$CASE_VMID.conf"
		;;
	raw)
		CASE_DIR=$images/vm-$CASE_VMID-disk-0.raw
		case__conf "tank:$CASE_VMID/${CASE_DIR##*/}" >"$TMP/sys/etc/pve/lxc/$CASE_VMID.conf"
		;;
	lxc)
		CASE_DIR=$TMP/sys/var/lib/lxc/router/rootfs
		CASE_TARGET=(router)
		mkdir -p "$CASE_DIR"
		case__conf >"${CASE_DIR%/*}/config"
		;;
	path)
		CASE_DIR=$TMP/place/rootfs
		CASE_TARGET=("$CASE_DIR")
		;;
	esac
	if [ -n "${case_neighbour-}" ]; then
		name=${case_neighbour[0]}
		pve_ct "$name" "tank:$name/subvol-$name-disk-0.subvol" \
			"lxc.idmap: u 0 ${case_neighbour[1]} 65536" \
			"lxc.idmap: g 0 ${case_neighbour[1]} 65536"
	fi
	for also in "${case_also[@]}"; do
		n=$((n + 1))
		name=${also%% *}
		CASE_MOUNTS[$name]=$images/subvol-$CASE_VMID-disk-$n.subvol
		mkdir "${CASE_MOUNTS[$name]}"
		case__fill "${CASE_MOUNTS[$name]}" "${also#* }" "$name:" || return
	done
	if [ "$CASE_VOLUME" != raw ]; then
		mkdir -p "$CASE_DIR" && case__fill "$CASE_DIR" "$case_tree" ""
	else
		t_image ext4 "$CASE_DIR" 16M -E "root_owner=$case_tree" "${case_mkfs[@]}" &&
			t_mount "$CASE_DIR" "$TMP/in" && case__fill "$TMP/in" "$case_tree" "" &&
			t_umount "$TMP/in"
	fi || return
	if [ -n "$case_above" ]; then
		chmod "$case_above" "${CASE_DIR%/*}"
	fi
	if [ -n "$CASE_BROKEN" ]; then
		dd if=/dev/zero of="$CASE_DIR" bs=4096 count=1 seek="$CASE_BROKEN" oflag=seek_bytes \
			conv=notrunc status=none
	fi
}
