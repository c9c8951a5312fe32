// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of a page: the input is eight bytes of time, and the bytes to
 * decode, which end at the very end of an allocation. The number of events is
 * bounded, and so is each of them.
 */
#include <check.h>
#include "../unit/lib/libringarea.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct kmmv_field_info text = { .kind = KMMV_TEXT };
	struct kmmv_cursor cursor = { 0 };
	struct kmmv_record record;
	unsigned char *bytes;
	char line[64];
	size_t n;

	if (size < 8 || size > 8 + PAGE)
		return -1;
	memcpy(&cursor.time, data, 8);
	size = (size - 8) & ~(size_t)3;
	bytes = malloc(size);
	ck_assert(bytes || !size);
	if (size)
		memcpy(bytes, data + 8, size);
	cursor.bytes = bytes;
	cursor.end = (uint32_t)size;
	for (n = 0; kmmv_event_next(&cursor, &record) == 1; n++) {
		const unsigned char *payload = record.payload;

		ck_assert(payload >= bytes &&
			  payload + record.size <= bytes + size);
		ck_assert(kmmv_field_text(&text, &record, line,
					  sizeof(line)) >= 0);
	}
	ck_assert(n <= size / 4);
	ck_assert(cursor.pos <= cursor.end);
	free(bytes);
	return 0;
}
