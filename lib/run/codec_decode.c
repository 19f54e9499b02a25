/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a record to an entry, with the entry before in mind. */
#include <errno.h>
#include <string.h>

#include "run/codec_parts.h"
#include "run/wire.h"

static enum ctm_finding_code cause_of(const struct ctm_buf *text)
{
	for (unsigned int code = 0; code < CTM_F_N; code++) {
		const char *name = ctm_finding_info((enum ctm_finding_code)code)->code;

		if (strlen(name) == text->len && memcmp(name, text->p, text->len) == 0) {
			return (enum ctm_finding_code)code;
		}
	}
	return CTM_F_N;
}

static size_t parent_len(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/') {
		len--;
	}
	return len > 0 ? len - 1 : 0;
}

static int get_path(struct ctm_codec *c, struct ctm_wire *w, enum ctm_entry_kind kind)
{
	uint64_t same = ctm_wire_get(w);
	struct ctm_bytes rest = ctm_wire_get_bytes(w);
	int r;

	if (w->bad || same > c->path.len) {
		return -EBADMSG;
	}
	r = ctm_codec_replace(&c->path, (size_t)same, rest.p, rest.len);
	if (r < 0) {
		return r;
	}
	return ctm_codec_path_ok(c->path.p, c->path.len, kind) ? 0 : -EBADMSG;
}

static void get_handle(struct ctm_wire *w, bool form, struct ctm_handle *h)
{
	struct ctm_bytes mask;

	if (form) {
		int64_t type = ctm_wire_get_signed(w);
		uint64_t len = ctm_wire_get(w);

		if (type < INT32_MIN || type > INT32_MAX || len > CTM_HANDLE_MAX) {
			w->bad = true;
			return;
		}
		h->type = (int)type;
		h->len = (unsigned int)len;
		memset(h->bytes + len, 0, sizeof(h->bytes) - len);
	}
	mask = ctm_wire_get_raw(w, (h->len + 7) / 8);
	for (unsigned int i = 0; !w->bad && i < h->len; i++) {
		if (((const unsigned char *)mask.p)[i / 8] & 1u << (i % 8)) {
			struct ctm_bytes one = ctm_wire_get_raw(w, 1);

			h->bytes[i] = *(const unsigned char *)one.p;
		}
	}
}

static int get_xattrs(struct ctm_wire *w, struct ctm_arena *arena, struct ctm_entry *e)
{
	struct ctm_bytes *before[CTM_CODEC_XATTRS] = { &e->before.acl_access,
						       &e->before.acl_default, &e->before.caps };
	struct ctm_bytes *after[CTM_CODEC_XATTRS] = { &e->after.acl_access, &e->after.acl_default,
						      &e->after.caps };
	uint64_t bits = ctm_wire_get(w);
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < CTM_CODEC_XATTRS; i++, bits >>= 3) {
		if (bits & CTM_CODEC_BEFORE) {
			r = ctm_arena_bytes(arena, ctm_wire_get_bytes(w), before[i]);
		}
		if (r == 0 && bits & CTM_CODEC_AFTER && !(bits & CTM_CODEC_SAME)) {
			r = ctm_arena_bytes(arena, ctm_wire_get_bytes(w), after[i]);
		} else if (bits & CTM_CODEC_SAME) {
			*after[i] = *before[i];
			w->bad |= !(bits & CTM_CODEC_BEFORE) || !(bits & CTM_CODEC_AFTER);
		}
	}
	w->bad |= bits != 0;
	return r;
}

static void get_content(struct ctm_wire *w, struct ctm_entry *e)
{
	uint64_t content = ctm_wire_get(w);

	e->size = ctm_wire_get(w);
	if (content == CTM_CONTENT_SHA256) {
		struct ctm_bytes sha256 = ctm_wire_get_raw(w, sizeof(e->sha256));

		if (!w->bad) {
			memcpy(e->sha256, sha256.p, sizeof(e->sha256));
		}
	} else if (content == CTM_CONTENT_CTIME) {
		e->ctime = ctm_wire_get_time(w);
	} else {
		w->bad = true;
	}
	w->bad |= e->kind != CTM_ENTRY_SET;
	e->content = content == CTM_CONTENT_SHA256 ? CTM_CONTENT_SHA256 : CTM_CONTENT_CTIME;
}

static int get_file(struct ctm_wire *w, struct ctm_arena *arena, struct ctm_entry *e)
{
	struct ctm_bytes sha256, rule, handle;
	int64_t type;

	e->size = ctm_wire_get(w);
	sha256 = ctm_wire_get_raw(w, sizeof(e->sha256));
	e->mtime = ctm_wire_get_time(w);
	rule = ctm_wire_get_bytes(w);
	e->parent.dev = ctm_wire_get(w);
	e->parent.ino = ctm_wire_get(w);
	type = ctm_wire_get_signed(w);
	handle = ctm_wire_get_bytes(w);
	e->parent_mtime = ctm_wire_get_time(w);
	if (w->bad || type < INT32_MIN || type > INT32_MAX || handle.len > CTM_HANDLE_MAX) {
		return -EBADMSG;
	}
	memcpy(e->sha256, sha256.p, sizeof(e->sha256));
	e->parent.handle.type = (int)type;
	e->parent.handle.len = (unsigned int)handle.len;
	memcpy(e->parent.handle.bytes, handle.p, handle.len);
	e->parent.path = e->ref.path;
	e->parent.path_len = parent_len(e->ref.path, e->ref.path_len);
	e->rule = ctm_arena_dup(arena, rule.p, rule.len);
	return e->rule ? 0 : -ENOMEM;
}

static void get_states(struct ctm_codec *c, struct ctm_wire *w, uint64_t flags, struct ctm_entry *e)
{
	for (unsigned int i = 0; flags & CTM_CODEC_F_OWNERS && i < 4; i++) {
		c->ids[i] = ctm_wire_get32(w);
	}
	if (flags & CTM_CODEC_F_MODE) {
		c->mode = ctm_wire_get32(w);
	}
	e->before.mode = c->mode;
	e->after.mode = flags & CTM_CODEC_F_AFTER ? ctm_wire_get32(w) : c->mode;
	e->before.uid.v = c->ids[0];
	e->before.gid.v = c->ids[1];
	e->after.uid.v = c->ids[2];
	e->after.gid.v = c->ids[3];
}

int ctm_codec_get(struct ctm_codec *c, enum ctm_entry_kind kind, struct ctm_bytes body,
		  struct ctm_arena *arena, struct ctm_entry *ret)
{
	struct ctm_wire w = ctm_wire_of(body);
	struct ctm_entry e = { .kind = kind, .nlink = 1, .names = 1, .rule = "" };
	uint64_t flags = ctm_wire_get(&w);
	int r = get_path(c, &w, kind);

	if (r < 0) {
		return r;
	}
	if (flags & CTM_CODEC_F_DEV) {
		c->dev = ctm_wire_get(&w);
	}
	c->ino += (uint64_t)ctm_wire_get_signed(&w);
	get_handle(&w, flags & CTM_CODEC_F_HANDLE, &c->handle);
	get_states(c, &w, flags, &e);
	if (flags & CTM_CODEC_F_LINKS) {
		e.nlink = ctm_wire_get32(&w);
		e.names = ctm_wire_get32(&w);
	}
	if (flags & CTM_CODEC_F_CAUSE) {
		struct ctm_bytes cause = ctm_wire_get_bytes(&w);

		r = ctm_codec_replace(&c->cause, 0, cause.p, cause.len);
	}
	if (r == 0 && flags & CTM_CODEC_F_ATTR) {
		e.attr = ctm_wire_get32(&w);
	}
	if (r == 0 && flags & CTM_CODEC_F_XATTRS) {
		r = get_xattrs(&w, arena, &e);
	}
	if (r == 0 && flags & CTM_CODEC_F_CONTENT) {
		get_content(&w, &e);
	}
	e.ref = (struct ctm_ref){ c->path.p, c->path.len, c->dev, c->ino, c->handle };
	if (r == 0 && ctm_entry_is_file(kind)) {
		r = get_file(&w, arena, &e);
	}
	if (r < 0) {
		return r;
	}
	if (!ctm_wire_ended(&w) || flags > CTM_CODEC_F_ALL) {
		return -EBADMSG;
	}
	e.cause = cause_of(&c->cause);
	*ret = e;
	return 0;
}
