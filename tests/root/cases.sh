# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Cases: the state of a container on disk and what has to come of it, as fixtures/cases/ID-NAME/recipe
# (recipe.sh) and want. Sourced after recipe.sh. `want` is written by hand, and says all: an inode
# that it does not name stays as it is, to the last bit that find, getfacl and getfattr see.
#
# want, a line each; the container is as the recipe says at each of the commands:
#
#	COMMAND [WORD...] = STATUS [CODE=INODES...]
#			the command, and for check all codes that it says; for repair all that a check
#			with the same words says afterwards. A repair is undone at once.
#	say REGEX	it is in what the last command has said, blanks and line ends squeezed
#	not REGEX	it is not
#	now MODE UID:GID PATH		of the last repair: what is there now
#	acl PATH ENTRY -> ENTRY		the same for one ACL entry as getfacl -n prints it
#	cap PATH v3(ROOTID)		the same for a capability
#	gone PATH			it was removed
#	shift UMAP GMAP			the same for everything, id by id: "0:100000:65536"
#	running | stopped		from here on
#
# The word "bare" among those of a command leaves --map out.
#
# In every case: a command that only looks leaves the volume as it was, to the last byte and access
# time, and so does a repair that has nothing to do or is refused; a diff has as many changes as find
# sees afterwards; the same repair again finds nothing that it would do; undo brings the recipe back;
# and nothing of the host's has changed.

# --- looking at it ---

# case__list_in DIR FILE PREFIX: the listing, with the flags of those that the recipe flags
case__list_in()
{
	local path name

	listing_take "$1" "$2.part" || return
	if [ -z "$3" ]; then
		for path in "${CASE_FLAGGED[@]}"; do
			name=$(lsattr -d "$1/$path" | cut -d ' ' -f 1 | tr -cd ia)
			printf './%s\tF\t%s\n' "$path" "$name" >>"$2.part"
		done
	fi
	if [ -n "$3" ]; then
		sed -i "s|^\\./|./$3|; s|^\\.\t|./$3.\t|" "$2.part"
	fi
	cat "$2.part" >>"$2"
	rm "$2.part"
}

# case__seen DIR: the same where looking leaves no trace
case__seen()
{
	printf '%s\n' "$TMP/look${1#"$TMP"}"
}

# case__listing FILE: of all volumes of the case
case__listing()
{
	local name

	: >"$1"
	if [ -n "$CASE_BROKEN" ]; then
		return
	fi
	if [ "$CASE_VOLUME" = raw ]; then
		t_mount "$CASE_DIR" "$TMP/image" -o ro,noatime && case__list_in "$TMP/image" "$1" "" &&
			t_umount "$TMP/image"
	else
		case__list_in "$(case__seen "$CASE_DIR")" "$1" ""
	fi || return
	for name in "${!CASE_MOUNTS[@]}"; do
		case__list_in "$(case__seen "${CASE_MOUNTS[$name]}")" "$1" "$name:" || return
	done
	LC_ALL=C sort -o "$1" "$1"
}

case__trace()
{
	local name

	if [ "$CASE_VOLUME" = raw ]; then
		pve_trace "$CASE_DIR"
	else
		(cd "$(case__seen "$CASE_DIR")" && pve__trace)
	fi
	for name in "${!CASE_MOUNTS[@]}"; do
		(cd "$(case__seen "${CASE_MOUNTS[$name]}")" && pve__trace)
	done
}

# case__apply CHANGES BEFORE AFTER: the listing that the changes make of another
case__apply()
{
	LC_ALL=C awk -v changes="$1" -f "$T_TOP/tests/root/changes.awk" "$1" "$2" |
		LC_ALL=C sort >"$3"
}

# --- what is wanted ---

# case__as_listed VARIABLE PATH: a path of the fixture as listings have it
case__as_listed()
{
	local decoded

	case__path decoded "$2"
	decoded=${decoded//\\/\\134}
	decoded=${decoded//$'\n'/\\012}
	decoded=${decoded//$'\t'/\\011}
	if [ "$decoded" = . ]; then
		printf -v "$1" .
	else
		printf -v "$1" './%s' "$decoded"
	fi
}

# case__change LINE: "now ...", "acl ...", "cap ...", "gone ..." into the table of changes
case__change()
{
	local word a b path

	read -r word a b <<<"$1"
	case $word in
	now)
		case__as_listed path "${b#* }"
		b=${b%% *}
		printf 'now\t%s\t%s\t%s\t%s\n' "$path" "$a" "${b%:*}" "${b#*:}"
		;;
	acl)
		case__as_listed path "$a"
		printf 'acl\t%s\t%s\t%s\n' "$path" "${b%% -> *}" "${b##* -> }"
		;;
	cap)
		case__as_listed path "$a"
		printf 'cap\t%s\t%s\n' "$path" "$(case__cap "$b")"
		;;
	gone)
		case__as_listed path "$a"
		printf 'gone\t%s\n' "$path"
		;;
	esac
}

# case__ctm COMMAND WORD...: the program on the case's target
case__ctm()
{
	local command=$1 word words=() map=()
	shift

	if [ -n "$CASE_MAP" ]; then
		map=(--map "$CASE_MAP")
	fi
	for word in "$@"; do
		if [ "$word" = bare ]; then
			map=()
		else
			words+=("$word")
		fi
	done
	if [ "$command" = explain ]; then
		ctm explain "${words[@]}"
	elif [ "$command" = map ]; then
		ctm map "${map[@]}" "${CASE_TARGET[@]}" "${words[@]}"
	else
		ctm "$command" "${words[@]}" "${map[@]}" "${CASE_TARGET[@]}"
	fi
}

# case__codes NAME CODES: what the last check has said: these, each on as many inodes. CODE=* is there
# on any number, CODE=? may be there.
case__codes()
{
	local name=$1 code want=$2 got='' maybe=' '

	for code in $want; do
		case $code in
		*=\*) want=${want/"$code"/${code%=*}} ;;
		*=\?) want=${want/"$code"/} maybe+="${code%=*} " ;;
		esac
	done
	while read -r code; do
		if [[ " $want " == *" ${code%=*} "* ]]; then
			code=${code%=*}
		elif [[ $maybe == *" ${code%=*} "* ]]; then
			continue
		fi
		got+="$code "
	done < <(sed -n -E 's/^([a-z]+\.[A-Za-z]+)  ([0-9]+)  .*/\1=\2/p' "$T_OUT")
	# shellcheck disable=SC2086 # words
	t_is "$name" "$(printf '%s\n' $got | LC_ALL=C sort)" "$(printf '%s\n' $want | LC_ALL=C sort)"
}

case__runs()
{
	find "$PVE_STATE" -mindepth 2 -maxdepth 2 -type d 2>/dev/null | wc -l
}

# case__untouched NAME: nothing has changed since the last trace
case__untouched()
{
	t_is "$1" "$(case__trace)" "$case_trace"
}

# case__look COMMAND STATUS CODES WORD...
case__look()
{
	local command=$1 status=$2 codes=$3
	shift 3

	t_status "$case: $command $*" "$status" case__ctm "$command" "$@"
	if [ "$command" = check ]; then
		case__codes "$case: $command $*: what it finds" "$codes"
	fi
	case__heard
}

# What was said, in one line, for say and not.
case__heard()
{
	cat "$T_OUT" "$T_ERR" | tr -s ' \n' '  ' >"$TMP/heard"
}

# How many changes the last diff had.
case__changes()
{
	sed -n -E 's/^plan [0-9a-f]{32}  ([0-9]+) changes?$/\1/p' "$TMP/diff"
}

# case__repair STATUS CODES CHANGES SHIFT WORD...: what has to come of it, and back
case__repair()
{
	local status=$1 codes=$2 changes=$3 shift=$4 name runs n
	shift 4

	name="$case: repair${*:+ $*}"
	case__listing "$TMP/before"
	case__ctm diff "$@" >"$TMP/diff" 2>&1
	case__untouched "$name: a look changes nothing"
	if [ -n "$shift" ]; then
		# shellcheck disable=SC2086 # two maps
		listing_shift $shift "$TMP/before" "$TMP/shifted"
	else
		cp "$TMP/before" "$TMP/shifted"
	fi
	case__apply "$changes" "$TMP/shifted" "$TMP/want"
	n=$(listing_changed "$TMP/before" "$TMP/want" | wc -l)
	t_status "$name" "$status" case__ctm repair --yes "$@"
	case__heard
	if [ "$n" = 0 ]; then
		case__untouched "$name: nothing is changed"
		t_is "$name: nothing is recorded" "$(case__runs)" 0
		if [ "$status" = 4 ]; then
			t_is "$name: nor had the dry run any" "$(case__changes)" 0
			t_status "$name: what is left" 1 case__ctm check "$@"
			case__codes "$name: the codes of that" "$codes"
		fi
		return
	fi
	t_is "$name: the dry run had as many" "$(case__changes)" "$n"
	case__listing "$TMP/after"
	t_is "$name: all is as it should be" "$(listing_diff "$TMP/want" "$TMP/after")" ""
	case_trace=$(case__trace)
	t_status "$name: what is left" "$((status ? 1 : 0))" case__ctm check "$@"
	case__codes "$name: the codes of that" "$codes"
	runs=$(case__runs)
	t_status "$name: again" "$status" case__ctm repair --yes "$@"
	t_is "$name: that is no run" "$(case__runs)" "$runs"
	case__untouched "$name: and changes nothing"
	# Words that choose a volume are for undo, too.
	case " $* " in
	*' --volume '*) t_status "$name: undo" 0 case__ctm undo --yes "$1" "$2" ;;
	*) t_status "$name: undo" 0 case__ctm undo --yes ;;
	esac
	case__listing "$TMP/again"
	t_is "$name: undo brings all back" "$(listing_diff "$TMP/before" "$TMP/again")" ""
	rm -rf "$PVE_STATE"
	case_trace=$(case__trace)
}

# case__run: the command that was read, with what belongs to it
case__run()
{
	local command result status codes words line

	if [ -z "$case_command" ]; then
		return
	fi
	command=${case_command%%=*} result=${case_command#*=}
	read -r command words <<<"$command"
	# A map has "=" nowhere, so the first one ends the words.
	read -r status codes <<<"$result"
	read -r -a words <<<"$words"
	if [ "$command" = repair ]; then
		case__repair "$status" "$codes" "$TMP/changes" "$case_shift" "${words[@]}"
	else
		case__look "$command" "$status" "$codes" "${words[@]}"
	fi
	while IFS= read -r line; do
		case $line in
		'say '*) t_match "$case: $case_command: says ${line#say }" "$(cat "$TMP/heard")" "${line#say }" ;;
		'not '*) t_no_match "$case: $case_command: does not say ${line#not }" \
			"$(cat "$TMP/heard")" "${line#not }" ;;
		esac
	done <"$TMP/says"
	case_command='' case_shift=''
	: >"$TMP/changes"
	: >"$TMP/says"
}

case__start()
{
	rm -f "$TMP/ready"
	python3 - "/var/lib/lxc/$CASE_VMID/command" "$TMP/ready" <<-'END' &
		import socket, sys, time

		s = socket.socket(socket.AF_UNIX)
		s.bind("\0" + sys.argv[1])
		s.listen()
		open(sys.argv[2], "w").close()
		time.sleep(60)
	END
	case_running=$!
	for _ in {1..200}; do
		[ ! -e "$TMP/ready" ] || break
		sleep 0.02
	done
}

case__stop()
{
	if [ -n "${case_running-}" ]; then
		kill "$case_running"
		wait "$case_running" 2>/dev/null
		case_running=
	fi
}
t_defer case__stop

# case_try DIR: one case
case_try()
{
	local line host

	case=${1##*/}
	case_command='' case_shift=''
	: >"$TMP/changes"
	: >"$TMP/says"
	if ! case__build "$1/recipe"; then
		t_ok "$case: the recipe can be made" false
		return
	fi
	case_trace=$(case__trace)
	host=$(pve_trace "$TMP/out")
	while IFS= read -r line; do
		case $line in
		'' | '#'*) ;;
		'say '* | 'not '*) printf '%s\n' "$line" >>"$TMP/says" ;;
		'now '* | 'acl '* | 'cap '* | 'gone '*) case__change "$line" >>"$TMP/changes" ;;
		'shift '*) case_shift=${line#shift } ;;
		running | stopped)
			case__run
			case__"$([ "$line" = running ] && echo start || echo stop)"
			;;
		*)
			case__run
			case_command=$line
			;;
		esac
	done <"$1/want"
	case__run
	case__untouched "$case: the volume is as it was"
	t_is "$case: nothing of the host's has changed" "$(pve_trace "$TMP/out")" "$host"
}

# case_host: a pretended host in memory: the disk is shared, and each repair waits for it many times
case_host()
{
	local dir

	mkdir "$TMP/ram"
	t_mount tmpfs "$TMP/ram" -t tmpfs
	t_image ext4 "$TMP/ram/img" 96M
	t_mount "$TMP/ram/img" "$TMP/disk"
	for dir in sys tank place; do
		mkdir -p "$TMP/disk/$dir" "$TMP/$dir"
		cp -a "$TMP/$dir/." "$TMP/disk/$dir/"
		t_mount "$TMP/disk/$dir" "$TMP/$dir" --bind
	done
	# A mount of what is above all volumes, so that it is in nobody's way.
	t_mount "$TMP/disk" "$TMP/look" --bind
	mount -o remount,bind,ro,noatime "$TMP/look"
	mkdir -p "$TMP/out/log" "$TMP/sys/var/lib/lxc"
	chmod 755 "$TMP" "$TMP/sys"
	echo host >"$TMP/out/log/file"
	pve_age "$TMP/out"
}

# case_all PREFIX...: the cases whose names begin so, or of these those that CASES has
case_all()
{
	local dir prefix

	for prefix in "$@"; do
		for dir in "$T_TOP/fixtures/cases/$prefix"*/; do
			if case__chosen "$(basename "$dir")"; then
				case_try "${dir%/}"
			fi
		done
	done
}

case__chosen()
{
	local prefix

	for prefix in ${CASES-}; do
		if [[ $1 == "$prefix"* ]]; then
			return 0
		fi
	done
	[ -z "${CASES-}" ]
}
