// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instances come while the area is mapped: older ones stay where they are, and
 * new ones appear in the old mapping. With an argument, only the far end of the
 * capacity is tested: growth NUMBER.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "tap.h"

static const struct kmmv_header *header;
static const char *map;

static const char *place(uint32_t cpu, uint32_t instance)
{
	return map + header->cpu_offset + cpu * header->cpu_stride +
	       header->counter_offset + instance * sizeof(uint64_t);
}

static bool is_possible(uint32_t cpu)
{
	const uint64_t *mask = (const void *)(map + header->possible_offset);

	return mask[cpu / 64] >> cpu % 64 & 1;
}

/* Whether each possible CPU has VALUE plus its number. */
static bool holds(uint32_t instance, uint64_t value)
{
	uint64_t found;
	uint32_t cpu;

	for (cpu = 0; cpu < header->nr_cpus; cpu++)
		if (is_possible(cpu) && (!peek(place(cpu, instance), &found) ||
					 found != value + cpu))
			return false;
	return true;
}

/* Whether it is 0 on all possible CPUs, and SIGBUS on others. */
static bool appeared(uint32_t instance)
{
	uint64_t found = 1;
	uint32_t cpu;

	for (cpu = 0; cpu < header->nr_cpus; cpu++)
		if (peek(place(cpu, instance), &found) != is_possible(cpu) ||
		    (is_possible(cpu) && found))
			return false;
	return true;
}

/* Count VALUE plus the CPU's number on all possible CPUs, online or not. */
static void count(uint32_t instance, unsigned long long value)
{
	uint32_t cpu;

	for (cpu = 0; cpu < header->nr_cpus; cpu++)
		if (is_possible(cpu) &&
		    client("adjust task %u %u %llu", cpu, instance, value + cpu))
			client("store %u %u %llu", instance, cpu, value + cpu);
}

static bool sigbus(uint32_t instance)
{
	uint32_t cpu;

	for (cpu = 0; cpu < header->nr_cpus; cpu++)
		if (touch(place(cpu, instance)) != SIGBUS)
			return false;
	return true;
}

/* Fill up to the next page border, then cross it by one. */
static void cross_border(int border, uint32_t first)
{
	uint32_t per_page = header->page_size / sizeof(uint64_t);
	/* On a machine of 32 bits, a word precedes the counters on their first page. */
	uint32_t before = header->counter_offset % header->page_size / sizeof(uint64_t);
	uint32_t nr = header->nr_instances;
	uint32_t end = (before + nr + per_page - 1) / per_page * per_page - before;
	uint64_t generation = header->gen2;
	uint32_t last;

	if (end > nr)
		client_text("addmany 0 %u grow%d.", end - nr, border);
	ok(header->nr_instances == end && sigbus(end),
	   "border %d: full up to number %u, nothing behind", border, end - 1);
	count(end - 1, 1000);
	last = client("add border%d", border);
	ok(last == end && header->nr_instances == end + 1,
	   "border %d: the next one is number %u", border, end);
	ok(appeared(end), "border %d: its pages appeared in the mapping",
	   border);
	count(end, 5000);
	ok(holds(end, 5000) && holds(end - 1, 1000),
	   "border %d: both sides count", border);
	ok(holds(first, 77), "border %d: the first instance kept its count",
	   border);
	ok(header->gen1 == header->gen2 && header->gen2 > generation,
	   "border %d: the generation moved on", border);
}

static void map_it(void)
{
	int fd = open(COUNTERS, O_RDONLY);
	struct kmmv_header copy;
	void *page;

	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		bail("%s", COUNTERS);
	copy = *(struct kmmv_header *)page;
	map = mmap(NULL, copy.length, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		bail("mmap of %llu bytes", (unsigned long long)copy.length);
	header = (const void *)map;
	close(fd);
}

int main(int argc, char **argv)
{
	uint64_t length, stride;
	uint32_t first;
	int border;

	map_it();
	if (argc > 1) {
		first = atoi(argv[1]);
		count(first, 99);
		ok(holds(first, 99), "number %u counts on every CPU", first);
		return finish();
	}
	length = header->length;
	stride = header->cpu_stride;
	first = client("add first");
	count(first, 77);
	for (border = 1; border <= 4; border++)
		cross_border(border, first);
	ok(header->length == length && header->cpu_stride == stride,
	   "length and stride are what they were");
	return finish();
}
