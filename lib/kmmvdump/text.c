// SPDX-License-Identifier: LGPL-2.1-or-later
/* kmmvdump's output as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/kmmv.h>

#include "kmmvdump.h"
#include "terminal.h"

static void print_cpus(const struct kmmv *k, const char *what,
		       bool (*has)(const struct kmmv *, uint32_t),
		       const struct kmmv_info *info)
{
	const char *separator = "";
	uint32_t cpu, last;

	printf("%-14s", what);
	for (cpu = 0; cpu < info->nr_cpus; cpu = last + 1) {
		last = cpu;
		if (!has(k, cpu))
			continue;
		while (last + 1 < info->nr_cpus && has(k, last + 1))
			last++;
		printf("%s%u", separator, cpu);
		if (last > cpu)
			printf("-%u", last);
		separator = ",";
	}
	printf("\n");
}

static void print_header(const struct kmmv *k, const struct kmmv_info *info)
{
	printf("%-14s%u.%u%s\n", "abi", info->major, info->minor,
	       info->features & KMMV_F_ATOMIC64 ? ", 64-bit values" :
						  ", values in two halves");
	printf("%-14s%" PRIu64 "\n", "epoch", info->epoch);
	printf("%-14s%" PRIu64 "\n", "generation", info->generation);
	printf("%-14s%u of %u, %u free\n", "instances", info->nr_instances,
	       info->capacity, info->slots_free);
	printf("%-14s%u\n", "families", info->nr_families);
	print_cpus(k, "cpus", kmmv_cpu_possible, info);
	print_cpus(k, "online", kmmv_cpu_online, info);
	if (info->live)
		printf("%-14s%" PRIu64 " bytes\n", "mapped", info->mapped);
	else
		printf("%-14scaptured\n", "source");
}

static void print_families(const struct kmmv *k, const struct dump *d)
{
	const struct kmmv_family_info *f;
	uint32_t i;

	for (i = 0; (f = kmmv_family(k, i)); i++)
		if (dump_is_family_wanted(d, f))
			printf("family %s (%s, %s): %s\n", f->name, f->units,
			       dump_semantics[f->semantics], f->oneline);
}

static void print_value(const struct values *v, uint32_t number,
			const struct kmmv_family_info *f)
{
	const uint64_t *values;
	uint32_t i;

	if (v->status[number]) {
		printf(" ?");
		return;
	}
	if (!v->cpu) {
		printf(" %s", dump_value_text(f, v->sums[number]));
		return;
	}
	values = v->cpu + (size_t)number * v->info.nr_possible;
	for (i = 0; i < v->info.nr_possible; i++)
		printf(" %s", dump_value_text(f, values[i]));
}

void dump_name(const char *name)
{
	size_t left = strlen(name), control = 0;

	for (; left; name++, left--) {
		if (!control)
			control = kmmv_control_size(name, left);
		if (control)
			printf("\\x%02x", (unsigned char)*name);
		else
			putchar(*name);
		control -= control != 0;
	}
}

static void print_instance(const struct kmmv *k, const struct dump *d,
			   const struct values *v,
			   const struct kmmv_instance_info *in)
{
	const struct kmmv_family_info *f = kmmv_family_by_id(k, in->family);

	printf("%s[\"", f ? f->name : "?");
	dump_name(in->name);
	printf("\"]");
	if (d->names_only)
		printf(" number %u.%u", in->number, in->incarnation);
	else
		print_value(v, in->number, f);
	if (in->state != KMMV_ACTIVE)
		printf(" (%s)", dump_states[in->state]);
	if (in->label) {
		printf(" %s=\"", in->label_key);
		dump_name(in->label);
		printf("\"");
	}
	printf("\n");
}

void dump_text(const struct kmmv *k, const struct dump *d,
	       const struct values *v)
{
	const struct kmmv_instance_info *in;
	uint32_t n;

	if (!d->family)
		print_header(k, &v->info);
	if (d->header_only)
		return;
	print_families(k, d);
	for (n = 0; n < v->info.nr_instances; n++) {
		in = kmmv_instance(k, n);
		if (dump_is_wanted(k, d, in))
			print_instance(k, d, v, in);
	}
}
