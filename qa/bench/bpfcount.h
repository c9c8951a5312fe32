/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A counter kept by a BPF program, for what a hit and a look at it cost.
 */
#ifndef BPFCOUNT_H
#define BPFCOUNT_H

#include <stdint.h>

enum bpfcount_map {
	BPFCOUNT_PERCPU,	/* a per-CPU array, read by system call */
	BPFCOUNT_MAPPED,	/* an array with a line for each CPU, mapped */
	BPFCOUNT_ARENA,		/* an arena with a line for each CPU, mapped */
};

enum bpfcount_attach {
	BPFCOUNT_RAW,		/* raw tracepoint */
	BPFCOUNT_EVENT,		/* trace event, as bpftrace's tracepoint: */
	BPFCOUNT_KPROBE,	/* kprobe at a function's begin */
	BPFCOUNT_MULTI,		/* by ftrace, as bpftrace's kprobe: with a glob */
	BPFCOUNT_FENTRY,	/* trampoline; the module has to have BTF */
};

/**
 * struct bpfcount - one counter
 * @map: kind of its memory
 * @fd: of the map
 * @nr_cpus: possible CPUs
 * @cells: the mapped memory, BPFCOUNT_STRIDE words a CPU; NULL if it is not mapped
 */
struct bpfcount {
	enum bpfcount_map	map;
	int			fd;
	int			nr_cpus;
	uint64_t		*cells;
};

/* A line of the cache, in words. */
#define BPFCOUNT_STRIDE	8

/*
 * Make the counter's memory; 0, or -errno. Afterwards, count the hits of a
 * tracepoint of kmmv_traced or the calls of its function until the descriptor that
 * is returned is closed; -errno.
 */
int bpfcount_init(struct bpfcount *count, enum bpfcount_map map);
int bpfcount_attach(struct bpfcount *count, enum bpfcount_attach attach);

/* Each CPU's count; 0, or -errno. The place has room for nr_cpus. */
int bpfcount_read(const struct bpfcount *count, uint64_t *values);

#endif /* BPFCOUNT_H */
