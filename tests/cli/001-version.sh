# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
ctm --version
ctm no-such-command
