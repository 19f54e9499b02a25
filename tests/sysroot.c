/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files of a host that is a scratch directory.
 */
#include "sysroot.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void join(const struct scratch *s, const char *path, char out[static PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/%s", s->path, path);

	cr_assert(n > 0 && n < PATH_MAX);
}

/* Makes the directories above the last component. */
static void make_parents(char *path, size_t from)
{
	for (char *p = strchr(path + from, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		cr_assert(mkdir(path, 0755) == 0 || errno == EEXIST, "mkdir %s: %s", path,
			  strerror(errno));
		*p = '/';
	}
}

void sysroot_bytes(const struct scratch *s, const char *path, const void *p, size_t len)
{
	char full[PATH_MAX];
	FILE *f;

	join(s, path, full);
	make_parents(full, strlen(s->path) + 1);
	f = fopen(full, "w");
	cr_assert_not_null(f, "%s: %s", full, strerror(errno));
	cr_assert_eq(fwrite(p, 1, len, f), len);
	cr_assert_eq(fclose(f), 0);
}

void sysroot_file(const struct scratch *s, const char *path, const char *text)
{
	sysroot_bytes(s, path, text, strlen(text));
}

void sysroot_copy(const struct scratch *s, const char *path, const char *from)
{
	size_t len;
	char *bytes = sysroot_read(from, &len);

	sysroot_bytes(s, path, bytes, len);
	free(bytes);
}

void sysroot_dir(const struct scratch *s, const char *path)
{
	char full[PATH_MAX];

	join(s, path, full);
	make_parents(full, strlen(s->path) + 1);
	cr_assert(mkdir(full, 0755) == 0 || errno == EEXIST, "%s: %s", full, strerror(errno));
}

void sysroot_link(const struct scratch *s, const char *path, const char *to)
{
	char full[PATH_MAX];

	join(s, path, full);
	make_parents(full, strlen(s->path) + 1);
	cr_assert_eq(symlink(to, full), 0, "%s: %s", full, strerror(errno));
}

char *sysroot_read(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "r");
	char *bytes;
	long len;

	cr_assert_not_null(f, "%s: %s", path, strerror(errno));
	cr_assert_eq(fseek(f, 0, SEEK_END), 0);
	len = ftell(f);
	cr_assert_geq(len, 0);
	rewind(f);
	bytes = malloc((size_t)len + 1);
	cr_assert_not_null(bytes);
	cr_assert_eq(fread(bytes, 1, (size_t)len, f), (size_t)len);
	bytes[len] = '\0';
	*ret_len = (size_t)len;
	cr_assert_eq(fclose(f), 0);
	return bytes;
}
