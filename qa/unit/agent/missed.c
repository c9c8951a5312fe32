// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that a client missed: it is told how many, once, and of no others.
 */
#include <time.h>

#include "numbers.h"
#include "rings.h"

/* How many events the client is told that it missed, and how many it gets. */
static void fetch_missed(uint32_t *missed, uint32_t *events)
{
	const pmEventRecord *record;
	const pmEventArray *array;
	const char *at;
	pmValueSet *set;
	int i, n;

	*missed = *events = 0;
	set = host_fetch("kmmv.ring.records");
	if (set->numval == 0) {
		free(set);
		return;
	}
	array = (const pmEventArray *)set->vlist[0].value.pval;
	at = (const char *)&array->ea_record[0];
	for (i = 0; i < array->ea_nrecords; i++) {
		record = (const pmEventRecord *)at;
		at += sizeof(*record) - sizeof(record->er_param);
		if (record->er_flags & PM_EVENT_FLAG_MISSED) {
			*missed += (uint32_t)record->er_nparams;
			continue;
		}
		++*events;
		for (n = 0; n < record->er_nparams; n++) {
			const pmEventParameter *p = (const void *)at;

			at += sizeof(p->ep_pmid) +
			      (p->ep_len + sizeof(uint32_t) - 1) /
				      sizeof(uint32_t) * sizeof(uint32_t);
		}
	}
	free(set);
}

/* What was dropped before there was a client is not missed. */
START_TEST(drops_of_before)
{
	uint32_t missed, events;
	char lines[256];
	int n;

	n = snprintf(lines, sizeof(lines),
		     "1000000000 0 0 0 5 4294967295 0 17 07\n");
	host_write(area.dir, "ring/default", lines);
	host_write(area.dir, "sim/default.stats", "0 1 12 0 7 5\n");
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 0);
	snprintf(lines + n, sizeof(lines) - (size_t)n,
		 "%lld000000000 0 1 0 3 4294967295 0 17 07\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", lines);
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(missed, 1);
}
END_TEST

/* Nor if the ring could not be opened at first. */
START_TEST(losses_of_before_a_failure)
{
	uint32_t missed, events;
	char line[128], path[160];

	host_write(area.dir, "sim/default.stats", "0 1 70 0 0 70\n");
	snprintf(path, sizeof(path), "%s/ring/default", area.dir);
	unlink(path);
	ck_assert_int_eq(symlink("default", path), 0);
	fetch_missed(&missed, &events);
	reader_is("failed");
	ck_assert_int_eq(unlink(path), 0);
	snprintf(line, sizeof(line), "%lld000000000 0 70 70 0 4294967295 0 17 07\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", line);
	only_ring()->reader.tried_ms = 0;
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(missed, 0);
}
END_TEST

/*
 * The clock is set back: of a CPU that had no event before, events are new as soon as
 * another one's is.
 */
START_TEST(events_after_the_clock_was_set_back)
{
	const long long now = time(NULL);
	uint32_t missed, events;
	char lines[256];
	int n;

	/* On a ring that is never quiet, each fetch ends at a newer event. */
	n = snprintf(lines, sizeof(lines),
		     "%lld000000000 0 0 0 0 4294967295 0 17 07\n", now + 3600);
	host_write(area.dir, "ring/default", lines);
	fetch_missed(&missed, &events);
	snprintf(lines + n, sizeof(lines) - (size_t)n,
		 "%lld000000000 1 0 0 0 4294967295 0 17 07\n", now - 3600);
	host_write(area.dir, "ring/default", lines);
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 1);
}
END_TEST

/* An event for which there is no memory is missed. */
START_TEST(queue_without_memory)
{
	uint32_t missed, events;
	char lines[256] = "";
	int n;

	fetch_missed(&missed, &events);
	for (n = 0; n < 4; n++) {
		snprintf(lines + strlen(lines), sizeof(lines) - strlen(lines),
			 "%lld000000000 0 %d 0 0 4294967295 0 17 07\n",
			 (long long)time(NULL) + 3600, n);
		malloc_refused = n < 3 ? sizeof(struct entry) + 4 : 0;
		host_write(area.dir, "ring/default", lines);
		agent_records_drain(true);
	}
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(missed, 3);
	ck_assert_uint_eq(events, 1);
}
END_TEST

/*
 * A client that is not answered gets the events with the next answer, whichever value
 * of the answer there was no memory for.
 */
START_TEST(an_answer_without_memory)
{
	uint32_t missed, events;
	pmdaResult *result;
	char lines[8192] = "";
	int n, i, nr_unanswered = 0, at = 0;
	bool is_answered;
	pmID pmids[3];

	ck_assert_int_ge(CALL(pmid, "kmmv.ring.records", &pmids[0]), 0);
	pmids[1] = pmids[0];
	pmids[2] = host_pmid("kmmv.control.families");
	fetch_missed(&missed, &events);
	for (n = 1; n < 30; n++) {
		for (i = 0; i < 3; i++)
			at += snprintf(lines + at, sizeof(lines) - (size_t)at,
				       "%lld000000000 0 %d 0 0 4294967295 0 17 07\n",
				       (long long)time(NULL) + 3600,
				       3 * n - 3 + i);
		ck_assert_uint_lt((size_t)at, sizeof(lines));
		host_write(area.dir, "ring/default", lines);
		/* Each reads one event of so late a time. */
		for (i = 0; i < 3; i++)
			agent_records_drain(true);
		host_fails_at = n;
		is_answered = CALL(fetch, 3, pmids, &result) >= 0;
		nr_unanswered += !is_answered;
		if (is_answered) {
			is_answered = result->vset[0]->numval > 0 ||
				      result->vset[1]->numval > 0;
			for (i = 0; i < 3; i++)
				free(result->vset[i]);
		}
		if (host_fails_at)
			break;
		if (is_answered)
			continue;
		fetch_missed(&missed, &events);
		ck_assert_uint_eq(events, 3);
		ck_assert_uint_eq(missed, 0);
	}
	host_fails_at = 0;
	ck_assert(is_answered);
	ck_assert_int_ge(nr_unanswered, 3);
}
END_TEST

/* Of a CPU that came after the ring was opened. */
START_TEST(events_of_another_cpu)
{
	uint32_t missed, events;
	char line[128];

	fetch_missed(&missed, &events);
	snprintf(line, sizeof(line),
		 "%lld000000000 9 5 2 1 4294967295 0 17 07\n",
		 (long long)time(NULL) + 3600);
	host_write(area.dir, "ring/default", line);
	fetch_missed(&missed, &events);
	ck_assert_uint_eq(events, 1);
	ck_assert_uint_eq(missed, 3);
}
END_TEST

void add_missed(Suite *suite)
{
	TCase *tcase = add_case(suite, "missed", setup);

	tcase_add_test(tcase, drops_of_before);
	tcase_add_test(tcase, losses_of_before_a_failure);
	tcase_add_test(tcase, events_after_the_clock_was_set_back);
	tcase_add_test(tcase, queue_without_memory);
	tcase_add_test(tcase, an_answer_without_memory);
	tcase_add_test(tcase, events_of_another_cpu);
}
