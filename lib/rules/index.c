/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All tables of rules: one line for each file of this folder that has one.
 */
#include "base/cleanup.h"
#include "rules/rules.h"

#define TABLES(X) \
	X(apk)    \
	X(apt)    \
	X(dnf)    \
	X(dnf5)   \
	X(dpkg)   \
	X(pacman) \
	X(rpm)    \
	X(xbps)   \
	X(yum)    \
	X(zypper)

#define DECLARE(name) extern const struct ctm_rules ctm_rules_##name;
TABLES(DECLARE)

#define POINTER(name) &ctm_rules_##name,
const struct ctm_rules *const ctm_rules_all[] = { TABLES(POINTER) };
const size_t ctm_rules_n = ARRAY_LEN(ctm_rules_all);
