// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captured files: the first two bytes of the input say how many of the
 * following bytes replace the start of a good header; the rest is the names
 * stream.
 */
#include <check.h>
#include "../unit/lib/libarea.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct area area;
static unsigned char *counters;

static void end(void)
{
	free(counters);
	area_fini(&area);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kmmv *k;
	size_t head;

	if (!counters) {
		area_small(&area, true);
		counters = malloc(area.length);
		ck_assert_ptr_nonnull(counters);
		atexit(end);
	}
	if (size < 2)
		return 0;
	head = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	if (head > size || head > PAGE)
		return -1;
	memcpy(counters, area.header, area.length);
	memcpy(counters, data, head);
	area_put(&area, "counters", counters, area.length);
	area_put(&area, "names", data + head, size - head);
	if (area_open(&area, &k) == 0)
		area_use(k);
	else
		ck_assert_str_ne(kmmv_error(NULL), "");
	kmmv_close(k);
	return 0;
}
