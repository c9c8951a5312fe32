/* SPDX-License-Identifier: GPL-2.0-only */
/* The rest of an input of a fuzzer, of which numbers are taken. */
#ifndef KMMV_FUZZ_INPUT_H
#define KMMV_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *at, *end;
};

/* The next one, of SIZE bytes; 0 if there are no more. */
static inline uint64_t number(struct input *in, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(in->end - in->at) < size) {
		in->at = in->end;
		return 0;
	}
	memcpy(&value, in->at, size);
	in->at += size;
	return value;
}

#endif /* KMMV_FUZZ_INPUT_H */
