/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directories of --scope required: a container whose root cannot write these cannot install
 * the package that would mend the rest, nor open a shell with its own settings.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

const char *const ctm_required_dirs[] = {
	"root",             /* root's profile, .bashrc, .ssh */
	"usr/share/locale", /* nearly every package brings translations */
	"var/cache/apt",
	"var/lib/apt",
	"var/lib/dpkg",
	"var/log/apt",
};
const size_t ctm_required_n = ARRAY_LEN(ctm_required_dirs);
