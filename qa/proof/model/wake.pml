/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waiting for events, kmod/ringwake.c and poll() in kmod/ringpoll.c: writers of two
 * CPUs, the irq_work, the timer, the grace period, and clients of one file.
 *
 * Writers may read `waiting' before their event is visible, as on a processor with
 * a store buffer; the end of a grace period, by which they are done, is all that
 * orders them. Code under a lock holds it here, too, step by step. Time is modelled
 * by !cool: the interval since the last wake-up is over.
 *
 * When nothing more can happen, no client sleeps while there is something for it,
 * and the ring is armed at most once in an interval.
 *
 *	CLIENT		LEVEL: poll(), select(), epoll: polls until there is nothing
 *			EDGE: EPOLLET: polls once after each wake-up, then reads
 *			ONESHOT: EPOLLONESHOT: reads, then polls
 *			MULTI: io_uring's multishot: reads after each wake-up
 *	EVENTS		of CPU 0; MORE: of the other CPU
 *	PEEKS		how often another client polls, and does not read
 *	OTHER		another file waits, for more than ever comes
 *	LEAVES		wake-ups take long: one may wake other files only, and leave
 *			this one to the next, which then begins with it
 *	MARK		the client is a consumer with this watermark, which is set to
 *			1 at some time
 *	THREADED	locks sleep (PREEMPT_RT): the irq_work clears waiting without
 *			the lock, and has the timer do the rest at once
 *
 * Other definitions take a mechanism out: see qa/proof/model.sh.
 */
#define LEVEL	0
#define EDGE	1
#define ONESHOT	2
#define MULTI	3
#ifndef CLIENT
#define CLIENT	LEVEL
#endif
#ifndef EVENTS
#define EVENTS	2
#endif
#ifndef MORE
#define MORE	1
#endif
#ifndef PEEKS
#define PEEKS	0
#endif
#ifdef OTHER
#define OTHERS	others
bit others;
#else
#define OTHERS	0
#endif
#ifndef MARK
#define MARK	1
#endif

#define IDLE	0
#define ARMED	1
#define QUIET	2

byte written[2];	/* events that others see */
bit waiting[2];
bit section[2];		/* the writer is in an RCU section */
bit grace[2];		/* the grace period waits for it */
bit work, timer, cool, rcu, rcu_again;
bit at_once;		/* the timer does not wait for !cool */
bit done[2];		/* the work has run for this CPU since the ring was armed */
byte watch;

byte consumed[2];	/* by the client */
byte mark = MARK;
bit lock, file_lock;
bit queued, told;	/* the client is in the wait queue; it was woken */
bit waits;		/* the file's flag, and the place up to which it knows */
byte seen;
#ifdef LEAVES
bit left;		/* the next wake-up begins with the file */
#endif

#define GET(l)	atomic { !l -> l = 1 }
#define PUT(l)	l = 0
/* Results found under the lock are cleared: they are no state. */
#define UNLOCK(woken, at)	d_step { lock = 0; woken = 0; at = 0 }

#define HAS(c, n)	(written[c] >= consumed[c] + n)

/* The two CPUs are independent, hence one step. */
inline position(at)
{
	at = written[0] + written[1]
}

/* file_due(), of the only file; at: the writers' position */
inline due(result, at)
{
	result = waits && seen != at && (mark == 1 || HAS(0, mark) || HAS(1, mark))
}

inline wake()
{
	if
	:: queued -> told = 1
	:: else
	fi
}

/* Only the client is ever in the queue. */
inline any_waits()
{
	waits = waits && queued
}

inline waiting_set(value)
{
	d_step {
		waiting[0] = value;
		waiting[1] = value
	}
}

/* By the work, without the lock: until it is armed again, this CPU does not report. */
inline clear(c)
{
	d_step {
#ifndef NO_CLEAR
		waiting[c] = 0;
#endif
		done[c] = 1
	}
}

inline arm()
{
	assert(!cool);
	watch = ARMED;
	d_step {
		waiting[0] = 1;
		waiting[1] = 1;
		done[0] = 0;
		done[1] = 0
	}
#ifndef NO_GRACE
	if
	:: rcu ->
#ifndef NO_GRACE_AGAIN
		rcu_again = 1
#endif
	:: else -> rcu = 1
	fi
#endif
}

inline pause()
{
	d_step {
		watch = IDLE;
		cool = 1;
		any_waits();
		if
		:: waits || OTHERS ->
			watch = QUIET;
#ifndef NO_TIMER
			timer = 1;
			at_once = 0
#endif
		:: else
		fi
	}
}

inline wake_due(woken, at)
{
	position(at);
	due(woken, at);
	if
	:: woken ->
#ifdef LEAVES
		if
#ifdef LEFT_KNOWS
		:: !left -> left = 1; seen = at
#else
		:: !left -> left = 1
#endif
		:: true -> left = 0; wake(); seen = at
		fi
#else
		wake();
#ifdef SEEN_AFTER
		position(at);
#endif
#ifdef WAKE_ENDS
		waits = 0;
#endif
		seen = at
#endif
	:: else
	fi
}

inline tell(woken, at)
{
	waiting_set(0);
	wake_due(woken, at);
	pause()
}

/* kmmv_ring_recheck() */
inline recheck(woken, at)
{
	GET(lock);
	if
	:: watch == ARMED -> tell(woken, at)
	:: else -> waiting_set(0)
	fi;
	UNLOCK(woken, at)
}

/* An event, or one inside a writer that is refused. */
proctype writer(bit c)
{
	bit sees, early;
	byte n;

	do
	:: n < (c -> MORE : EVENTS) ->
		atomic {
			section[c] = 1;
			if
			:: sees = waiting[c]; assert(!sees || !done[c]); early = 1
			:: true
			fi
		}
		written[c]++;
		atomic {
			if
			:: early
			:: else -> sees = waiting[c]; assert(!sees || !done[c])
			fi
		}
		atomic {
			if
			:: sees -> work = 1
#ifdef REFUSED_SILENT
			:: sees
#endif
			:: else
			fi;
			section[c] = 0;
			grace[c] = 0;
			sees = 0;
			early = 0;
			n++
		}
	:: else -> break
	od
}

proctype irq_work()
{
	bit woken;
	byte at;

end:
	do
	:: work ->
		work = 0;
#ifndef THREADED
		recheck(woken, at)
#else
#ifdef CLEAR_LATE
		d_step { timer = 1; at_once = 1 }
#endif
		if
		:: clear(0); clear(1)
		:: clear(1); clear(0)
		fi;
#ifndef CLEAR_LATE
		d_step { timer = 1; at_once = 1 }
#endif
#endif
	od
}

proctype clock()
{
end:
	do
	:: cool -> cool = 0
	od
}

/* wake_timer(), look() */
proctype wake_timer()
{
	bit woken;
	byte at;

end:
	do
	:: atomic { timer && (!cool || at_once) -> timer = 0; at_once = 0 }
		GET(lock);
		if
#ifdef THREADED
#ifndef NOT_ARMED
		:: watch == ARMED -> tell(woken, at)
#endif
		:: watch == IDLE -> waiting_set(0)
		:: watch == QUIET && cool -> d_step { timer = 1; at_once = 0 }
		:: watch == QUIET && !cool ->
#else
		:: watch == QUIET ->
#endif
			wake_due(woken, at);
			if
			:: woken -> pause()
			:: else ->
				watch = IDLE;
				any_waits();
				if
				:: waits || OTHERS ->
					arm();
					position(at);
					due(woken, at);
					if
					:: woken -> tell(woken, at)
					:: else
					fi
				:: else
				fi
			fi
		:: else
		fi;
		UNLOCK(woken, at)
	od
}

proctype wake_rcu()
{
	bit woken, again;
	byte at;

end:
	do
	:: rcu ->
		d_step {
			grace[0] = section[0];
			grace[1] = section[1]
		}
		!grace[0] && !grace[1];
		GET(lock);
		d_step {
			again = rcu_again;
			rcu = 0;
			rcu_again = 0
		}
		if
		:: watch == ARMED ->
			position(at);
			due(woken, at);
#ifdef NO_LOOK_AFTER
			woken = 0;
#endif
			if
			:: woken -> tell(woken, at)
#ifdef NOBODY_WAITS
			:: else -> any_waits(); rcu = again && waits
#else
			:: else -> rcu = again
#endif
			fi
		:: else
		fi;
		again = 0;
		UNLOCK(woken, at)
	od
}

/* kmmv_ringpoll_poll(), kmmv_ring_wait() */
inline ask(ready, at, now)
{
	GET(file_lock);
#ifndef LOOK_FIRST
	position(at);
#endif
	if
	:: HAS(0, mark) -> ready = 1
	:: else -> ready = HAS(1, mark)
	fi;
#ifdef LOOK_FIRST
	position(at);
#endif
#ifdef ONLY_IF_NOTHING
	if
	:: !ready
#else
	if
	:: queued
#endif
	->
		GET(lock);
#ifdef READY_KNOWS
		seen = at;
#else
		if
		:: !waits || !ready -> seen = at
		:: else
		fi;
#endif
		waits = 1;
		if
#ifndef ARM_AT_WILL
		:: watch == IDLE && cool -> watch = QUIET; timer = 1; at_once = 0
		:: watch == IDLE && !cool -> arm()
#else
		:: watch != ARMED -> arm()
#endif
		:: else
		fi;
		now = (watch == ARMED);
		PUT(lock);
#ifndef NO_LOOK_AGAIN
		if
		:: now ->
			position(now);
			if
			:: now != at -> recheck(waste, now)
			:: else
			fi
		:: else
		fi
#endif
	:: else
	fi;
	d_step {
		file_lock = 0;
		at = 0;
		now = 0
	}
}

/* For the consumer this is a read(): the events are gone. */
inline drain()
{
	consumed[0] = written[0];
	consumed[1] = written[1]
}

proctype client()
{
	bit ready, waste;
	byte at, now;

#if CLIENT == LEVEL
	do
	:: true ->
		queued = 1;
		ask(ready, at, now);
		do
		:: ready -> break
		:: else ->
end_level:		told;
			told = 0;
			ask(ready, at, now)
		od;
		atomic {
			queued = 0;
			told = 0;
			ready = 0
		}
		drain()
	od
#else
	/* epoll_ctl(), or the request */
	queued = 1;
	ask(ready, at, now);
	if
	:: ready -> told = 1; ready = 0
	:: else
	fi;
end:
	do
	:: told ->
		told = 0;
#if CLIENT == EDGE
		ask(ready, at, now);
		if
		:: ready -> drain()
		:: else
		fi
#else
		drain();
#if CLIENT == ONESHOT
		ask(ready, at, now);
		if
		:: ready -> told = 1
		:: else
		fi
#endif
#endif
		ready = 0
	od
#endif
}

#ifdef OTHER
/* Another file begins to wait. */
proctype other()
{
	GET(lock);
	others = 1;
	if
	:: watch == IDLE && cool -> watch = QUIET; timer = 1; at_once = 0
	:: watch == IDLE && !cool -> arm()
	:: else
	fi;
	PUT(lock)
}
#endif

/* A client that polls without waiting, and reads nothing. */
proctype peeker()
{
	bit ready, waste;
	byte at, now, n;

	do
	:: n < PEEKS ->
		ask(ready, at, now);
		ready = 0;
		n++
	:: else -> break
	od
}

/* KMMV_RING_IOC_WATERMARK */
proctype changer()
{
	/* A poll() may have compared already: wake the queue. */
	mark = 1;
#ifndef NOT_AGAIN
	wake()
#endif
}

active proctype monitor()
{
	atomic {
		run writer(0);
		run writer(1);
		run irq_work();
		run clock();
		run wake_timer();
		run wake_rcu();
		run client();
#ifdef OTHER
		run other();
#endif
#if PEEKS > 0
		run peeker();
#endif
#if MARK > 1
		run changer();
#endif
	}
	timeout ->
	assert(written[0] == EVENTS && written[1] == MORE);
	assert(!lock && !file_lock);
	assert(!HAS(0, mark) && !HAS(1, mark))
}
