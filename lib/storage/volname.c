/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that Proxmox VE gives to volumes. */
#include "storage/volname.h"

#include <string.h>

bool ctm_volname_has_prefix(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);
	size_t digits;

	if (strncmp(name, prefix, len) != 0) {
		return false;
	}
	digits = strspn(name + len, "0123456789");
	return digits > 0 && name[len + digits] == '-' && name[len + digits + 1] != '\0';
}
