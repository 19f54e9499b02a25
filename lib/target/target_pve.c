/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * locate: a container of Proxmox VE, from /etc/pve/lxc/ID.conf.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "target/hostfile.h"
#include "target/locate.h"
#include "target/pveversion.h"

CTM_HOST_PATHS

/* /etc/pve/local is a link to nodes/NAME, made by pmxcfs. */
static int find_node(const struct ctm_host *host, char **ret)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	char link[512];
	ssize_t n;
	const char *slash;

	if (ctm_host_path(host, &path, "%s/local", CTM_PLACE_PVE) < 0) {
		return -ENOMEM;
	}
	n = readlink(path.p, link, sizeof(link) - 1);
	if (n <= 0) {
		return 0;
	}
	link[n] = '\0';
	slash = strrchr(link, '/');
	return ctm_target_set(ret, slash ? slash + 1 : link);
}

/* What an id is, when it is no container of this node. */
struct other {
	char node[256];
	bool vm;
	bool found;
};

static int look_at_node(const struct ctm_host *host, const char *node, unsigned int vmid,
			struct other *other)
{
	static const char *const folders[] = { "lxc", "qemu-server" };

	for (size_t i = 0; i < ARRAY_LEN(folders) && !other->found; i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };

		if (ctm_host_path(host, &path, "%s/nodes/%s/%s/%u.conf", CTM_PLACE_PVE, node,
				  folders[i], vmid) < 0) {
			return -ENOMEM;
		}
		if (ctm_hostfile_exists(path.p)) {
			other->found = true;
			other->vm = i == 1;
			(void)snprintf(other->node, sizeof(other->node), "%s", node);
		}
	}
	return 0;
}

static int look_at_all_nodes(const struct ctm_host *host, unsigned int vmid, struct other *other)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	const struct dirent *entry;
	DIR *dir;
	int r = 0;

	if (ctm_host_path(host, &path, "%s/nodes", CTM_PLACE_PVE) < 0) {
		return -ENOMEM;
	}
	dir = opendir(path.p);
	if (!dir) {
		return 0;
	}
	while (r == 0 && !other->found && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.') {
			r = look_at_node(host, entry->d_name, vmid, other);
		}
	}
	(void)closedir(dir);
	return r;
}

bool ctm_target_is_vm(const struct ctm_host *host, unsigned int vmid)
{
	CLEANUP(ctm_buf_done) struct ctm_buf ct = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf vm = { 0 };
	struct other other = { 0 };

	if (ctm_host_path(host, &ct, "%s/lxc/%u.conf", CTM_PLACE_PVE, vmid) < 0 ||
	    ctm_host_path(host, &vm, "%s/qemu-server/%u.conf", CTM_PLACE_PVE, vmid) < 0 ||
	    ctm_hostfile_exists(ct.p)) {
		return false;
	}
	return ctm_hostfile_exists(vm.p) ||
	       (look_at_all_nodes(host, vmid, &other) == 0 && other.vm);
}

/* There is no ID.conf: says what the id is instead. */
static int explain_missing(const struct ctm_host *host, unsigned int vmid, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf vm = { 0 };
	struct other other = { 0 };
	int r;

	if (ctm_host_path(host, &vm, "%s/qemu-server/%u.conf", CTM_PLACE_PVE, vmid) < 0) {
		return ctm_err_nomem(err);
	}
	if (ctm_hostfile_exists(vm.p)) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "%u is a VM", vmid);
		ctm_err_hint(err, "ctmend works on containers; list them with: pct list");
		return r;
	}
	if (look_at_all_nodes(host, vmid, &other) < 0) {
		return ctm_err_nomem(err);
	}
	if (other.found && other.vm) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "%u is a VM, on node '%s'", vmid, other.node);
		ctm_err_hint(err, "ctmend works on containers; list them with: pct list");
	} else if (other.found) {
		r = ctm_err_set(err, CTM_REFUSED, 0, "container %u is on node '%s'", vmid,
				other.node);
		ctm_err_hint(err, "run ctmend there");
	} else {
		r = ctm_err_set(err, CTM_REFUSED, 0, "there is no container %u", vmid);
		ctm_err_hint(err, "list the containers of this host with: pct list");
	}
	return r;
}

static int parse_id(const char *name, unsigned int *ret, struct ctm_err *err)
{
	size_t len = strlen(name);

	if (name[0] == '0' || len > 9) {
		return ctm_err_set(err, CTM_USAGE, 0, "'%s' is no id of a container", name);
	}
	*ret = (unsigned int)strtoul(name, NULL, 10);
	return 0;
}

static int read_config(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	int r;

	if (ctm_host_path(host, &path, "%s/lxc/%u.conf", CTM_PLACE_PVE, target->vmid) < 0) {
		return ctm_err_nomem(err);
	}
	if (!ctm_hostfile_exists(path.p)) {
		return explain_missing(host, target->vmid, err);
	}
	r = ctm_hostfile_read(path.p, &text, err);
	if (r < 0) {
		return r;
	}
	r = ctm_pctconf_parse((struct ctm_bytes){ text.p ? text.p : "", text.len }, &target->conf,
			      err);
	if (r < 0) {
		(void)ctm_err_wrap(err, "'%s'", path.p);
		return r;
	}
	target->config_path = TAKE_PTR(path.p);
	return 0;
}

static int copy_warnings(struct ctm_target *target)
{
	for (size_t i = 0; i < target->conf.warnings.n; i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

		if (ctm_buf_addf(&text, "line %u: %s", target->conf.warnings.v[i].line,
				 target->conf.warnings.v[i].text) < 0 ||
		    ctm_vec_push(&target->warnings, &text.p) < 0) {
			return -ENOMEM;
		}
		text = (struct ctm_buf){ 0 };
	}
	return 0;
}

static int copy_settings(struct ctm_target *target)
{
	const struct ctm_pctsection *section = ctm_pctconf_current(&target->conf);
	const char *lock = ctm_pctconf_get(section, "lock");
	CLEANUP(ctm_buf_done) struct ctm_buf socket = { 0 };

	target->template = ctm_pctconf_flag(section, "template");
	if (ctm_target_set(&target->lock, lock) < 0 ||
	    ctm_target_set(&target->hookscript, ctm_pctconf_get(section, "hookscript")) < 0 ||
	    copy_warnings(target) < 0 ||
	    ctm_lxc_socket_name(CTM_PLACE_LXC, target->name, &socket) < 0) {
		return -ENOMEM;
	}
	target->socket = TAKE_PTR(socket.p);
	return 0;
}

/*
 * PVE hands lxc.include on to LXC and does not look into it. A map in there counts for the
 * kernel, and not for what PVE does with the volumes.
 */
static int check_include(const struct ctm_pctentry *entry, struct ctm_err *err)
{
	CLEANUP(ctm_lxcconf_done) struct ctm_lxcconf included = { 0 };
	int r = ctm_lxcconf_read(entry->value, ctm_hostfile_lxc, NULL, &included, err);

	if (r == 0 && (ctm_lxcconf_find(&included, "lxc.idmap") ||
		       ctm_lxcconf_find(&included, "lxc.rootfs.options"))) {
		r = ctm_err_set(
			err, CTM_REFUSED, 0,
			"'%s' sets lxc.idmap or lxc.rootfs.options, which Proxmox VE does not see",
			entry->value);
		ctm_err_hint(err,
			     "move the lxc.idmap lines into the container's own configuration");
	}
	if (r < 0) {
		(void)ctm_err_wrap(err, "line %u: lxc.include", entry->line);
	}
	return r;
}

/* Snapshots are read for what they say of the present, so they count as well. */
static int read_version(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err)
{
	for (size_t i = 0; i < target->conf.sections.n; i++) {
		if (ctm_ctmap_needs_version(&target->conf.sections.v[i])) {
			return ctm_pveversion_container(host, &target->pct_major, err);
		}
	}
	return 0;
}

static int read_map(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err)
{
	CLEANUP(ctm_ctmap_done) struct ctm_ctmap ctmap = { 0 };
	const struct ctm_pctsection *section = ctm_pctconf_current(&target->conf);
	int r = read_version(host, target, err);

	r = r < 0 ? r : ctm_ctmap_from_pct(section, target->pct_major, &ctmap, err);

	for (size_t i = 0; i < section->lxc.n && r == 0; i++) {
		if (strcmp(section->lxc.v[i].key, "lxc.include") == 0) {
			r = check_include(&section->lxc.v[i], err);
		}
	}
	if (r < 0) {
		return r;
	}
	return ctm_target_take_map(target, &ctmap) < 0 ? ctm_err_nomem(err) : 0;
}

int ctm_locate_pve(const struct ctm_host *host, struct ctm_target *target, struct ctm_err *err)
{
	struct ctm_err map_err = { 0 };
	int r;

	r = parse_id(target->name, &target->vmid, err);
	if (r < 0) {
		return r;
	}
	r = read_config(host, target, err);
	if (r < 0) {
		return r;
	}
	if (find_node(host, &target->node) < 0 || copy_settings(target) < 0) {
		return ctm_err_nomem(err);
	}
	r = read_map(host, target, &map_err);
	if (r == -ENOMEM) {
		return ctm_err_nomem(err);
	}
	return ctm_locate_pve_volumes(host, target, r < 0 ? &map_err : NULL, err);
}
