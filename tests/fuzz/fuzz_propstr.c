/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of rootfs and mpN, and the map of a volume.
 */
#include "config/mountmap.h"
#include "config/mountpoint.h"
#include "fuzz/fuzz.h"

/* Every id of the map must come back from the disk, and no id off the map may. */
static void check_map(const char *option)
{
	static const uint32_t ids[] = { 0, 1, 33, 999, 1000, 1005, 65534, 65535, 65536, 100000 };
	struct ctm_idmap *container = ctm_idmap_new();
	struct ctm_idmap *map = NULL;
	struct ctm_err err = { 0 };

	FUZZ_CHECK(container && ctm_idmap_add_default(container) == 0);
	if (ctm_mountmap(container, option, &map, &err) < 0) {
		FUZZ_CHECK(err.code == CTM_REFUSED && !map);
	}
	for (size_t i = 0; map && i < sizeof(ids) / sizeof(ids[0]); i++) {
		for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID; kind++) {
			ctm_did disk;
			ctm_cid back;
			int r = ctm_idmap_to_disk(map, kind, (ctm_cid){ ids[i] }, &disk);

			FUZZ_CHECK((r == 0) == (ids[i] < 65536));
			if (r == 0) {
				FUZZ_CHECK(disk.v != CTM_ID_INVALID);
				FUZZ_CHECK(ctm_idmap_to_ct(map, kind, disk, &back) == 0);
				FUZZ_CHECK(back.v == ids[i]);
			}
		}
	}
	ctm_idmap_free(map);
	ctm_idmap_free(container);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	for (int rootfs = 0; rootfs < 2; rootfs++) {
		struct ctm_mountpoint mp = { 0 };
		struct ctm_err err = { 0 };

		if (ctm_mountpoint_parse(rootfs, text, &mp, &err) == 0) {
			FUZZ_CHECK(mp.volume[0] != '\0' && mp.mp[0] != '\0');
			FUZZ_CHECK(!strstr(mp.volume, "/../") && !strstr(mp.mp, "/../"));
			if (mp.idmap) {
				check_map(mp.idmap);
			}
		} else {
			FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
		}
		ctm_mountpoint_done(&mp);
	}
	check_map(text);
	free(text);
	return 0;
}
