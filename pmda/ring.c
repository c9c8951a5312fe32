// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of rings: the entries of "ring" in the device directory, read on
 * request. A ring's lasting number is bound to its name.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "ring.h"

static struct ring *rings[MAX_RINGS];
static int limit;
static uint64_t listing;	/* incremented by each */
static char *wanted; /* names, each between commas */

void agent_ring_init(const char *names)
{
	size_t size = strlen(names) + 3;

	wanted = malloc(size);
	if (!wanted)
		pmNoMem("names of rings", size, PM_FATAL_ERR);
	pmsprintf(wanted, size, ",%s,", names);
}

static bool is_wanted(const char *name)
{
	char word[KMMV_RING_NAME_MAX + 3];

	pmsprintf(word, sizeof(word), ",%s,", name);
	return strstr(wanted, word) != NULL;
}

struct ring *agent_ring(int rid)
{
	return rid >= 0 && rid < limit ? rings[rid] : NULL;
}

int agent_ring_limit(void)
{
	return limit;
}

static struct ring *make(const char *name, int rid)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->name = strdup(name);
	if (!r->name) {
		free(r);
		return NULL;
	}
	r->rid = rid;
	r->wanted = is_wanted(name);
	r->array = -1;
	rings[rid] = r;
	if (rid >= limit)
		limit = rid + 1;
	return r;
}

/* A filter of scandir(). */
static int is_ring(const struct dirent *entry)
{
	const char *name = entry->d_name;
	char plain[AGENT_NAME_SIZE];

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	agent_instance_sanitise(name, plain, sizeof(plain));
	if (strlen(name) <= KMMV_RING_NAME_MAX && !strchr(name, ',') &&
	    strcmp(name, plain) == 0)
		return 1;
	agent_error(rings, "ring %s: cannot be an instance's name", plain);
	return 0;
}

/* Give a number to NAME; it is valid once it is saved. */
static void add_number(const char *name)
{
	if (!agent_id_find(SERIAL_RINGS, name))
		agent_id_add(rings, SERIAL_RINGS, -1, name, "");
}

static void take(const char *name)
{
	const struct id *id = agent_id_find(SERIAL_RINGS, name);

	if (!id || (!rings[id->number] && !make(name, id->number)))
		return;
	rings[id->number]->present = true;
	rings[id->number]->listing = listing;
}

static void leave(struct ring *r)
{
	uint64_t now = agent_seen_moment();
	uint32_t cpu;

	if (r->present)
		r->left = now;
	r->present = false;
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		if (r->cpus[cpu].alive)
			r->cpus[cpu].left = now;
		r->cpus[cpu].alive = false;
	}
}

static void take_all(void)
{
	char path[MAXPATHLEN];
	struct dirent **names;
	int i, count;

	pmsprintf(path, sizeof(path), "%s/ring", agent_attach_device());
	agent_error_begin(rings);
	count = scandir(path, &names, is_ring, alphasort);
	for (i = 0; i < count; i++)
		add_number(names[i]->d_name);
	/* Once for all of them: a client waits for the disk. */
	agent_id_commit();
	for (i = 0; i < count; i++) {
		take(names[i]->d_name);
		free(names[i]);
	}
	agent_error_end(rings);
	if (count >= 0)
		free(names);
}

void agent_ring_list(void)
{
	int rid;

	listing++;
	if (agent_attach_handle())
		take_all();
	for (rid = 0; rid < limit; rid++) {
		if (rings[rid] && rings[rid]->listing != listing)
			leave(rings[rid]);
	}
}

/*
 * What was listed and read depends on the handle. Counts and clients stay: they
 * continue with the next handle.
 */
void agent_ring_forget(void)
{
	int rid;

	agent_error_settle(rings);
	for (rid = 0; rid < limit; rid++) {
		struct ring *r = rings[rid];

		if (!r)
			continue;
		agent_reader_close(r);
		leave(r);
		r->status = -ENODEV;
	}
}
