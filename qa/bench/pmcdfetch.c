// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cost of a fetch from pmcd, and who bears it: fetches all metrics below a name
 * in one request, again and again.
 *
 *	pmcdfetch HOST NAME ROUNDS PID...
 *
 * prints: values, and the CPU time in nanoseconds per fetch of this process and
 * of each PID, with the system's part.
 */
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <pcp/pmapi.h>

enum { METRICS_MAX = 1024 };

static char *names[METRICS_MAX];
static int nr_names;

static void add_name(const char *name)
{
	if (nr_names == METRICS_MAX)
		errx(1, "more than %d metrics", METRICS_MAX);
	names[nr_names] = strdup(name);
	if (!names[nr_names++])
		err(1, "memory");
}

static double own_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* The sum over a process's threads. */
static double process_ns(const char *pid)
{
	unsigned long long ns;
	struct dirent *task;
	char path[512];
	double sum = 0;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	dir = opendir(path);
	if (!dir)
		err(1, "%s", path);
	while ((task = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", pid,
			 task->d_name);
		file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%llu", &ns) == 1)
			sum += (double)ns;
		fclose(file);
	}
	closedir(dir);
	return sum;
}

static int fetch(pmID *pmids)
{
	int i, err, n = 0;
	pmResult *result;

	err = pmFetch(nr_names, pmids, &result);
	if (err < 0)
		errx(1, "fetch: %s", pmErrStr(err));
	for (i = 0; i < result->numpmid; i++)
		if (result->vset[i]->numval > 0)
			n += result->vset[i]->numval;
	pmFreeResult(result);
	return n;
}

int main(int argc, char **argv)
{
	int i, n, rounds, values;
	double own, *before;
	pmID *pmids;

	if (argc < 4)
		errx(2, "usage: pmcdfetch HOST NAME ROUNDS PID...");
	rounds = atoi(argv[3]);
	n = pmNewContext(PM_CONTEXT_HOST, argv[1]);
	if (n < 0)
		errx(1, "%s: %s", argv[1], pmErrStr(n));
	n = pmTraversePMNS(argv[2], add_name);
	if (n < 0)
		errx(1, "%s: %s", argv[2], pmErrStr(n));
	pmids = calloc(nr_names, sizeof(*pmids));
	before = calloc(argc, sizeof(*before));
	if (!pmids || !before)
		err(1, "memory");
	n = pmLookupName(nr_names, (const char **)names, pmids);
	if (n < 0)
		errx(1, "%s: %s", argv[2], pmErrStr(n));
	values = fetch(pmids);
	if (values <= 0)
		errx(1, "%s: no values", argv[2]);
	fetch(pmids);
	for (i = 4; i < argc; i++)
		before[i] = process_ns(argv[i]);
	own = own_ns();
	for (n = 0; n < rounds; n++)
		fetch(pmids);
	printf("%d\t%.0f", values, (own_ns() - own) / rounds);
	for (i = 4; i < argc; i++)
		printf("\t%.0f", (process_ns(argv[i]) - before[i]) / rounds);
	putchar('\n');
	return 0;
}
