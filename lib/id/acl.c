/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * POSIX ACLs as attribute bytes. Values come from a hostile file system: every length is checked
 * here, and nothing is assumed about order, duplicates, tags or permission bits.
 */
#include "id/acl.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define HEADER sizeof(struct posix_acl_xattr_header)
#define ENTRY  sizeof(struct posix_acl_xattr_entry)

/* XATTR_SIZE_MAX of linux/limits.h: the kernel hands out no longer value. */
#define VALUE_MAX 65536

int ctm_acl_count(struct ctm_bytes acl)
{
	struct posix_acl_xattr_header header;

	if (!acl.p || acl.len < HEADER || acl.len > VALUE_MAX || (acl.len - HEADER) % ENTRY != 0) {
		return -EINVAL;
	}
	memcpy(&header, acl.p, HEADER);
	if (le32toh(header.a_version) != POSIX_ACL_XATTR_VERSION) {
		return -EINVAL;
	}
	return (int)((acl.len - HEADER) / ENTRY);
}

struct ctm_acl_entry ctm_acl_get(struct ctm_bytes acl, int i)
{
	struct posix_acl_xattr_entry raw;

	memcpy(&raw, (const unsigned char *)acl.p + HEADER + (size_t)i * ENTRY, ENTRY);
	return (struct ctm_acl_entry){
		.tag = le16toh(raw.e_tag),
		.perm = le16toh(raw.e_perm),
		.id = le32toh(raw.e_id),
	};
}

bool ctm_acl_names(const struct ctm_acl_entry *e, enum ctm_idkind *ret_kind)
{
	switch (e->tag) {
	case ACL_USER:
		*ret_kind = CTM_UID;
		return true;
	case ACL_GROUP:
		*ret_kind = CTM_GID;
		return true;
	default:
		return false;
	}
}

bool ctm_acl_off_map(struct ctm_bytes acl, const struct ctm_idmap *map)
{
	int n = ctm_acl_count(acl);

	for (int i = 0; i < n; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);
		enum ctm_idkind kind;

		if (ctm_acl_names(&e, &kind) && !ctm_idmap_on_disk(map, kind, (ctm_did){ e.id })) {
			return true;
		}
	}
	return n < 0;
}

/* Where a named entry was and where it is going. */
struct move {
	enum ctm_idkind kind;
	uint32_t to;
	uint32_t from;
};

static int move_cmp(const void *a, const void *b)
{
	const struct move *x = a;
	const struct move *y = b;

	if (x->kind != y->kind) {
		return x->kind < y->kind ? -1 : 1;
	}
	if (x->to != y->to) {
		return x->to < y->to ? -1 : 1;
	}
	return (x->from > y->from) - (x->from < y->from);
}

/*
 * Whether two ids become one. Sorted, because a hostile ACL may have thousands of entries.
 */
static bool merges(struct move *moves, size_t n)
{
	qsort(moves, n, sizeof(*moves), move_cmp);
	for (size_t i = 1; i < n; i++) {
		const struct move *a = &moves[i - 1];
		const struct move *b = &moves[i];

		if (a->kind == b->kind && a->to == b->to && a->from != b->from) {
			return true;
		}
	}
	return false;
}

static void put_id(unsigned char *acl, int i, uint32_t id)
{
	const uint32_t raw = htole32(id);

	memcpy(acl + HEADER + (size_t)i * ENTRY + offsetof(struct posix_acl_xattr_entry, e_id),
	       &raw, sizeof(raw));
}

int ctm_acl_move(struct ctm_bytes acl, ctm_acl_move_fn fn, void *arg, struct ctm_arena *arena,
		 struct ctm_bytes *ret, bool *ret_merge)
{
	CLEANUP_FREE struct move *moves = NULL;
	int count = ctm_acl_count(acl);
	unsigned char *copy;
	size_t n = 0;
	int moved = 0;

	if (count < 0) {
		return count;
	}
	copy = (unsigned char *)ctm_arena_dup(arena, acl.p, acl.len);
	moves = calloc((size_t)count + 1, sizeof(*moves));
	if (!copy || !moves) {
		return -ENOMEM;
	}
	for (int i = 0; i < count; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);
		ctm_did to = { e.id };
		enum ctm_idkind kind;

		if (!ctm_acl_names(&e, &kind)) {
			continue;
		}
		if (!fn(kind, (ctm_did){ e.id }, &to, arg)) {
			to.v = e.id;
		}
		if (to.v != e.id) {
			put_id(copy, i, to.v);
			moved++;
		}
		moves[n++] = (struct move){ .kind = kind, .from = e.id, .to = to.v };
	}
	*ret = (struct ctm_bytes){ .p = copy, .len = acl.len };
	*ret_merge = moved > 0 && merges(moves, n);
	return moved;
}

static int format_entry(const struct ctm_acl_entry *e, struct ctm_buf *out)
{
	static const char letters[] = {
		[ACL_USER_OBJ] = 'u', [ACL_USER] = 'u', [ACL_GROUP_OBJ] = 'g',
		[ACL_GROUP] = 'g',    [ACL_MASK] = 'm', [ACL_OTHER] = 'o',
	};
	const uint16_t extra = e->perm & (uint16_t) ~(ACL_READ | ACL_WRITE | ACL_EXECUTE);
	enum ctm_idkind kind;
	int r;

	if (e->tag < sizeof(letters) && letters[e->tag]) {
		r = ctm_buf_addf(out, "%c:", letters[e->tag]);
		if (r == 0 && ctm_acl_names(e, &kind)) {
			r = ctm_buf_addf(out, "%u", e->id);
		}
	} else {
		r = ctm_buf_addf(out, "0x%x:%u", e->tag, e->id);
	}
	if (r == 0) {
		r = ctm_buf_addf(out, ":%c%c%c", e->perm & ACL_READ ? 'r' : '-',
				 e->perm & ACL_WRITE ? 'w' : '-',
				 e->perm & ACL_EXECUTE ? 'x' : '-');
	}
	if (r == 0 && extra) {
		r = ctm_buf_addf(out, "+0x%x", extra);
	}
	return r;
}

int ctm_acl_format(struct ctm_bytes acl, struct ctm_buf *out)
{
	int n = ctm_acl_count(acl);
	int r;

	if (n < 0) {
		return n;
	}
	r = ctm_buf_reserve(out, 0);
	for (int i = 0; r == 0 && i < n; i++) {
		const struct ctm_acl_entry e = ctm_acl_get(acl, i);

		r = i > 0 ? ctm_buf_add(out, ",", 1) : 0;
		if (r == 0) {
			r = format_entry(&e, out);
		}
	}
	return r;
}
