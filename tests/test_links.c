/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of inodes with several names. */
#include "plan/links.h"

#include "base/cleanup.h"
#include "cases.h"
#include "prng.h"

Test(links, empty)
{
	CLEANUP(ctm_links_done) struct ctm_links links = { 0 };

	cr_assert_null(ctm_links_get(&links, 0, 0));
	cr_assert_null(ctm_links_get(&links, 1, 2));
}

/* Inode numbers repeat from one btrfs subvolume to the next. */
Test(links, device_and_inode_together)
{
	CLEANUP(ctm_links_done) struct ctm_links links = { 0 };

	for (uint64_t dev = 48; dev < 52; dev++) {
		struct ctm_link link = { .dev = dev, .ino = 257, .nlink = 2, .action = dev };

		cr_assert_eq(ctm_links_add(&links, &link), 0);
	}
	for (uint64_t dev = 48; dev < 52; dev++) {
		cr_assert_eq(ctm_links_get(&links, dev, 257)->action, dev);
	}
	cr_assert_null(ctm_links_get(&links, 52, 257));
	cr_assert_null(ctm_links_get(&links, 257, 48));
}

Test(links, many)
{
	CLEANUP(ctm_links_done) struct ctm_links links = { 0 };
	uint64_t state = PRNG_SEED;

	for (uint64_t i = 0; i < 50000; i++) {
		/* odd numbers are in, half of them dense, half spread */
		struct ctm_link link = { .dev = 7 + i % 3, .ino = 2 * i + 1, .action = i };

		link.ino = i % 2 ? link.ino : link.ino << 40;
		cr_assert_eq(ctm_links_add(&links, &link), 0);
	}
	cr_assert_eq(links.v.n, 50000);
	for (uint64_t i = 0; i < 50000; i++) {
		uint64_t ino = i % 2 ? 2 * i + 1 : (2 * i + 1) << 40;
		struct ctm_link *link = ctm_links_get(&links, 7 + i % 3, ino);

		cr_assert(link && link->action == i && link->ino == ino, "%lu", (unsigned long)i);
		link->names = 2;
		cr_assert_null(ctm_links_get(&links, 7 + i % 3, 2 * (uint64_t)prng(&state)));
	}
	for (size_t i = 0; i < links.v.n; i++) {
		cr_assert_eq(links.v.v[i].names, 2);
	}
}
