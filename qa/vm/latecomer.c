// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader that maps before a CPU comes up: for each line on standard input it
 * prints the values of FAMILY's instance NAME on all possible CPUs, from that
 * mapping.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libkmmv.h"

static int fail(struct kmmv *k)
{
	fprintf(stderr, "latecomer: %s\n", kmmv_error(k));
	return 1;
}

int main(int argc, char **argv)
{
	const struct kmmv_instance_info *in;
	struct kmmv_info info;
	uint64_t *values;
	struct kmmv *k;
	uint32_t cpu;
	int c, status;

	if (argc != 3)
		return 2;
	if (kmmv_open(KMMV_DEVICE_DIR, &k))
		return fail(NULL);
	kmmv_get_info(k, &info);
	values = calloc(info.nr_cpus, sizeof(*values));
	if (!values)
		return 1;
	for (;;) {
		if (kmmv_update(k) < 0)
			return fail(k);
		in = kmmv_lookup(k, argv[1], argv[2]);
		if (!in || kmmv_read_percpu(k, &in->number, 1, values,
					    &status) != 1)
			return fail(k);
		for (cpu = 0; cpu < info.nr_cpus; cpu++)
			if (kmmv_cpu_possible(k, cpu))
				printf("%" PRIu64 " ", values[cpu]);
		printf("\n");
		fflush(stdout);
		while ((c = getchar()) != '\n')
			if (c == EOF)
				return 0;
	}
}
