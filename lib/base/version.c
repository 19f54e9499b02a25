/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version string in an object of its own, so that a new version recompiles this file only. */
#include "base/version.h"

#ifndef CTM_VERSION
#error "CTM_VERSION comes from the Makefile"
#endif

const char ctm_version[] = CTM_VERSION;
