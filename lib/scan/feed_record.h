/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The records of scan/feed.h as bytes: known to both sides of it, and to its tests.
 *
 * Each begins with a head; its len counts the whole record. No structure has padding.
 */
#ifndef CTM_SCAN_FEED_RECORD_H
#define CTM_SCAN_FEED_RECORD_H

#include <stdint.h>

enum ctm_record_type {
	CTM_RECORD_DIR = 1, /* ctm_record_dir, components with slashes between them */
	CTM_RECORD_INODE,   /* ctm_record_inode, name, access ACL, default ACL, capability, head */
	CTM_RECORD_ERROR,   /* ctm_record_error, name */
	CTM_RECORD_MOUNT,   /* name */
	CTM_RECORD_TOTALS,  /* ctm_record_totals */
	CTM_RECORD_IDS,     /* ctm_record_ids, ctm_record_id ... */
	CTM_RECORD_FAIL,    /* ctm_record_error */
	CTM_RECORD_END,
};

struct ctm_record_head {
	uint32_t len;
	uint16_t type;
	uint16_t stream;
};

/**
 * The directory of what follows: the first keep bytes of the stream's last one, and what is added.
 */
struct ctm_record_dir {
	uint32_t keep; /* 0, all of it, or up to a slash */
};

#define CTM_RECORD_ABSENT UINT32_MAX

struct ctm_record_inode {
	uint64_t dev;
	uint64_t ino;
	uint64_t rdev;
	uint64_t size;
	uint32_t mode;
	uint32_t uid;
	uint32_t gid;
	uint32_t nlink;
	uint32_t attr;
	/* Lengths of what follows; CTM_RECORD_ABSENT for a value that is not there. */
	uint32_t name;
	uint32_t value[4];
};

struct ctm_record_error {
	uint32_t err;
	uint32_t op; /* index into ctm_feed_ops */
};

struct ctm_record_totals {
	uint64_t entries;
	uint64_t inodes;
	uint64_t dirs;
	uint64_t host[2];
	uint64_t nobody[2];
	uint64_t errors;
	uint64_t subvolumes;
	uint64_t other[2];
};

/** A part of a histogram: the ids of all parts of a kind ascend. */
struct ctm_record_ids {
	uint32_t kind;
	uint32_t n;
};

struct ctm_record_id {
	uint64_t n;
	uint32_t id;
	uint32_t zero;
};

#define CTM_RECORD_IDS_MAX 1024

#endif
