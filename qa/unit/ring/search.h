/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interleaving of a few threads, by stateful search: depth first, with
 * snapshots, and no state entered twice.
 *
 * A thread is a coroutine whose stack lies beside the data. It goes on until it
 * calls search_yield(), which returns what the search chose for it, out of as
 * many as the model's choices() says that there are. A state is the data and
 * what is live of the stacks; two that look the same are the same, so that
 * everything that has a say in what comes next has to be there. States are told
 * from each other by 64 bits of hash.
 *
 * A state that comes again before it was left is a loop, and loops fail: nobody
 * waits for anybody in what is searched here.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define SEARCH_WORKS	1
#else
#define SEARCH_WORKS	0
#endif

#define SEARCH_THREADS	3
#define SEARCH_STACK	12288

/**
 * struct search_model - what is searched
 * @data: all that changes, but for the stacks; at the same address throughout
 * @size: of that, a multiple of 8; known once @start has run
 * @threads: how many
 * @start: makes the first state
 * @run: a thread's life; calls search_yield() before it returns
 * @choices: in how many ways a thread can go on; 0: it is done, or stays where it
 *	is as long as another one has to move
 * @quiet: whether this is a state in which @probe can look; or NULL
 * @probe: looks at a state and may change it; nobody sees that
 * @look: looks at each state that comes, before it is known to be new, and only
 *	notes what the state says anyway; or NULL
 * @where: the place that a thread is at, for the schedule of a failure; lasting
 * @name: of a choice that it had there, likewise
 * @max_states: no more than that; 0: as many as there are
 */
struct search_model {
	void		*data;
	size_t		size;
	int		threads;
	void		(*start)(void);
	void		(*run)(int thread);
	int		(*choices)(int thread);
	bool		(*quiet)(void);
	void		(*probe)(void);
	void		(*look)(void);
	const char	*(*where)(int thread);
	const char	*(*name)(int thread, const char *where, int choice);
	uint64_t	max_states;
};

/**
 * struct search_result - what it came to
 * @states: different ones
 * @moves: from a state to the next
 * @schedules: whole ones, from the first state to the last, that these make up
 * @depth: moves in the longest
 * @ends: states without a next one
 * @probes: calls of probe
 * @complete: there are no others
 * @failure: what went wrong, or NULL
 */
struct search_result {
	uint64_t	states;
	uint64_t	moves;
	double		schedules;
	unsigned long	depth;
	uint64_t	ends;
	uint64_t	probes;
	bool		complete;
	const char	*failure;
};

/* Prints the schedule of a failure to stdout, as lines that begin with "#". */
void search_run(const struct search_model *model, struct search_result *result);
int search_yield(void);
/* The thread that runs; -1: none does. */
int search_thread(void);
/* Does not return; also from start, choices and probe. */
void search_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* SEARCH_H */
