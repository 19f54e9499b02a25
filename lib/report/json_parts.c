/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recurring parts of the JSON report.
 */
#include "report/json_parts.h"

#include <errno.h>
#include <nettle/base16.h>
#include <nettle/base64.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/pathname.h"
#include "id/acl.h"
#include "id/fcaps.h"
#include "report/inodeline.h"

json_t *ctm_json_text(const char *text, size_t len)
{
	CLEANUP(ctm_buf_done) struct ctm_buf safe = { 0 };

	if (ctm_path_escape(&safe, text, len) < 0) {
		return NULL;
	}
	return json_stringn(safe.p ? safe.p : "", safe.len);
}

static json_t *base64(const void *p, size_t len)
{
	CLEANUP_FREE char *text = malloc(BASE64_ENCODE_RAW_LENGTH(len) + 1);

	if (!text) {
		return NULL;
	}
	base64_encode_raw(text, len, p);
	return json_stringn(text, BASE64_ENCODE_RAW_LENGTH(len));
}

json_t *ctm_json_hex(const void *p, size_t len)
{
	CLEANUP_FREE char *text = malloc(BASE16_ENCODE_LENGTH(len) + 1);

	if (!text) {
		return NULL;
	}
	base16_encode_update(text, len, p);
	return json_stringn(text, BASE16_ENCODE_LENGTH(len));
}

int ctm_json_path(json_t *object, const char *path, size_t len)
{
	CLEANUP(ctm_buf_done) struct ctm_buf raw = { 0 };
	CLEANUP(ctm_buf_done) struct ctm_buf safe = { 0 };
	int r = ctm_buf_addf(&raw, "/");

	if (r == 0) {
		r = ctm_buf_add(&raw, path, len);
	}
	if (r == 0) {
		r = ctm_path_escape(&safe, raw.p, raw.len);
	}
	if (r < 0 || json_object_set_new(object, "path", json_stringn(safe.p, safe.len))) {
		return -ENOMEM;
	}
	if (safe.len != raw.len &&
	    json_object_set_new(object, "path_raw", base64(raw.p, raw.len))) {
		return -ENOMEM;
	}
	return 0;
}

json_t *ctm_json_idmap(const struct ctm_idmap *map)
{
	json_t *list;

	if (!map) {
		return json_null();
	}
	list = json_array();
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		size_t n;
		const struct ctm_range *v = ctm_idmap_ranges(map, (enum ctm_idkind)kind, &n);

		for (size_t i = 0; i < n; i++) {
			json_array_append_new(list, json_sprintf("%c %u %u %u",
								 kind == CTM_UID ? 'u' : 'g',
								 v[i].ct, v[i].disk, v[i].len));
		}
	}
	return list;
}

static int add_attr(json_t *object, const char *key, struct ctm_bytes raw,
		    int (*format)(struct ctm_bytes, struct ctm_buf *))
{
	CLEANUP(ctm_buf_done) struct ctm_buf text = { 0 };
	json_t *one;
	int r;

	if (!raw.p) {
		return 0;
	}
	r = format(raw, &text);
	if (r == -ENOMEM) {
		return r;
	}
	one = json_pack("{s:o, s:o}", "text", r < 0 ? json_null() : json_stringn(text.p, text.len),
			"raw", base64(raw.p, raw.len));
	return json_object_set_new(object, key, one) ? -ENOMEM : 0;
}

static int format_caps(struct ctm_bytes raw, struct ctm_buf *out)
{
	struct ctm_fcaps caps;
	int r = ctm_fcaps_parse(raw, &caps);

	return r < 0 ? r : ctm_fcaps_format(&caps, out);
}

json_t *ctm_json_state(const struct ctm_inode_state *state)
{
	char type[2] = { ctm_inode_letter(state->mode), '\0' };
	json_t *one = json_pack("{s:s, s:o, s:I, s:I}", "type", type, "mode",
				json_sprintf("%04o", state->mode & 07777), "uid",
				(json_int_t)state->uid.v, "gid", (json_int_t)state->gid.v);

	if (!one || add_attr(one, "acl", state->acl_access, ctm_acl_format) < 0 ||
	    add_attr(one, "default", state->acl_default, ctm_acl_format) < 0 ||
	    add_attr(one, "cap", state->caps, format_caps) < 0) {
		json_decref(one);
		return NULL;
	}
	return one;
}

json_t *ctm_json_result(const struct ctm_result *res)
{
	json_t *one = json_pack("{s:s, s:s, s:I}", "result",
				res->kind == CTM_RESULT_CONFLICT ? "conflict" : "failed", "what",
				res->what, "inodes", (json_int_t)res->n);

	if (!one || ctm_json_path(one, res->path, res->path_len) < 0) {
		json_decref(one);
		return NULL;
	}
	if (res->err) {
		json_object_set_new(one, "errno", json_integer(res->err));
		json_object_set_new(one, "message", json_string(strerror(res->err)));
	}
	return one;
}

const char *ctm_json_severity(enum ctm_severity severity)
{
	static const char *const severity_words[] = {
		[CTM_INFO] = "info",
		[CTM_CHOICE] = "choice",
		[CTM_FAULT] = "fault",
	};

	return severity_words[severity];
}

json_t *ctm_json_finding(const struct ctm_plan *plan, const struct ctm_finding *f)
{
	const struct ctm_finding_info *info = ctm_finding_info(f->code);
	char name[32];
	json_t *one = json_pack("{s:s, s:s, s:b}", "code", ctm_finding_name(f, name), "severity",
				ctm_json_severity(info->severity), "repaired",
				f->action != CTM_NO_ACTION && !plan->refuse_tree);

	if (f->path && ctm_json_path(one, f->path, f->path_len) < 0) {
		json_decref(one);
		return NULL;
	}
	if (f->kind >= 0) {
		json_object_set_new(one, f->kind == CTM_UID ? "uid" : "gid", json_integer(f->id));
	}
	if (f->err) {
		json_object_set_new(one, "errno", json_integer(f->err));
		json_object_set_new(one, "message", json_string(strerror(f->err)));
	}
	if (f->text) {
		json_object_set_new(one, "text", ctm_json_text(f->text, strlen(f->text)));
	}
	return one;
}

json_t *ctm_json_err(const struct ctm_err *err)
{
	static const char *const words[] = {
		[CTM_OK] = "ok",           [CTM_SYS] = "failed",      [CTM_USAGE] = "usage",
		[CTM_REFUSED] = "refused", [CTM_CORRUPT] = "corrupt", [CTM_PARTIAL] = "partial",
	};

	return json_pack("{s:s, s:o, s:o}", "code", words[err->code], "message",
			 ctm_json_text(err->msg, strlen(err->msg)), "next",
			 err->hint[0] ? ctm_json_text(err->hint, strlen(err->hint)) : json_null());
}
