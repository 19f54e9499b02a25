#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# scripts/deps.sh on stand-in systems: dpkg-query reads a database of ours (DPKG_ADMINDIR), and
# apt-get is one that keeps its words, or the real one with sources of ours that only simulates.
. "${0%/*}/../lib.sh"

if ! command -v dpkg-query >/dev/null; then
	t_skip_all "needs dpkg-query"
fi
arch=$(dpkg --print-architecture)

# host NAME [PACKAGE...]: from here on deps.sh sees this system, with these packages
host()
{
	local name=$1 package
	shift

	root=$TMP/$name
	mkdir -p "$root/etc" "$root/dpkg/updates" "$root/dpkg/info"
	: >"$root/apt.calls"
	for package in "$@"; do
		entry "$package" "Status: install ok installed"
	done >"$root/dpkg/status"
}

# entry PACKAGE [LINE...]: a package in dpkg's database or an archive's index
entry()
{
	printf '%s\n' "Package: $1" "Version: 1" "Architecture: $arch" "Maintainer: nobody" \
		"Description: stand-in" "${@:2}" ""
}

# The programs that the stand-in systems have instead of this one's. apt-get fails where a file says
# so, and id makes everybody root.
mkdir "$TMP/bin" "$TMP/root"
cat >"$TMP/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$CTMEND_DEPS_ROOT/apt.calls"
test ! -e "$CTMEND_DEPS_ROOT/apt.fails"
END
printf '#!/bin/sh\necho 0\n' >"$TMP/root/id"
printf '#!/bin/sh\necho 1000\n' >"$TMP/bin/id"
chmod 755 "$TMP/bin/"* "$TMP/root/id"

# user WORD..., deps WORD...: deps.sh of an ordinary user, and of root
user()
{
	PATH=$TMP/bin:$PATH CTMEND_DEPS_ROOT=$root DPKG_ADMINDIR=$root/dpkg \
		"$T_TOP/scripts/deps.sh" "$@"
}
deps()
{
	PATH=$TMP/root:$TMP/bin:$PATH CTMEND_DEPS_ROOT=$root DPKG_ADMINDIR=$root/dpkg \
		"$T_TOP/scripts/deps.sh" "$@"
}
calls()
{
	cat "$root/apt.calls"
}

mapfile -t build < <("$T_TOP/scripts/deps.sh" --list build)
mapfile -t test < <("$T_TOP/scripts/deps.sh" --list test)
t_match "the build group has a compiler" "${build[*]}" '^gcc '
t_match "the test group has lxc" "${test[*]}" ' lxc '

# --- a machine of its own ------------------------------------------------------------------------

host plain
t_ok "what is missing is installed" deps build
t_match "all of it" "$(calls)" "^install .* ${build[*]}( |$)"
t_no_match "no package is removed for it" "$(grep -w install "$root/apt.calls" | grep -v -e --no-remove)" .
t_no_match "the build group needs no test tool" "$(calls)" ' (lxc|dnf|libcriterion-dev|clang)( |$)'

touch "$root/apt.fails"
: >"$root/apt.calls"
t_fails "apt refuses: so does deps.sh" deps build test dev
t_no_match "nor is one when it tries again" "$(grep -w install "$root/apt.calls" | grep -v -e --no-remove)" .
rm "$root/apt.fails"

: >"$root/apt.calls"
t_ok "the demo's group" deps build demo
t_no_match "has no test tool either" "$(calls)" ' (lxc|dnf|acl|libcap2-bin|libcriterion-dev|clang)( |$)'

: >"$root/apt.calls"
t_fails "an ordinary user is told" user build
t_match "the command, which removes nothing" "$(cat "$T_ERR")" \
	"^packages are missing; as root run: apt-get .*--no-remove .*gcc"
t_is "and nothing is tried" "$(calls)" ""

host built "${build[@]}"
t_ok "nothing is missing" user build
t_is "nothing is said" "$(cat "$T_OUT" "$T_ERR")" ""
t_fails "a group that there is not" deps build tools

# --- a Proxmox VE host ---------------------------------------------------------------------------

# pve NAME: the system that host has just made is taken for one
pve()
{
	t_fails "$1: deps installs nothing" deps build
	t_match "$1: and says why" "$(cat "$T_ERR")" 'Proxmox VE host'
	t_match "$1: what is missing" "$(cat "$T_ERR")" "^missing: ${build[*]}$"
	t_match "$1: and what to do" "$(cat "$T_ERR")" 'another machine.*README'
	t_fails "$1: nor does it for all groups" deps build test dev
	t_fails "$1: nor on its own account" deps --auto build
	t_fails "$1: nor what can be done without" deps --auto build --optional test
	t_fails "$1: a user gets no command" user build test
	t_no_match "$1: a user gets no command" "$(cat "$T_ERR")" apt-get
	t_is "$1: apt-get never runs" "$(calls)" ""
}
host etc-pve
mkdir "$root/etc/pve"
pve "/etc/pve"
for package in pve-manager lxc-pve proxmox-ve; do
	host "$package" "$package"
	pve "$package"
done
host was-one
entry pve-manager "Status: deinstall ok config-files" >"$root/dpkg/status"
t_ok "pve-manager has been removed: no such host" deps build
t_match "pve-manager has been removed: no such host" "$(calls)" 'install .*--no-remove'

host pve-built lxc-pve "${build[@]}"
t_ok "all for building is there: deps is content" deps build
t_is "and says nothing" "$(cat "$T_OUT" "$T_ERR")" ""
t_fails "the test tools are refused" deps test
t_match "the test tools are refused" "$(cat "$T_ERR")" '^missing: .*\<lxc\>'
t_fails "what needs them does not begin" deps --auto build test
t_ok "make check begins without" deps --auto build --optional test
t_match "and says what is missing" "$(cat "$T_ERR")" "^missing: ${test[*]}$"
t_match "and what comes of it" "$(cat "$T_ERR")" 'is skipped'
t_is "apt-get never runs" "$(calls)" ""

# --- what make asks for --------------------------------------------------------------------------

# asked TARGET: the words that make gives deps.sh, which is the first thing it does; no command of
# the Makefile runs
# shellcheck disable=SC2016 # the script's own argument
printf '#!/bin/sh\necho "$2"\nexit 1\n' >"$TMP/sh"
chmod 755 "$TMP/sh"
asked()
{
	make -C "$T_TOP" --no-print-directory -s SHELL="$TMP/sh" BUILD="$TMP/build" "$1" 2>/dev/null |
		sed -n 's,^scripts/deps\.sh ,,p'
}
t_is "make deps" "$(asked deps)" build
t_is "make deps-test" "$(asked deps-test)" test
t_is "make deps-dev" "$(asked deps-dev)" dev
t_is "make demo" "$(asked demo)" "--auto build demo"
t_is "make check" "$(asked check)" "--auto build --optional test"
t_is "make lint" "$(asked lint)" "--auto build test dev"

# --- what the runner makes of a Proxmox VE host --------------------------------------------------

# run PART: the runner on this system, without Criterion, mandoc and groff, with nothing built
mkdir "$TMP/few"
for tool in awk basename bash cat chmod cp dirname dpkg-query env find grep head id install losetup make \
	mkdir mktemp rm sed sh sleep sort tac tail timeout wc; do
	ln -s "$(command -v "$tool")" "$TMP/few/$tool"
done
run()
{
	mkdir -p "$TMP/build"
	PATH=$TMP/few TMPDIR=$TMP BUILD=$TMP/build T="$2" CTMEND_DEPS_ROOT=$root \
		DPKG_ADMINDIR=$root/dpkg "$T_TOP/tests/run.sh" "$1"
}
t_ok "without Criterion, unit tests are skipped" run unit idmap
t_match "without Criterion, unit tests are skipped" "$(cat "$T_OUT")" \
	'^skipped unit test_idmap \(needs libcriterion-dev\)$'
t_ok "without mandoc and groff, their checks are skipped" run man ""
t_match "without mandoc and groff, their checks are skipped" "$(cat "$T_OUT")" \
	'^skipped man ctmend.8: mandoc \(mandoc is not installed\)$'
if [ "$(command id -u)" = 0 ]; then
	t_ok "no script of tests/root runs" run root ""
	t_match "no script of tests/root runs" "$(cat "$T_OUT")" \
		'^skipped root 001-harness \(this is a Proxmox VE host \(it has the package lxc-pve\)\)$'
	# under sanitizers their reports are counted as well
	t_match "no script of tests/root runs" "$(cat "$T_OUT")" '^[12] passed, 0 failed, [0-9]+ skipped$'
fi
# --- apt itself ----------------------------------------------------------------------------------

# A host that deps.sh does not know for what it is, and an archive whose lxc conflicts with what
# runs there.
host unknown
entry hypervisor "Status: install ok installed" "Conflicts: lxc" >"$root/dpkg/status"
mkdir -p "$root/archive" "$root/state/lists/partial" "$root/cache/archives/partial" "$root/etc/apt"
for package in "${build[@]}" "${test[@]}"; do
	entry "$package" "Filename: ./$package.deb" "Size: 1" "SHA256: $(printf '%064d' 0)"
done >"$root/archive/Packages"
echo "deb [trusted=yes] copy:$root/archive ./" >"$root/etc/apt/sources.list"
cat >"$root/apt.conf" <<END
Dir::Etc "$root/etc/apt";
Dir::State "$root/state";
Dir::State::status "$root/dpkg/status";
Dir::Cache "$root/cache";
Dir::Log "$root";
APT::Architecture "$arch";
APT::Sandbox::User "";
APT::Get::Simulate "true";
END
chmod -R a+rX "$TMP"

# real COMMAND...: with the real apt-get, which only simulates
real()
{
	PATH=$TMP/root:$PATH APT_CONFIG=$root/apt.conf CTMEND_DEPS_ROOT=$root \
		DPKG_ADMINDIR=$root/dpkg "$@"
}
t_ok "apt knows the archive" real apt-get update
t_ok "left alone, apt makes room for lxc" real apt-get install -y --no-install-recommends lxc
t_match "left alone, apt makes room for lxc" "$(cat "$T_OUT")" '^Remv hypervisor '
t_fails "deps.sh does not" real "$T_TOP/scripts/deps.sh" build test
t_match "apt says why" "$(cat "$T_ERR")" 'removed but remove is disabled'
t_no_match "nothing would have been removed" "$(cat "$T_OUT")" '^Remv '
t_ok "what conflicts with nothing is installed" real "$T_TOP/scripts/deps.sh" build
t_no_match "what conflicts with nothing is installed" "$(cat "$T_OUT")" '^Remv '
t_match "what conflicts with nothing is installed" "$(cat "$T_OUT")" '^Inst gcc '
t_done
