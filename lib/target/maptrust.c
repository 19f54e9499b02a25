/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the ids that a map gives away are its author's to give. */
#include "target/maptrust.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "config/accounts.h"
#include "config/subid.h"
#include "target/hostfile.h"

void ctm_mapauthors_done(struct ctm_mapauthors *authors)
{
	ctm_pathwriters_done(&authors->writers);
}

int ctm_mapauthors_add(struct ctm_mapauthors *authors, const char *path, struct ctm_err *err)
{
	int r = ctm_pathwriters_add(&authors->writers, path);

	return r < 0 ? ctm_err_set(err, CTM_SYS, r, "see who can write '%s'", path) : 0;
}

int ctm_mapauthors_lxc(void *arg, const char *path, struct ctm_lxcconf_source *ret,
		       struct ctm_err *err)
{
	int r = ctm_hostfile_lxc(NULL, path, ret, err);

	/* Behind the reading: what could be exchanged before it could be so now. */
	return r < 0 ? r : ctm_mapauthors_add(arg, path, err);
}

/* An author as the host knows him. */
struct account {
	uint32_t uid;
	char name[64]; /* "" when he has none */
	uint32_t gid;  /* CTM_ID_INVALID when it is not known */
	bool found;
};

static int find_account(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg)
{
	struct account *account = arg;

	if (kind == CTM_GID) {
		account->gid = account->found ? id.v : account->gid;
		return account->found;
	}
	account->found = id.v == account->uid && name.len < sizeof(account->name);
	if (account->found) {
		memcpy(account->name, name.p, name.len);
		account->name[name.len] = '\0';
	}
	return 0;
}

/* Accounts that are in no file are asked for only where the host is this one. */
static int look_up(const struct ctm_host *host, uint32_t uid, struct account *ret,
		   struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	char room[4096];
	struct passwd pw;
	struct passwd *found = NULL;
	int r = ctm_host_path(host, &path, "/etc/passwd");

	*ret = (struct account){ .uid = uid, .gid = CTM_ID_INVALID };
	if (r < 0) {
		return ctm_err_nomem(err);
	}
	if (ctm_hostfile_exists(path.p)) {
		r = ctm_hostfile_read(path.p, &text, err);
		if (r < 0) {
			return r;
		}
		(void)ctm_accounts_each(CTM_ACCOUNTS_PASSWD,
					(struct ctm_bytes){ text.p ? text.p : "", text.len },
					find_account, ret);
	}
	if (!ret->found && !(host->sysroot && host->sysroot[0]) &&
	    getpwuid_r(uid, &pw, room, sizeof(room), &found) == 0 && found) {
		(void)snprintf(ret->name, sizeof(ret->name), "%s", found->pw_name);
		ret->gid = found->pw_gid;
	}
	return 0;
}

/* /etc/subuid or /etc/subgid, where root alone can write it; else it grants nothing. */
static int read_grants(const struct ctm_host *host, const char *place, struct ctm_buf *ret,
		       struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
	CLEANUP(ctm_mapauthors_done) struct ctm_mapauthors authors = { 0 };
	int r = ctm_host_path(host, &path, "%s", place);

	if (r < 0) {
		return ctm_err_nomem(err);
	}
	if (ctm_hostfile_exists(path.p)) {
		r = ctm_hostfile_read(path.p, ret, err);
		r = r < 0 ? r : ctm_mapauthors_add(&authors, path.p, err);
		r = r < 0 ? r :
			    ctm_maptrust_roots_own(&authors, path.p, "who may use which ids", err);
	}
	/* never without its NUL */
	return r < 0 ? r : ctm_buf_addf(ret, "%s", "") < 0 ? ctm_err_nomem(err) : 0;
}

/* "user 'joe', by way of '/home/joe'" */
static void author_words(const struct ctm_pathwriter *writer, const char *name,
			 char ret[static 384])
{
	if (writer->anybody) {
		(void)snprintf(ret, 384, "others than root, by way of '%.256s'", writer->at);
	} else if (name && name[0]) {
		(void)snprintf(ret, 384, "user '%s', by way of '%.256s'", name, writer->at);
	} else {
		(void)snprintf(ret, 384, "uid %u, by way of '%.256s'", writer->uid, writer->at);
	}
}

int ctm_maptrust_roots_own(const struct ctm_mapauthors *authors, const char *file,
			   const char *decides, struct ctm_err *err)
{
	char who[384];

	if (authors->writers.v.n == 0 || geteuid() != 0) {
		return 0;
	}
	author_words(&authors->writers.v.v[0], NULL, who);
	return ctm_err_set(err, CTM_REFUSED, 0, "'%s' can be changed by %s, and it decides %s",
			   file, who, decides);
}

static const char *const kinds[] = { "uid", "gid" };
static const char *const places[] = { "/etc/subuid", "/etc/subgid" };

/* --- the container's own root --------------------------------------------------------------- */

struct wanted {
	enum ctm_idkind kind;
	uint32_t id;
	unsigned int lines; /* of subuid or subgid, that hold it */
};

static int find_id(struct ctm_bytes name, enum ctm_idkind kind, ctm_cid id, void *arg)
{
	const struct wanted *wanted = arg;

	(void)name;
	return kind == wanted->kind && id.v == wanted->id;
}

static int count_line(uint32_t first, uint32_t count, void *arg)
{
	struct wanted *wanted = arg;

	wanted->lines += wanted->id >= first && wanted->id - first < count;
	return 0;
}

/* Whether an account has the id, as its own or in a range: 1, 0, or negative errno. */
static int is_somebodys(const struct ctm_host *host, enum ctm_idkind kind, uint32_t id,
			struct ctm_err *err)
{
	static const char *const files[] = { "/etc/passwd", "/etc/group" };
	struct wanted wanted = { .kind = kind, .id = id };
	int r;

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		CLEANUP(ctm_buf_done) struct ctm_buf path = { 0 };
		CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };

		if (ctm_host_path(host, &path, "%s", files[i]) < 0) {
			return ctm_err_nomem(err);
		}
		r = ctm_hostfile_exists(path.p) ? ctm_hostfile_read(path.p, &text, err) : 0;
		if (r < 0) {
			return r;
		}
		if (ctm_accounts_each((enum ctm_accounts_file)i,
				      (struct ctm_bytes){ text.p ? text.p : "", text.len }, find_id,
				      &wanted)) {
			return 1;
		}
	}
	CLEANUP(ctm_buf_done) struct ctm_buf grants = { 0 };

	r = read_grants(host, places[kind], &grants, err);
	if (r < 0) {
		return r;
	}
	const struct ctm_bytes text = { grants.p, grants.len };

	(void)ctm_subid_each(text, count_line, &wanted);
	return wanted.lines > 1 || (wanted.lines == 1 && !ctm_subid_grants(text, id, 1));
}

int ctm_mapauthors_pass_root(struct ctm_mapauthors *authors, const struct ctm_host *host,
			     const struct ctm_idmap *map, struct ctm_err *err)
{
	size_t n = 0;
	int r = 0;

	if (!map || geteuid() != 0) {
		return 0;
	}
	for (size_t i = 0; i < authors->writers.v.n; i++) {
		struct ctm_pathwriter *writer = &authors->writers.v.v[i];
		const enum ctm_idkind kind = writer->anybody ? CTM_GID : CTM_UID;
		const uint32_t id = writer->anybody ? writer->gid : writer->uid;
		ctm_did root = { 0 };
		int is = 1;

		if (r == 0 && ctm_idmap_to_disk(map, kind, (ctm_cid){ 0 }, &root) == 0 &&
		    root.v == id) {
			is = is_somebodys(host, kind, id, err);
			r = is < 0 ? is : 0;
		}
		if (is == 0) {
			free(writer->at);
		} else {
			authors->writers.v.v[n++] = *writer;
		}
	}
	authors->writers.v.n = n;
	return r;
}

/* --- what may be given away ----------------------------------------------------------------- */

/* The first id of a range that is not the author's to give; false: all are. */
static bool find_foreign(const struct ctm_range *range, enum ctm_idkind kind,
			 const struct ctm_pathwriter *writer, const struct account *account,
			 struct ctm_bytes grants, uint32_t *ret)
{
	const uint32_t own = kind == CTM_UID ? account->uid : account->gid;

	if (range->disk == 0 || writer->anybody) {
		*ret = range->disk;
		return true;
	}
	if (range->len == 1 && range->disk == own) {
		return false;
	}
	return !ctm_subid_grants_to(grants, account->name[0] ? account->name : NULL, writer->uid,
				    range->disk, range->len, ret);
}

static int check_kind(const struct ctm_host *host, const struct ctm_pathwriter *writer,
		      const struct account *account, enum ctm_idkind kind, const char *file,
		      const struct ctm_idmap *map, struct ctm_err *err)
{
	CLEANUP(ctm_buf_done) struct ctm_buf grants = { 0 };
	char who[384];
	uint32_t id;
	size_t n;
	const struct ctm_range *v = ctm_idmap_ranges(map, kind, &n);
	int r = read_grants(host, places[kind], &grants, err);

	for (size_t i = 0; i < n && r == 0; i++) {
		if (!find_foreign(&v[i], kind, writer, account,
				  (struct ctm_bytes){ grants.p, grants.len }, &id)) {
			continue;
		}
		author_words(writer, account->name, who);
		if (id == 0) {
			r = ctm_err_set(err, CTM_REFUSED, 0,
					"'%s' can be changed by %s, and its map gives away %s 0 "
					"of the host, which is root's alone",
					file, who, kinds[kind]);
		} else if (writer->anybody) {
			r = ctm_err_set(err, CTM_REFUSED, 0,
					"'%s' can be changed by %s, and its map gives away %s %u "
					"of the host",
					file, who, kinds[kind], id);
		} else {
			r = ctm_err_set(err, CTM_REFUSED, 0,
					"'%s' can be changed by %s, and its map gives away %s %u "
					"of the host, which %s does not grant that user",
					file, who, kinds[kind], id, places[kind]);
		}
	}
	return r;
}

static int check_writer(const struct ctm_host *host, const struct ctm_pathwriter *writer,
			const char *file, const struct ctm_idmap *map, struct ctm_err *err)
{
	struct account account = { .uid = writer->uid, .gid = CTM_ID_INVALID };
	char who[384];
	int r = writer->anybody ? 0 : look_up(host, writer->uid, &account, err);

	if (r == 0 && ctm_idmap_empty(map, CTM_UID) && ctm_idmap_empty(map, CTM_GID)) {
		author_words(writer, account.name, who);
		return ctm_err_set(err, CTM_REFUSED, 0,
				   "'%s' can be changed by %s, and it maps no ids, so that uid 0 "
				   "of the container is uid 0 of the host",
				   file, who);
	}
	for (enum ctm_idkind kind = CTM_UID; kind <= CTM_GID && r == 0; kind++) {
		r = check_kind(host, writer, &account, kind, file, map, err);
	}
	return r;
}

int ctm_maptrust_check(const struct ctm_host *host, const struct ctm_mapauthors *authors,
		       const char *file, const struct ctm_idmap *map, struct ctm_err *err)
{
	int r = 0;

	if (geteuid() != 0) {
		return 0;
	}
	for (size_t i = 0; i < authors->writers.v.n && r == 0; i++) {
		r = check_writer(host, &authors->writers.v.v[i], file, map, err);
	}
	return r;
}
