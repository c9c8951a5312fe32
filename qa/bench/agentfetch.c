// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost of a fetch inside an agent: loads a DSO into a local context, without
 * pmcd, socket and printing, and fetches a metric, or all below a name, at once.
 *
 *	agentfetch DOMAIN DSO INIT NAME ROUNDS
 *
 * prints: values, nanoseconds of the fastest and of the median fetch.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pcp/pmapi.h>

/* The thread's CPU time, which other load does not change. */
static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

enum { METRICS_MAX = 1024 };

static char *names[METRICS_MAX];
static pmID pmids[METRICS_MAX];
static int nr_names;

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

static void add_name(const char *name)
{
	if (nr_names == METRICS_MAX)
		die("too many metrics", PM_ERR_TOOBIG);
	names[nr_names] = strdup(name);
	if (!names[nr_names++])
		die(name, -ENOMEM);
}

static int fetch(void)
{
	pmResult *result;
	int rc, i, n = 0;

	rc = pmFetch(nr_names, pmids, &result);
	if (rc < 0)
		die("fetch", rc);
	for (i = 0; i < result->numpmid; i++)
		if (result->vset[i]->numval > 0)
			n += result->vset[i]->numval;
	pmFreeResult(result);
	if (n <= 0)
		die("no values", n);
	return n;
}

int main(int argc, char **argv)
{
	uint64_t *cost;
	char spec[4096];
	int i, rc, rounds, values = 0;
	char *message;

	if (argc != 6) {
		fprintf(stderr, "usage: agentfetch DOMAIN DSO INIT NAME ROUNDS\n");
		return 1;
	}
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
	rc = pmTraversePMNS(argv[4], add_name);
	if (rc < 0)
		die(argv[4], rc);
	rc = pmLookupName(nr_names, (const char **)names, pmids);
	if (rc < 0)
		die(argv[4], rc);
	fetch();
	for (i = 0; i < rounds; i++) {
		uint64_t start = now_ns();

		values = fetch();
		cost[i] = now_ns() - start;
	}
	qsort(cost, rounds, sizeof(*cost), compare);
	printf("%d %llu %llu\n", values, (unsigned long long)cost[0],
	       (unsigned long long)cost[rounds / 2]);
	free(cost);
	return 0;
}
