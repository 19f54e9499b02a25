#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What really happened to people: each case of fixtures/cases, see recipe.sh and cases.sh for how they
# are written. Here the owners, A and B; the others are in 401-cases.sh. CASES="A1 B" tries those
# whose names begin so.
#
# What is not there, or not wholly:
#
#	C3, killed between chown and chmod	390-kill-points.sh, 391-power-loss.sh
#	F1, all file systems, --fix flags killed	371-flags.sh
#	F2, each failing entry by its own path	360-errors.sh, 372-faults.sh
#	F3, a component swapped against a link	310-hostile.sh
#	F4, ten million inodes			tests/long/large.sh
#	G5, nothing wrong; exit codes are interface	F4a; tests/cli
#	B2, one base after the other		321-classes.sh
#	A7, the backup itself			not here: it needs Proxmox VE's archiver
#	B9, mounts with an idmap		not here: it needs Proxmox VE 9
#	E2, extraction inside			not here: nothing of it reaches the disk
. "${0%/*}/pve.sh"
. "${0%/*}/zoo.sh"
. "${0%/*}/recipe.sh"
. "${0%/*}/cases.sh"

case_host
case_all A B
t_done
