/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where containers in a container have their files.
 */
#include "plan/nested.h"

#include <string.h>

#include "base/cleanup.h"

/* What lies below; "*" is one component. A directory called rootfs counts wherever it is. */
static const char *const stores[] = {
	"var/lib/lxd",
	"var/lib/incus",
	"var/snap/lxd/common/lxd",
	"var/lib/machines",
	"var/lib/docker",
	"var/lib/containers",
	"var/lib/containerd",
	"root/.local/share/containers",
	"home/*/.local/share/containers",
	"home/*/.local/share/docker",
	"home/*/.local/share/lxc",
};

static size_t component(const char *path, const char *end)
{
	const char *slash = memchr(path, '/', (size_t)(end - path));

	return (size_t)((slash ? slash : end) - path);
}

/* Whether the path is below the pattern. */
static bool below(const char *pattern, const char *path, const char *end)
{
	const char *pattern_end = pattern + strlen(pattern);

	while (pattern < pattern_end) {
		size_t want = component(pattern, pattern_end);
		size_t len = component(path, end);

		if (!(want == 1 && *pattern == '*') &&
		    (len != want || memcmp(path, pattern, len) != 0)) {
			return false;
		}
		if (path + len == end) {
			return false;
		}
		path += len + 1;
		pattern += want + (pattern + want < pattern_end ? 1 : 0);
	}
	return true;
}

static bool has_rootfs(const char *path, const char *end)
{
	static const char name[] = "rootfs";

	while (path < end) {
		size_t len = component(path, end);

		if (len == strlen(name) && memcmp(path, name, len) == 0) {
			return true;
		}
		path += len + (path + len < end ? 1 : 0);
	}
	return false;
}

bool ctm_path_nested(const char *path, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
		if (below(stores[i], path, path + len)) {
			return true;
		}
	}
	return has_rootfs(path, path + len);
}
