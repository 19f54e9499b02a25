/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks a directory for the scripts and prints what is found, to be compared with find(1).
 *
 *	walk-dump DIR WORD...
 *
 *	map=SPEC start=PATH jobs=N patience=N
 *	                                as in a scan's request; start may be repeated
 *	all none rules                  likewise
 *
 * Lines, fields separated by tabs:
 *
 *	PATH TYPE MODE UID:GID DEV INO NLINK SIZE
 *			as find -printf '%P\t%y\t%m\t%U:%G\t%D\t%i\t%n\t%s\n'
 *	PATH error OP NUMBER
 *	PATH mount
 *
 * and on standard error the totals as words "KEY=VALUE", with the peak of memory of both processes
 * in KiB (rss, child_rss). Exit status 5: the scan failed, with the message on stderr.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "id/idmap.h"
#include "scan/scan.h"

#define STARTS_MAX 16

static char type_of(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return 'd';
	case S_IFLNK:
		return 'l';
	case S_IFIFO:
		return 'p';
	case S_IFSOCK:
		return 's';
	case S_IFBLK:
		return 'b';
	case S_IFCHR:
		return 'c';
	default:
		return 'f';
	}
}

static int print_fact(const struct ctm_fact *fact, void *arg)
{
	(void)arg;
	switch (fact->kind) {
	case CTM_FACT_INODE:
		(void)printf("%s\t%c\t%o\t%u:%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRIu64 "\n",
			     fact->path, type_of(fact->mode), fact->mode & 07777, fact->uid.v,
			     fact->gid.v, fact->dev, fact->ino, fact->nlink, fact->size);
		break;
	case CTM_FACT_ERROR:
		(void)printf("%s\terror\t%s\t%d\n", fact->path, fact->op, fact->err);
		break;
	case CTM_FACT_MOUNT:
		(void)printf("%s\tmount\n", fact->path);
		break;
	}
	return 0;
}

static void print_totals(const struct ctm_scan_totals *totals)
{
	struct rusage own, child;

	(void)getrusage(RUSAGE_SELF, &own);
	(void)getrusage(RUSAGE_CHILDREN, &child);
	(void)fprintf(stderr,
		      "entries=%" PRIu64 "\ninodes=%" PRIu64 "\ndirs=%" PRIu64 "\nerrors=%" PRIu64
		      "\nhost_uid=%" PRIu64 "\nhost_gid=%" PRIu64 "\nrss=%ld\nchild_rss=%ld\n",
		      totals->entries, totals->inodes, totals->dirs, totals->errors,
		      totals->host[CTM_UID], totals->host[CTM_GID], own.ru_maxrss, child.ru_maxrss);
	for (int kind = CTM_UID; kind <= CTM_GID; kind++) {
		for (size_t i = 0; i < totals->ids[kind].n; i++) {
			(void)fprintf(stderr, "%s_%u=%" PRIu64 "\n",
				      kind == CTM_UID ? "uid" : "gid", totals->ids[kind].v[i].id,
				      totals->ids[kind].v[i].n);
		}
	}
}

int main(int argc, char **argv)
{
	const char *starts[STARTS_MAX];
	struct ctm_idmap *map = NULL;
	struct ctm_scan_request req = { .starts = starts };
	struct ctm_scan_totals totals = { 0 };
	struct ctm_source *source = NULL;
	struct ctm_err err = { 0 };
	int fd = argc > 1 ? open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	int r = 0;

	if (fd < 0) {
		perror("walk-dump: DIR");
		return 2;
	}
	for (int i = 2; i < argc && r == 0; i++) {
		const char *word = argv[i];

		if (strncmp(word, "map=", 4) == 0) {
			r = ctm_idmap_parse_spec(word + 4, &map, &err);
		} else if (strncmp(word, "start=", 6) == 0 && req.n_starts < STARTS_MAX) {
			starts[req.n_starts++] = word + 6;
		} else if (strncmp(word, "jobs=", 5) == 0) {
			req.jobs = (unsigned int)strtoul(word + 5, NULL, 10);
		} else if (strncmp(word, "patience=", 9) == 0) {
			req.patience = (unsigned int)strtoul(word + 9, NULL, 10);
		} else if (strcmp(word, "all") == 0) {
			req.want_all = true;
		} else if (strcmp(word, "none") == 0) {
			req.want_none = true;
		} else if (strcmp(word, "rules") == 0) {
			req.rules = true;
		} else {
			(void)fprintf(stderr, "walk-dump: what is '%s'?\n", word);
			return 2;
		}
	}
	req.map = map;
	if (r == 0) {
		r = ctm_walk_new(fd, &source, &err);
	}
	if (r == 0) {
		r = ctm_source_scan(source, &req, print_fact, NULL, &totals, &err);
	}
	if (r == 0) {
		print_totals(&totals);
	} else {
		(void)fprintf(stderr, "walk-dump: %s\n", err.msg);
	}
	ctm_scan_totals_done(&totals);
	ctm_source_free(source);
	ctm_idmap_free(map);
	return r < 0 ? 5 : 0;
}
