// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cost of an update natively: the kernel's add to %gs, in the core's own
 * code; the GS base of each thread is its CPU's offset.
 *
 *	update
 *
 * prints lines of name, tab, nanoseconds per update of one thread alone, tab,
 * of one thread per CPU at the same time. The median of several rounds, with
 * the loop, whose cost cannot be measured apart: the CPU executes it at the
 * same time.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <err.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <kmmv_deps.h>

#undef this_cpu_add
#define this_cpu_add(place, delta)	add_to_gs(&(place), delta)

static __always_inline void add_to_gs(u64 *ctr, s64 delta)
{
	asm volatile("addq %1, %%gs:%0" : "+m" (*ctr) : "er" (delta));
}

/* The header's macro was defined with the earlier this_cpu_add(). */
#define __kmmv_slot_add(slot, delta)	this_cpu_add(*(slot).ctr, delta)

/* The kernel's is one, too, while nothing is followed. */
#undef static_branch_unlikely
#define static_branch_unlikely(key)					\
	({ asm volatile("xchg %%ax, %%ax" : : "i" (key)); false; })

#include "slots.h"

#define __aligned(n)	__attribute__((aligned(n)))
#define __maybe_unused	__attribute__((unused))
#define noinline	__attribute__((noinline))

#define ITERATIONS	1000000
#define ROUNDS		25

static struct kmmv_geom geom;
static struct kmmv_slots slots;
static struct kmmv_slot slot;
static u32 by_slot, by_number;
static u64 shared __aligned(64);

static noinline void adjust(int instance, s64 delta)
{
	if (unlikely(!kmmv_slots_add(&slots, instance, delta)))
		abort();
}

/* The thread's CPU time, which other load does not change. */
static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

#define TIMED(name, operation)						\
static double time_##name(void)						\
{									\
	struct kmmv_slot held __maybe_unused = slot;			\
	double begin = now_ns();					\
	int n = ITERATIONS;						\
									\
	do {								\
		operation;						\
		asm volatile("" : : : "memory");			\
	} while (--n);							\
	return (now_ns() - begin) / ITERATIONS;				\
}

TIMED(nothing, asm volatile(""))
TIMED(slot_held, this_cpu_add(*held.ctr, 1))
TIMED(slot_loaded, this_cpu_add(*slot.ctr, 1))
TIMED(adjust, adjust(by_number, 1))
TIMED(atomic64, asm volatile("lock incq %0" : "+m" (shared)))

static const struct {
	const char *name;
	double (*time)(void);
} operations[] = {
	{ "loop", time_nothing },
	{ "slot_held", time_slot_held },
	{ "slot_loaded", time_slot_loaded },
	{ "perf_adjust", time_adjust },
	{ "atomic64_inc", time_atomic64 },
};

struct job {
	pthread_t thread;
	int cpu;
	double (*time)(void);
	double took[ROUNDS];
};

static pthread_barrier_t start;

static void *work(void *argument)
{
	struct job *job = argument;
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(job->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(2, "CPU %d", job->cpu);
	if (syscall(SYS_arch_prctl, ARCH_SET_GS, job->cpu * PAGE_SIZE))
		err(2, "GS base");
	for (i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&start);
		job->took[i] = job->time();
	}
	return NULL;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Not the least: there the other threads were held up and did not contend. */
static double median(struct job *job)
{
	qsort(job->took, ROUNDS, sizeof(job->took[0]), compare);
	return job->took[ROUNDS / 2];
}

/* The mean of the threads' medians. */
static double measure(double (*time)(void), int threads)
{
	struct job job[SHIM_CPUS_MAX];
	double sum = 0;
	int i;

	pthread_barrier_init(&start, NULL, threads);
	for (i = 0; i < threads; i++) {
		job[i] = (struct job){ .cpu = i, .time = time };
		errno = pthread_create(&job[i].thread, NULL, work, &job[i]);
		if (errno)
			err(2, "thread");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(job[i].thread, NULL);
		sum += median(&job[i]);
	}
	pthread_barrier_destroy(&start);
	return sum / threads;
}

static u32 add(void)
{
	struct kmmv_spare spare = { 0 };
	u32 number;
	int err;

	do {
		do {
			err = kmmv_slots_get(&slots, 1, &number, &spare);
		} while (err == -EAGAIN &&
			 !kmmv_slots_spare_fill(&slots, &spare));
		if (err)
			errx(2, "no slot");
		kmmv_slots_publish(&slots, number, 0);
	} while (number < KMMV_RESERVED);
	kmmv_slots_spare_free(&slots, &spare);
	return number;
}

static void check(u32 number, u64 updates)
{
	u64 sum = kmmv_slots_sum(&slots, kmmv_slots_slot(&slots, number));

	if (sum != updates)
		errx(1, "counted %llu of %llu", (unsigned long long)sum,
		     (unsigned long long)updates);
}

int main(void)
{
	double alone, together;
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	u64 updates;
	size_t i;

	if (cpus > SHIM_CPUS_MAX)
		cpus = SHIM_CPUS_MAX;
	shim_nr_cpus = cpus;
	shim_possible = cpus == 64 ? ~0ULL : (1ULL << cpus) - 1;
	if (kmmv_geom_init(&geom, 512, cpus, cpus, UINT64_MAX) ||
	    kmmv_slots_init(&slots, &geom))
		errx(2, "no memory");
	by_slot = add();
	slot = kmmv_slots_slot(&slots, by_slot);
	by_number = add();
	for (i = 0; i < ARRAY_SIZE(operations); i++) {
		alone = measure(operations[i].time, 1);
		together = measure(operations[i].time, cpus);
		printf("%s\t%.2f\t%.2f\n", operations[i].name, alone,
		       together);
	}
	updates = (u64)ROUNDS * ITERATIONS * (cpus + 1);
	check(by_slot, 2 * updates);
	check(by_number, updates);
	kmmv_slots_fini(&slots);
	return 0;
}
