/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Successors of inodes that were removed and brought back. */
#include "run/successor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort.h"
#include "run/journal.h"

#define MEMORY ((size_t)16 << 20)

struct handle {
	int type;
	struct ctm_bytes bytes; /* p NULL: the file system has none */
};

/* That an inode went (now_ino 0), or came back as another one. */
struct fate {
	uint64_t ino;
	struct handle handle;
	const char *path;
	size_t path_len;
	uint64_t now_dev;
	uint64_t now_ino;
	struct handle now_handle;
	size_t run; /* whose record says so */
	size_t at;  /* the order in which they came */
};

struct ctm_successors {
	int dir; /* of the older run: the spill's files are made there */
	struct ctm_spill *spill;
	struct ctm_arena arena;
	struct ctm_run_names runs;
	CTM_VEC(struct fate) fates; /* by inode number, then in their order */
};

void ctm_successors_free(struct ctm_successors *s)
{
	if (!s) {
		return;
	}
	ctm_spill_vec_done(s->spill, &s->fates);
	ctm_arena_done(&s->arena);
	ctm_spill_free(s->spill);
	ctm_run_names_done(&s->runs);
	ctm_closep(&s->dir);
	free(s);
}

static int copy_handle(struct ctm_successors *s, const struct ctm_handle *from, struct handle *to)
{
	to->type = from->type;
	if (from->len == 0) {
		to->bytes = (struct ctm_bytes){ .p = NULL };
		return 0;
	}
	return ctm_arena_bytes(&s->arena, (struct ctm_bytes){ from->bytes, from->len }, &to->bytes);
}

static int add(struct ctm_successors *s, size_t run, const struct ctm_entry *e,
	       const struct ctm_run_came_back *back)
{
	struct fate f = {
		.ino = e->ref.ino,
		.path = ctm_arena_dup(&s->arena, e->ref.path, e->ref.path_len),
		.path_len = e->ref.path_len,
		.now_dev = back ? back->dev : 0,
		.now_ino = back ? back->ino : 0,
		.run = run,
		.at = s->fates.n,
	};

	if (!f.path || copy_handle(s, &e->ref.handle, &f.handle) < 0 ||
	    (back && copy_handle(s, &back->handle, &f.now_handle) < 0)) {
		return -ENOMEM;
	}
	ctm_spill_pass(s->spill);
	return ctm_spill_push(s->spill, &s->fates, &f);
}

static int add_entry(struct ctm_successors *s, size_t run, const struct ctm_reader *reader,
		     const struct ctm_entry *e, uint64_t index)
{
	const struct ctm_run_came_back *back = ctm_reader_came_back(reader, index);

	if (e->kind == CTM_ENTRY_RESTORE) {
		return back ? add(s, run, e, back) : 0;
	}
	return e->kind == CTM_ENTRY_REMOVE && !ctm_reader_failure(reader, index) ?
		       add(s, run, e, NULL) :
		       0;
}

static bool is_of_volume(const struct ctm_run *run, const struct ctm_run_header *header,
			 const struct ctm_run_header *older)
{
	struct ctm_identity recorded;
	const struct ctm_bytes text = { header->identity, strlen(header->identity) };

	return strcmp(header->volume, older->volume) == 0 &&
	       ctm_identity_parse(text, &recorded) == 0 &&
	       ctm_identity_match(&recorded, run->identity, NULL) == 0;
}

static int read_one(struct ctm_successors *s, const struct ctm_run *run,
		    const struct ctm_run_header *older, size_t i)
{
	CLEANUP(ctm_reader_freep) struct ctm_reader *reader = NULL;
	CLEANUP_CLOSE int dir = -1;
	struct ctm_entry e;
	uint64_t index;
	int r = ctm_state_run_open(run->state, s->runs.names.v[i], &dir, NULL);

	r = r < 0 ? r : ctm_reader_open(dir, &reader, NULL);
	if (r < 0 || !is_of_volume(run, ctm_reader_header(reader), older) ||
	    ctm_reader_count(reader, CTM_ENTRY_REMOVE) +
			    ctm_reader_count(reader, CTM_ENTRY_RESTORE) ==
		    0) {
		return r == -ENOMEM ? r : 0;
	}
	while ((r = ctm_reader_next(reader, &e, &index, NULL)) == 1) {
		r = add_entry(s, i, reader, &e, index);
		if (r < 0) {
			return r;
		}
	}
	return r;
}

static int by_inode(const void *a, const void *b)
{
	const struct fate *x = a;
	const struct fate *y = b;

	return x->ino != y->ino ? (x->ino < y->ino ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

static int read_all(struct ctm_successors *s, const struct ctm_run *run,
		    const struct ctm_run_header *older)
{
	bool newer = false;
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->runs.names.n; i++) {
		if (newer) {
			r = read_one(s, run, older, i);
		}
		newer |= strcmp(s->runs.names.v[i], older->run) == 0;
	}
	return r < 0 ? r :
		       ctm_sort(s->spill, s->fates.v, s->fates.n, sizeof(*s->fates.v), by_inode);
}

int ctm_successors_read(const struct ctm_run *run, const struct ctm_run_header *older,
			struct ctm_successors **ret, struct ctm_err *err)
{
	struct ctm_successors *s = calloc(1, sizeof(*s));
	char beside[40];
	int r;

	if (!s) {
		return ctm_err_nomem(err);
	}
	s->dir = -1;
	r = ctm_state_run_open(run->state, older->run, &s->dir, err);
	if (r == 0) {
		r = ctm_state_runs(run->state, &s->runs, err);
	}
	if (r == 0) {
		(void)snprintf(beside, sizeof(beside), "/proc/self/fd/%d", s->dir);
		r = ctm_spill_new(beside, MEMORY, &s->spill);
		s->arena.spill = s->spill;
		r = r < 0 ? r : read_all(s, run, older);
		r = r < 0 ? ctm_err_set(err, CTM_SYS, r, "read the newer records") : 0;
	}
	if (r < 0) {
		ctm_successors_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static bool is_inode(const struct fate *f, const struct ctm_ref *ref)
{
	if (f->ino != ref->ino) {
		return false;
	}
	if (f->handle.bytes.p || ref->handle.len > 0) {
		return f->handle.type == ref->handle.type &&
		       f->handle.bytes.len == ref->handle.len && f->handle.bytes.p &&
		       memcmp(f->handle.bytes.p, ref->handle.bytes, ref->handle.len) == 0;
	}
	return f->path_len == ref->path_len && memcmp(f->path, ref->path, f->path_len) == 0;
}

/* The last that is told of the inode, behind a place in the order of all; or NULL. */
static const struct fate *last_of(const struct ctm_successors *s, const struct ctm_ref *ref,
				  size_t behind)
{
	const struct fate *found = NULL;
	size_t low = 0;
	size_t high = s->fates.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->fates.v[mid].ino < ref->ino) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	for (; low < s->fates.n && s->fates.v[low].ino == ref->ino; low++) {
		if (s->fates.v[low].at >= behind && is_inode(&s->fates.v[low], ref)) {
			found = &s->fates.v[low];
		}
	}
	return found;
}

bool ctm_successor_find(const struct ctm_successors *s, const struct ctm_ref *was,
			struct ctm_ref *ret, const char **ret_removed_by)
{
	struct ctm_ref now = *was;
	const struct fate *f;
	size_t behind = 0;
	bool found = false;

	*ret_removed_by = NULL;
	/* each step goes on behind the one before, so it ends */
	while ((f = last_of(s, &now, behind))) {
		behind = f->at + 1;
		if (f->now_ino == 0) {
			*ret_removed_by = s->runs.names.v[f->run];
			return false;
		}
		now = (struct ctm_ref){
			.path = f->path,
			.path_len = f->path_len,
			.dev = f->now_dev,
			.ino = f->now_ino,
			.handle = { .type = f->now_handle.type,
				    .len = (unsigned int)f->now_handle.bytes.len },
		};
		if (f->now_handle.bytes.p) {
			memcpy(now.handle.bytes, f->now_handle.bytes.p, now.handle.len);
		}
		found = true;
	}
	if (found) {
		*ret = now;
	}
	return found;
}
