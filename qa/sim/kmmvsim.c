// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmmvsim: a simulated area, which can be read without a kernel module. Written
 * from kmmv(5), independently of the module's core.
 *
 * Without --live it makes DIR/counters and DIR/names as plain files. With it,
 * DIR/counters links to a sealed memfd of this process, which counts, adds,
 * deletes, forgets and reuses instances by the rules for writers until it is
 * killed; each change replaces DIR/names as a whole, before gen2.
 *
 * Instance n of family f has start + n on CPU 0, and 1 more on each next CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/kmmv.h>

static uint32_t nr_cpus = 4, nr_instances = 16, nr_families = 2;
static uint32_t page_size = 4096, capacity;
static uint64_t start, generation = 1, epoch = 1;
static bool pair, sparse, live;
static unsigned int period_us = 1000;
static const char *dir;

static struct kmmv_header *header;
static char *base;

struct sim_instance {
	uint32_t incarnation;
	bool active, free;
};

static struct sim_instance *instances;

static void die(const char *what)
{
	fprintf(stderr, "kmmvsim: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t round_up(uint64_t n)
{
	return (n + page_size - 1) / page_size * page_size;
}

static bool is_possible(uint32_t cpu)
{
	return !sparse || cpu % 3 != 1;
}

static uint64_t *counter(uint32_t cpu, uint32_t n)
{
	return (uint64_t *)(base + header->cpu_offset +
			    cpu * header->cpu_stride +
			    header->counter_offset + (uint64_t)n * 8);
}

static uint32_t *incarnation(uint32_t n)
{
	return (uint32_t *)(base + header->incarnation_offset) + n;
}

static struct kmmv_header lay_out(void)
{
	struct kmmv_header h = {
		.magic = KMMV_MAGIC,
		.major = KMMV_ABI_MAJOR,
		.minor = KMMV_ABI_MINOR,
		.size = sizeof(h),
		.features_compat = pair ? 0 : KMMV_F_ATOMIC64,
		.epoch = epoch,
		.gen1 = generation,
		.gen2 = generation,
		.page_size = page_size,
		.nr_cpus = nr_cpus,
		.capacity = capacity,
		.nr_instances = nr_instances,
		.counter_offset = pair ? sizeof(struct kmmv_pair) : 0,
		.slots_free = capacity - nr_instances,
	};

	h.mask_size = (nr_cpus + 63) / 64 * 8;
	h.possible_offset = sizeof(h);
	h.online_offset = h.possible_offset + h.mask_size;
	h.incarnation_offset = page_size;
	h.cpu_offset = h.incarnation_offset + round_up((uint64_t)capacity * 4);
	h.cpu_stride = round_up(h.counter_offset + (uint64_t)capacity * 8);
	h.length = h.cpu_offset + h.cpu_stride * nr_cpus;
	return h;
}

static void fill(void)
{
	uint64_t *possible, *online;
	uint32_t cpu, n;

	possible = (uint64_t *)(base + header->possible_offset);
	online = (uint64_t *)(base + header->online_offset);
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		if (!is_possible(cpu))
			continue;
		possible[cpu / 64] |= 1ULL << cpu % 64;
		online[cpu / 64] |= 1ULL << cpu % 64;
		for (n = 0; n < nr_instances; n++)
			*counter(cpu, n) = start + n + cpu;
	}
	for (n = 0; n < nr_instances; n++)
		instances[n].active = true;
}

static void write_names(void)
{
	char path[4096], temporary[4096];
	uint32_t f, n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/names", dir);
	snprintf(temporary, sizeof(temporary), "%s/.names.new", dir);
	file = fopen(temporary, "w");
	if (!file)
		die(temporary);
	fprintf(file, "kmmv abi=%u.%u epoch=%" PRIu64 "\n", KMMV_ABI_MAJOR,
		KMMV_ABI_MINOR, epoch);
	for (f = 0; f < nr_families; f++) {
		fprintf(file,
			"family id=%u units=count semantics=counter name=sim.f%u\n",
			f, f);
		fprintf(file, "oneline id=%u text=Simulated family %u\n", f, f);
		fprintf(file, "help id=%u text=Every %u. instance.\\nAnd text.\n",
			f, nr_families);
	}
	for (n = 0; n < nr_instances; n++) {
		fprintf(file,
			"instance number=%u family=%u incarnation=%u state=%s name=",
			n, n % nr_families, instances[n].incarnation,
			instances[n].free   ? "free" :
			instances[n].active ? "active" :
					      "inactive");
		if (!instances[n].free)
			fprintf(file, "i%u.%u", n, instances[n].incarnation);
		fputc('\n', file);
	}
	fprintf(file, "end %" PRIu64 "\n", generation);
	if (fclose(file) || rename(temporary, path))
		die(path);
}

static int open_area(void)
{
	char path[4096], target[64];
	int fd;

	snprintf(path, sizeof(path), "%s/counters", dir);
	unlink(path);
	if (!live) {
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		return fd < 0 ? (die(path), -1) : fd;
	}
	fd = memfd_create("kmmvsim", MFD_ALLOW_SEALING);
	if (fd < 0)
		die("memfd_create");
	snprintf(target, sizeof(target), "/proc/%d/fd/%d", getpid(), fd);
	if (symlink(target, path))
		die(path);
	return fd;
}

static void create(void)
{
	struct kmmv_header h = lay_out();
	int fd;

	if (mkdir(dir, 0755) && errno != EEXIST)
		die(dir);
	if (h.online_offset + h.mask_size > page_size) {
		errno = E2BIG;
		die("CPU masks");
	}
	fd = open_area();
	if (ftruncate(fd, (off_t)h.length))
		die("ftruncate");
	base = mmap(NULL, h.length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		die("mmap");
	header = (struct kmmv_header *)base;
	instances = calloc(capacity, sizeof(*instances));
	if (!instances)
		die("instances");
	*header = h;
	fill();
	write_names();
	if (live && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		die("F_ADD_SEALS");
}

static void add(uint32_t cpu, uint32_t n, uint64_t delta)
{
	struct kmmv_pair *p = (struct kmmv_pair *)(base + header->cpu_offset +
						   cpu * header->cpu_stride);
	uint64_t *word = counter(cpu, n), value = *word + delta;
	uint32_t *half = (uint32_t *)word;

	if (!pair) {
		__atomic_store_n(word, value, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store_n(&p->begun, p->begun + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&half[0], (uint32_t)value, __ATOMIC_RELEASE);
	__atomic_store_n(&half[1], (uint32_t)(value >> 32), __ATOMIC_RELEASE);
	__atomic_store_n(&p->done, p->begun, __ATOMIC_RELEASE);
}

static void begin_change(void)
{
	__atomic_store_n(&header->gen1, ++generation, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void end_change(void)
{
	write_names();
	__atomic_store_n(&header->gen2, generation, __ATOMIC_RELEASE);
}

/* The instance becomes inactive, then free, then another one. */
static void change(uint32_t n)
{
	struct sim_instance *in = &instances[n];
	uint32_t cpu;

	begin_change();
	if (in->active) {
		in->active = false;
	} else if (!in->free) {
		in->free = true;
		in->incarnation++;
		__atomic_store_n(incarnation(n), in->incarnation,
				 __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	} else {
		for (cpu = 0; cpu < nr_cpus; cpu++)
			if (is_possible(cpu))
				__atomic_store_n(counter(cpu, n), 0,
						 __ATOMIC_RELAXED);
		in->free = false;
		in->active = true;
	}
	end_change();
}

static void run(void)
{
	struct timespec nap = { period_us / 1000000,
				period_us % 1000000 * 1000L };
	uint32_t round, n, cpu;

	for (round = 0;; round++) {
		for (n = 0; n < nr_instances; n++)
			for (cpu = 0; cpu < nr_cpus; cpu++)
				if (instances[n].active && is_possible(cpu))
					add(cpu, n, 1 + n % 7);
		/* The second half of the numbers comes and goes. */
		if (round % 4 == 3 && nr_instances > 1)
			change(nr_instances / 2 +
			       round / 4 % (nr_instances - nr_instances / 2));
		if (getppid() == 1)
			return;
		nanosleep(&nap, NULL);
	}
}

static const struct option options[] = {
	{ "cpus", required_argument, NULL, 'c' },
	{ "instances", required_argument, NULL, 'n' },
	{ "families", required_argument, NULL, 'f' },
	{ "capacity", required_argument, NULL, 'C' },
	{ "page-size", required_argument, NULL, 'P' },
	{ "start", required_argument, NULL, 's' },
	{ "generation", required_argument, NULL, 'g' },
	{ "epoch", required_argument, NULL, 'e' },
	{ "period-us", required_argument, NULL, 'u' },
	{ "pair", no_argument, NULL, 'p' },
	{ "sparse", no_argument, NULL, 'S' },
	{ "live", no_argument, NULL, 'l' },
	{ NULL, 0, NULL, 0 },
};

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || end == text) {
		errno = EINVAL;
		die(text);
	}
	return value;
}

int main(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c': nr_cpus = (uint32_t)number(optarg); break;
		case 'n': nr_instances = (uint32_t)number(optarg); break;
		case 'f': nr_families = (uint32_t)number(optarg); break;
		case 'C': capacity = (uint32_t)number(optarg); break;
		case 'P': page_size = (uint32_t)number(optarg); break;
		case 's': start = number(optarg); break;
		case 'g': generation = number(optarg); break;
		case 'e': epoch = number(optarg); break;
		case 'u': period_us = (unsigned int)number(optarg); break;
		case 'p': pair = true; break;
		case 'S': sparse = true; break;
		case 'l': live = true; break;
		default: return 2;
		}
	}
	if (optind != argc - 1 || !nr_cpus || !nr_families) {
		fprintf(stderr, "usage: kmmvsim [--cpus N] [--instances N] [--families N] [--capacity N]\n"
			"\t[--page-size N] [--start N] [--generation N] [--epoch N] [--pair]\n"
			"\t[--sparse] [--live [--period-us N]] DIR\n");
		return 2;
	}
	dir = argv[optind];
	if (capacity < nr_instances)
		capacity = nr_instances ? nr_instances : 1;
	create();
	if (live) {
		printf("ready\n");
		fflush(stdout);
		run();
	}
	return 0;
}
