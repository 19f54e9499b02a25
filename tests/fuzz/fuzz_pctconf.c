/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/lxc/ID.conf, and the map and volumes that are read from it.
 */
#include "config/ctmap.h"
#include "config/mountpoint.h"
#include "config/pctconf.h"
#include "fuzz/fuzz.h"

static void look_at(const struct ctm_pctsection *section)
{
	for (size_t i = 0; i < section->keys.n; i++) {
		const struct ctm_pctentry *entry = &section->keys.v[i];
		struct ctm_mountpoint mp = { 0 };

		FUZZ_CHECK(entry->key[0] >= 'a' && entry->key[0] <= 'z');
		FUZZ_CHECK(entry->value[0] != '\0' && !strchr(entry->value, '\n'));
		FUZZ_CHECK(entry->line > section->line);
		FUZZ_CHECK(ctm_pctconf_find(section, entry->key)->line >= entry->line);
		if (ctm_mountpoint_parse(entry->key[0] == 'r', entry->value, &mp, NULL) == 0) {
			FUZZ_CHECK(mp.volume && mp.mp);
		}
		ctm_mountpoint_done(&mp);
	}
	for (size_t i = 0; i < section->lxc.n; i++) {
		FUZZ_CHECK(strncmp(section->lxc.v[i].key, "lxc.", 4) == 0);
		FUZZ_CHECK(!strchr(section->lxc.v[i].value, '\n'));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctm_pctconf conf = { 0 };
	struct ctm_ctmap ctmap = { 0 };
	struct ctm_err err = { 0 };

	if (ctm_pctconf_parse(fuzz_bytes(data, size), &conf, &err) == 0) {
		const struct ctm_pctsection *current = ctm_pctconf_current(&conf);

		FUZZ_CHECK(current->kind == CTM_PCT_CURRENT);
		for (size_t i = 0; i < conf.sections.n; i++) {
			look_at(&conf.sections.v[i]);
			FUZZ_CHECK((conf.sections.v[i].kind == CTM_PCT_CURRENT) == (i == 0));
		}
		/* of any version, and of none that is known */
		if (ctm_ctmap_from_pct(current, size % 7, &ctmap, &err) == 0) {
			/* both kinds of ids or none */
			FUZZ_CHECK(ctm_idmap_empty(ctmap.map, CTM_UID) == ctmap.privileged);
			FUZZ_CHECK(ctm_idmap_empty(ctmap.map, CTM_GID) == ctmap.privileged);
		} else {
			FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
		}
	} else {
		FUZZ_CHECK(err.code == CTM_REFUSED && err.msg[0] != '\0');
	}
	ctm_ctmap_done(&ctmap);
	ctm_pctconf_done(&conf);
	return 0;
}
