/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A number that is nobody's: the user and group that a confined process becomes.
 *
 * 65534 is what many services run as, and whoever runs as the same user may send signals. The
 * numbers below it, 65520 to 65533, are given to nobody by Debian's policy (9.2.2) nor by systemd.
 */
#ifndef CTM_SCAN_SPARE_ID_H
#define CTM_SCAN_SPARE_ID_H

#include <stdint.h>

#include "base/bytes.h"

#define CTM_SPARE_FIRST 65520u
#define CTM_SPARE_LAST  65533u
/** "nobody", where none of these is free. */
#define CTM_SPARE_NONE 65534u

/**
 * The first of them that no line of passwd(5) or group(5) has as an id, and that is the real user
 * of no process. Another ctmend may take the same at the same moment, which does no harm.
 */
uint32_t ctm_spare_id(struct ctm_bytes passwd, struct ctm_bytes group);

/**
 * The same by the host's /etc/passwd and /etc/group alone: asking a name service could take any
 * time. CTM_SPARE_NONE where these cannot be read.
 */
uint32_t ctm_spare_id_host(void);

#endif
