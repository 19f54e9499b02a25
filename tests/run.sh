#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Runs parts of the test suite and adds up what they say; the Makefile builds the programs first.
#
#   tests/run.sh PART...     PART: unit, fuzz, cli, root, man, install
#
# Environment: BUILD (build directory), SAN (its sanitizers), T (names; only these), UPDATE (rewrite
# goldens), REQUIRE_ROOT_TESTS (a skip fails the run; default 1 for root), TEST_TIMEOUT (seconds for
# one program or script), TEST_JOBS (how many of them run at the same time; default: one for each
# processor), TMPDIR.
#
# A script that says "# Runs alone: REASON" runs after the others of its part, with nothing beside it.
#
# On a Proxmox VE host nothing is installed for the tests (scripts/deps.sh), so what needs a tool
# that is not there is skipped; and scripts of tests/root, which mount and start things beside the
# host's own, run only when T names them. Skips are no failure there by default.
#
# The last line is "N passed, N failed, N skipped". The exit status is 0 when nothing failed, and
# nothing was skipped where that counts.
set -u -o pipefail

# Nothing that a test leaves running may keep make waiting for its jobserver.
unset MAKEFLAGS MFLAGS MAKELEVEL
for fd in "/proc/$$/fd/"*; do
	fd=${fd##*/}
	if [ "$fd" -gt 2 ] && [ "$fd" -lt 255 ]; then
		eval "exec $fd>&-"
	fi
done

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
. tests/leftovers.sh
. scripts/pve-host.sh

BUILD=${BUILD:-build}
SAN=${SAN-}
T=${T-}
TEST_TIMEOUT=${TEST_TIMEOUT:-300}
TEST_JOBS=${TEST_JOBS:-$(nproc)}
if [ "$(id -u)" = 0 ]; then
	is_root=1
else
	is_root=0
fi
on_pve=$(pve_host "${CTMEND_DEPS_ROOT-}") || on_pve=
if [ -z "$on_pve" ]; then
	REQUIRE_ROOT_TESTS=${REQUIRE_ROOT_TESTS:-$is_root}
else
	REQUIRE_ROOT_TESTS=${REQUIRE_ROOT_TESTS:-0}
fi

case $BUILD in
/*) build=$BUILD ;;
*) build=$top/$BUILD ;;
esac
export CTMEND=$build/ctmend
# Programs under test find no colours, no user's locale, no other time zone and no variables of
# make.
export LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1
unset CDPATH

# All scratch directories of this run are below one; what is left of it in the end is a failure.
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ctmend-check.XXXXXX") || exit 1
# A test may read files here as another user.
chmod 711 "$scratch"
export CTM_SCRATCH=$scratch
results=$scratch/results
: >"$results"
# what the jobs that run now say, and their results
mkdir "$scratch/jobs"

# Reports of sanitizers go to files: the exit status of a process that a test expects to fail, and
# of Criterion's workers, says nothing about them. Processes that gave up their privileges write
# there too.
if [ -n "$SAN" ]; then
	mkdir -m 1777 "$scratch/san"
	export ASAN_OPTIONS="log_path=$scratch/san/asan:detect_leaks=1:strict_string_checks=1"
	ASAN_OPTIONS+=":detect_stack_use_after_return=1:allocator_may_return_null=1"
	export UBSAN_OPTIONS="log_path=$scratch/san/ubsan:print_stacktrace=1"
	export TSAN_OPTIONS="log_path=$scratch/san/tsan"
	export LSAN_OPTIONS="log_path=$scratch/san/lsan"
fi

# The jobs that run now: process and "PART NAME".
declare -A running=()

# stop_jobs: end what runs. timeout(1) hands the signal on to the whole group of its command.
stop_jobs()
{
	local pid child children

	for pid in "${!running[@]}"; do
		children=()
		read -r -a children 2>/dev/null <"/proc/$pid/task/$pid/children"
		for child in "${children[@]}"; do
			kill "$child" 2>/dev/null
		done
	done
	wait
}

finish()
{
	stop_jobs
	if [ "$is_root" = 1 ]; then
		remove_leftovers "$scratch"
	fi
	rm -rf --one-file-system "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# fresh_logs PART: an empty directory for the logs of a part. Each has its own, so that two parts
# may run at the same time in one build directory.
fresh_logs()
{
	logs=$build/test-logs/$1
	rm -rf "$logs"
	mkdir -p "$logs"
}

# result VERDICT PART NAME [REASON]: VERDICT is ok, not-ok or skip
result()
{
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4-}" >>"$results"
}

# selected NAME: is it one of T?
selected()
{
	local want

	if [ -z "$T" ]; then
		return 0
	fi
	for want in $T; do
		case $1 in
		"$want" | *-"$want" | "$want"-* | test_"$want" | fuzz_"$want") return 0 ;;
		esac
	done
	return 1
}

# say WHAT RESULTS FROM SECONDS: one line about what RESULTS has from that line on
say()
{
	awk -F '\t' -v what="$1" -v from="$3" -v seconds="$4" '
		NR > from { n[$1]++ }
		END {
			printf "%-40s %4d ok", what, n["ok"]
			if (n["not-ok"]) printf ", %d FAILED", n["not-ok"]
			if (n["skip"]) printf ", %d skipped", n["skip"]
			if (seconds != "") printf "%5d s", seconds
			printf "\n"
		}' "$2"
}

# limited COMMAND...: ends it after $TEST_TIMEOUT seconds; it has 20 more to clean up. The shell lets
# its background jobs ignore SIGINT, which a script could not undo.
limited()
{
	env --default-signal=INT,QUIT timeout -k 20 "$TEST_TIMEOUT" "$@" </dev/null
}

# job PART NAME: one program or script, in a process of its own
job()
{
	local part=$1 name=$2

	results=$scratch/jobs/$part-$name
	: >"$results"
	SECONDS=0
	"job_$part" "$name"
	say "$part $name" "$results" 0 "$SECONDS"
}

# reap: wait for a job; what it said is shown and its results are added
reap()
{
	local pid name

	wait -n -p pid "${!running[@]}"
	name=${running[$pid]}
	unset "running[$pid]"
	cat "$scratch/jobs/$name.out"
	cat "$scratch/jobs/$name" >>"$results"
	rm "$scratch/jobs/$name" "$scratch/jobs/$name.out"
}

# run_jobs N PART NAME...: N of them at the same time
run_jobs()
{
	local n=$1 part=$2 name
	shift 2

	for name in "$@"; do
		if [ ${#running[@]} -ge "$n" ]; then
			reap
		fi
		job "$part" "$name" >"$scratch/jobs/$part-$name.out" 2>&1 &
		running[$!]=$part-$name
	done
	while [ ${#running[@]} -gt 0 ]; do
		reap
	done
}

# run_all PART FILE...: the selected ones of a part, those that run alone at the end
run_all()
{
	local part=$1 file name
	local -a together=() alone=()
	shift

	for file in "$@"; do
		name=$(basename "${file%.*}")
		if [ ! -e "$file" ] || ! selected "$name"; then
			continue
		fi
		if grep -q '^# Runs alone: ' "$file"; then
			alone+=("$name")
		else
			together+=("$name")
		fi
	done
	run_jobs "$TEST_JOBS" "$part" "${together[@]}"
	run_jobs 1 "$part" "${alone[@]}"
}

# collect PART NAME STATUS LOG: read the lines "ok NAME", "not ok NAME", "skip NAME # REASON" and
# the closing plan "1..N" of a script. A script that ends without its plan, or with another number
# of lines, has died on the way.
collect()
{
	local part=$1 name=$2 status=$3 log=$4 line n=0 plan=-1

	while IFS= read -r line; do
		case $line in
		"ok "*) result ok "$part" "$name: ${line#ok }" ;;
		"not ok "*) result not-ok "$part" "$name: ${line#not ok }" "see $log" ;;
		"skip "*)
			line=${line#skip }
			result skip "$part" "$name: ${line%% # *}" "${line#* # }"
			;;
		1..[0-9]*)
			plan=${line#1..}
			continue
			;;
		*) continue ;;
		esac
		n=$((n + 1))
	done <"$log"
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		result not-ok "$part" "$name" "still running after $TEST_TIMEOUT s, see $log"
	elif [ "$plan" != "$n" ]; then
		result not-ok "$part" "$name" "ended early with status $status, see $log"
	elif [ "$status" != 0 ] && ! grep -q '^not ok ' "$log"; then
		result not-ok "$part" "$name" "exit status $status, see $log"
	fi
	if [ "$status" != 0 ] || grep -q '^not ok ' "$log"; then
		sed 's/^/    /' "$log" | tail -n 60
	fi
}

job_unit()
{
	local name=$1 bin=$build/tests/$1 tap=$logs/$1.tap

	if [ ! -e "$bin" ] && ! pkg-config --exists criterion 2>/dev/null; then
		result skip unit "$name" "needs libcriterion-dev"
		return
	fi
	mkdir "$scratch/$name"
	TMPDIR=$scratch/$name limited "$bin" --short-filename --tap="$tap" >"$logs/$name.log" 2>&1
	collect_criterion "$name" "$?" "$tap"
	rm -rf --one-file-system "${scratch:?}/$name"
}

# collect_criterion NAME STATUS TAP: Criterion prints "1..N" first and "ok - SUITE::TEST" for each;
# the lines of a failure's text are indented.
collect_criterion()
{
	local name=$1 status=$2 tap=$3 line test n=0 plan=-1 failed=0

	if [ ! -e "$tap" ]; then
		result not-ok unit "$name" \
			"ended with status $status before its report, see $logs/$name.log"
		sed 's/^/    /' "$logs/$name.log"
		return
	fi
	while IFS= read -r line; do
		case $line in
		1..[0-9]*)
			plan=${line#1..}
			continue
			;;
		"ok - "*" # SKIP"*)
			test=${line#ok - }
			result skip unit "${test%%  # SKIP*}" "${line#* # SKIP }"
			;;
		"ok - "*) result ok unit "$(criterion_name "${line#ok - }")" ;;
		"not ok - "*)
			result not-ok unit "$(criterion_name "${line#not ok - }")" "see $tap"
			failed=1
			;;
		*) continue ;;
		esac
		n=$((n + 1))
	done <"$tap"
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		result not-ok unit "$name" "still running after $TEST_TIMEOUT s"
		failed=2
	elif [ "$plan" != "$n" ]; then
		result not-ok unit "$name" "ended early with status $status: $n of $plan tests"
		failed=2
	elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
		result not-ok unit "$name" "exit status $status, see $logs/$name.log"
		failed=2
	fi
	if [ "$failed" != 0 ]; then
		awk '/^not ok/ { on = 1 } /^ok/ { on = 0 } on { print "    " $0 }' "$tap"
	fi
	if [ "$failed" = 2 ]; then
		sed 's/^/    /' "$logs/$name.log" | tail -n 40
	fi
}

# "suite::test (0.00s)", "suite::test unexpected signal after file.c:3", "suite::test timed out
# (1.01s)"
criterion_name()
{
	sed 's/  *([0-9.]*s)$//' <<<"$1"
}

# The inputs of fixtures/fuzz/NAME through fuzz_NAME.
job_fuzz()
{
	local name=$1 log=$logs/$1.log

	limited "$build/tests/fuzz/$name" "fixtures/fuzz/${name#fuzz_}" >"$log" 2>&1
	collect fuzz "$name" "$?" "$log"
}

job_cli()
{
	local name=$1 log=$logs/$1.log

	limited tests/cli/run "$name" >"$log" 2>&1
	collect cli "$name" "$?" "$log"
}

job_root()
{
	local name=$1 log=$logs/$1.log

	if [ "$is_root" = 0 ]; then
		result skip root "$name" "needs root"
		return
	fi
	if [ -n "$on_pve" ] && [ -z "$T" ]; then
		result skip root "$name" "this is a Proxmox VE host ($on_pve)"
		return
	fi
	limited bash "tests/root/$name.sh" >"$log" 2>&1
	collect root "$name" "$?" "$log"
}

# nothing_left: what all scripts of tests/root have left together
nothing_left()
{
	local found title='no mount, loop device or directory is left'

	found=$(leftovers "$scratch")
	found+=$(find "$scratch" -mindepth 1 -maxdepth 1 ! -name san ! -name results ! -name jobs \
		-printf '\ndirectory %p')
	if [ -z "$found" ]; then
		result ok root "$title"
		echo "root: $title"
	else
		result not-ok root "$title" "${found//$'\n'/; }"
		echo "root: FAILED: $title"
	fi
}

# The pages as they are installed, with their paths filled in; tests/lint.sh has those in the sources.
part_man()
{
	local page name before log tool dest=$scratch/pages

	if ! make -s "DESTDIR=$dest" prefix=/usr install-man >"$logs/make.log" 2>&1; then
		result not-ok man "install-man" "see $logs/make.log"
	fi
	for page in "$dest"/usr/share/man/man[1-8]/*; do
		if [ ! -e "$page" ]; then
			continue
		fi
		name=$(basename "$page")
		log=$logs/$name.log
		before=$(wc -l <"$results")
		for tool in "mandoc -T lint -W style" "groff -ww -mandoc -z -Tutf8"; do
			if ! command -v "${tool%% *}" >/dev/null; then
				result skip man "$name: ${tool%% *}" "${tool%% *} is not installed"
				continue
			fi
			# Which other pages are installed is the machine's affair.
			# shellcheck disable=SC2086 # words of a command
			$tool "$page" 2>&1 |
				grep -vE 'mandoc\.db|referenced manual not found' >"$log"
			# 1 is a matter of style, such as a page that is not installed
			if [ "${PIPESTATUS[0]}" -le 1 ] && [ ! -s "$log" ]; then
				result ok man "$name: ${tool%% *}"
			else
				result not-ok man "$name: ${tool%% *}"
				sed 's/^/    /' "$log"
			fi
		done
		if grep -n '@[a-z]*@' "$page" >"$log"; then
			result not-ok man "$name: every path is filled in"
			sed 's/^/    /' "$log"
		else
			result ok man "$name: every path is filled in"
		fi
		say "man $name" "$results" "$before" ""
	done
	rm -rf "$dest"
}

# verdict NAME COMMAND...: a test of part_install that passes when the command succeeds; what it
# prints goes to the log
verdict()
{
	local name=$1
	shift

	echo "--- $name" >>"$logs/log"
	if "$@" >>"$logs/log" 2>&1 </dev/null; then
		result ok install "$name"
	else
		result not-ok install "$name" "see $logs/log"
		sed -n "/^--- $name/,\$p" "$logs/log" | tail -n 40 | sed 's/^/    /'
	fi
}

part_install()
{
	local before

	before=$(wc -l <"$results")
	install_and_remove "$scratch/install"
	say install "$results" "$before" ""
	# A sanitizer would find nothing else in it.
	if [ -n "$SAN" ]; then
		return
	fi
	before=$(wc -l <"$results")
	if command -v git >/dev/null && command -v xz >/dev/null; then
		pack_and_build "$scratch/dist"
	else
		result skip install "make dist" "needs git and xz"
	fi
	say "install dist" "$results" "$before" ""
}

# Install into an empty directory, run the program from there, uninstall: nothing may be left. What
# was built is installed (-o all), whatever flags it was built with.
install_and_remove()
{
	local dest=$1 make=(make -o all "BUILD=$BUILD" "SAN=$SAN" prefix=/usr "DESTDIR=$1")

	verdict "install" "${make[@]}" install
	verdict "run" "$dest/usr/sbin/ctmend" --version
	verdict "the hook script names the program" \
		grep -qx 'program=/usr/sbin/ctmend' "$dest/usr/share/ctmend/hookscript"
	verdict "and can be executed" test -x "$dest/usr/share/ctmend/hookscript"
	verdict "so does the example for sudo" \
		grep -q '^	/usr/sbin/ctmend ' "$dest/usr/share/doc/ctmend/examples/ctmend.sudoers"
	verdict "no text has a path that is not filled in" test -z \
		"$(grep -rIlE '@[a-z]+dir@' "$dest")"
	verdict "uninstall" "${make[@]}" uninstall
	verdict "uninstall leaves nothing" test -z "$(find "$dest" ! -type d -printf '%P ')"
	verdict "nor a directory of its own" test -z "$(find "$dest" -name ctmend)"
	rm -rf "$dest"
}

# make dist, in a checkout of the files as they are now, and in what comes out of it.
# shellcheck disable=SC2016 # the inner shells expand
pack_and_build()
{
	local dir=$1 version packed

	version=$(cat VERSION)
	packed=$dir/ctmend-$version
	mkdir -p "$dir/src" "$dir/bin"
	printf '#!/bin/sh\ntest "$1" != archive && exec %s "$@"\n' "$(command -v git)" >"$dir/bin/git"
	chmod 755 "$dir/bin/git"
	if [ -e .git ]; then
		git ls-files -co --exclude-standard
	else
		find . -path './build*' -prune -o -type f -printf '%P\n'
	fi | while read -r file; do
		if [ -e "$file" ]; then
			echo "$file"
		fi
	done | tar -cf - -T - | tar -xf - -C "$dir/src"
	(
		cd "$dir/src" && git init -q && git add -A &&
			git -c user.name=test -c user.email=test@localhost commit -qm test
	) >>"$logs/log" 2>&1

	verdict "git archive fails: so does make dist" \
		bash -c '! PATH=$1:$PATH make -s -C "$2" dist' - "$dir/bin" "$dir/src"
	verdict "and makes no archive" test -z "$(find "$dir/src" -name '*.tar*')"
	verdict "make dist" make -s -C "$dir/src" dist
	verdict "its archive can be unpacked" tar -xf "$dir/src/ctmend-$version.tar.xz" -C "$dir"
	verdict "it has what was committed" \
		diff -r --exclude=.git "--exclude=ctmend-$version.tar.xz" "$dir/src" "$packed"
	# What comes of it is not looked at closely, so it is built in a hurry.
	verdict "it builds" make -s -j2 -C "$packed" CFLAGS=-O0 HARDENING=
	verdict "the program runs" "$packed/build/ctmend" --version
	verdict "make dist fails there" bash -c '! make -s -C "$1" dist' - "$packed"
	verdict "and says why" bash -c 'make -s -C "$1" dist 2>&1 | grep "no git checkout"' - "$packed"
	verdict "and makes no archive there" test -z "$(find "$packed" -name '*.tar*')"
	rm -rf "$dir"
}

# Every report file of a sanitizer is a failed test, named by its first telling line.
part_sanitizers()
{
	local report

	if [ -z "$SAN" ]; then
		return
	fi
	fresh_logs sanitizers
	for report in "$scratch"/san/*; do
		if [ ! -e "$report" ]; then
			result ok sanitizers "no report of $SAN"
			return
		fi
		cp "$report" "$logs/"
		result not-ok sanitizers "$(grep -m1 -E 'ERROR|WARNING|runtime error' "$report")" \
			"see $logs/$(basename "$report")"
		head -n 40 "$report" | sed 's/^/    /'
	done
}

for part in "$@"; do
	fresh_logs "$part"
	case $part in
	unit) run_all unit tests/test_*.c ;;
	fuzz) run_all fuzz tests/fuzz/fuzz_*.c ;;
	cli) run_all cli tests/cli/[0-9]*.sh ;;
	root)
		run_all root tests/root/[0-9]*.sh
		if [ "$is_root" = 1 ]; then
			nothing_left
		fi
		;;
	man) part_man ;;
	install) part_install ;;
	*)
		echo "run.sh: no part '$part'" >&2
		exit 2
		;;
	esac
done
part_sanitizers

awk -F '\t' '
	$1 == "not-ok" { print "FAILED  " $2 " " $3 ($4 != "" ? " (" $4 ")" : "") }
	$1 == "skip" { print "skipped " $2 " " $3 ($4 != "" ? " (" $4 ")" : "") }' "$results"
passed=$(grep -c '^ok' "$results")
failed=$(grep -c '^not-ok' "$results")
skipped=$(grep -c '^skip' "$results")
if [ "$skipped" -gt 0 ] && [ "$REQUIRE_ROOT_TESTS" = 1 ]; then
	echo "a skipped test counts as a failure here (REQUIRE_ROOT_TESTS=1)"
fi
echo "$passed passed, $failed failed, $skipped skipped"
if [ "$failed" -gt 0 ] || [ $((passed + failed + skipped)) -eq 0 ]; then
	exit 1
fi
if [ "$skipped" -gt 0 ] && [ "$REQUIRE_ROOT_TESTS" = 1 ]; then
	exit 1
fi
exit 0
