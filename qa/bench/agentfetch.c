// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost of a fetch inside an agent: loads a DSO into a local context, without
 * pmcd, socket and printing, and fetches one metric.
 *
 *	agentfetch DOMAIN DSO INIT METRIC ROUNDS
 *
 * prints: values, nanoseconds of the fastest and of the median fetch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <pcp/pmapi.h>

/* The thread's CPU time, which other load does not change. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void die(const char *what, int rc)
{
	fprintf(stderr, "agentfetch: %s: %s\n", what, pmErrStr(rc));
	exit(1);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int fetch(pmID pmid)
{
	pmResult *result;
	int rc, n;

	rc = pmFetch(1, &pmid, &result);
	if (rc < 0)
		die("fetch", rc);
	n = result->vset[0]->numval;
	pmFreeResult(result);
	if (n <= 0)
		die("no values", n);
	return n;
}

int main(int argc, char **argv)
{
	const char *name;
	uint64_t *cost;
	char spec[4096];
	int i, rc, rounds, values = 0;
	char *message;
	pmID pmid;

	if (argc != 6) {
		fprintf(stderr, "usage: agentfetch DOMAIN DSO INIT METRIC ROUNDS\n");
		return 1;
	}
	name = argv[4];
	rounds = atoi(argv[5]);
	cost = calloc(rounds, sizeof(*cost));
	if (!cost || rounds < 1)
		return 1;
	snprintf(spec, sizeof(spec), "clear");
	message = pmSpecLocalPMDA(spec);
	snprintf(spec, sizeof(spec), "add,%s,%s,%s", argv[1], argv[2],
		 argv[3]);
	if (!message)
		message = pmSpecLocalPMDA(spec);
	if (message) {
		fprintf(stderr, "agentfetch: %s\n", message);
		return 1;
	}
	rc = pmNewContext(PM_CONTEXT_LOCAL, NULL);
	if (rc < 0)
		die("context", rc);
	rc = pmLookupName(1, &name, &pmid);
	if (rc < 0)
		die(name, rc);
	fetch(pmid);
	for (i = 0; i < rounds; i++) {
		uint64_t start = now_ns();

		values = fetch(pmid);
		cost[i] = now_ns() - start;
	}
	qsort(cost, rounds, sizeof(*cost), compare);
	printf("%d %llu %llu\n", values, (unsigned long long)cost[0],
	       (unsigned long long)cost[rounds / 2]);
	free(cost);
	return 0;
}
