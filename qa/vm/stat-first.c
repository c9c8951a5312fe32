// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat-first FAMILY NAME: busy-waits for an instance, asks for a copy at once, and
 * prints the instance's sum.
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#include <libkmmv.h>

/* As the agent's. */
#define MAX_AGE	100000000

int main(int argc, char **argv)
{
	const struct kmmv_instance_info *in;
	struct kmmv *kmmv;
	uint64_t sum;

	if (argc != 3)
		errx(2, "usage: stat-first FAMILY NAME");
	if (kmmv_open(KMMV_DEVICE_DIR, &kmmv))
		errx(2, "%s", kmmv_error(NULL));
	do {
		if (kmmv_update(kmmv) < 0)
			errx(2, "update: %s", kmmv_error(kmmv));
		in = kmmv_lookup(kmmv, argv[1], argv[2]);
	} while (!in || in->state != KMMV_ACTIVE);
	if (kmmv_refresh(kmmv, MAX_AGE, NULL) < 0)
		errx(2, "refresh: %s", kmmv_error(kmmv));
	if (kmmv_read_sums(kmmv, &in->number, 1, &sum, NULL) != 1)
		errx(2, "read: %s", kmmv_error(kmmv));
	printf("%" PRIu64 "\n", sum);
	kmmv_close(kmmv);
	return 0;
}
