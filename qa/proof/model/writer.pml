/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A writer: kmod/core/ring_write.c. Included with WRITER and CUT: the innermost writer is
 * never interrupted, so its steps (STEP) are those that the consumer sees; CUT
 * divides the steps of the others further.
 */
proctype WRITER(byte me)
{
	byte size, page, word, next, id, i, n, c;
	short link, old;

end:	atomic {
		top == me - 1 && left > 0 ->
		top = me;
		left--;
		if
		:: size = 1
		:: SIZES > 1 -> size = 2
		fi;
		OTHERS
		depth++
	}

	/* kmmv_ring_cpu_reserve() */
retry:
	atomic { I
		page = tail
		CUT
		word = words[page];
		if
		:: (word & CLOSED) || TAIL(word) + size > ROOM -> goto move
		:: else
		fi
		CUT
		if
		:: words[page] != word -> BACK goto retry
		:: else
		fi;
		words[page] = word + size;
		events[page]++;
		reserved++;
		id = reserved
		CUT
		assert(!IS(owned, page) || TAIL(word) >= given[page]);
		cells[page * ROOM + TAIL(word)] = id;
		if
		:: size > 1 -> cells[page * ROOM + TAIL(word) + 1] = id
		:: else
		fi;
		if
		:: DISCARDS -> discarded = discarded | BIT(id)
		:: goto leave
		fi
		CUT
		/* kmmv_ring_cpu_discard() */
		if
		:: words[page] == word + size ->
			words[page] = word;
			events[page]--;
			goto leave
		:: else
		fi
		CUT
		assert(!IS(owned, page) || TAIL(word) >= given[page]);
		cells[page * ROOM + TAIL(word)] = id | PAD;
		if
		:: size > 1 -> cells[page * ROOM + TAIL(word) + 1] = id | PAD
		:: else
		fi;
		events[page]--;
		goto leave
	}

	/* tail_move(); c: no other writer had moved the tail before */
move:
	atomic { I
		if
		:: word & CLOSED
		:: else ->
			if
			:: words[page] != word -> BACK goto retry
			:: else -> words[page] = SHUT(word); word = SHUT(word)
			fi
		fi
		STEP
		link = links[page];
		next = ID(link);
		c = (tail == page)
		CUT
		c = c && (tail == page);
#ifndef NO_TAIL_CHECK
		if
		:: tail != page -> BACK goto retry
		:: else
		fi;
#endif
		if
		:: BUSY(seqs[next], page) || (FLAG(link) == HEAD && !OVERWRITE) ->
			/* The refusal is true: no page is begun behind the tail. */
			assert(c && (FLAG(link) == HEAD || seqs[next] <= seqs[page]));
			goto leave
		:: else
		fi;
		if
		:: FLAG(link) == HEAD
		:: FLAG(link) == UPDATE -> goto head_forward
		:: FLAG(link) == NORMAL -> goto tail_forward
		fi
		STEP
		/*
		 * Before UPDATE, for the writers that help: the consumer changes
		 * it, too.
		 */
		behind[page] = links[next]
		STEP
		if
		:: links[page] != link -> BACK goto retry
		:: else
		fi;
#ifndef NO_UPDATE
		link = NEXT(link, next, UPDATE);
		links[page] = link;
#endif
		overwrite(next)
	}

head_forward:
	atomic { I
#ifdef NO_BEHIND
		old = links[next];
		if
		:: tail != page -> goto tail_forward
		:: else
		fi
#else
		old = behind[page]
#endif
		STEP
		if
		:: links[next] == old HEAD_NORMAL ->
			links[next] = NEXT(old, ID(old), HEAD)
		:: else
		fi
		STEP
		if
		:: links[page] == link -> links[page] = NEXT(link, next, NORMAL)
		:: else
		fi
	}

tail_forward:
	atomic { I
		old = words[next];
#ifndef NO_BEGIN_CHECK
		if
		:: tail != page -> BACK goto retry
		:: else
		fi
#endif
		STEP
		assert(!IS(owned, next));
		seqs[next] = seqs[page] + 1;
		data_commit[next] = 0
		STEP
		if
		:: words[next] == old && WAS_CLOSED(old) ->
			words[next] = FRESH(old);
			/* The old events are counted, and not seen any more. */
			events[next] = 0;
			nr_events[next] = 0;
			cells[next * ROOM] = 0;
			cells[next * ROOM + 1] = 0
		:: else
		fi
		CUT
		if
		:: tail == page -> tail = next
		:: else
		fi;
		BACK
		next = 0;
		link = 0;
		old = 0;
		c = 0;
		goto retry
	}

	/* leave(); page is the commit page from here on */
leave:
	atomic { I
		page = commit;
		word = words[page];
		size = 0; next = 0; id = 0; link = 0; old = 0; c = 0;
#ifndef COMMIT_NESTED
		if
		:: depth > 1 -> depth--; goto out
		:: else
		fi
#endif
		STEP
		events_in(page, data_commit[page], TAIL(word));
		there = there + n;
		n = 0;
		data_commit[page] = TAIL(word);
#ifdef COMMIT_NESTED
		if
		:: depth > 1 -> depth--; goto out
		:: else
		fi;
#endif
		depth = 0
		CUT
		if
#ifndef NO_WORD_CHECK
		:: words[page] != word
#endif
#ifndef NO_TAIL_AGAIN
		:: tail != page
#endif
		:: else -> goto out
		fi;
		depth = 1
	}

commit_forward:
	atomic { I
		page = commit;
		if
		:: page == tail -> BACK goto leave
		:: else
		fi
		STEP
		word = words[page];
		nr_events[page] = events[page];
		written = written + nr_events[page];
		events_in(page, data_commit[page], TAIL(word));
		there = there + n;
		n = 0;
		data_commit[page] = TAIL(word)
		STEP
		next = ID(links[page]);
		assert(seqs[next] == seqs[page] + 1);
		data_first[next] = written
		STEP
		commit = next;
		next = 0;
		goto commit_forward
	}

out:
	atomic { I
		page = 0; word = 0;
		OTHERS
		top = me - 1;
		goto end
	}
}
