#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What debian-root.sh adds to a new root: run by mmdebstrap as a customize hook, with the root's
# directory.
set -eu
root=$1

# Packages for later with what they depend on, of the versions that fit this root.
debs=$root/srv/debs
repo=$root/srv/repo
mkdir "$debs" "$debs/partial" "$repo"
# shellcheck disable=SC2086 # a list of names
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get -qq -y --no-install-recommends --download-only \
	--reinstall -o Dir::Cache::archives="$debs/" install $DEBIAN_ROOT_LATER
for deb in "$debs"/*.deb; do
	# A file name of its own: the % of an epoch is special in the URIs of an index.
	name=$(dpkg-deb -f "$deb" Package)
	mv "$deb" "$repo/$name.deb"
	{
		dpkg-deb -f "$repo/$name.deb"
		printf 'Filename: ./%s.deb\nSize: %s\nSHA256: %s\n\n' "$name" \
			"$(stat -c %s "$repo/$name.deb")" \
			"$(sha256sum <"$repo/$name.deb" | cut -d ' ' -f 1)"
	} >>"$repo/Packages"
done
rm -r "$debs"

# "copy:" makes apt go the whole way of a download, through partial/ and as the user _apt.
rm -f "$root"/etc/apt/sources.list.d/* "$root"/etc/apt/apt.conf.d/99mmdebstrap
echo 'deb [trusted=yes] copy:/srv/repo ./' >"$root/etc/apt/sources.list"

cat >"$root/usr/local/sbin/idle" <<'END'
#!/bin/sh
trap 'exit 0' PWR TERM INT
while :; do
	sleep 1000 &
	wait $!
done
END
chmod 755 "$root/usr/local/sbin/idle"
printf '127.0.0.1 localhost\n127.0.1.1 ct115\n' >"$root/etc/hosts"
