// SPDX-License-Identifier: GPL-2.0-only
/*
 * The statctr paper's table: the cost of an increment on 1..N CPUs, in
 * nanoseconds. A thread stands for a CPU. Its GS base is set, so that the
 * kernel's own instruction is timed, through the API's inline functions.
 *
 *	global		unsigned long, shared; loses counts
 *	atomic		lock inc, shared
 *	percpu_counter	a copy of the kernel's fast path: batch of 32, no lock
 *	this_cpu_inc	inc %gs:
 *	statctr		statctr_inc(), with the allocator of this build
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gs.h"
#include <linux/statctr.h>

#define OPERATIONS	20000000UL
#define ROUNDS		5
#define CPUS_MAX	64
#define BATCH		32

static unsigned long global __attribute__((aligned(64)));
static unsigned long atomic __attribute__((aligned(64)));
static statctr_t statctr;
static pthread_barrier_t barrier;

static char *block[CPUS_MAX];

static inline void percpu_counter_inc(void)
{
	int32_t count;

	gs_preempt_disable();
	__asm__ volatile("movl %%gs:%1, %0"
			 : "=r"(count)
			 : "m"(*(int32_t *)GS_COUNTER32));
	if (__builtin_expect(++count >= BATCH, 0))
		__asm__ volatile("movl $0, %%gs:%0"
				 : "=m"(*(int32_t *)GS_COUNTER32));
	else
		__asm__ volatile("incl %%gs:%0"
				 : "+m"(*(int32_t *)GS_COUNTER32));
	gs_preempt_enable();
}

#define LOOP(operation)							\
	do {								\
		unsigned long i_;					\
		for (i_ = 0; i_ < OPERATIONS; i_++) {			\
			operation;					\
			__asm__ volatile("" ::: "memory");		\
		}							\
	} while (0)

enum { EMPTY, GLOBAL, ATOMIC, PERCPU_COUNTER, THIS_CPU_INC, STATCTR, KINDS };

static const char *const names[KINDS] = {
	"(empty loop)", "global", "atomic", "percpu_counter", "this_cpu_inc",
	"statctr " ALLOCATOR,
};

static void operate(int kind)
{
	switch (kind) {
	case EMPTY:
		LOOP();
		break;
	case GLOBAL:
		LOOP(global++);
		break;
	case ATOMIC:
		LOOP(__atomic_fetch_add(&atomic, 1, __ATOMIC_RELAXED));
		break;
	case PERCPU_COUNTER:
		LOOP(percpu_counter_inc());
		break;
	case THIS_CPU_INC:
		LOOP(__asm__ volatile("incq %%gs:%0"
				      : "+m"(*(uint64_t *)GS_COUNTER64)));
		break;
	case STATCTR:
		LOOP(statctr_inc(&statctr));
		break;
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct job {
	int kind, cpu;
	double ns;
};

static void *run(void *argument)
{
	struct job *job = argument;
	cpu_set_t set;
	double start;

	CPU_ZERO(&set);
	CPU_SET(job->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	syscall(SYS_arch_prctl, ARCH_SET_GS, block[job->cpu]);
	pthread_barrier_wait(&barrier);
	start = now();
	operate(job->kind);
	job->ns = (now() - start) / OPERATIONS;
	return NULL;
}

/* The slowest CPU's time per operation, in the fastest round. */
static double measure(int kind, int cpus)
{
	pthread_t thread[CPUS_MAX];
	struct job job[CPUS_MAX];
	double best = 1e9, worst;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		pthread_barrier_init(&barrier, NULL, (unsigned int)cpus);
		for (i = 0; i < cpus; i++) {
			job[i] = (struct job){ .kind = kind, .cpu = i };
			pthread_create(&thread[i], NULL, run, &job[i]);
		}
		worst = 0;
		for (i = 0; i < cpus; i++) {
			pthread_join(thread[i], NULL);
			if (job[i].ns > worst)
				worst = job[i].ns;
		}
		pthread_barrier_destroy(&barrier);
		if (worst < best)
			best = worst;
	}
	return best;
}

int main(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), n, kind;

	if (cpus > CPUS_MAX)
		cpus = CPUS_MAX;
	for (n = 0; n < cpus; n++) {
		block[n] = aligned_alloc(4096, GS_SIZE);
		if (!block[n])
			return 1;
		memset(block[n], 0, GS_SIZE);
		gs_statctr_cpu(block[n], n);
	}
	gs_statctr_init(&statctr);
	printf("%-18s", "ns/increment, CPUs");
	for (n = 1; n <= cpus; n++)
		printf("%9d", n);
	printf("\n");
	for (kind = GLOBAL; kind < KINDS; kind++) {
		printf("%-18s", names[kind]);
		for (n = 1; n <= cpus; n++) {
			printf("%9.2f", measure(kind, n));
		}
		printf("\n");
	}
	printf("%-18s", names[EMPTY]);
	for (n = 1; n <= cpus; n++)
		printf("%9.2f", measure(EMPTY, n));
	printf("\n");
	return 0;
}
