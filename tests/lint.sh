#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What make lint does: formatters and linters, both compilers with warnings as errors, and the rules
# of the house. Prints one line for each check and the details of those that fail; ends with a line
# of counts.
#
# Environment: BUILD, CLANG_FORMAT, CLANG_TIDY, LINT_FLAGS (preprocessor flags for clang-tidy, from
# the Makefile), JOBS.
set -u -o pipefail

cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build}
CLANG_FORMAT=${CLANG_FORMAT:-clang-format}
CLANG_TIDY=${CLANG_TIDY:-clang-tidy}
JOBS=${JOBS:-2}
LINT_FLAGS=${LINT_FLAGS-}
export LC_ALL=C.UTF-8

# Who may include whom: a file includes only from folders of a lower rank and from its own. A header
# that many speak may have a rank of its own.
declare -A rank=(
	[base]=0
	[id]=1
	[scan/fact.h]=2
	[config]=3 [rules]=3
	[storage]=4
	[target]=5
	[scan]=6
	[plan]=7
	[run]=8
	[session]=9
	[report]=10
	[lib]=11
	[cmd]=12
)

# lib/FOLDER/NAME.c is tested by tests/test_NAME.c or tests/test_FOLDER_NAME.c, a part NAME_PART.c
# of a module also by tests/test_NAME.c, an index.c by tests/test_FOLDER.c. The others: a pattern,
# and who tests it or why nobody does.
untested=(
	"lib/base/version.c one constant, printed by tests/cli/001-version.sh"
	"lib/rules/*.c tests/test_rules.c"
	"lib/storage/*.c tests/test_storage.c"
	"lib/target/activate*.c tests/root/140-activation.sh"
	"lib/session/*.c real volumes: tests/root/3*.sh and 9*.sh, through the program"
	"lib/run/confirm.c tests/test_repair.c and tests/test_inspect.c"
	"lib/run/content.c tests/test_archive.c"
	"lib/report/difflines.c tests/test_diff.c and tests/test_history_view.c"
	"lib/run/outcome.c tests/test_repair.c"
	"lib/run/revert*.c tests/test_undo.c"
	"lib/run/successor.c tests/test_undo.c"
	"lib/run/inspect_name.c tests/test_names.c"
	"lib/plan/tree.c tests/test_finish.c"
	"lib/plan/waiting.c tests/test_finish.c and tests/test_damage.c"
	"lib/target/attach.c tests/root/110-attach.sh"
	"lib/target/clone.c tests/root/110-attach.sh"
	"lib/target/ctinit.c tests/root/130-starter.sh, 510-running.sh"
	"lib/target/ctroot.c tests/root/510-running.sh"
	"lib/target/devmount.c tests/root/110-attach.sh"
	"lib/target/dirproof.c tests/test_dirvol.c"
	"lib/target/forecast.c tests/root/110-attach.sh"
	"lib/target/guard*.c tests/root/120-guard.sh"
	"lib/target/inuse.c tests/root/120-guard.sh"
	"lib/target/loopdev.c tests/root/110-attach.sh"
	"lib/target/loopsearch.c tests/root/120-guard.sh"
	"lib/target/foreign.c tests/root/341-foreign-volume.sh"
	"lib/target/maptrust.c tests/root/398-map-authors.sh"
	"lib/target/pathwriters.c tests/root/398-map-authors.sh"
	"lib/target/pin.c tests/root/399-swapped-path.sh"
	"lib/target/rawvol.c tests/root/110-attach.sh"
	"lib/target/snapshot.c tests/root/530-snapshot.sh"
	"lib/target/starter.c tests/root/130-starter.sh"
	"lib/target/volident.c tests/root/110-attach.sh"
)

# Files behind the door to the container's tree, see lib/base/banned.h.
tree_calls=("lib/target/rootfd.c" "lib/target/rootfd_file.c" "lib/scan/*.c")

# list PATTERN...: files of the project, also those not added yet, but not those deleted
list()
{
	local file

	if [ -e .git ]; then
		git ls-files --cached --others --exclude-standard -- "$@"
	else
		find . \( -path './build*' -o -path ./.git \) -prune -o -type f -printf '%P\n' |
			while read -r file; do
				for pattern in "$@"; do
					# shellcheck disable=SC2053 # a pattern is meant
					if [[ $file == $pattern ]]; then
						echo "$file"
						break
					fi
				done
			done
	fi | sort -u | while read -r file; do
		if [ -e "$file" ]; then
			echo "$file"
		fi
	done
}

# What makes the benchmark's tree is data: it comes from elsewhere and stays as it is byte by byte,
# so that trees and figures stay comparable.
foreign='tests/bench/mktree\.c'

mapfile -t c_files < <(list '*.c' '*.h' | grep -vxE "$foreign")
mapfile -t sources < <(list 'lib/*.c' 'cmd/*.c')
mapfile -t scripts < <(list '*.sh' 'tests/cli/run' '.ci/run' 'share/hookscript')
mapfile -t awks < <(list '*.awk')
mapfile -t pages < <(list 'man/*.[1-8]')
mapfile -t text < <(list '*' | grep -vxE "LICENSE|fixtures/.*|.*\.out|.*\.patch|$foreign")

passed=0
failed=0
# check NAME COMMAND...: passes when the command succeeds
check()
{
	local name=$1 out
	shift

	if out=$("$@" 2>&1); then
		passed=$((passed + 1))
		echo "ok     $name"
	else
		failed=$((failed + 1))
		echo "FAILED $name"
		head -n 200 <<<"$out" | sed 's/^/    /'
	fi
}

# quiet COMMAND...: fails when the command prints anything
quiet()
{
	local out

	out=$("$@" 2>&1)
	if [ -n "$out" ]; then
		printf '%s\n' "$out"
		return 1
	fi
}

formatted()
{
	printf '%s\0' "${c_files[@]}" |
		xargs -0 -n 16 -P "$JOBS" "$CLANG_FORMAT" --dry-run -Werror --ferror-limit=3
}

# The flags go behind the file, so xargs cannot call clang-tidy itself.
tidy()
{
	export CLANG_TIDY LINT_FLAGS
	# shellcheck disable=SC2016 # the inner shell expands
	printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$JOBS" bash -c '
		if ! out=$($CLANG_TIDY --quiet "$0" -- $LINT_FLAGS 2>&1); then
			grep -vE "^[0-9]+ warnings? (generated|treated)" <<<"$out"
			exit 1
		fi'
}

compiled()
{
	make --no-print-directory -j"$JOBS" DEV=1 V= SAN= T= "$@" objects
}

names()
{
	local file

	for file in "${text[@]}"; do
		case ${file##*/} in
		util.* | utils.* | common.* | misc.* | helper.* | helpers.* | stuff.*)
			echo "$file: a name that says nothing"
			;;
		esac
	done
}

tested()
{
	local file folder name row

	for file in "${sources[@]}"; do
		case $file in
		lib/*) ;;
		*) continue ;;
		esac
		name=$(basename "$file" .c)
		folder=$(basename "$(dirname "$file")")
		if [ -e "tests/test_$name.c" ] || [ -e "tests/test_${name%_*}.c" ] ||
			[ -e "tests/test_${folder}_$name.c" ]; then
			continue
		fi
		if [ "$name" = index ] && [ -e "tests/test_$folder.c" ]; then
			continue
		fi
		for row in "${untested[@]}"; do
			# shellcheck disable=SC2254 # a pattern is meant
			case $file in
			${row%% *}) continue 2 ;;
			esac
		done
		echo "$file: there is no tests/test_$name.c"
	done
}

# place FILE: its key in rank; FILE is lib/... or cmd/..., or what an #include names
place()
{
	local file=${1#lib/}

	if [ -n "${rank[$file]-}" ]; then
		echo "$file"
	elif [[ $file == */* ]]; then
		echo "${file%%/*}"
	else
		echo lib
	fi
}

layers()
{
	local file line include from to

	while IFS=: read -r file line include; do
		case $include in
		*/* | ctmend.h) ;;
		*) continue ;; # beside the file that includes it
		esac
		from=$(place "$file")
		to=$(place "$include")
		if [ -z "${rank[$from]-}" ] || [ -z "${rank[$to]-}" ]; then
			echo "$file:$line: no rank for '$from' or '$to' in tests/lint.sh"
			continue
		fi
		if [ "${from%%/*}" = "${to%%/*}" ] && [ "${rank[$from]}" -ge "${rank[$to]}" ]; then
			continue
		fi
		if [ "${rank[$from]}" -le "${rank[$to]}" ]; then
			echo "$file:$line: $from includes $to, which is not below it"
		fi
	done < <(list 'lib/*.[ch]' 'cmd/*.[ch]' | xargs -r grep -nHoP '^#\s*include "\K[^"]+')
}

spdx()
{
	local file

	for file in "${c_files[@]}" "${scripts[@]}" "${awks[@]}" "${pages[@]}" Makefile; do
		if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later'; then
			echo "$file: no SPDX line"
		fi
	done
}

marks()
{
	printf '%s\0' "${text[@]}" | xargs -0 grep -nHIE '\b(TO''DO|FIX''ME)\b'
}

# A tab is eight columns wide. A row of a Markdown table cannot be broken, nor can a flag of
# clang-tidy.
width()
{
	local file

	for file in "${text[@]}"; do
		case $file in
		.clang-tidy) continue ;;
		esac
		expand "$file" | awk -v file="$file" '
			length($0) > (file ~ /\.sh$|^Makefile$/ ? 120 : 100) && file !~ /\.md$/ {
				print file ":" NR ": " length($0) " columns"
			}'
	done
}

trailing()
{
	printf '%s\0' "${text[@]}" | xargs -0 grep -nHIE '[[:blank:]]+$'
}

tree()
{
	local file pattern

	while read -r file; do
		for pattern in "${tree_calls[@]}"; do
			# shellcheck disable=SC2254 # a pattern is meant
			case $file in
			$pattern | lib/base/banned.h) continue 2 ;;
			esac
		done
		echo "$file: it is not one of the files that may say CTM_TREE_CALLS"
	done < <(list 'lib/*.[ch]' 'cmd/*.[ch]' | xargs -r grep -l CTM_TREE_CALLS)
}

mandoc_lint()
{
	# Which other pages are installed is the machine's affair.
	! mandoc -T lint -W style "${pages[@]}" 2>&1 |
		grep -vE 'mandoc\.db|referenced manual not found'
}

groff_lint()
{
	quiet groff -ww -mandoc -z -Tutf8 "${pages[@]}"
}

# The slow ones take the processors one after another, each with $JOBS processes.
check "clang-format" formatted
check "names of files" quiet names
check "every module has a test" quiet tested
check "includes point downwards" quiet layers
check "SPDX lines" quiet spdx
check "no open marks" quiet marks
check "no line too long" quiet width
check "no blanks at line ends" quiet trailing
check "doors to the container's tree" quiet tree
check "shellcheck" shellcheck -- "${scripts[@]}"
check "codespell" codespell -- "${text[@]}"
if [ ${#pages[@]} -gt 0 ]; then
	check "mandoc" mandoc_lint
	check "groff" groff_lint
fi
check "gcc with warnings as errors" compiled CC=gcc "BUILD=$BUILD/lint-gcc"
# Unfortified, so that clang sees all calls of lib/base/banned.h.
check "clang with warnings as errors" compiled CC=clang "BUILD=$BUILD/lint-clang" HARDENING=
check "clang-tidy" tidy

echo "$passed passed, $failed failed, 0 skipped"
exit $((failed > 0))
