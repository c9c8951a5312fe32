/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The consumer, kmod/core/ring_consumer.c: takes while there is something, and releases
 * all that it has at any time. At the first failure it gives up (-EAGAIN) and takes
 * again, which also models its own retries.
 */

/* front_complete() */
inline front_complete()
{
	if
	:: front == NONE || commit == front
	:: else ->
		expected = data_first[front] + nr_events[front];
		front = NONE
	fi
}

/* The given events are there, whole, next in order, and stay. */
inline give(page)
{
	i = given[page];
	do
	:: i < end ->
		c = cells[page * ROOM + i];
		if
		:: c & PAD -> assert(IS(discarded, c - PAD))
		:: else ->
			assert(c > 0 && !IS(discarded, c) && !IS(gone, c));
			if
			:: i > 0 && cells[page * ROOM + i - 1] == c
			:: else ->
				assert(c > consumed);
				n = consumed + 1;
				do
				:: n < c ->
					assert(IS(discarded, n) || IS(gone, n));
					n++
				:: else -> break
				od;
				consumed = c;
				there--
			fi
		fi;
		i++
	:: else -> break
	od;
	if
	:: front == NONE ->
		events_in(page, 0, end);
		assert(n == nr_events[page])
	:: else
	fi;
	given[page] = end;
	n = 0;
	i = 0;
	c = 0
}

/* retire() */
inline retire()
{
	do
	:: queued > 0 && queue[0] != front &&
	   done[queue[0]] == data_commit[queue[0]] ->
		owned = owned & ~BIT(queue[0]);
		given[queue[0]] = 0;
		done[queue[0]] = 0;
		spares[nr_spares] = queue[0];
		nr_spares++;
		i = 1;
		do
		:: i < queued -> queue[i - 1] = queue[i]; i++
		:: else -> break
		od;
		queued--;
		queue[queued] = 0;
		if
		:: at > 0 -> at--
		:: else
		fi
	:: else -> break
	od;
	i = 0
}

/* kmmv_ring_cpu_release_all(), now or later */
inline release()
{
	if
	:: true
	:: queued > 0 ->
		do
		:: i < queued ->
			done[queue[i]] = given[queue[i]];
			i++
		:: else -> break
		od;
		front_complete();
		retire()
	fi
}

proctype reader()
{
	byte entry = PAGES - 1, front = NONE, expected, lost, at, queued;
	byte nr_spares, end, prev, head, i, n, c;
	byte queue[SPARES + 1], spares[SPARES + 1];
	short link;
	byte takes;		/* that began while there were writers */
	bit over;

	atomic {
		do
		:: nr_spares <= SPARES ->
			spares[nr_spares] = PAGES + nr_spares;
			nr_spares++
		:: else -> break
		od
	}

	/* kmmv_ring_cpu_take() */
take:
	atomic {
		takes < TAKES || (!left && !top) ->
		over = !left && !top;
		takes = takes + (!over && TAKES < 255);
		nothing = !there;
		if
		:: at == queued -> goto find
		:: else
		fi;
#ifdef COMMIT_FIRST
		end = data_commit[queue[at]]
#else
		front_complete()
#endif
	}
take_front:
	atomic {
#ifdef COMMIT_FIRST
		front_complete();
#else
		end = data_commit[queue[at]];
#endif
		if
		:: given[queue[at]] < end ->
			give(queue[at]);
			end = 0;
			release();
			goto take
		:: else -> end = 0
		fi;
#ifdef FRONT_OPEN
		front = NONE;
#endif
		if
		:: front != NONE -> goto none
		:: else
		fi;
		at++;
		if
		:: at < queued -> goto take_front
		:: else
		fi;
		retire()
	}

	/* swap_head(), target_find(), head_find() */
find:
	atomic {
		if
		:: prev == 0 -> prev = entry + 1
		:: else -> prev = ID(link) + 1
		fi;
		link = links[prev - 1];
		if
		:: FLAG(link) != HEAD ->
			assert(!over || ID(link) != entry);
			goto find
		:: else
		fi;
		prev--;
		head = ID(link)
	}
#ifndef SWAP_EMPTY
	atomic {
		if
		:: commit != head -> goto found
		:: else
		fi
	}
	atomic {
		if
		:: data_commit[head] -> goto found
		:: else
		fi
	}
	atomic {
#ifndef NO_EMPTY_CHECK
		if
		:: links[prev] != link -> goto again
		:: else
		fi;
#endif
		goto none
	}
#endif
found:
	atomic {
		if
		:: nr_spares == 0 -> assert(queued); goto again
		:: else
		fi;
		c = spares[nr_spares - 1];
		links[c] = NEXT(links[c], ID(links[head]), HEAD)
	}
	atomic {
		if
		:: links[prev] != link -> assert(!over); goto again
		:: else
		fi;
		links[prev] = NEXT(link, c, NORMAL);
		OTHERS
		nr_spares--;
		spares[nr_spares] = 0;
		entry = c;
		front = head;
		queue[queued] = head;
		queued++;
		owned = owned | BIT(head);
		/* The number of lost events is exact. */
		lost = lost + data_first[head] - expected;
		assert(lost == overwritten);
		prev = 0; head = 0; link = 0; c = 0
	}
	atomic {
#ifdef COMMIT_FIRST
		end = data_commit[queue[at]];
#else
		front_complete();
#endif
		goto take_front
	}
again:	/* -EAGAIN */
	atomic {
		prev = 0; head = 0; link = 0; c = 0;
		release();
		goto take
	}
none:	/* 0 */
	atomic {
		assert(nothing);
		prev = 0; head = 0; link = 0; c = 0;
		if
		:: over ->
			/* Every event not consumed has been accounted for. */
			i = consumed + 1;
			do
			:: i <= reserved ->
				assert(IS(discarded, i) || IS(gone, i));
				i++
			:: else -> break
			od;
			assert(there == 0 && depth == 0)
		:: else ->
			release();
			goto take
		fi
	}
}
