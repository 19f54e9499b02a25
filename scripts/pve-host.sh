# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Tells a Proxmox VE host, where nothing is installed and nothing is tried out, from other machines.
# Sourced.

# pve_host [DIR]: succeeds on a Proxmox VE host and prints what shows it. /etc/pve is looked for
# below DIR (the root directory), packages in dpkg's database.
pve_host()
{
	local package

	if [ -e "${1-}/etc/pve" ]; then
		echo "it has /etc/pve"
		return
	fi
	package=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' \
		proxmox-ve pve-manager lxc-pve 2>/dev/null |
		sed -n '/^not-installed /d; /^config-files /d; s/^[^ ]* //; p; q')
	if [ -n "$package" ]; then
		echo "it has the package $package"
		return
	fi
	return 1
}
