/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The version of this build. */
#ifndef CTM_BASE_VERSION_H
#define CTM_BASE_VERSION_H

/*
 * What the file VERSION says; a build of a commit without the tag of that version carries the
 * commit after a plus sign: "0.1.0+5a75f90". Static, never freed.
 */
extern const char ctm_version[];

#endif
