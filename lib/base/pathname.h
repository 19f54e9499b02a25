/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names from a hostile tree: order, and a form that is safe to show.
 */
#ifndef CTM_BASE_PATHNAME_H
#define CTM_BASE_PATHNAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/**
 * Order of two relative paths by their bytes, component by component: a directory comes before what
 * is in it, and "a/b" before "a.b" (as if '/' were the lowest byte). <0, 0, >0.
 */
int ctm_path_cmp(const char *a, size_t alen, const char *b, size_t blen);

/** Whether path is dir itself or below it, by components; dir "" is the root and holds all. */
bool ctm_path_within(const char *path, size_t plen, const char *dir, size_t dlen);

/**
 * Normalises what a person typed for a path inside the rootfs ("in", "/in/", "./in//x") to the
 * relative form without leading, trailing or double slashes and without "."; "/" and "." give "".
 * *ret is overwritten, its content owned by the caller. -EINVAL for ".." and for an empty string;
 * -ENAMETOOLONG for a component over 255 bytes; -ENOMEM.
 */
int ctm_path_normalise(const char *typed, struct ctm_buf *ret);

/**
 * Appends the name as a person may safely see it. Printable ASCII and printable UTF-8 stay; a
 * backslash becomes \\, newline \n, tab \t. All else becomes \xNN (two lower-case digits) for each
 * of its bytes: other control bytes, bytes that are not UTF-8 (RFC 3629), bidirectional controls,
 * zero-width and other invisible characters (Unicode's Default_Ignorable_Code_Point, U+2028/9, C1,
 * tags ...), blanks other than U+0020, private use, noncharacters; and blanks at the end.
 * Reversible, so two names never look the same. -ENOMEM; out may then hold a part.
 */
int ctm_path_escape(struct ctm_buf *out, const char *name, size_t len);
/** Paths of more bytes are shown in part. */
#define CTM_PATH_SHOWN 1024u

/**
 * The same for a path in a report that a person reads: of one longer than CTM_PATH_SHOWN the first
 * and the last part, and between them how much is not shown, as "\[63000 bytes left out\]", which
 * no name can look like: a backslash of its own is doubled. -ENOMEM; out may then hold a part.
 */
int ctm_path_show(struct ctm_buf *out, const char *path, size_t len);
/**
 * Appends a sentence that may have names in it, escaped or not: what would act on a terminal or
 * hide becomes \n, \t or \xNN, all else stays. Not reversible. -ENOMEM; out may then hold a part.
 */
int ctm_text_escape(struct ctm_buf *out, const char *text, size_t len);

#endif
