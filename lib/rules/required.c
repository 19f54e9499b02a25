/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directories of --scope required: a container whose root cannot write these cannot install
 * the package that would mend the rest, nor open a shell with its own settings.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

static const char *const common[] = {
	"root",             /* root's profile, .bashrc, .ssh */
	"usr/share/locale", /* nearly every package brings translations */
};

const char *ctm_required_dir(size_t i, const struct ctm_rules **ret_of)
{
	*ret_of = NULL;
	if (i < ARRAY_LEN(common)) {
		return common[i];
	}
	i -= ARRAY_LEN(common);
	for (size_t k = 0; k < ctm_rules_n; k++) {
		if (i < ctm_rules_all[k]->n_dirs) {
			*ret_of = ctm_rules_all[k];
			return ctm_rules_all[k]->dirs[i];
		}
		i -= ctm_rules_all[k]->n_dirs;
	}
	return NULL;
}
