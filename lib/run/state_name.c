/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The directory name of a target. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "run/state.h"

CTM_HOST_PATHS

#define NAME_KEEP 160 /* bytes that stay of a name that is too long: with the hash below NAME_MAX */
#define NAME_LONG 230

static bool is_plain(unsigned char c)
{
	return (c < 0x80 && isalnum(c)) || c == '.' || c == '_' || c == '-';
}

static bool all_digits(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == '\0';
}

static int escape(const char *in, bool first_too, struct ctm_buf *out)
{
	int r = 0;

	for (const char *p = in; r == 0 && *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (is_plain(c) && (p > in || !first_too)) {
			r = ctm_buf_add(out, p, 1);
		} else {
			r = ctm_buf_addf(out, "%%%02X", c);
		}
	}
	return r;
}

/* Too long for a file name: its front for people, the hash of all of it for certainty. */
static int shorten(struct ctm_buf *name)
{
	struct sha256_ctx ctx;
	uint8_t hash[SHA256_DIGEST_SIZE];
	int r;

	sha256_init(&ctx);
	sha256_update(&ctx, name->len, (const uint8_t *)name->p);
	sha256_digest(&ctx, sizeof(hash), hash);
	name->len = NAME_KEEP;
	r = ctm_buf_addf(name, "~");
	for (size_t i = 0; r == 0 && i < sizeof(hash); i++) {
		r = ctm_buf_addf(name, "%02x", hash[i]);
	}
	return r;
}

int ctm_state_name(enum ctm_target_kind kind, const char *target, struct ctm_buf *ret)
{
	CLEANUP_FREE char *real = NULL;
	struct ctm_buf name = { 0 };
	const char *text = target;
	bool first_too;
	int r;

	if (kind == CTM_TARGET_PATH) {
		real = realpath(target, NULL);
		text = real ? real : target;
	}
	first_too = text[0] == '.' || (kind != CTM_TARGET_PVE && all_digits(text));
	r = escape(text, first_too, &name);
	if (r == 0 && name.len > NAME_LONG) {
		r = shorten(&name);
	}
	if (r < 0) {
		ctm_buf_done(&name);
		return r;
	}
	ctm_buf_done(ret);
	*ret = name;
	return 0;
}
