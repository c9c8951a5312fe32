/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer of one CPU, kmod/core/ring_write.c and kmod/core/ring_consumer.c: up to
 * LEVELS writers that interrupt each other at any step, and the consumer, on PAGES
 * pages in the ring and SPARES + 1 beside it.
 *
 * Names are those of the code. A block "atomic { I ... }" is one step of a
 * writer, and only the innermost writer runs; other blocks are steps of a reader,
 * which runs beside it. A step has one access that others see, or several between
 * which an interruption makes no difference:
 *
 *	- depth is read and written in one step: a writer that interrupts in
 *	  between leaves it as it was;
 *	- only the outermost writer changes commit, and the sequence number of the
 *	  commit page: a writer's own read of them is no step;
 *	- the outermost writer reads a page's totals when it is complete, so that
 *	  an event is counted when it is reserved;
 *	- a read whose result is dropped if the tail has moved is one step with the
 *	  check of the tail: an interruption between the two does what one before
 *	  them does, or, if it leaves the tail alone, what one after them does;
 *	- a page is begun, and events are committed with depth going to 0, in one
 *	  step: one half is for readers, the other for writers;
 *	- only the consumer uses a spare page's link.
 *
 * A page that is begun loses its old contents at once (events counts from then on):
 * no reader may use these, and they would only add states.
 *
 * Pages have ROOM units, events SIZES. There is no time, so words are equal that
 * differ in the code: the model has more faults of this kind. Loads and stores are
 * in program order (qa/proof/litmus covers other orders). Snapshots are left out:
 * they change nothing.
 *
 * Events have numbers in the order in which they were reserved. A cell holds the
 * number of the event that was written there, with PAD if it was discarded.
 * Variables that no code reads are for the assertions: no event is lost uncounted,
 * given twice or torn, and all are in order; given events stay; drops and "nothing
 * there" are true.
 */
#ifndef PAGES
#define PAGES	2
#endif
#ifndef SPARES
#define SPARES	0
#endif
#ifndef LEVELS
#define LEVELS	2
#endif
#ifndef EVENTS
#define EVENTS	4		/* outermost and nested writers */
#endif
#ifndef OVERWRITE
#define OVERWRITE	1
#endif
#ifndef DISCARDS
#define DISCARDS	1
#endif
#ifndef SIZES
#define SIZES	2
#endif
#ifndef FILLS
#define FILLS	PAGES		/* pages that may be full when it begins */
#endif
#ifndef TAKES
#define TAKES	255		/* of the reader, beside writers */
#endif
#define ROOM	2
#define NR_PAGES	(PAGES + SPARES + 1)
#define NONE	15
#define PAD	16

/* link: version, id:3, flag:2 */
#define NORMAL	0
#define HEAD	1
#define UPDATE	2
#define FLAG(l)	((l) & 3)
#define ID(l)	((l) >> 2 & 7)
#ifdef NO_VERSION
#define NEXT(l, id, flag)	((id) << 2 | (flag))
#else
#define NEXT(l, id, flag)	((((l) >> 5) + 1) << 5 | (id) << 2 | (flag))
#endif

/* word: parity:1 closed:1 tail:2 */
#define CLOSED	4
#define PARITY	8
#define TAIL(w)	((w) & 3)
#ifdef NO_PARITY
#define FRESH(w)	((w) & PARITY)
#else
#define FRESH(w)	(((w) & PARITY) ^ PARITY)
#endif
#ifdef NO_CLOSED
#define SHUT(w)	(w)
#define WAS_CLOSED(w)	1
#else
#define SHUT(w)	((w) | CLOSED)
#ifdef BEGIN_OPEN
#define WAS_CLOSED(w)	1
#else
#define WAS_CLOSED(w)	((w) & CLOSED)
#endif
#endif
#ifdef NO_BEHIND
#define HEAD_NORMAL	&& FLAG(old) == NORMAL
#else
#define HEAD_NORMAL
#endif
#ifdef NO_BEGUN
#define BEGUN(seq, page)	0
#else
#define BEGUN(seq, page)	((seq) == seqs[page] + 1)
#endif
#ifdef SEQ_LE
#define BUSY(seq, page)	((seq) > seqs[commit] && !BEGUN(seq, page))
#else
#define BUSY(seq, page)	((seq) >= seqs[commit] && !BEGUN(seq, page))
#endif

/* struct kmmv_buffer_page and struct kmmv_ring_page */
byte words[NR_PAGES];
byte seqs[NR_PAGES];
short links[NR_PAGES];
short behind[NR_PAGES];
byte events[NR_PAGES];
byte nr_events[NR_PAGES];
byte data_first[NR_PAGES];
byte data_commit[NR_PAGES];
byte cells[NR_PAGES * ROOM];
byte given[NR_PAGES];
byte done[NR_PAGES];

/* struct kmmv_ring_cpu and the mapped sides */
byte tail;
byte commit;
byte depth;
byte written;
byte overwritten;

/* The outermost writer is 1; the last of those that interrupt each other is top. */
byte top;
byte left = EVENTS;

/* For the assertions. */
byte reserved;			/* number of the last event reserved */
short discarded;		/* a bit for each event */
short gone;			/* overwritten, likewise */
byte consumed;			/* number of the last event consumed */
byte there;			/* events that can be taken */
bit nothing;			/* there were none at some time since the take */
byte owned;			/* the consumer's pages: a bit for each */

#define BIT(n)	(1 << (n))
#define IS(mask, n)	(((mask) >> (n)) & 1)

#ifdef PROGRESS
/* Retries by this writer since any other made a step. */
byte alone;
#define OTHERS	alone = 0;
#define BACK	alone++; assert(alone <= BOUND);
#ifndef BOUND
#define BOUND	(2 * PAGES + 2)
#endif
#else
#define OTHERS
#define BACK
#endif


/* The events on a page have been overwritten. */
inline overwrite(page)
{
	assert(!IS(owned, page));
	i = 0;
	n = 0;
	do
	:: i < data_commit[page] ->
		c = cells[page * ROOM + i];
		if
		:: c & PAD -> assert(IS(discarded, c - PAD))
		:: else ->
			if
			:: i > 0 && cells[page * ROOM + i - 1] == c
			:: else ->
				assert(c > consumed && !IS(gone, c) &&
				       !IS(discarded, c));
				gone = gone | BIT(c);
				n++
			fi
		fi;
		i++
	:: else -> break
	od;
	assert(nr_events[page] == n);
	overwritten = overwritten + n;
	there = there - n;
	nothing = nothing || !there;
	i = 0;
	n = 0;
	c = 0
}

/* The number of events in a page's cells from here to there. */
inline events_in(page, from, to)
{
	n = 0;
	i = from;
	do
	:: i < to ->
		c = cells[page * ROOM + i];
		if
		:: !(c & PAD) && !(i > from && cells[page * ROOM + i - 1] == c) ->
			n++
		:: else
		fi;
		i++
	:: else -> break
	od;
	i = 0;
	c = 0
}

#define I	top == me ->
#define STEP	} atomic { I
#define WRITER	writer
#define CUT	STEP
#include "writer.pml"
#undef WRITER
#undef CUT
#define WRITER	innermost
#define CUT	;
#include "writer.pml"

#include "consumer.pml"

/* The first n pages are full. */
inline fill(n)
{
	i = 0;
	do
	:: i < NR_PAGES ->
		words[i] = CLOSED;
		if
		:: i == PAGES - 1 -> links[i] = HEAD
		:: i < PAGES - 1 -> links[i] = (i + 1) << 2
		:: else
		fi;
		if
		:: i < n ->
			words[i] = ROOM | CLOSED;
			seqs[i] = i + 1;
			data_first[i] = i;
			data_commit[i] = ROOM;
			events[i] = 1;
			cells[i * ROOM] = i + 1;
			cells[i * ROOM + 1] = i + 1;
			tail = i;
			if
			:: i < n - 1 -> nr_events[i] = 1
			:: else -> words[i] = ROOM
			fi
		:: else
		fi;
		i++
	:: else -> break
	od;
	if
	:: n == 0 -> words[0] = 0; seqs[0] = 1
	:: else -> reserved = n; there = n; written = n - 1
	fi;
	commit = tail;
	i = 0
}

init {
	byte i, n;

	atomic {
		do
		:: n < FILLS -> n++
		:: break
		od;
		fill(n);
		n = 0;
#if LEVELS > 1
		run writer(1);
#endif
#if LEVELS > 2
		run writer(2);
#endif
		run innermost(LEVELS);
		run reader()
	}
}
