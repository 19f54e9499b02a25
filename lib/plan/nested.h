/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places inside a container where it keeps containers of its own.
 */
#ifndef CTM_PLAN_NESTED_H
#define CTM_PLAN_NESTED_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Whether a path of the volume lies within the root file system of a nested container, or within a
 * store that such are made from. Ids there are shifted once more by right.
 */
bool ctm_path_nested(const char *path, size_t len);

#endif
