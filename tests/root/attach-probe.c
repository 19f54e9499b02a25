/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Guards and attaches one volume for the scripts, says what it sees, and can hold on until its
 * standard input ends.
 *
 *	attach-probe WORD...
 *
 *	kind=dir|image|block path=P     the volume
 *	type=T prefix=P id=ID mp=P      its storage type, the storage's own path, its id, its place
 *	access=read|write               default read
 *	guard=read|write|hook wait=N    take the guard first, give it back last
 *	ct=VMID | lxc=NAME              the target, default a path
 *	socket=S lock=L template base   what its configuration says
 *	sysroot=DIR
 *	forecast                        print the forecast and attach nothing
 *	guarded                         attach nothing, hold the guard alone
 *	touch=NAME                      create a file in the root
 *	hold                            print "attached" and wait for the end of standard input
 *
 * Prints "KEY VALUE" lines. Exit status: 3 refused, 5 any other failure, with the message on
 * stderr.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/attach.h"
#include "target/guard.h"

struct words {
	struct ctm_host host;
	struct ctm_target target;
	struct ctm_volume vol;
	struct ctm_guard_opts guard;
	bool with_guard;
	bool guarded;
	enum ctm_access access;
	const char *touch;
	bool forecast;
	bool hold;
};

static int usage(const char *word)
{
	fprintf(stderr, "attach-probe: what is '%s'?\n", word);
	exit(2);
}

static enum ctm_volume_kind parse_kind(const char *word)
{
	static const struct {
		const char *word;
		enum ctm_volume_kind kind;
	} kinds[] = {
		{ "dir", CTM_VOLUME_DIR },
		{ "image", CTM_VOLUME_IMAGE },
		{ "block", CTM_VOLUME_BLOCK },
		{ "bind", CTM_VOLUME_BIND },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].word, word) == 0) {
			return kinds[i].kind;
		}
	}
	usage(word);
	return CTM_VOLUME_BIND;
}

static enum ctm_guard_mode parse_mode(const char *word)
{
	return strcmp(word, "write") == 0 ? CTM_GUARD_WRITE :
	       strcmp(word, "hook") == 0  ? CTM_GUARD_HOOK :
					    CTM_GUARD_READ;
}

/* The target's words; false: none of them. */
static bool parse_target(struct words *w, const char *word, char *value)
{
	if (strcmp(word, "guard") == 0) {
		w->with_guard = true;
		w->guard.mode = parse_mode(value);
	} else if (strcmp(word, "wait") == 0) {
		w->guard.wait = (unsigned int)strtoul(value, NULL, 10);
	} else if (strcmp(word, "ct") == 0) {
		w->target.kind = CTM_TARGET_PVE;
		w->target.name = value;
		w->target.vmid = (unsigned int)strtoul(value, NULL, 10);
	} else if (strcmp(word, "lxc") == 0) {
		w->target.kind = CTM_TARGET_LXC;
		w->target.name = value;
	} else if (strcmp(word, "socket") == 0) {
		w->target.socket = value;
	} else if (strcmp(word, "lock") == 0) {
		w->target.lock = value;
	} else if (strcmp(word, "template") == 0) {
		w->target.template = true;
	} else if (strcmp(word, "sysroot") == 0) {
		w->host.sysroot = value;
	} else if (strcmp(word, "guarded") == 0) {
		w->guarded = true;
	} else {
		return false;
	}
	return true;
}

static void parse_word(struct words *w, char *word)
{
	char *value = strchr(word, '=');

	if (!value) {
		value = word + strlen(word);
	} else {
		*value++ = '\0';
	}
	if (parse_target(w, word, value)) {
		return;
	}
	if (strcmp(word, "kind") == 0) {
		w->vol.kind = parse_kind(value);
	} else if (strcmp(word, "path") == 0) {
		w->vol.path = value;
		w->vol.id = w->vol.id ? w->vol.id : value;
	} else if (strcmp(word, "id") == 0) {
		w->vol.id = value;
	} else if (strcmp(word, "type") == 0) {
		w->vol.type = value;
		w->vol.storage = value;
	} else if (strcmp(word, "prefix") == 0) {
		w->vol.trusted_prefix = value;
	} else if (strcmp(word, "mp") == 0) {
		w->vol.mp = value;
	} else if (strcmp(word, "base") == 0) {
		w->vol.base = true;
	} else if (strcmp(word, "access") == 0) {
		w->access = strcmp(value, "write") == 0 ? CTM_WRITE : CTM_READ;
	} else if (strcmp(word, "touch") == 0) {
		w->touch = value;
	} else if (strcmp(word, "forecast") == 0) {
		w->forecast = true;
	} else if (strcmp(word, "hold") == 0) {
		w->hold = true;
	} else {
		usage(word);
	}
}

static int failed(const struct ctm_err *err)
{
	fprintf(stderr, "%s\n", err->msg);
	if (err->hint[0]) {
		fprintf(stderr, "hint: %s\n", err->hint);
	}
	return err->code == CTM_REFUSED ? 3 : 5;
}

static int print_mount(const char *path, void *arg)
{
	(void)arg;
	printf("below %s\n", path);
	return 0;
}

static void print_identity(const struct ctm_identity *id)
{
	printf("volume %s\npath %s\nfstype %s\nuuid %s\nsubvol %s\nino %llu\nbirth %lld\n",
	       id->volume_id, id->path, id->fstype, id->uuid, id->subvol,
	       (unsigned long long)id->root_ino, (long long)id->root_btime_sec);
}

static int print_forecast(const struct words *w)
{
	struct ctm_forecast forecast;
	struct ctm_err err = { 0 };

	if (ctm_attach_forecast(&w->vol, w->access, &forecast, &err) < 0) {
		return failed(&err);
	}
	printf("wait %u\ndirty %d\nnote %s\n", forecast.wait, forecast.dirty, forecast.note);
	return 0;
}

static void wait_for_end(void)
{
	char byte;

	printf("attached\n");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0) {
	}
}

static int work(const struct words *w, struct ctm_attached *att)
{
	print_identity(ctm_attached_identity(att));
	printf("note %s\n", ctm_attached_note(att) ? ctm_attached_note(att) : "");
	if (ctm_attached_mounts_below(att, print_mount, NULL) < 0) {
		return 5;
	}
	if (w->touch) {
		int fd = openat(ctm_attached_root(att), w->touch, O_CREAT | O_WRONLY | O_CLOEXEC,
				0600);

		if (fd < 0) {
			perror(w->touch);
			return 5;
		}
		close(fd);
	}
	if (w->hold) {
		wait_for_end();
	}
	return 0;
}

static int attach(const struct words *w, const struct ctm_guard *guard)
{
	struct ctm_attached *att = NULL;
	struct ctm_err err = { 0 };
	int status;
	int r;

	r = guard && w->access == CTM_READ ?
		    ctm_attach_guarded(guard, &w->host, &w->target, &w->vol, &att, &err) :
		    ctm_attach(&w->host, &w->vol, w->access, &att, &err);
	if (r < 0) {
		return failed(&err);
	}
	status = work(w, att);
	if (ctm_detach(att, &err) < 0) {
		return failed(&err);
	}
	return status;
}

static int take_guard(struct words *w, struct ctm_guard **ret)
{
	struct ctm_err err = { 0 };

	if (ctm_guard_take(&w->host, &w->target, &w->vol, &w->guard, ret, &err) < 0 ||
	    ctm_guard_recheck(*ret, &w->target, &w->vol, &err) < 0) {
		return failed(&err);
	}
	printf("guard %s\n", ctm_guard_note(*ret) ? ctm_guard_note(*ret) : "");
	return 0;
}

int main(int argc, char **argv)
{
	char root[] = "/";
	char key[] = "rootfs";
	struct words w = {
		.host.sysroot = "",
		.target.kind = CTM_TARGET_PATH,
		.vol = { .key = key, .mp = root },
	};
	struct ctm_guard *guard = NULL;
	int status = 0;

	for (int i = 1; i < argc; i++) {
		parse_word(&w, argv[i]);
	}
	if (!w.vol.path) {
		usage("no path");
	}
	if (!w.target.name) {
		w.target.name = w.vol.path;
	}
	if (w.forecast) {
		return print_forecast(&w);
	}
	if (w.with_guard) {
		status = take_guard(&w, &guard);
	}
	if (status == 0 && w.guarded && w.hold) {
		wait_for_end();
	} else if (status == 0 && !w.guarded) {
		status = attach(&w, guard);
	}
	ctm_guard_free(guard);
	return status;
}
