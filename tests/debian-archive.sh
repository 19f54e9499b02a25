# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Debian's archive for mmdebstrap, from where this machine's apt gets it. Sourced.

# debian_archive_sources SUITE: the suite with its updates and security fixes, as lines of a
# sources.list. This machine's own suite is what apt knows; another one lies beside it.
debian_archive_sources()
{
	local suite=$1 own

	own=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
	if [ -z "$(debian_archive__targets "$own")" ]; then
		# Before its first update apt can not tell whose sources it has.
		apt-get -q update >&2 || return
	fi
	debian_archive__targets "$own" | sed "s/\\<$own\\>/$suite/"
}

debian_archive__targets()
{
	# shellcheck disable=SC2016 # apt-get expands these
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
		'Identifier: Packages' 'Origin: Debian' |
		awk -v suite="$1" '$3 ~ "^" suite "(-updates|-security)?$"' |
		sort -u
}

# debian_archive_options: those of apt that decide whether a source can be reached and is accepted
debian_archive_options()
{
	apt-config dump | grep -E '^Acquire::(Check-|Max-ValidTime|Retries|[a-z]+::Proxy)' || true
}
