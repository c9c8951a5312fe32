// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Families. A family's lasting number is bound to its name, semantics and
 * units. So archives of different days agree, whatever order families register
 * in, and no reader takes nanoseconds for microseconds because a driver changed
 * its units: that is another metric, of the same name. Cluster and instance
 * domains follow from the number.
 *
 * The contents of descriptors are on disk with the number: a family that was
 * ever seen has its metrics while the device is absent, and after a restart,
 * too. They return an error then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

struct kid {
	uint32_t id;		/* the kernel's, in this epoch */
	struct family *family;
};

/* The key of a number, name:semantics:units. */
#define KEY_SIZE (AGENT_NAME_SIZE + 128)

static struct family *families[MAX_FAMILIES];
static bool lacking; /* there was no memory for some */
static int limit;
static struct kid *kids;
static uint32_t nr_kids;
static int present;

static const char *const semantics[] = {
	[KMMV_SEM_COUNTER] = "counter",
	[KMMV_SEM_INSTANT] = "instant",
	[KMMV_SEM_DISCRETE] = "discrete",
};

/*
 * Numbers that are the same on every host. They are in archives: never change
 * one. A family whose units or semantics change gets a new line.
 */
static const struct {
	int fid;
	const char *key;
} fixed[] = {
	{ FAMILY_CORE + 0, "counter:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 1, "core.refused:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 2, "stat.cpu:counter:0,1,0,0,0,0" },
	{ FAMILY_CORE + 3, "stat.softirq:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 4, "stat.irq:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 5, "stat.vm:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 6, "stat.copied:instant:0,1,0,0,0,0" },
	{ FAMILY_CORE + 7, "stat.resets:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 8, "stat.failed:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 9, "stat.guest:counter:0,1,0,0,0,0" },
	{ FAMILY_CORE + 10, "stat.paged:counter:1,0,0,0,0,0" },
	{ FAMILY_CORE + 11, "stat.work:counter:0,0,1,0,0,0" },
	{ FAMILY_CORE + 12, "stat.took:counter:0,1,0,0,0,0" },
	{ FAMILY_BLOCK + 0, "block.dev.read:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 1, "block.dev.write:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 2, "block.dev.discard:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 3, "block.dev.flush:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 4, "block.dev.read_bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_BLOCK + 5, "block.dev.write_bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_BLOCK + 6, "block.dev.discard_bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_BLOCK + 7, "block.dev.read_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_BLOCK + 8, "block.dev.write_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_BLOCK + 9, "block.dev.discard_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_BLOCK + 10, "block.dev.flush_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_BLOCK + 11, "block.dev.read_merge:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 12, "block.dev.write_merge:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 13, "block.dev.errors:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 14, "block.dev.passthrough:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 15, "block.dev.inflight:instant:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 16, "block.latency.read:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 17, "block.latency.write:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 18, "block.latency.discard:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 19, "block.latency.flush:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 20, "block.failed:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 21, "block.work:counter:0,0,1,0,0,0" },
	{ FAMILY_BLOCK + 22, "block.took:counter:0,1,0,0,0,0" },
	{ FAMILY_PARTITIONS + 0, "block.partitions.read:counter:0,0,1,0,0,0" },
	{ FAMILY_PARTITIONS + 1, "block.partitions.write:counter:0,0,1,0,0,0" },
	{ FAMILY_PARTITIONS + 2, "block.partitions.discard:counter:0,0,1,0,0,0" },
	{ FAMILY_PARTITIONS + 3, "block.partitions.read_bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_PARTITIONS + 4, "block.partitions.write_bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_PARTITIONS + 5, "block.partitions.discard_bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_PARTITIONS + 6, "block.partitions.read_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_PARTITIONS + 7, "block.partitions.write_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_PARTITIONS + 8, "block.partitions.discard_rawactive:counter:0,1,0,0,0,0" },
	{ FAMILY_PARTITIONS + 9, "block.partitions.read_merge:counter:0,0,1,0,0,0" },
	{ FAMILY_PARTITIONS + 10, "block.partitions.write_merge:counter:0,0,1,0,0,0" },
	{ FAMILY_PARTITIONS + 11, "block.partitions.errors:counter:0,0,1,0,0,0" },
	{ FAMILY_PARTITIONS + 12, "block.partitions.inflight:instant:0,0,1,0,0,0" },
	{ FAMILY_NET + 0, "net.in.bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_NET + 1, "net.in.packets:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 2, "net.in.errors:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 3, "net.in.drops:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 4, "net.in.fifo:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 5, "net.in.frame:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 6, "net.in.mcasts:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 7, "net.out.bytes:counter:1,0,0,0,0,0" },
	{ FAMILY_NET + 8, "net.out.packets:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 9, "net.out.errors:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 10, "net.out.drops:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 11, "net.out.fifo:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 12, "net.out.carrier:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 13, "net.collisions:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 14, "net.work:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 15, "net.took:counter:0,1,0,0,0,0" },
	{ FAMILY_NET + 16, "net.failed:counter:0,0,1,0,0,0" },
	{ FAMILY_NET + 17, "net.resets:counter:0,0,1,0,0,0" },
	{ FAMILY_TRACE + 0, "trace.stat.hits:counter:0,0,1,0,0,0" },
	{ FAMILY_TRACE + 1, "trace.stat.cost:counter:0,1,0,0,0,0" },
	{ FAMILY_TRACE + 2, "trace.stat.faults:counter:0,0,1,0,0,0" },
	{ FAMILY_TRACE + 3, "trace.stat.lost:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 0, "profile.samples:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 1, "profile.lost:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 2, "profile.missed:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 3, "profile.work:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 4, "profile.overhead:counter:0,1,0,0,0,0" },
	{ FAMILY_PROFILE + 5, "profile.error:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 6, "profile.source:discrete:0,0,0,0,0,0" },
	{ FAMILY_PROFILE + 7, "profile.period:instant:0,0,0,0,0,0" },
	{ FAMILY_PROFILE + 8, "profile.symbol.samples:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 9, "profile.command.samples:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 10, "profile.image.samples:counter:0,0,1,0,0,0" },
	{ FAMILY_PROFILE + 11, "profile.forgotten:counter:0,0,1,0,0,0" },
};

static int fixed_number(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (strcmp(fixed[i].key, key) == 0)
			return fixed[i].fid;
	}
	return -1;
}

/*
 * Only the kernel modules of this tree have families of a reserved word, and
 * those are in the table.
 */
static bool is_fixed(const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (strncmp(fixed[i].key, name, len) == 0 &&
		    fixed[i].key[len] == ':')
			return true;
	}
	return false;
}

static bool reserved(const char *name)
{
	static const char *const words[] = { "control", "percpu", "all",
					     "ring", "profile" };
	size_t len = strcspn(name, ".");
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len &&
		    strncmp(name, words[i], len) == 0)
			return !is_fixed(name);
	}
	return false;
}

static bool valid_name(const char *name)
{
	return !reserved(name) && agent_name_valid(name);
}

static struct family *make(const char *name, int fid)
{
	struct family *f = calloc(1, sizeof(*f));

	if (!f) {
		agent_attach_no_memory("family %s", name);
		lacking = true;
		return NULL;
	}
	f->fid = fid;
	f->name = strdup(name);
	f->oneline = strdup("");
	f->help = strdup("");
	if (!f->name || !f->oneline || !f->help) {
		free(f->name);
		free(f->oneline);
		free(f->help);
		free(f);
		agent_attach_no_memory("family %s", name);
		lacking = true;
		return NULL;
	}
	families[fid] = f;
	if (fid >= limit)
		limit = fid + 1;
	return f;
}

static void parse_units(const struct kmmv_family_info *info, pmUnits *units)
{
	const char *text = info->units;
	char *message = NULL;
	double scale = 1;

	memset(units, 0, sizeof(*units));
	/* The kernel's word for a dimensionless number. */
	if (!*text || strcmp(text, "none") == 0)
		return;
	if (pmParseUnitsStr(text, units, &scale, &message) < 0 || scale != 1) {
		agent_error(agent_table_errors,
			    "family %s: invalid units \"%s\"", info->name,
			    info->units);
		memset(units, 0, sizeof(*units));
	}
	free(message);
}

static void make_key(const struct kmmv_family_info *info, char *key)
{
	pmUnits units;

	parse_units(info, &units);
	pmsprintf(key, KEY_SIZE, "%s:%s:%d,%d,%d,%d,%d,%d", info->name,
		  semantics[info->semantics], units.dimSpace, units.dimTime,
		  units.dimCount, units.scaleSpace, units.scaleTime,
		  units.scaleCount);
}

/* The parts of a descriptor that are in the key. */
static bool read_key(struct family *f, const char *key)
{
	int part[6], i, at = 0;
	char word[16];

	if (sscanf(key, "%15[a-z]:%d,%d,%d,%d,%d,%d%n", word, &part[0],
		   &part[1], &part[2], &part[3], &part[4], &part[5],
		   &at) != 7 ||
	    key[at])
		return false;
	f->units = (pmUnits)PMDA_PMUNITS(part[0], part[1], part[2], part[3],
					 part[4], part[5]);
	for (i = 0; i <= KMMV_SEM_DISCRETE; i++) {
		if (strcmp(word, semantics[i]) == 0) {
			f->sem = i;
			return true;
		}
	}
	return false;
}

/* Other properties, in the words of the names stream. */
static const char *rest_of(const struct kmmv_family_info *info)
{
	if (info->since_boot)
		return info->total ? "since=boot" : "since=boot total=no";
	return info->total ? "" : "total=no";
}

/* The family of a number, created if this process has not seen it; or NULL. */
static struct family *family_of(const struct id *id)
{
	struct family *f = families[id->number];
	char name[KEY_SIZE];
	size_t len = strcspn(id->name, ":");

	if (!f) {
		if (!id->name[len] || len >= sizeof(name))
			return NULL;
		memcpy(name, id->name, len);
		name[len] = '\0';
		f = make(name, id->number);
		if (!f)
			return NULL;
		if (!valid_name(name) || !read_key(f, id->name + len + 1)) {
			families[id->number] = NULL;
			free(f->name);
			free(f->oneline);
			free(f->help);
			free(f);
			return NULL;
		}
	}
	f->order = id->order;
	agent_carry_since(f, strstr(agent_id_rest(id), "since=boot") != NULL);
	f->total = strstr(agent_id_rest(id), "total=no") == NULL;
	return f;
}

void agent_family_load(void)
{
	int fid;

	lacking = false;
	for (fid = 0; fid < agent_id_limit(SERIAL_FAMILIES); fid++) {
		const struct id *id = agent_id_by_number(SERIAL_FAMILIES, fid);

		if (id)
			family_of(id);
	}
}

/*
 * Another family that has F's name, or one above or below it, and is behind ORDER;
 * or NULL.
 */
static const struct family *rival(const struct family *f, uint32_t order)
{
	int fid;

	for (fid = 0; fid < limit; fid++) {
		const struct family *other = families[fid];

		if (other && other != f && other->order > order &&
		    (strcmp(other->name, f->name) == 0 ||
		     agent_name_below(other->name, f->name) ||
		     agent_name_below(f->name, other->name)))
			return other;
	}
	return NULL;
}

bool agent_family_hidden(const struct family *f)
{
	return rival(f, f->order);
}

/* Not compared by number: a captured file's family has one of this process alone. */
static bool same_metric(const struct family *f, const struct family *other)
{
	return strcmp(f->name, other->name) == 0 && f->sem == other->sem &&
	       memcmp(&f->units, &other->units, sizeof(f->units)) == 0;
}

/*
 * A running pmlogger writes both metrics into one archive. The agent cannot see whether
 * that was repaired, so the error stays until a client detaches.
 */
static void tell_replaced(const struct family *f, const struct family *other)
{
	static const char what_to_do[] =
		"restart pmlogger; archives of both need pmlogrewrite";

	if (strcmp(f->name, other->name) == 0)
		agent_error(
			agent_name_errors,
			"family %s has other units or semantics than before: %s",
			f->name, what_to_do);
	else
		agent_error(agent_name_errors,
			    "family %s takes the place of %s: %s", f->name,
			    other->name, what_to_do);
}

static void replace(const struct family *f, char **text, const char *new)
{
	char *copy;

	if (strcmp(*text, new) == 0)
		return;
	copy = strdup(new);
	if (!copy) {
		agent_attach_no_memory("the help of %s", f->name);
		return;
	}
	free(*text);
	*text = copy;
}

static void add_number(const struct kmmv_family_info *info)
{
	char key[KEY_SIZE];

	make_key(info, key);
	if (!agent_id_find(SERIAL_FAMILIES, key))
		agent_id_add(agent_table_errors, SERIAL_FAMILIES,
			     fixed_number(key), key, rest_of(info));
}

static struct family *take(const struct kmmv_family_info *info, bool *new)
{
	char key[KEY_SIZE];
	const struct family *other;
	bool known, hidden, total;
	struct family *f;
	struct id *id;

	make_key(info, key);
	id = agent_id_find(SERIAL_FAMILIES, key);
	if (!id)
		return NULL;
	known = families[id->number];
	total = known && agent_family_has_total(families[id->number]);
	f = family_of(id);
	if (!f)
		return NULL;
	if (!known && pmDebugOptions.appl0)
		pmNotifyErr(LOG_DEBUG, "family %s: number %d", info->name,
			    id->number);
	/*
	 * A family in the table becomes the last in order, and so is not
	 * hidden.
	 */
	other = rival(f, known ? f->order : 0);
	hidden = known ? other != NULL : agent_family_hidden(f);
	if (other && !same_metric(f, other))
		tell_replaced(f, other);
	if (hidden || strcmp(agent_id_rest(id), rest_of(info)) != 0) {
		if (!agent_id_describe(id, rest_of(info)))
			agent_attach_no_memory("family %s", info->name);
		family_of(id);
	}
	*new |= hidden || !known || total != agent_family_has_total(f);
	f->source = info->source;
	replace(f, &f->oneline, info->oneline);
	replace(f, &f->help, info->help);
	f->present = true;
	return f;
}

static int compare_kids(const void *a, const void *b)
{
	const struct kid *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

bool agent_family_sync(struct kmmv *handle)
{
	const struct kmmv_family_info *info;
	struct kmmv_info table;
	struct kid *list;
	bool new = false;
	uint32_t i, n;

	kmmv_get_info(handle, &table);
	n = table.nr_families;
	list = calloc(n + 1, sizeof(*list));
	if (!list) {
		agent_attach_no_memory("%u families", n);
		return false;
	}
	free(kids);
	kids = list;
	agent_family_absent_all();
	/* Families that the device no longer has have metrics, too. */
	if (lacking) {
		agent_family_load();
		new = true;
	}
	for (i = 0; i < n; i++) {
		info = kmmv_family(handle, i);
		if (valid_name(info->name))
			add_number(info);
		else
			agent_error(agent_table_errors,
				    "family %s: cannot be a metric's name",
				    info->name);
	}
	agent_id_commit();
	for (i = 0; i < n; i++) {
		struct family *f;

		info = kmmv_family(handle, i);
		if (!valid_name(info->name))
			continue;
		f = take(info, &new);
		if (!f)
			continue;
		kids[nr_kids].id = info->id;
		kids[nr_kids++].family = f;
		present++;
	}
	qsort(kids, nr_kids, sizeof(*kids), compare_kids);
	if (new)
		pmdaExtSetFlags(agent_ext, PMDA_EXT_LABEL_CHANGE);
	return new;
}

void agent_family_absent_all(void)
{
	int i;

	for (i = 0; i < limit; i++) {
		if (families[i])
			families[i]->present = false;
	}
	present = 0;
	nr_kids = 0;
}

struct family *agent_family(int fid)
{
	return fid >= 0 && fid < limit ? families[fid] : NULL;
}

struct family *agent_family_by_name(const char *name)
{
	struct family *found = NULL;
	int fid;

	for (fid = 0; fid < limit; fid++) {
		struct family *f = families[fid];

		if (f && strcmp(f->name, name) == 0 &&
		    (!found || f->order > found->order))
			found = f;
	}
	return found;
}

struct family *agent_family_by_kid(uint32_t id)
{
	struct kid key = { .id = id };
	struct kid *kid;

	kid = bsearch(&key, kids, nr_kids, sizeof(*kids), compare_kids);
	return kid ? kid->family : NULL;
}

int agent_family_limit(void)
{
	return limit;
}

int agent_family_present(void)
{
	return present;
}

struct family *agent_family_of_indom(pmInDom indom, bool *percpu, int *fid)
{
	int serial = (int)pmInDom_serial(indom) - FIRST_SERIAL;

	*fid = -1;
	if (pmInDom_domain(indom) != (unsigned int)agent_domain || serial < 0)
		return NULL;
	*percpu = serial % 2;
	*fid = serial / 2;
	return agent_family(*fid);
}
