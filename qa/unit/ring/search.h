/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interleaving of a few threads, by stateful search: depth first, with
 * snapshots, and no state is entered twice.
 *
 * A thread is a coroutine whose stack lies beside the data. It runs until it
 * calls search_yield(), which returns the search's choice, out of as many as
 * the model's choices() returns. A state is the data and the live parts of the
 * stacks; equal states are taken as one, so they must contain all that decides
 * what comes next. States are compared by a 64-bit hash.
 * A state that comes again before it was left is a loop, which is a failure:
 * the code searched never waits.
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
 * @data: all that changes, except the stacks; its address never changes
 * @size: of @data, a multiple of 8; known once @start has run
 * @threads: how many
 * @start: makes the first state
 * @run: runs a thread; calls search_yield() before it returns
 * @choices: in how many ways a thread can go on; 0: it is done, or has to
 *	wait for another one
 * @quiet: whether this is a state in which @probe can look; or NULL
 * @probe: checks a state and may change it; the search then restores it
 * @look: checks each state, before it is known to be new; notes only what
 *	the state determines; or NULL
 * @where: a thread's place, for the schedule of a failure; a lasting string
 * @name: of a choice at that place, likewise
 * @max_states: limit of states; 0: none
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
 * struct search_result - the result of a search
 * @states: different ones
 * @moves: from a state to the next
 * @schedules: whole ones, from the first state to the last, in these states
 * @depth: moves in the longest
 * @ends: states without a next one
 * @probes: calls of probe
 * @complete: all states were searched
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
/* The running thread; -1: none. */
int search_thread(void);
/* Does not return; may also be called from start, choices and probe. */
void search_fail(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif /* SEARCH_H */
