/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A container's id map, from its configuration.
 */
#include "config/ctmap.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "config/lines.h"

/* The last pve-container for which lxc.id_map is a map. */
#define OLD_KEY_MAJOR 4

void ctm_ctmap_done(struct ctm_ctmap *ctmap)
{
	ctm_idmap_free(ctmap->map);
	for (size_t i = 0; i < ctmap->lines.n; i++) {
		free(ctmap->lines.v[i]);
	}
	ctm_vec_done(&ctmap->lines);
	*ctmap = (struct ctm_ctmap){ 0 };
}

int ctm_ctmap_words(const char *value, struct ctm_buf *ret)
{
	const size_t start = ret->len;
	int r = ctm_buf_add(ret, "", 0);

	for (const char *p = value; *p != '\0' && r == 0;) {
		size_t len = 0;

		while (p[len] != '\0' && !ctm_is_space(p[len])) {
			len++;
		}
		if (len > 0) {
			r = ctm_buf_addf(ret, "%s%.*s", ret->len > start ? " " : "", (int)len, p);
		}
		p += len + (p[len] != '\0' ? 1 : 0);
	}
	return r;
}

bool ctm_ctmap_pct_reads(const char *value)
{
	const char *p = value;

	if (*p != 'u' && *p != 'g') {
		return false;
	}
	p++;
	for (int i = 0; i < 3; i++) {
		if (!ctm_is_space(*p)) {
			return false;
		}
		while (ctm_is_space(*p)) {
			p++;
		}
		if (*p < '0' || *p > '9') {
			return false;
		}
		while (*p >= '0' && *p <= '9') {
			p++;
		}
	}
	while (ctm_is_space(*p)) {
		p++;
	}
	return *p == '\0';
}

static int keep_line(struct ctm_ctmap *ctmap, const char *line)
{
	CLEANUP(ctm_buf_done) struct ctm_buf words = { 0 };
	int r = ctm_ctmap_words(line, &words);

	if (r < 0) {
		return r;
	}
	r = ctm_vec_push(&ctmap->lines, &words.p);
	if (r == 0) {
		words = (struct ctm_buf){ 0 };
	}
	return r;
}

static int add_line(struct ctm_ctmap *ctmap, const char *line, struct ctm_err *err)
{
	int r = ctm_idmap_add_line(ctmap->map, line, err);

	if (r < 0) {
		return r;
	}
	return keep_line(ctmap, line) < 0 ? ctm_err_nomem(err) : 0;
}

static int start(struct ctm_ctmap *ctmap, struct ctm_err *err)
{
	ctmap->map = ctm_idmap_new();
	return ctmap->map ? 0 : ctm_err_nomem(err);
}

static int check_kinds(const struct ctm_ctmap *ctmap, struct ctm_err *err)
{
	bool no_uid = ctm_idmap_empty(ctmap->map, CTM_UID);
	bool no_gid = ctm_idmap_empty(ctmap->map, CTM_GID);

	if (no_uid == no_gid) {
		return 0;
	}
	(void)ctm_err_set(err, CTM_REFUSED, 0,
			  "lxc.idmap maps no %ss: such a container cannot start",
			  no_uid ? "uid" : "gid");
	ctm_err_hint(err, "add the missing line, such as: lxc.idmap: %c 0 100000 65536",
		     no_uid ? 'u' : 'g');
	return -EPERM;
}

/* The first lxc.id_map line, or NULL. */
static const struct ctm_pctentry *old_line(const struct ctm_pctsection *section)
{
	for (size_t i = 0; i < section->lxc.n; i++) {
		if (strcmp(section->lxc.v[i].key, "lxc.id_map") == 0) {
			return &section->lxc.v[i];
		}
	}
	return NULL;
}

bool ctm_ctmap_needs_version(const struct ctm_pctsection *section)
{
	return old_line(section) != NULL;
}

static int check_version(const struct ctm_pctsection *section, unsigned int major,
			 struct ctm_err *err)
{
	const struct ctm_pctentry *old = old_line(section);

	if (!old || major > 0) {
		return 0;
	}
	(void)ctm_err_set(err, CTM_REFUSED, 0,
			  "line %u: lxc.id_map is a map up to Proxmox VE 7 and none since 8, and "
			  "the version of Proxmox VE is not known here",
			  old->line);
	ctm_err_hint(err,
		     "remove the lxc.id_map lines, or name them lxc.idmap if they are the map");
	return -EPERM;
}

int ctm_ctmap_from_pct(const struct ctm_pctsection *section, unsigned int major,
		       struct ctm_ctmap *ret, struct ctm_err *err)
{
	int r = check_version(section, major, err);

	r = r < 0 ? r : start(ret, err);
	for (size_t i = 0; i < section->lxc.n && r == 0; i++) {
		const struct ctm_pctentry *entry = &section->lxc.v[i];

		if (strcmp(entry->key, "lxc.idmap") != 0 &&
		    (major > OLD_KEY_MAJOR || strcmp(entry->key, "lxc.id_map") != 0)) {
			continue;
		}
		r = add_line(ret, entry->value, err);
		if (r < 0) {
			(void)ctm_err_wrap(err, "line %u", entry->line);
		}
	}
	if (r < 0) {
		return r;
	}
	if (ret->lines.n > 0) {
		return check_kinds(ret, err);
	}
	ret->privileged = !ctm_pctconf_flag(section, "unprivileged");
	if (ret->privileged) {
		return 0;
	}
	if (ctm_idmap_add_default(ret->map) < 0 || keep_line(ret, "u 0 100000 65536") < 0 ||
	    keep_line(ret, "g 0 100000 65536") < 0) {
		return ctm_err_nomem(err);
	}
	return 0;
}

static int clear(struct ctm_ctmap *ctmap, struct ctm_err *err)
{
	ctm_ctmap_done(ctmap);
	return start(ctmap, err);
}

int ctm_ctmap_from_lxc(const struct ctm_lxcconf *conf, struct ctm_ctmap *ret, struct ctm_err *err)
{
	int r = start(ret, err);

	for (size_t i = 0; i < conf->entries.n && r == 0; i++) {
		const struct ctm_lxcconf_entry *entry = &conf->entries.v[i];

		if (strcmp(entry->key, "lxc.id_map") == 0) {
			(void)ctm_err_set(err, CTM_REFUSED, 0,
					  "'%s' line %u: lxc.id_map is not read by LXC since 3.0",
					  entry->file, entry->line);
			ctm_err_hint(err, "convert the file with: lxc-update-config -c %s",
				     entry->file);
			return -EPERM;
		}
		if (strcmp(entry->key, "lxc.idmap") != 0) {
			continue;
		}
		r = entry->value[0] == '\0' ? clear(ret, err) : add_line(ret, entry->value, err);
		if (r < 0) {
			(void)ctm_err_wrap(err, "'%s' line %u", entry->file, entry->line);
		}
	}
	if (r < 0) {
		return r;
	}
	ret->privileged = ret->lines.n == 0;
	return check_kinds(ret, err);
}
