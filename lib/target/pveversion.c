/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Find pve-container's version in dpkg's status file (deb-control(5): paragraphs of fields). */
#include "target/pveversion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"

CTM_HOST_PATHS

#define STATUS "/var/lib/dpkg/status"

/* Far more than any host has: the file is read a line at a time, but not for ever. */
#define LINES_MAX 20000000u

/* What is known of the paragraph that is being read. */
struct paragraph {
	bool ours;
	bool there;
	unsigned int major;
};

/* The value of a field, or NULL for another line. */
static const char *field(const char *line, const char *name)
{
	size_t len = strlen(name);

	if (strncmp(line, name, len) != 0 || line[len] != ':') {
		return NULL;
	}
	line += len + 1;
	return line + strspn(line, " \t");
}

/* "install ok installed": the third word says whether its files are there. */
static bool is_there(const char *status)
{
	static const char *const states[] = { "installed", "unpacked", "half-configured",
					      "triggers-awaited", "triggers-pending" };
	const char *last = strrchr(status, ' ');

	for (size_t i = 0; last && i < ARRAY_LEN(states); i++) {
		if (strcmp(last + 1, states[i]) == 0) {
			return true;
		}
	}
	return false;
}

/* "4.4-7", with an epoch "1:4.4-7"; 0 when it begins with no number. */
static unsigned int major_of(const char *version)
{
	size_t digits = strspn(version, "0123456789");

	if (digits > 0 && version[digits] == ':') {
		version += digits + 1;
		digits = strspn(version, "0123456789");
	}
	if (digits == 0 || digits > 6 || version[digits] != '.') {
		return 0;
	}
	return (unsigned int)strtoul(version, NULL, 10);
}

static void read_line(const char *line, struct paragraph *p)
{
	const char *value;

	value = field(line, "Package");
	if (value) {
		p->ours = strcmp(value, "pve-container") == 0;
		return;
	}
	value = field(line, "Status");
	if (value) {
		p->there = is_there(value);
		return;
	}
	value = field(line, "Version");
	if (value) {
		p->major = major_of(value);
	}
}

/* The major version in the first paragraph that has it. */
static int search(FILE *file, unsigned int *ret)
{
	CLEANUP_FREE char *line = NULL;
	struct paragraph p = { 0 };
	size_t size = 0;
	ssize_t n;

	for (unsigned int i = 0; i < LINES_MAX; i++) {
		n = getline(&line, &size, file);
		if (n > 0 && line[n - 1] == '\n') {
			line[--n] = '\0';
		}
		if (n <= 0) {
			if (p.ours && p.there && p.major > 0) {
				*ret = p.major;
				return 0;
			}
			p = (struct paragraph){ 0 };
		}
		if (n < 0) {
			return ferror(file) ? -EIO : 0;
		}
		read_line(line, &p);
	}
	return 0;
}

int ctm_pveversion_container(const struct ctm_host *host, unsigned int *ret, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP_FCLOSE FILE *file = NULL;
	unsigned int major = 0;
	int r = ctm_host_path(host, &path, "%s", STATUS);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	file = fopen(path.p, "re");
	if (!file && errno == ENOENT) {
		*ret = 0;
		return 0;
	}
	r = file ? search(file, &major) : -errno;
	if (r < 0) {
		return ctm_err_set(err, CTM_SYS, r, "read '%s'", path.p);
	}
	*ret = major;
	return 0;
}
