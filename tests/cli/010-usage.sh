# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
ctm
ctm check
ctm diff 115 116
ctm check --no-such-option 115
ctm check --jobs 0 115
ctm check --jobs 4x 115
ctm check --wait
ctm check --scope some 115
ctm check --path ../etc 115
ctm check --path '' 115
ctm check --scope required --path etc 115
ctm check --flatten 115
ctm check --fix base,bace 115
ctm check --map 100000 --ct-config x /srv/x
ctm check --sysroot relative 115
ctm check -q -v 115
ctm check --json=yes 115
ctm repair 115
ctm repair --approve 12 115
ctm repair --approve 0123456789ABCDEF0123456789abcdef 115
ctm undo 115
ctm explain no.such.code
ctm explain own.host
