/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a diff of inodes. */
#include "report/difflines.h"

#include "base/pathname.h"
#include "report/inodeline.h"

#define RESET "\033[0m"

void ctm_diff_line(struct ctm_difflines *d, enum ctm_diff_part part)
{
	static const char *const colors[] = {
		[CTM_DIFF_HEAD] = "\033[1m",
		[CTM_DIFF_HUNK] = "\033[36m",
		[CTM_DIFF_MINUS] = "\033[31m",
		[CTM_DIFF_PLUS] = "\033[32m",
	};

	if (d->color && part != CTM_DIFF_NOTE) {
		fprintf(d->out, "%s%s%s\n", colors[part], d->line.p, RESET);
	} else {
		fprintf(d->out, "%s\n", d->line.p);
	}
	d->line.len = 0;
}

int ctm_diff_inode(struct ctm_difflines *d, char sign, const char *path, size_t path_len,
		   const struct ctm_inode_state *state, uint32_t attr, uint64_t rdev)
{
	int r = ctm_buf_add(&d->line, &sign, 1);

	if (r == 0) {
		r = ctm_inode_line(&d->line, path, path_len, state, rdev);
	}
	if (r == 0 && attr) {
		r = ctm_buf_addf(&d->line, " flags=%s%s", attr & CTM_ATTR_IMMUTABLE ? "i" : "",
				 attr & CTM_ATTR_APPEND ? "a" : "");
	}
	if (r == 0) {
		ctm_diff_line(d, sign == '-' ? CTM_DIFF_MINUS : CTM_DIFF_PLUS);
	}
	return r;
}

int ctm_diff_subvol(struct ctm_difflines *d, const char *path, size_t path_len, const char *what)
{
	int r = ctm_buf_addf(&d->line, "note: read-only subvolume /");

	if (r == 0) {
		r = ctm_path_show(&d->line, path, path_len);
	}
	if (r == 0) {
		r = ctm_buf_addf(&d->line, ": %s", what);
	}
	if (r == 0) {
		ctm_diff_line(d, CTM_DIFF_NOTE);
	}
	return r;
}

int ctm_diff_entry(struct ctm_difflines *d, const struct ctm_entry *e)
{
	int r = 0;

	if (ctm_entry_is_subvol(e->kind)) {
		return ctm_diff_subvol(d, e->ref.path, e->ref.path_len,
				       e->kind == CTM_ENTRY_WRITABLE ? "made writable" :
								       "made read-only again");
	}
	if (e->kind != CTM_ENTRY_RESTORE) {
		r = ctm_diff_inode(d, '-', e->ref.path, e->ref.path_len, &e->before, e->attr, 0);
	}
	if (r == 0 && e->kind != CTM_ENTRY_REMOVE) {
		r = ctm_diff_inode(d, '+', e->ref.path, e->ref.path_len, &e->after, e->attr, 0);
	}
	return r;
}
