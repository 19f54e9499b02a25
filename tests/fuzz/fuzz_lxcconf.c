/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The configuration of a plain LXC container with its includes. The input is cut at NUL bytes into
 * files; the last digit of an included path says which one, "/" at its end makes it a folder of
 * all.
 */
#include "config/ctmap.h"
#include "config/lxcconf.h"
#include "fuzz/fuzz.h"

struct input {
	const uint8_t *data;
	size_t size;
};

/* The nth piece between NUL bytes; an empty one behind the last. */
static struct ctm_bytes piece(const struct input *in, unsigned int n)
{
	const uint8_t *p = in->data;
	const uint8_t *end = p + in->size;

	for (;;) {
		const uint8_t *nul = p < end ? memchr(p, '\0', (size_t)(end - p)) : NULL;

		if (n == 0) {
			return fuzz_bytes(p, (size_t)((nul ? nul : end) - p));
		}
		if (!nul) {
			return fuzz_bytes(p, 0);
		}
		p = nul + 1;
		n--;
	}
}

static int read_piece(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		      struct ctm_err *err)
{
	static const char *const all[] = { "/1", "/2", "/3" };
	size_t len = strlen(path);
	struct ctm_bytes text;

	if (len > 0 && path[len - 1] == '/') {
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			char *one = strdup(all[i]);

			FUZZ_CHECK(one && ctm_vec_push(&ret->files, &one) == 0);
		}
		return 0;
	}
	if (len == 0 || path[len - 1] < '0' || path[len - 1] > '9') {
		return ctm_err_set(err, CTM_SYS, 2, "read '%s'", path);
	}
	text = piece(arg, (unsigned int)(path[len - 1] - '0'));
	return ctm_buf_add(&ret->text, text.p, text.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct ctm_lxcconf conf = { 0 };
	struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };

	if (ctm_lxcconf_read("/0", read_piece, &in, &conf, &err) == 0) {
		for (size_t i = 0; i < conf.entries.n; i++) {
			FUZZ_CHECK(strncmp(conf.entries.v[i].key, "lxc.", 4) == 0);
			FUZZ_CHECK(strcmp(conf.entries.v[i].key, "lxc.include") != 0);
			FUZZ_CHECK(!strchr(conf.entries.v[i].value, '\n'));
			FUZZ_CHECK(conf.entries.v[i].line > 0);
		}
		if (ctm_ctmap_from_lxc(&conf, &ctmap, &err) == 0) {
			FUZZ_CHECK(ctm_idmap_empty(ctmap.map, CTM_UID) == ctmap.privileged);
			FUZZ_CHECK(ctm_idmap_empty(ctmap.map, CTM_GID) == ctmap.privileged);
		}
	} else {
		FUZZ_CHECK(err.msg[0] != '\0');
	}
	ctm_ctmap_done(&ctmap);
	ctm_lxcconf_done(&conf);
	return 0;
}
