/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/storage.cfg, and the paths that are made from it.
 */
#include "fuzz/fuzz.h"
#include "storage/storage.h"

/* A path must be absolute and stay where it is. */
static void check_path(const char *path)
{
	size_t len = strlen(path);

	FUZZ_CHECK(path[0] == '/');
	FUZZ_CHECK(!strstr(path, "/../"));
	FUZZ_CHECK(len < 3 || strcmp(path + len - 3, "/..") != 0);
}

/* With a path, or with what Proxmox VE's library finds it by. */
static void check_volume(const struct ctm_storage_volume *volume)
{
	if (volume->path) {
		check_path(volume->path);
		FUZZ_CHECK(volume->format && !volume->by_pve && !volume->rbd_image);
	} else if (volume->rbd_image) {
		char below[8192];

		/* where udev links it */
		if ((size_t)snprintf(below, sizeof(below), "/dev/%s", volume->rbd_image) <
		    sizeof(below)) {
			check_path(below);
		}
		FUZZ_CHECK(volume->activates && volume->rbd_image[0] != '/');
	} else {
		FUZZ_CHECK(volume->by_pve && volume->activates);
		FUZZ_CHECK(!ctm_storage_type_find(volume->storage->type));
	}
	FUZZ_CHECK(!volume->mount_root || volume->mount_root[0] == '/');
}

static void resolve(const struct ctm_storagecfg *cfg, const struct ctm_storage *storage)
{
	static const char *const names[] = {
		"115/vm-115-disk-0.raw",
		"115/subvol-115-disk-0.subvol",
		"vm-115-disk-0",
		"subvol-115-disk-0",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct ctm_storage_volume volume = { 0 };
		struct ctm_buf volid = { 0 };
		struct ctm_err err = { 0 };

		FUZZ_CHECK(ctm_buf_addf(&volid, "%s:%s", storage->id, names[i]) == 0);
		if (ctm_storage_resolve(cfg, volid.p, &volume, &err) == 0) {
			check_volume(&volume);
			FUZZ_CHECK(volume.storage == storage);
			if (volume.trusted_prefix) {
				size_t len = strlen(volume.trusted_prefix);

				FUZZ_CHECK(strncmp(volume.path, volume.trusted_prefix, len) == 0);
				FUZZ_CHECK(volume.path[len] == '/');
			}
		} else {
			FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
		}
		(void)ctm_storage_usable(storage, "pve1", &err);
		ctm_storage_volume_done(&volume);
		ctm_buf_done(&volid);
	}
}

/* The first line is a volume id for the storages of the rest. */
static void resolve_first_line(const struct ctm_storagecfg *cfg, const uint8_t *data, size_t size)
{
	char *volid = fuzz_string(data, size);
	struct ctm_storage_volume volume = { 0 };

	volid[strcspn(volid, "\n")] = '\0';
	if (ctm_storage_resolve(cfg, volid, &volume, NULL) == 0) {
		check_volume(&volume);
	}
	ctm_storage_volume_done(&volume);
	free(volid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctm_storagecfg cfg = { 0 };
	struct ctm_err err = { 0 };

	if (ctm_storagecfg_parse(fuzz_bytes(data, size), &cfg, &err) == 0) {
		FUZZ_CHECK(ctm_storagecfg_find(&cfg, "local"));
		for (size_t i = 0; i < cfg.storages.n; i++) {
			FUZZ_CHECK(ctm_storagecfg_find(&cfg, cfg.storages.v[i].id) ==
				   &cfg.storages.v[i]);
			resolve(&cfg, &cfg.storages.v[i]);
		}
		resolve_first_line(&cfg, data, size);
	} else {
		FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
	}
	ctm_storagecfg_done(&cfg);
	return 0;
}
