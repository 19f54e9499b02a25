# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# For scripts that do something while a report is being made. Sourced after lib.sh; descriptor 8 is
# taken: what the script starts between hold and go_on closes it (8>&-).

mkfifo "$TMP/errors"
exec 8<>"$TMP/errors"

# hold WORD...: the program is kept where it has just attached the volume, until go_on: it says so
# on its standard error, a pipe that is full
hold()
{
	local i

	perl -MFcntl -e 'sysopen(my $p, $ARGV[0], O_WRONLY | O_NONBLOCK) or die;
		for my $n (4096, 1) { 1 while syswrite($p, "." x $n); }' "$TMP/errors" 8>&-
	CTM_DEBUG=attach "$CTMEND" --sysroot "$TMP/sys" "$@" >"$TMP/report" 2>&8 8>&- &
	held=$!
	for ((i = 0; i < 200; i++)); do
		if grep -q pipe_write "/proc/$held/wchan" 2>/dev/null; then
			return 0
		fi
		sleep 0.05
	done
	echo "it is not held: $(cat "/proc/$held/wchan")"
}

# go_on: its exit status is in $status, what it has said in $said
go_on()
{
	cat <&8 >"$TMP/said" 8>&- &
	local reader=$!
	wait "$held"
	# shellcheck disable=SC2034 # for the scripts
	status=$?
	sleep 0.1
	kill "$reader"
	wait "$reader" 2>/dev/null
	# shellcheck disable=SC2034
	said=$(tr -d . <"$TMP/said")
}
