/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An area for tests of the library: made in memory, written as files, or shared
 * as a sealed memfd that the test then changes by the rules of <linux/kmmv.h>.
 */
#ifndef LIBAREA_H
#define LIBAREA_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kmmv.h>

#include "libkmmv.h"
#include "quiet.h"
#include "suite.h"

enum { PAGE = 4096, EPOCH = 77, PAIR_SIZE = 64 };

/* ThreadSanitizer does not support fences: under it stores are ordered. */
#ifdef __SANITIZE_THREAD__
#define STORE_ORDER __ATOMIC_RELEASE
#else
#define STORE_ORDER __ATOMIC_RELAXED
#endif

struct area {
	char dir[64];
	struct kmmv_header *header;	/* start of the bytes */
	size_t length;
	int fd;				/* of the memfd, or -1 */
	char *names;
	size_t names_length, names_room;
};

static inline void *area_at(const struct area *a, uint64_t offset)
{
	ck_assert_uint_lt(offset, a->length);
	return (char *)a->header + offset;
}

static inline uint64_t *area_value(const struct area *a, uint32_t cpu,
				   uint32_t number)
{
	const struct kmmv_header *h = a->header;

	return area_at(a, h->cpu_offset + cpu * h->cpu_stride +
			  h->counter_offset + (uint64_t)number * 8);
}

static inline struct kmmv_pair *area_pair(const struct area *a, uint32_t cpu)
{
	return area_at(a, a->header->cpu_offset + cpu * a->header->cpu_stride);
}

static inline uint32_t *area_incarnation(const struct area *a, uint32_t number)
{
	return area_at(a, a->header->incarnation_offset + number * 4);
}

static inline uint64_t *area_mask(const struct area *a, uint32_t offset)
{
	return area_at(a, offset);
}

static inline uint64_t area_round(uint64_t n)
{
	return (n + PAGE - 1) / PAGE * PAGE;
}

/* Begin the names anew. */
static inline void area_names_start(struct area *a)
{
	a->names_length = 0;
	a->names[0] = '\0';
}

__attribute__((format(printf, 2, 3)))
static inline void area_names(struct area *a, const char *format, ...)
{
	va_list ap;
	int n;

	/* Room is doubled, as ASan copies the whole text each time. */
	if (a->names_length + 4096 > a->names_room) {
		a->names_room = 2 * (a->names_length + 4096);
		a->names = realloc(a->names, a->names_room);
	}
	va_start(ap, format);
	n = vsnprintf(a->names + a->names_length, 4096, format, ap);
	va_end(ap);
	ck_assert_int_lt(n, 4096);
	a->names_length += (size_t)n;
}

/* All CPUs are possible and online; ATOMIC sets the feature. No names yet. */
static inline void area_init(struct area *a, uint32_t nr_cpus,
			     uint32_t capacity, uint32_t nr_instances,
			     bool atomic)
{
	struct kmmv_header h = {
		.magic = KMMV_MAGIC,
		.major = KMMV_ABI_MAJOR,
		.minor = KMMV_ABI_MINOR,
		.size = sizeof(h),
		.features_compat = atomic ? KMMV_F_ATOMIC64 : 0,
		.epoch = EPOCH,
		.gen1 = 1,
		.gen2 = 1,
		.page_size = PAGE,
		.nr_cpus = nr_cpus,
		.capacity = capacity,
		.nr_instances = nr_instances,
		.counter_offset = atomic ? 0 : PAIR_SIZE,
		.incarnation_offset = PAGE,
		.possible_offset = sizeof(h),
		.mask_size = (nr_cpus + 63) / 64 * 8,
		.slots_free = capacity - nr_instances,
	};
	uint32_t cpu;

	h.online_offset = h.possible_offset + h.mask_size;
	h.cpu_offset = PAGE + area_round((uint64_t)capacity * 4);
	h.cpu_stride = area_round(h.counter_offset + (uint64_t)capacity * 8);
	h.length = h.cpu_offset + nr_cpus * h.cpu_stride;

	memset(a, 0, sizeof(*a));
	a->fd = -1;
	a->length = h.length;
	a->header = mmap(NULL, a->length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(a->header, MAP_FAILED);
	*a->header = h;
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		area_mask(a, h.possible_offset)[cpu / 64] |= 1ULL << cpu % 64;
		area_mask(a, h.online_offset)[cpu / 64] |= 1ULL << cpu % 64;
	}
	snprintf(a->dir, sizeof(a->dir), "%s/kmmv.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(a->dir));
	a->names = calloc(1, 1);
}

static inline const char *area_path(const struct area *a, const char *name)
{
	static char path[2][128];
	static int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", a->dir, name);
	return path[turn];
}

/* Write a file beside its place and rename it, as producers should. */
static inline void area_put(const struct area *a, const char *name,
			    const void *bytes, size_t length)
{
	const char *temporary = area_path(a, "new");
	int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, length), (ssize_t)length);
	close(fd);
	ck_assert_int_eq(rename(temporary, area_path(a, name)), 0);
}

static inline void area_put_names(const struct area *a)
{
	area_put(a, "names", a->names, a->names_length);
}

/* Write the area as captured files. */
static inline void area_put_files(const struct area *a)
{
	area_put(a, "counters", a->header, a->length);
	area_put_names(a);
}

/* Move the area to a memfd of LENGTH bytes. */
static inline void area_share_length(struct area *a, size_t length)
{
	char target[64];
	void *shared;

	a->fd = memfd_create("counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ck_assert_int_ge(a->fd, 0);
	ck_assert_int_eq(ftruncate(a->fd, (off_t)length), 0);
	ck_assert_int_eq(pwrite(a->fd, a->header, length, 0), (ssize_t)length);
	ck_assert_int_eq(fcntl(a->fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	if (length == a->length) {
		shared = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED,
			      a->fd, 0);
		ck_assert_ptr_ne(shared, MAP_FAILED);
		munmap(a->header, a->length);
		a->header = shared;
	}
	snprintf(target, sizeof(target), "/proc/self/fd/%d", a->fd);
	unlink(area_path(a, "counters"));
	ck_assert_int_eq(symlink(target, area_path(a, "counters")), 0);
	area_put_names(a);
}

static inline void area_share(struct area *a)
{
	area_share_length(a, a->length);
}

static inline void area_remove(const char *dir)
{
	static const char *const names[] = { "counters", "names", "new" };
	char path[160];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (remove(path) && errno != ENOENT)
			ck_abort_msg("%s: %s", path, strerror(errno));
	}
	rmdir(dir);
}

static inline void area_fini(struct area *a)
{
	area_remove(a->dir);
	munmap(a->header, a->length);
	free(a->names);
	if (a->fd >= 0)
		close(a->fd);
}

/* The small area that most tests start from: CPU 2 of 4 is not possible. */
static inline void area_small(struct area *a, bool atomic)
{
	uint32_t cpu, n;

	area_init(a, 4, 16, 8, atomic);
	area_mask(a, a->header->possible_offset)[0] = 0xb;
	area_mask(a, a->header->online_offset)[0] = 0x3;
	for (cpu = 0; cpu < 4; cpu++)
		for (n = 0; cpu != 2 && n < 8; n++)
			*area_value(a, cpu, n) =
				(cpu + 1) * 0x100000000ULL + n;
	*area_incarnation(a, 3) = 5;
	area_names(a, "kmmv abi=1.0 epoch=77\n"
		      "family id=0 units=count semantics=counter name=counter\n"
		      "oneline id=0 text=Counters of kernel code\n"
		      "help id=0 text=First line.\\nSecond \\\\ line.\n"
		      "family id=7 units=byte semantics=instant since=boot total=no name=mem.used\n"
		      "oneline id=7 text=Memory\n"
		      "instance number=0 family=0 incarnation=0 state=active name=zero\n"
		      "instance number=1 family=0 incarnation=0 state=inactive name=one = 1\\\\2\n"
		      "label number=1 incarnation=0 key=action text=blk=1 2\n"
		      "instance number=2 family=7 incarnation=0 state=active name=zero\n"
		      "instance number=3 family=7 incarnation=5 state=active name=\xc3\xa4\xff\n"
		      "instance number=4 family=0 incarnation=0 state=free name=\n"
		      "type id=17 name=disk.done\n"
		      "about id=17 text=A request has come to its end\n"
		      "field id=17 offset=0 size=8 kind=time units=nanosec name=began\n"
		      "field id=17 offset=8 size=2 kind=hex units=none name=flags\n"
		      "field id=17 offset=10 size=20 kind=text units=none name=who\n"
		      "end 1\n");
}

/* The sum of a number in the small area. */
static inline uint64_t area_small_sum(uint32_t number)
{
	return 0x700000000ULL + 3 * number;
}

static inline int area_open(const struct area *a, struct kmmv **k)
{
	int err = kmmv_open(a->dir, k);

	if (err)
		ck_assert_ptr_null(*k);
	else
		ck_assert_ptr_nonnull(*k);
	return err;
}

/* Use every part of a handle: it must be valid, whatever it was made from. */
static inline void area_use(struct kmmv *k)
{
	const struct kmmv_family_info *f;
	const struct kmmv_instance_info *in;
	const struct kmmv_type_info *type;
	uint32_t odd[] = { 0, 0, 1, 2, UINT32_MAX, UINT32_MAX - 1, 0, 0, 0 };
	uint64_t *values;
	struct kmmv_info info;
	uint32_t i, n;
	int *status;

	ck_assert_int_ne(kmmv_update(k), -EINVAL);
	kmmv_get_info(k, &info);
	ck_assert_uint_le(info.nr_instances, info.capacity);
	ck_assert_uint_le(info.nr_possible, info.nr_cpus);
	ck_assert_uint_le(info.nr_online, info.nr_possible);
	for (i = 0; (f = kmmv_family(k, i)); i++) {
		ck_assert_ptr_nonnull(kmmv_family_by_id(k, f->id));
		ck_assert_uint_lt(strlen(f->name) + strlen(f->oneline) +
				  strlen(f->help) + strlen(f->units), 4096);
	}
	ck_assert_uint_eq(i, info.nr_families);
	for (i = 0; (type = kmmv_type(k, i)); i++) {
		ck_assert_ptr_eq(kmmv_type_by_id(k, type->id), type);
		ck_assert_uint_lt(strlen(type->name) + strlen(type->oneline),
				  4096);
		for (n = 0; n < type->nr_fields; n++)
			ck_assert_uint_lt(strlen(type->fields[n].name) +
					  strlen(type->fields[n].units), 4096);
	}
	ck_assert_uint_ge(i, 2);
	for (i = 0; i < info.nr_instances; i++) {
		in = kmmv_instance(k, i);
		if (!in)
			continue;
		f = kmmv_family_by_id(k, in->family);
		ck_assert_ptr_nonnull(f);
		if (in->state != KMMV_FREE)
			ck_assert_str_eq(kmmv_lookup(k, f->name, in->name)->name,
					 in->name);
	}
	ck_assert_ptr_null(kmmv_instance(k, info.nr_instances));
	ck_assert_ptr_null(kmmv_instance(k, UINT32_MAX));
	n = info.nr_instances + 700;
	values = calloc(n, sizeof(*values));
	status = calloc(n, sizeof(*status));
	kmmv_read_all(k, values, status, n);
	for (i = info.nr_instances; i < n; i++)
		ck_assert_int_eq(status[i], -ENOENT);
	kmmv_read_all(k, values, NULL, n);
	odd[6] = info.nr_instances;
	odd[7] = info.nr_instances - 1;
	odd[8] = info.nr_instances;
	kmmv_read_sums(k, odd, 9, values, status);
	kmmv_read_sums(k, odd, 9, values, NULL);
	free(values);
	values = calloc((size_t)info.nr_cpus * 9, sizeof(*values));
	kmmv_read_percpu(k, odd, 9, values, status);
	kmmv_read_percpu(k, odd, 9, values, NULL);
	kmmv_cpu_possible(k, UINT32_MAX);
	kmmv_cpu_online(k, info.nr_cpus);
	free(values);
	free(status);
}

static inline int run_suite(const char *name, TCase *tcase)
{
	Suite *suite = suite_create(name);

	/* Sanitizers and load make machines slow. */
	tcase_set_timeout(tcase, 60);
	suite_add_tcase(suite, tcase);
	return run_all(suite);
}

#endif /* LIBAREA_H */
