/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of run/wire.h. */
#include "run/wire.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cases.h"

static const struct {
	const char *name;
	uint64_t n;
	size_t len;
	const char *bytes;
} numbers[] = {
	{ "zero", 0, 1, "\x00" },
	{ "one byte", 127, 1, "\x7f" },
	{ "two bytes", 128, 2, "\x80\x01" },
	{ "three hundred", 300, 2, "\xac\x02" },
	{ "most of three bytes", 2097151, 3, "\xff\xff\x7f" },
	{ "32 bits", UINT32_MAX, 5, "\xff\xff\xff\xff\x0f" },
	{ "64 bits", UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" },
};

CASES(wire, number, numbers)
{
	CLEANUP(ctm_buf_done) struct ctm_buf buf = { 0 };
	struct ctm_wire_out out = { .buf = &buf };
	struct ctm_wire w;

	ctm_wire_put(&out, numbers[*i].n);
	cr_assert_eq(out.r, 0);
	cr_assert_eq(buf.len, numbers[*i].len, "%s: %zu bytes", numbers[*i].name, buf.len);
	cr_assert(memcmp(buf.p, numbers[*i].bytes, buf.len) == 0, "%s", numbers[*i].name);
	w = ctm_wire_of((struct ctm_bytes){ buf.p, buf.len });
	cr_assert_eq(ctm_wire_get(&w), numbers[*i].n, "%s", numbers[*i].name);
	cr_assert(ctm_wire_ended(&w), "%s", numbers[*i].name);
}

static const struct {
	const char *name;
	int64_t n;
	unsigned char first;
} signed_numbers[] = {
	{ "zero", 0, 0 },         { "minus one", -1, 1 },      { "one", 1, 2 },
	{ "minus 64", -64, 127 }, { "most", INT64_MAX, 0xfe }, { "least", INT64_MIN, 0xff },
};

CASES(wire, signed_number, signed_numbers)
{
	CLEANUP(ctm_buf_done) struct ctm_buf buf = { 0 };
	struct ctm_wire_out out = { .buf = &buf };
	struct ctm_wire w;

	ctm_wire_put_signed(&out, signed_numbers[*i].n);
	cr_assert_eq((unsigned char)buf.p[0], signed_numbers[*i].first, "%s",
		     signed_numbers[*i].name);
	w = ctm_wire_of((struct ctm_bytes){ buf.p, buf.len });
	cr_assert_eq(ctm_wire_get_signed(&w), signed_numbers[*i].n, "%s", signed_numbers[*i].name);
	cr_assert(ctm_wire_ended(&w), "%s", signed_numbers[*i].name);
}

static const struct {
	const char *name;
	const char *bytes;
	size_t len;
} bad_numbers[] = {
	{ "nothing", "", 0 },
	{ "cut", "\x80", 1 },
	{ "longer than needed", "\x80\x00", 2 },
	{ "65 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10 },
	{ "eleven bytes", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11 },
};

CASES(wire, bad_number, bad_numbers)
{
	struct ctm_wire w =
		ctm_wire_of((struct ctm_bytes){ bad_numbers[*i].bytes, bad_numbers[*i].len });

	cr_assert_eq(ctm_wire_get(&w), 0, "%s", bad_numbers[*i].name);
	cr_assert(w.bad, "%s", bad_numbers[*i].name);
	cr_assert(!ctm_wire_ended(&w), "%s", bad_numbers[*i].name);
}

Test(wire, narrow_number_and_strings)
{
	struct ctm_wire w = ctm_wire_of((struct ctm_bytes){ "\x80\x80\x80\x80\x10", 5 });

	cr_assert_eq(ctm_wire_get32(&w), 0);
	cr_assert(w.bad, "2^32 does not fit");

	w = ctm_wire_of((struct ctm_bytes){ "\x03"
					    "ab",
					    3 });
	cr_assert_eq(ctm_wire_get_bytes(&w).len, 0);
	cr_assert(w.bad, "longer than what is there");
	cr_assert_not_null(ctm_wire_get_bytes(&w).p);
}

Test(wire, time)
{
	static const struct timespec t = { .tv_sec = -2, .tv_nsec = 999999999 };
	CLEANUP(ctm_buf_done) struct ctm_buf buf = { 0 };
	struct ctm_wire_out out = { .buf = &buf };
	struct ctm_wire w;
	struct timespec got;

	ctm_wire_put_time(&out, (struct timespec){ .tv_nsec = 1000000000 });
	cr_assert_eq(out.r, -EINVAL, "it could not be read back");
	buf.len = 0;
	out.r = 0;
	ctm_wire_put_time(&out, t);
	ctm_wire_put_signed(&out, 0);
	ctm_wire_put(&out, 1000000000);
	w = ctm_wire_of((struct ctm_bytes){ buf.p, buf.len });
	got = ctm_wire_get_time(&w);
	cr_assert(got.tv_sec == t.tv_sec && got.tv_nsec == t.tv_nsec && !w.bad);
	(void)ctm_wire_get_time(&w);
	cr_assert(w.bad, "a whole second of nanoseconds");
}

Test(wire, fixed_width)
{
	unsigned char p[8];

	ctm_wire_le(p, 0x0102030405060708, 8);
	cr_assert(memcmp(p, "\x08\x07\x06\x05\x04\x03\x02\x01", 8) == 0);
	cr_assert_eq(ctm_wire_from_le(p, 8), 0x0102030405060708);
	cr_assert_eq(ctm_wire_from_le(p, 4), 0x05060708);
}
