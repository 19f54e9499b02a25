# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For scripts that stop the program dead in the middle. Sourced instead of pve.sh.
#
# The work is done by workers side by side, each with a host of its own below $TMP/mem, a file
# system in memory: fsync(2) costs nothing there, and means as much. What goes wrong they write to
# $TMP/bad; the script's tests are about that file.
#
# With CTM_LONG set the scripts try everything, else a tenth of it, and write what they did to the
# file that it names.
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"

SUPERVISOR=${CTMEND%/*}/tests/root/kill-supervisor
: "${KILL_WORKERS:=2}"
KILL_CT=9390

if [ -n "${CTM_LONG-}" ]; then
	KILL_EACH=1
else
	KILL_EACH=10
fi
# Under sanitizers everything takes five times as long.
if [ -n "${SAN-}" ]; then
	KILL_EACH=$((KILL_EACH * 5))
fi

mkdir "$TMP/mem"
mount -t tmpfs -o size=4g,mode=700 tmpfs "$TMP/mem"
t_defer t_umount "$TMP/mem"
: >"$TMP/bad"

# LeakSanitizer cannot work in a process that is traced.
supervise()
{
	ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0 "$SUPERVISOR" -s "$TMP/sys/var/lib/ctmend" "$@"
}

# kill_long TEXT...: what check-long reports
kill_long()
{
	printf '%s\n' "$@"
	if [ -n "${CTM_LONG-}" ]; then
		printf '%s\n' "$@" >>"$CTM_LONG"
	fi
}

# kill_tree DIR: the zoo, with at least twenty of everything that a run does
kill_tree()
{
	local dir=$1 i file

	zoo_healthy "$dir" && zoo_damage "$dir" || return
	: >"$dir/var/cache/apt/pkgcache.bin"
	mkdir -p "$dir/zoo/more" || return
	for ((i = 0; i < 14; i++)); do
		file=$dir/zoo/more/$i
		echo "$i" >"$file" && chown 33:42 "$file" && chmod $((i % 2 ? 6755 : 4711)) "$file" &&
			setfacl -m "u:$i:r-x,m::r-x" "$file" &&
			setfattr -n security.capability -v "$(zoo_capability $((2 + i % 2)) 7)" \
				"$file" || return
	done
	for ((i = 0; i < 16; i++)); do
		file=$dir/var/lib/apt/lists/partial/more$i
		echo "$i" >"$file" && chown "42:$i" "$file" || return
	done
	file=$dir/zoo
	for ((i = 0; i < 40; i++)); do
		file+=/deep
		mkdir "$file" && chown 100000:100000 "$file" || return
	done
	: >"$file/last"
}

# kill_want BEFORE AFTER: the listing that a repair of kill_tree has to come to
kill_want()
{
	{
		zoo_removed
		printf './var/lib/apt/lists/partial/more%s\n' {0..15}
	} >"$2.removed"
	listing_without "$2.removed" "$1" "$2.less"
	listing_shift 0:100000:65536 0:100000:65536 "$2.less" "$2"
	rm "$2.removed" "$2.less"
}

# kill_host DIR: a host of its own for a worker, who calls this in a subshell: from there on $TMP is
# that directory
kill_host()
{
	TMP=$1
	mkdir -p "$TMP/sys/etc/pve/lxc" "$TMP/sys/run/lock/lxc" "$TMP/tank/images"
	printf 'dir: tank\n\tpath %s\n\tcontent rootdir,images\n' "$TMP/tank" \
		>"$TMP/sys/etc/pve/storage.cfg"
}

# kill_side_by_side COMMAND WORD...: COMMAND K N WORD..., as workers K = 0 to N-1 at the same time
kill_side_by_side()
{
	local k command=$1
	local -a pids=()
	shift

	for ((k = 0; k < KILL_WORKERS; k++)); do
		(
			kill_host "$TMP/mem/$k" && "$command" "$k" "$KILL_WORKERS" "$@"
		) </dev/null &
		pids+=($!)
	done
	wait "${pids[@]}"
}

# kill_bad TEXT FILE...: tells what went wrong, with the head of the files, to the script above
kill_bad()
{
	local bad=${TMP%/mem/*}/bad

	{
		printf '%s\n' "$1"
		shift
		head -n 12 -- "$@" | sed 's/^/    /'
	} >>"$bad"
}

# --- a worker's volume: an image, a block device or a directory ------------------------------------

# vol_new KIND: KILL_TARGET and KILL_OPTIONS name it on the command line
vol_new()
{
	VOL_KIND=$1
	KILL_TARGET=$KILL_CT
	KILL_OPTIONS=()
	case $VOL_KIND in
	image)
		VOL=$(pve_image $KILL_CT)
		pve_ct $KILL_CT "tank:$KILL_CT/vm-$KILL_CT-disk-0.raw"
		mkdir -p "${VOL%/*}"
		;;
	device)
		truncate -s 16M "$TMP/backing"
		VOL=$(losetup --find --show "$TMP/backing")
		KILL_TARGET=$VOL
		KILL_OPTIONS=(--map 100000)
		;;
	directory)
		VOL=$(pve_dir $KILL_CT)
		pve_ct $KILL_CT "tank:$KILL_CT/subvol-$KILL_CT-disk-0.subvol"
		;;
	esac
}

vol_end()
{
	case $VOL_KIND in
	image) rm -f "$VOL" ;;
	device) losetup -d "$VOL" && rm "$TMP/backing" ;;
	directory) t_umount "$TMP/tank" && rm -f "$TMP/backing" ;;
	esac
}

# vol_idle: waits until nothing of a killed program holds it; what it had mounted and attached goes
# with the process, but the kernel may take a moment
vol_idle()
{
	local i

	for ((i = 0; i < 500; i++)); do
		case $VOL_KIND in
		image)
			if ! grep -qsxF "$VOL" /sys/block/loop*/loop/backing_file; then
				return 0
			fi
			;;
		device)
			if python3 -c 'import os, sys
os.open(sys.argv[1], os.O_RDONLY | os.O_EXCL)' "$VOL" 2>/dev/null; then
				return 0
			fi
			;;
		directory) return 0 ;;
		esac
		sleep 0.01
	done
	return 1
}

# vol_put FILE: the volume is as the image FILE says
vol_put()
{
	case $VOL_KIND in
	image) cp --sparse=always "$1" "$VOL" ;;
	device) dd if="$1" of="$VOL" bs=1M status=none && blockdev --flushbufs "$VOL" ;;
	directory)
		t_umount "$TMP/tank" && cp --sparse=always "$1" "$TMP/backing" &&
			mount "$TMP/backing" "$TMP/tank"
		;;
	esac
}

# vol_get FILE: keeps it
vol_get()
{
	case $VOL_KIND in
	image) cp --sparse=always "$VOL" "$1" ;;
	device) blockdev --flushbufs "$VOL" && cp --sparse=always "$VOL" "$1" ;;
	directory)
		t_umount "$TMP/tank" && cp --sparse=always "$TMP/backing" "$1" &&
			mount "$TMP/backing" "$TMP/tank"
		;;
	esac
}

# vol_make [OPTION...]: a damaged one, kept as $TMP/pristine, with the listings $TMP/before and $TMP/want:
# what it is, and what a repair has to make of it. The options go to mkfs.
vol_make()
{
	local top=$TMP/making

	t_image ext4 "$TMP/pristine" 16M -E root_owner=100000:100000 "$@" && mkdir -p "$top" &&
		mount "$TMP/pristine" "$top" || return
	if [ "$VOL_KIND" = directory ]; then
		mkdir -p "$top${VOL#"$TMP/tank"}" && chown 100000:100000 "$top${VOL#"$TMP/tank"}" &&
			kill_tree "$top${VOL#"$TMP/tank"}"
	else
		kill_tree "$top"
	fi && umount "$top" && vol_put "$TMP/pristine" &&
		pve_listing "$VOL" "$TMP/before" && kill_want "$TMP/before" "$TMP/want"
}

# --- the worker's records ---------------------------------------------------------------------------

state_clear()
{
	rm -rf "$TMP/sys/var" "$TMP/sys/run/ctmend"
}

# state_get DIR, state_put DIR
state_get()
{
	rm -rf "$1"
	mkdir "$1"
	if [ -d "$TMP/sys/var" ]; then
		cp -a "$TMP/sys/var" "$1/"
	fi
}

state_put()
{
	state_clear
	cp -a "$1/." "$TMP/sys/"
}

# state_litter: what should not be there: halves of records, notes of what was activated, loop devices
state_litter()
{
	find "$TMP/sys" -name '.new-*'
	find "$TMP/sys/run/ctmend" -mindepth 1 ! -path '*/lock' ! -path '*/lock/*' 2>/dev/null
	if ! vol_idle; then
		echo "$VOL is in use"
	fi
}

# kill_listing: of the volume, to $TMP/got. Where a crash has left the journal dirty and the program had
# nothing to do, it is brought in first, as the container's start would.
kill_listing()
{
	rm -f "$TMP/got"
	if [ "$VOL_KIND" = image ] && dumpe2fs -h "$VOL" 2>/dev/null | grep -q needs_recovery; then
		mkdir -p "$TMP/replay" && mount -o noatime "$VOL" "$TMP/replay" &&
			t_umount "$TMP/replay"
	fi
	pve_listing "$VOL" "$TMP/got"
}

# kill_run STATUSES WHAT WANT COMMAND [OPTION...]: the program ends with one of the statuses
# ("0" or "0|3") and leaves the volume as the listing WANT says, and nothing else
kill_run()
{
	local statuses=$1 what=$2 want=$3 command=$4 status litter
	shift 4

	ctm "$command" --yes "$@" "$KILL_TARGET" >"$TMP/out" 2>&1 </dev/null
	status=$?
	if [[ "|$statuses|" != *"|$status|"* ]]; then
		kill_bad "$what: $command: exit status $status" "$TMP/out"
		return 1
	fi
	litter=$(state_litter)
	if [ -n "$litter" ]; then
		kill_bad "$what: $command leaves: $litter"
	fi
	if ! kill_listing; then
		kill_bad "$what: $command: no listing" "$TMP/out"
		return 1
	fi
	if ! listing_diff "$want" "$TMP/got" >"$TMP/diff"; then
		kill_bad "$what: $command: the listing differs" "$TMP/diff" "$TMP/out"
		return 1
	fi
}

# kill_both WHAT FIRST REPAIR-OPTION...: from the state that a killed program has left: repair, and
# from the same state again undo. FIRST is the command that was killed.
kill_both()
{
	local what=$1
	shift

	vol_get "$TMP/killed.image"
	state_get "$TMP/killed.state"
	kill_run 0 "$what" "$TMP/want" repair "$@" "${KILL_OPTIONS[@]}"
	vol_put "$TMP/killed.image"
	state_put "$TMP/killed.state"
	# 3: there is no record, or it is taken back already
	kill_run '0|3' "$what" "$TMP/before" undo "${KILL_OPTIONS[@]}"
}
