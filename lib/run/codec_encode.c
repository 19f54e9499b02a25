/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An entry of a record to bytes, coded against the entry before. */
#include <errno.h>
#include <string.h>

#include "run/codec_parts.h"
#include "run/wire.h"

static const char *cause_text(enum ctm_finding_code cause)
{
	return cause < CTM_F_N ? ctm_finding_info(cause)->code : "";
}

static const struct ctm_bytes *xattrs_of(const struct ctm_inode_state *s, unsigned int i)
{
	const struct ctm_bytes *all[CTM_CODEC_XATTRS] = { &s->acl_access, &s->acl_default,
							  &s->caps };

	return all[i];
}

static size_t common_prefix(const struct ctm_buf *a, const char *b, size_t blen)
{
	size_t n = 0;

	while (n < a->len && n < blen && a->p[n] == b[n]) {
		n++;
	}
	return n;
}

static void put_handle(struct ctm_wire_out *out, const struct ctm_handle *prev,
		       const struct ctm_handle *h, bool form)
{
	unsigned char mask[CTM_HANDLE_MAX / 8] = { 0 };
	unsigned char differ[CTM_HANDLE_MAX];
	size_t n = 0;

	for (unsigned int i = 0; i < h->len; i++) {
		if (h->bytes[i] != prev->bytes[i]) {
			mask[i / 8] = (unsigned char)(mask[i / 8] | 1u << (i % 8));
			differ[n++] = h->bytes[i];
		}
	}
	if (form) {
		ctm_wire_put_signed(out, h->type);
		ctm_wire_put(out, h->len);
	}
	ctm_wire_put_raw(out, mask, (h->len + 7) / 8);
	ctm_wire_put_raw(out, differ, n);
}

static unsigned int xattr_bits(const struct ctm_inode_state *before,
			       const struct ctm_inode_state *after)
{
	unsigned int bits = 0;

	for (unsigned int i = 0; i < CTM_CODEC_XATTRS; i++) {
		const struct ctm_bytes *b = xattrs_of(before, i);
		const struct ctm_bytes *a = xattrs_of(after, i);
		unsigned int three = (b->p ? CTM_CODEC_BEFORE : 0) | (a->p ? CTM_CODEC_AFTER : 0);

		if (b->p && a->p && ctm_bytes_eq(*b, *a)) {
			three |= CTM_CODEC_SAME;
		}
		bits |= three << (3 * i);
	}
	return bits;
}

static void put_xattrs(struct ctm_wire_out *out, unsigned int bits,
		       const struct ctm_inode_state *before, const struct ctm_inode_state *after)
{
	ctm_wire_put(out, bits);
	for (unsigned int i = 0; i < CTM_CODEC_XATTRS; i++) {
		unsigned int three = bits >> (3 * i);
		const struct ctm_bytes *b = xattrs_of(before, i);
		const struct ctm_bytes *a = xattrs_of(after, i);

		if (three & CTM_CODEC_BEFORE) {
			ctm_wire_put_bytes(out, b->p, b->len);
		}
		if ((three & CTM_CODEC_AFTER) && !(three & CTM_CODEC_SAME)) {
			ctm_wire_put_bytes(out, a->p, a->len);
		}
	}
}

static void put_content(struct ctm_wire_out *out, const struct ctm_entry *e)
{
	ctm_wire_put(out, e->content);
	ctm_wire_put(out, e->size);
	if (e->content == CTM_CONTENT_SHA256) {
		ctm_wire_put_raw(out, e->sha256, sizeof(e->sha256));
	} else {
		ctm_wire_put_time(out, e->ctime);
	}
}

static void put_file(struct ctm_wire_out *out, const struct ctm_entry *e)
{
	ctm_wire_put(out, e->size);
	ctm_wire_put_raw(out, e->sha256, sizeof(e->sha256));
	ctm_wire_put_time(out, e->mtime);
	ctm_wire_put_bytes(out, e->rule, strlen(e->rule));
	ctm_wire_put(out, e->parent.dev);
	ctm_wire_put(out, e->parent.ino);
	ctm_wire_put_signed(out, e->parent.handle.type);
	ctm_wire_put_bytes(out, e->parent.handle.bytes, e->parent.handle.len);
	ctm_wire_put_time(out, e->parent_mtime);
}

/* An entry as it is written: R and T have one state. */
struct form {
	const struct ctm_inode_state *before;
	const struct ctm_inode_state *after;
	uint32_t ids[4];
	const char *cause;
	size_t cause_len;
	unsigned int xattrs;
	unsigned int flags;
};

static unsigned int deviates(bool yes, enum ctm_codec_flag flag)
{
	return yes ? flag : 0;
}

static struct form form_of(const struct ctm_codec *c, const struct ctm_entry *e)
{
	const struct ctm_inode_state *b = e->kind == CTM_ENTRY_RESTORE ? &e->after : &e->before;
	const struct ctm_inode_state *a = e->kind == CTM_ENTRY_REMOVE ? &e->before : &e->after;
	const struct ctm_handle *h = &e->ref.handle;
	struct form f = {
		.before = b,
		.after = a,
		.ids = { b->uid.v, b->gid.v, a->uid.v, a->gid.v },
		.cause = cause_text(e->cause),
		.xattrs = xattr_bits(b, a),
	};
	bool same_cause;

	f.cause_len = strlen(f.cause);
	same_cause = f.cause_len == c->cause.len &&
		     (f.cause_len == 0 || memcmp(f.cause, c->cause.p, f.cause_len) == 0);
	f.flags =
		deviates(memcmp(f.ids, c->ids, sizeof(f.ids)) != 0, CTM_CODEC_F_OWNERS) |
		deviates(b->mode != c->mode, CTM_CODEC_F_MODE) |
		deviates(a->mode != b->mode, CTM_CODEC_F_AFTER) |
		deviates(e->ref.dev != c->dev, CTM_CODEC_F_DEV) |
		deviates(e->nlink != 1 || e->names != 1, CTM_CODEC_F_LINKS) |
		deviates(!same_cause, CTM_CODEC_F_CAUSE) |
		deviates(h->type != c->handle.type || h->len != c->handle.len, CTM_CODEC_F_HANDLE) |
		deviates(e->attr != 0, CTM_CODEC_F_ATTR) |
		deviates(f.xattrs != 0, CTM_CODEC_F_XATTRS) |
		deviates(e->kind == CTM_ENTRY_SET && e->content != CTM_CONTENT_NONE,
			 CTM_CODEC_F_CONTENT);
	return f;
}

static void put_deviating(struct ctm_wire_out *out, const struct form *f, const struct ctm_entry *e)
{
	for (unsigned int i = 0; f->flags & CTM_CODEC_F_OWNERS && i < 4; i++) {
		ctm_wire_put(out, f->ids[i]);
	}
	if (f->flags & CTM_CODEC_F_MODE) {
		ctm_wire_put(out, f->before->mode);
	}
	if (f->flags & CTM_CODEC_F_AFTER) {
		ctm_wire_put(out, f->after->mode);
	}
	if (f->flags & CTM_CODEC_F_LINKS) {
		ctm_wire_put(out, e->nlink);
		ctm_wire_put(out, e->names);
	}
	if (f->flags & CTM_CODEC_F_CAUSE) {
		ctm_wire_put_bytes(out, f->cause, f->cause_len);
	}
	if (f->flags & CTM_CODEC_F_ATTR) {
		ctm_wire_put(out, e->attr);
	}
	if (f->flags & CTM_CODEC_F_XATTRS) {
		put_xattrs(out, f->xattrs, f->before, f->after);
	}
	if (f->flags & CTM_CODEC_F_CONTENT) {
		put_content(out, e);
	}
}

static int remember(struct ctm_codec *c, const struct form *f, const struct ctm_entry *e,
		    size_t same)
{
	int r = ctm_codec_replace(&c->path, same, e->ref.path + same, e->ref.path_len - same);

	if (r == 0) {
		r = ctm_codec_replace(&c->cause, 0, f->cause, f->cause_len);
	}
	c->handle = e->ref.handle;
	memset(c->handle.bytes + c->handle.len, 0, CTM_HANDLE_MAX - c->handle.len);
	c->dev = e->ref.dev;
	c->ino = e->ref.ino;
	memcpy(c->ids, f->ids, sizeof(c->ids));
	c->mode = f->before->mode;
	return r;
}

int ctm_codec_put(struct ctm_codec *c, const struct ctm_entry *e, struct ctm_buf *ret)
{
	struct ctm_wire_out out = { .buf = ret };
	size_t same = common_prefix(&c->path, e->ref.path, e->ref.path_len);
	struct form f;

	if (!ctm_codec_path_ok(e->ref.path, e->ref.path_len, e->kind) ||
	    e->ref.handle.len > CTM_HANDLE_MAX || e->parent.handle.len > CTM_HANDLE_MAX) {
		return -EINVAL;
	}
	f = form_of(c, e);
	ctm_wire_put(&out, f.flags);
	ctm_wire_put(&out, same);
	ctm_wire_put_bytes(&out, e->ref.path + same, e->ref.path_len - same);
	if (f.flags & CTM_CODEC_F_DEV) {
		ctm_wire_put(&out, e->ref.dev);
	}
	ctm_wire_put_signed(&out, (int64_t)(e->ref.ino - c->ino));
	put_handle(&out, &c->handle, &e->ref.handle, f.flags & CTM_CODEC_F_HANDLE);
	put_deviating(&out, &f, e);
	if (ctm_entry_is_file(e->kind)) {
		put_file(&out, e);
	}
	return out.r < 0 ? out.r : remember(c, &f, e, same);
}
