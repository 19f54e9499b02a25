/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where share/pve-storage.pl was installed; the Makefile says it. */
#include "storage/pveplace.h"

#ifdef CTM_PVEPLACE_OF_TESTS
const char ctm_pveplace[] = "/usr/libexec/ctmend/pve-storage.pl";
const bool ctm_pveplace_in_sysroot = true;
#else
const char ctm_pveplace[] = CTM_LIBEXECDIR "/ctmend/pve-storage.pl";
const bool ctm_pveplace_in_sysroot = false;
#endif
