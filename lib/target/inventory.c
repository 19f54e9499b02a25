/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every container of this host. */
#include "target/inventory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "target/hostfile.h"
#include "target/locate.h"

CTM_HOST_PATHS

void ctm_inventory_done(struct ctm_inventory *inventory)
{
	for (size_t i = 0; i < inventory->names.n; i++) {
		free(inventory->names.v[i]);
	}
	ctm_vec_done(&inventory->names);
}

static int add(struct ctm_inventory *inventory, const char *name, size_t len)
{
	char *copy = strndup(name, len);
	int r = copy ? ctm_vec_push(&inventory->names, &copy) : -ENOMEM;

	if (r < 0) {
		free(copy);
	}
	return r;
}

/* "115.conf"; pmxcfs has other files there while one is written. */
static int add_pve(struct ctm_inventory *inventory, const char *entry)
{
	size_t digits = strspn(entry, "0123456789");

	if (digits == 0 || digits > 9 || entry[0] == '0' || strcmp(entry + digits, ".conf") != 0) {
		return 0;
	}
	return add(inventory, entry, digits);
}

struct lxc_folder {
	const char *path;
	bool pve;
};

static int add_lxc(struct ctm_inventory *inventory, const struct lxc_folder *folder,
		   const char *entry)
{
	CLEANUP(ctm_buf_done) struct ctm_buf config = { 0 };

	if (entry[0] == '.' || (folder->pve && ctm_locate_is_id(entry))) {
		return 0;
	}
	if (ctm_buf_addf(&config, "%s/%s/config", folder->path, entry) < 0) {
		return -ENOMEM;
	}
	return ctm_hostfile_exists(config.p) ? add(inventory, entry, strlen(entry)) : 0;
}

/* lxc NULL: Proxmox VE's configurations. A folder that is not there is an empty one. */
static int list(struct ctm_inventory *inventory, const char *path, const struct lxc_folder *lxc)
{
	DIR *dir = opendir(path);
	int r = 0;

	if (!dir && errno == ENOENT) {
		return 0;
	}
	while (dir && r == 0) {
		const struct dirent *entry;

		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			break;
		}
		r = lxc ? add_lxc(inventory, lxc, entry->d_name) :
			  add_pve(inventory, entry->d_name);
	}
	if (r == 0 && errno) {
		(void)ctm_err_set(&inventory->missing, CTM_SYS, errno, "read '%s'", path);
	}
	if (dir) {
		(void)closedir(dir);
	}
	return r;
}

static int by_number(const void *a, const void *b)
{
	const char *x = *(char *const *)a;
	const char *y = *(char *const *)b;
	size_t nx = strlen(x);
	size_t ny = strlen(y);

	return nx != ny ? (nx < ny ? -1 : 1) : strcmp(x, y);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct ctm_inventory *inventory, size_t from,
		 int (*order)(const void *, const void *))
{
	if (inventory->names.n > from) {
		qsort(inventory->names.v + from, inventory->names.n - from,
		      sizeof(inventory->names.v[0]), order);
	}
}

static int list_pve(const struct ctm_host *host, struct ctm_inventory *inventory)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	int r;

	if (!ctm_locate_have_pve(host)) {
		r = ctm_locate_pve_down(host, &inventory->missing);
		return r == -ENOMEM ? r : 0;
	}
	r = ctm_host_path(host, &path, CTM_PLACE_PVE "/lxc");
	return r < 0 ? r : list(inventory, path.p, NULL);
}

static int list_lxc(const struct ctm_host *host, struct ctm_inventory *inventory)
{
	CLEANUP(ctm_lxcpath_done) struct ctm_lxcpath path = { 0 };
	struct lxc_folder folder = { .pve = ctm_locate_have_pve(host) };
	int r = ctm_lxcpath_find(host, &path, &inventory->missing);

	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	folder.path = path.here.p;
	return list(inventory, path.here.p, &folder);
}

int ctm_inventory_read(const struct ctm_host *host, struct ctm_inventory *ret, struct ctm_err *err)
{
	size_t plain;
	int r = list_pve(host, ret);

	sort(ret, 0, by_number);
	plain = ret->names.n;
	r = r == 0 ? list_lxc(host, ret) : r;
	sort(ret, plain, by_name);
	return r < 0 ? ctm_err_nomem(err) : 0;
}
