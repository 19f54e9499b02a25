/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a volume of a Proxmox VE container is another guest's. */
#include "target/foreign.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/storagecfg.h"
#include "storage/storage.h"
#include "storage/volname.h"
#include "target/hostfile.h"

CTM_HOST_PATHS

/* What is looked for, and where it is: the storages are read when a name is not enough. */
struct search {
	const struct ctm_host *host;
	const struct ctm_volume *vol;
	const char *name; /* the last part of the volume's id */
	struct ctm_storagecfg storages;
	bool has_storages;
	struct ctm_foreign found;
};

static int read_storages(struct search *search)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_err err = { 0 };
	int r;

	if (search->has_storages) {
		return 0;
	}
	if (ctm_host_path(search->host, &path, "%s/storage.cfg", CTM_PLACE_PVE) < 0) {
		return -ENOMEM;
	}
	r = ctm_hostfile_read(path.p, &text, &err);
	if (r == 0) {
		r = ctm_storagecfg_parse((struct ctm_bytes){ text.p ? text.p : "", text.len },
					 &search->storages, &err);
	}
	search->has_storages = true;
	return r == -ENOMEM ? r : 0;
}

/* Another storage may lead to the same place: 1 when it does. */
static int is_same_place(struct search *search, const char *volid)
{
	CLEANUP(ctm_storage_volume_done) struct ctm_storage_volume other = { 0 };
	struct ctm_err err = { 0 };
	int r = read_storages(search);

	if (r < 0 || !search->vol->path) {
		return r;
	}
	r = ctm_storage_resolve(&search->storages, volid, &other, &err);
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	return other.path && strcmp(other.path, search->vol->path) == 0;
}

/* The folder in front of the last part, "116" of "tank:114/base-114-disk-0/116/vm-116-disk-0". */
static struct ctm_bytes folder_of(const char *volid)
{
	const char *last = strrchr(volid, '/');
	const char *from = last;

	while (from && from > volid && from[-1] != '/' && from[-1] != ':') {
		from--;
	}
	return (struct ctm_bytes){ from ? from : "", from ? (size_t)(last - from) : 0 };
}

static bool is_number(struct ctm_bytes word)
{
	const char *p = word.p;

	for (size_t i = 0; i < word.len; i++) {
		if (p[i] < '0' || p[i] > '9') {
			return false;
		}
	}
	return word.len > 0;
}

/* 1: this id of the other guest is the volume. The base of a linked clone may be left out. */
static int is_volume(struct search *search, const char *volid)
{
	const char *own = search->vol->id;
	const struct ctm_bytes ours = folder_of(own);
	const struct ctm_bytes theirs = folder_of(volid);
	const size_t storage = strcspn(own, ":");

	if (strcmp(ctm_volname_last(volid), search->name) != 0 || !strchr(volid, ':')) {
		return 0;
	}
	if (is_number(ours) && is_number(theirs) && !ctm_bytes_eq(ours, theirs)) {
		return 0;
	}
	if (strcspn(volid, ":") == storage && strncmp(volid, own, storage) == 0) {
		return 1;
	}
	return is_same_place(search, volid);
}

/* A value of a configuration: "tank:116/vm-116-disk-0.raw,mp=/srv", or "file=..." of a VM. */
static int has_volume(struct search *search, const char *value)
{
	static const char *const keys[] = { "volume=", "file=" };
	int r = 0;

	while (r == 0 && *value) {
		size_t len = strcspn(value, ",");
		CLEANUP_FREE char *part = strndup(value, len);
		const char *volid = part;

		if (!part) {
			return -ENOMEM;
		}
		for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
			size_t n = strlen(keys[i]);

			volid += volid == part && strncmp(part, keys[i], n) == 0 ? n : 0;
		}
		r = is_volume(search, volid);
		value += len + (value[len] == ',');
	}
	return r;
}

/* VMs are configured in the same grammar: keys, and sections of snapshots below them. */
static int look_at_config(struct search *search, const char *node, bool vm)
{
	CLEANUP(ctm_pctconf_done) struct ctm_pctconf conf = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	struct ctm_foreign *found = &search->found;
	const struct ctm_pctsection *section;
	struct ctm_err err = { 0 };
	int r;

	if (ctm_host_path(search->host, &path, "%s/nodes/%s/%s/%u.conf", CTM_PLACE_PVE, node,
			  vm ? "qemu-server" : "lxc", found->id) < 0) {
		return -ENOMEM;
	}
	if (!ctm_hostfile_exists(path.p)) {
		return 0;
	}
	r = ctm_hostfile_read(path.p, &text, &err);
	if (r == 0) {
		r = ctm_pctconf_parse((struct ctm_bytes){ text.p ? text.p : "", text.len }, &conf,
				      &err);
	}
	if (r < 0) {
		return r == -ENOMEM ? r : 0;
	}
	section = ctm_pctconf_current(&conf);
	for (size_t i = 0; i < section->keys.n && r == 0; i++) {
		/* of two with one key the later counts */
		if (ctm_pctconf_find(section, section->keys.v[i].key) == &section->keys.v[i]) {
			r = has_volume(search, section->keys.v[i].value);
		}
		if (r > 0) {
			(void)snprintf(found->key, sizeof(found->key), "%s",
				       section->keys.v[i].key);
		}
	}
	if (r > 0) {
		(void)snprintf(found->node, sizeof(found->node), "%s", node);
		found->vm = vm;
	}
	return r;
}

static int look_at_nodes(struct search *search)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	const struct dirent *entry;
	DIR *dir;
	int r = 0;

	if (ctm_host_path(search->host, &path, "%s/nodes", CTM_PLACE_PVE) < 0) {
		return -ENOMEM;
	}
	dir = opendir(path.p);
	while (dir && r == 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.') {
			continue;
		}
		r = look_at_config(search, entry->d_name, false);
		r = r == 0 ? look_at_config(search, entry->d_name, true) : r;
	}
	if (dir) {
		(void)closedir(dir);
	}
	return r;
}

int ctm_foreign_find(const struct ctm_host *host, const struct ctm_target *target,
		     const struct ctm_volume *vol, struct ctm_foreign *ret)
{
	struct search search = { .host = host, .vol = vol };
	int r;

	*ret = (struct ctm_foreign){ .id = 0 };
	if (target->kind != CTM_TARGET_PVE || vol->host || !vol->id) {
		return 0;
	}
	search.name = ctm_volname_last(vol->id);
	search.found.id = ctm_volname_guest(search.name);
	if (search.found.id == 0 || search.found.id == target->vmid) {
		return 0;
	}
	r = look_at_nodes(&search);
	ctm_storagecfg_done(&search.storages);
	if (r > 0) {
		*ret = search.found;
	}
	return r < 0 ? r : 0;
}

int ctm_foreign_words(const struct ctm_foreign *foreign, const struct ctm_volume *vol,
		      struct ctm_buf *ret)
{
	return ctm_buf_addf(ret, "%s %u on node '%s' has it as %s: %s",
			    foreign->vm ? "VM" : "container", foreign->id, foreign->node,
			    foreign->key, vol->id);
}

int ctm_foreign_refuse(const struct ctm_host *host, const struct ctm_target *target,
		       const struct ctm_volume *vol, struct ctm_err *err)
{
	struct ctm_foreign foreign;
	int r = ctm_foreign_find(host, target, vol, &foreign);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	if (foreign.id == 0) {
		return 0;
	}
	r = ctm_err_set(err, CTM_REFUSED, 0,
			"'%s' (%s of CT %u) is the volume of another guest: %s %u on node '%s' has "
			"it as %s",
			vol->id, vol->key, target->vmid, foreign.vm ? "VM" : "container",
			foreign.id, foreign.node, foreign.key);
	ctm_err_hint(err,
		     "take it out of the configuration that is not to have it; the lock of "
		     "CT %u keeps nobody from starting %u",
		     target->vmid, foreign.id);
	return r;
}
