/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that Proxmox VE gives to volumes. */
#include "storage/volname.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

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

const char *ctm_volname_last(const char *volid)
{
	const char *slash = strrchr(volid, '/');
	const char *colon = strchr(volid, ':');

	return slash ? slash + 1 : colon ? colon + 1 : volid;
}

unsigned int ctm_volname_guest(const char *name)
{
	static const char *const prefixes[] = { "vm-", "base-", "subvol-", "basevol-" };

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		const char *digits = name + strlen(prefixes[i]);

		if (ctm_volname_has_prefix(name, prefixes[i]) &&
		    strspn(digits, "0123456789") < 10) {
			return (unsigned int)strtoul(digits, NULL, 10);
		}
	}
	return 0;
}
