// SPDX-License-Identifier: GPL-2.0-only
/*
 * stat-first FAMILY NAME: busy-waits for an instance, asks for a copy at once, and
 * prints the instance's sum.
 */
#include <err.h>
#include <errno.h>
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
	int err;

	if (argc != 3)
		errx(2, "usage: stat-first FAMILY NAME");
	/* A writer of the table may be held up while the table is not to be read. */
	do
		err = kmmv_open(KMMV_DEVICE_DIR, &kmmv);
	while (err == -EAGAIN);
	if (err)
		errx(2, "%s", kmmv_error(NULL));
	do {
		err = kmmv_update(kmmv);
		if (err < 0 && err != -EAGAIN)
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
