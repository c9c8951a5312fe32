// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged areas, random but the same in each run: each gives an error, or a
 * valid handle. KMMV_SOAK=N: N times as many.
 */
#include "libarea.h"
#include "random.h"

enum { ROUNDS = 3000 };

/* Words of the first page, mostly the header's. */
static void damage_counters(unsigned char *bytes, size_t length)
{
	size_t width = 1UL << random64() % 4, place;
	uint64_t value = 0;

	place = random64() % (random64() % 4 ? 208 : length) & ~(width - 1);
	memcpy(&value, bytes + place, width);
	value = odd_value(value, 64, 300);
	memcpy(bytes + place, &value, width);
}

/* Change, remove, repeat or move bytes, pieces and lines. */
static size_t damage_names(char *text, size_t length)
{
	static const char spice[] = "\n\n =\\\0\xff\x7f" "0123456789-kmv";
	size_t from = random64() % length, to = random64() % length;
	size_t n = random64() % 40;

	n = n < length - from ? n : length - from;
	switch (random64() % 4) {
	case 0:
		text[from] = spice[random64() % (sizeof(spice) - 1)];
		return length;
	case 1:
		memmove(text + from, text + from + n, length - from - n);
		return length - n;
	case 2:
		memmove(text + from + n, text + from, length - from);
		return length + n;
	default:
		n = n < length - to ? n : length - to;
		memmove(text + to, text + from, n);
		return length;
	}
}

static int opened;

static void one_round(const struct area *area)
{
	unsigned char *bytes = malloc(area->length);
	char *text = malloc(area->names_length + 4096);
	size_t length = area->names_length, cut = area->length;
	uint64_t times;
	struct kmmv *k;

	memcpy(bytes, area->header, area->length);
	memcpy(text, area->names, length);
	if (random64() % 3)
		for (times = random64() % 3 + 1; times; times--)
			damage_counters(bytes, area->length);
	else if (random64() % 8 == 0)
		cut = random64() % area->length;
	if (random64() % 3)
		for (times = random64() % 4 + 1; times && length > 1; times--)
			length = damage_names(text, length);
	area_put(area, "counters", bytes, cut);
	area_put(area, "names", text, length);
	if (!area_open(area, &k)) {
		opened++;
		area_use(k);
		if (random64() % 16 == 0 &&
		    !kmmv_capture(k, area_path(area, "copy"))) {
			kmmv_close(k);
			ck_assert_int_eq(kmmv_open(area_path(area, "copy"),
						   &k), 0);
			area_use(k);
		}
	} else {
		ck_assert_str_ne(kmmv_error(NULL), "");
	}
	kmmv_close(k);
	free(bytes);
	free(text);
}

START_TEST(damaged)
{
	const char *soak = getenv("KMMV_SOAK");
	long rounds = ROUNDS * (soak && atoi(soak) ? atoi(soak) : 1), i;
	struct area area;

	area_small(&area, _i & 1);
	random_state += (uint64_t)_i;
	for (i = 0; i < rounds; i++)
		one_round(&area);
	/* Some areas pass the checks, most do not. */
	ck_assert_int_gt(opened, rounds / 100);
	ck_assert_int_lt(opened, rounds / 2);
	area_remove(area_path(&area, "copy"));
	area_fini(&area);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("fuzz");

	tcase_add_loop_test(tcase, damaged, 0, 4);
	return run_suite("libfuzz", tcase);
}
