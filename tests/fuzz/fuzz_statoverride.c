/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dpkg's database of owners and modes, as a container may have written it.
 */
#include "config/statoverride.h"
#include "fuzz/fuzz.h"

struct seen {
	const char *from;
	const char *to;
	size_t n;
};

/* Lines come in their order, and what is said of one lies in the text. */
static int look(const struct ctm_statoverride *line, void *arg)
{
	struct seen *seen = arg;
	const char *path = line->path.p;

	FUZZ_CHECK(line->mode <= 07777 && line->path.len > 1 && path[0] == '/');
	FUZZ_CHECK(path > seen->from && path + line->path.len <= seen->to);
	FUZZ_CHECK(!memchr(path, '\n', line->path.len));
	FUZZ_CHECK(!line->exact ||
		   (line->uid.v != CTM_ID_INVALID && line->gid.v != CTM_ID_INVALID));
	seen->from = path;
	seen->n++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen seen = { .from = (const char *)data, .to = (const char *)data + size };

	FUZZ_CHECK(ctm_statoverride_each((struct ctm_bytes){ data, size }, look, &seen) == 0);
	/* "u g 0 /x" and a newline, at least */
	FUZZ_CHECK(seen.n <= size / 9 + 1);
	return 0;
}
