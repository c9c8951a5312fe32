// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

#if SEARCH_WORKS

/* This much below the live part of a stack is zeroed, to clear old frames. */
#define CLEAN	1024
#define DEPTH_MAX	100000
#define NOTED		8

/* The live part of a stack is from sp to its end. */
struct thread {
	char	*sp;
	int	choice;
};

static struct {
	struct thread	thread[SEARCH_THREADS];
	char		stack[SEARCH_THREADS][SEARCH_STACK]
		__attribute__((aligned(64)));
} world;

/* A state on the path to the current one. */
struct frame {
	size_t		saved;
	uint64_t	hash;
	double		schedules;
	int		next;
	int		count[SEARCH_THREADS];
	int		total;
	const char	*where[SEARCH_THREADS];
};

static const struct search_model *model;
static struct search_result *result;
static struct frame *frames;
static unsigned long depth;
static char *saved;
static size_t saved_size, saved_end;

static uint64_t *states;
static double *paths;
static uint64_t nr_slots, nr_used;

static char *scheduler;
static int running = -1;
static sigjmp_buf failed;
static char message[512];

/* ---- threads */

void search_switch(char **from, char *to);
__asm__(".text\n"
	".type search_switch, @function\n"
	"search_switch:\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	push %r13\n"
	"	push %r14\n"
	"	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n"
	"	pop %r14\n"
	"	pop %r13\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	ret\n"
	".size search_switch, . - search_switch\n");

int search_yield(void)
{
	struct thread *thread = &world.thread[running];

	search_switch(&thread->sp, scheduler);
	return world.thread[running].choice;
}

int search_thread(void)
{
	return running;
}

static void life(void)
{
	model->run(running);
	search_fail("thread %d has come to its end", running);
}

static char *stack_end(int t)
{
	return world.stack[t] + SEARCH_STACK;
}

static void threads_init(void)
{
	uint64_t *sp;
	int t;

	memset(&world, 0, sizeof(world));
	for (t = 0; t < model->threads; t++) {
		/* A call leaves the stack 8 bytes off its alignment. */
		sp = (uint64_t *)stack_end(t) - 2;
		sp[0] = (uint64_t)life;
		world.thread[t].sp = (char *)(sp - 6);
	}
}

static void go_on(int t, int choice)
{
	char *sp = world.thread[t].sp;

	if (sp - CLEAN < world.stack[t] + 256)
		search_fail("thread %d: its stack is too small", t);
	memset(sp - CLEAN, 0, CLEAN);
	world.thread[t].choice = choice;
	running = t;
	search_switch(&scheduler, sp);
	running = -1;
	world.thread[t].choice = 0;
}

void search_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	siglongjmp(failed, 1);
}

/* ---- states */

static size_t state_size(void)
{
	size_t size = sizeof(world.thread) + model->size;
	int t;

	for (t = 0; t < model->threads; t++)
		size += stack_end(t) - world.thread[t].sp;
	return size;
}

static size_t state_save(void)
{
	size_t size = state_size(), at = saved_end, live;
	char *to;
	int t;

	if (saved_size < at + size) {
		saved_size = 2 * (at + size);
		saved = realloc(saved, saved_size);
		if (!saved)
			abort();
	}
	to = saved + at;
	memcpy(to, world.thread, sizeof(world.thread));
	to += sizeof(world.thread);
	memcpy(to, model->data, model->size);
	to += model->size;
	for (t = 0; t < model->threads; t++) {
		live = stack_end(t) - world.thread[t].sp;
		memcpy(to, world.thread[t].sp, live);
		to += live;
	}
	saved_end = at + size;
	return at;
}

static void state_load(size_t at)
{
	const char *from = saved + at;
	size_t live;
	int t;

	memcpy(world.thread, from, sizeof(world.thread));
	from += sizeof(world.thread);
	memcpy(model->data, from, model->size);
	from += model->size;
	for (t = 0; t < model->threads; t++) {
		live = stack_end(t) - world.thread[t].sp;
		memcpy(world.thread[t].sp, from, live);
		from += live;
	}
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Words of 8 bytes; an odd one at the end counts as two. */
static uint64_t hash_of(const void *data, size_t size, uint64_t hash)
{
	const uint64_t *word = data;
	size_t i, n = size / 8;

	for (i = 0; i + 1 < n; i += 2)
		hash = mixed(word[i] ^ 0xa0761d6478bd642full,
			     word[i + 1] ^ hash ^ 0xe7037ed1a0b428dbull);
	if (i < n)
		hash = mixed(word[i] ^ 0x8ebc6af09c88c6e3ull,
			     hash ^ 0x589965cc75374cc3ull);
	return mixed(hash ^ size, 0x1d8e4e27c47d124full);
}

static uint64_t state_hash(void)
{
	uint64_t hash = hash_of(model->data, model->size, 1);
	int t;

	for (t = 0; t < model->threads; t++)
		hash = hash_of(world.thread[t].sp,
			       stack_end(t) - world.thread[t].sp, hash);
	return hash ? hash : 1;
}

static uint64_t slot_of(uint64_t hash)
{
	uint64_t slot = hash & (nr_slots - 1);

	while (states[slot] && states[slot] != hash)
		slot = (slot + 1) & (nr_slots - 1);
	return slot;
}

static void states_grow(void)
{
	uint64_t *old_states = states, old_nr = nr_slots, i, slot;
	double *old_paths = paths;

	nr_slots = old_nr ? 2 * old_nr : 1 << 16;
	states = calloc(nr_slots, sizeof(*states));
	paths = malloc(nr_slots * sizeof(*paths));
	if (!states || !paths)
		abort();
	for (i = 0; i < old_nr; i++) {
		if (!old_states[i])
			continue;
		slot = slot_of(old_states[i]);
		states[slot] = old_states[i];
		paths[slot] = old_paths[i];
	}
	free(old_states);
	free(old_paths);
}

/* ---- the search */

static void frame_choices(struct frame *frame)
{
	int t;

	frame->total = 0;
	frame->next = 0;
	for (t = 0; t < model->threads; t++) {
		frame->count[t] = model->choices(t);
		frame->total += frame->count[t];
		frame->where[t] = model->where(t);
	}
}

/* Choices are numbered through the threads. */
static int choice_of(const struct frame *frame, int n, int *choice)
{
	int t;

	for (t = 0; n >= frame->count[t]; t++)
		n -= frame->count[t];
	*choice = n;
	return t;
}

static void schedule_print(void)
{
	int t, choice, last = -1, same = 0;
	const char *where = "";
	unsigned long d;

	printf("# %s\n", message);
	for (d = 0; d < depth && frames[d].next; d++) {
		t = choice_of(&frames[d], frames[d].next - 1, &choice);
		where = frames[d].where[t];
		if (t == last && where && !choice) {
			same++;
			continue;
		}
		if (same)
			printf("#\t... %d steps\n", same);
		same = 0;
		last = t;
		printf("#\t%s, %s\n", model->name(t, where, choice),
		       where ? where : "from the beginning");
	}
	if (same)
		printf("#\t... %d steps, to %s\n", same, where);
	fflush(stdout);
}

/*
 * Note all states with a choice, and some of the others, so that paths that
 * meet there are found soon.
 */
static bool worth_a_note(const struct frame *frame)
{
	uintptr_t where = 0;
	int t;

	if (frame->total != 1 || (model->quiet && model->quiet()))
		return true;
	for (t = 0; t < model->threads; t++)
		if (frame->count[t])
			where = (uintptr_t)frame->where[t];
	return where % NOTED == 0;
}

/*
 * Push the current state. Return: false if it was searched before or has no
 * next state; then *schedules is their number from here.
 */
static bool enter(double *schedules)
{
	struct frame *frame = &frames[depth];
	uint64_t slot, hash = 0;

	if (depth + 1 >= DEPTH_MAX)
		search_fail("no end after %d moves", DEPTH_MAX);
	if (model->look)
		model->look();
	frame_choices(frame);
	if (worth_a_note(frame)) {
		hash = state_hash();
		if (3 * nr_used >= 2 * nr_slots)
			states_grow();
		slot = slot_of(hash);
		if (states[slot]) {
			if (paths[slot] < 0)
				search_fail("goes round in a loop");
			*schedules = paths[slot];
			return false;
		}
		states[slot] = hash;
		paths[slot] = -1;
		nr_used++;
	}
	result->states++;
	frame->hash = hash;
	frame->schedules = 0;
	frame->saved = saved_end;
	if (frame->total > 1)
		state_save();
	depth++;
	if (depth > result->depth)
		result->depth = depth;
	if (model->quiet && model->quiet()) {
		size_t end = saved_end, at = state_save();

		result->probes++;
		model->probe();
		state_load(at);
		saved_end = end;
	}
	if (!frame->total)
		result->ends++;
	return true;
}

static void leave(double schedules)
{
	struct frame *frame = &frames[--depth];

	saved_end = frame->saved;
	if (frame->hash)
		paths[slot_of(frame->hash)] = schedules;
	if (depth)
		frames[depth - 1].schedules += schedules;
	else
		result->schedules = schedules;
}

static void search(void)
{
	double schedules = 0;
	int t, choice;

	model->start();
	threads_init();
	for (t = 0; t < model->threads; t++)
		go_on(t, 0);
	enter(&schedules);
	while (depth) {
		struct frame *frame = &frames[depth - 1];

		if (!frame->total || frame->next == frame->total) {
			leave(frame->total ? frame->schedules : 1);
			continue;
		}
		if (model->max_states && result->states > model->max_states)
			return;
		if (frame->next)
			state_load(frame->saved);
		t = choice_of(frame, frame->next++, &choice);
		result->moves++;
		go_on(t, choice);
		if (!enter(&schedules))
			frame->schedules += schedules;
	}
	result->complete = true;
}

void search_run(const struct search_model *m, struct search_result *r)
{
	model = m;
	result = r;
	memset(r, 0, sizeof(*r));
	if (!frames)
		frames = calloc(DEPTH_MAX, sizeof(*frames));
	if (!frames)
		abort();
	depth = 0;
	saved_end = 0;
	free(states);
	free(paths);
	states = NULL;
	paths = NULL;
	nr_slots = 0;
	nr_used = 0;
	states_grow();
	if (sigsetjmp(failed, 0)) {
		r->failure = message;
		schedule_print();
		running = -1;
		return;
	}
	search();
}

#endif /* SEARCH_WORKS */
