// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings: which there are, and kmmv.ring.*. Rings are the entries of the device
 * directory's "ring", listed when they are asked for. A ring that the agent does
 * not read is open only while its figures are, so that it is nobody's fault if
 * an administrator cannot change it.
 *
 * A ring's lasting number is bound to its name; that of a ring's CPU has the CPU
 * beside it, as kmmv.percpu has. Counts go on when a ring is
 * made anew.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "provider.h"
#include "ring.h"

uint64_t agent_ring_queue_bytes = 4 << 20;

enum {
	FIRST_ROW = 64, /* items below have an instance for each CPU */
	ITEM_RECORDS = FIRST_ROW,
	ITEM_MODE,
	ITEM_ENABLED,
	ITEM_READER,
	ITEM_QUEUE_EVENTS,
	ITEM_QUEUE_BYTES,
	ITEM_QUEUE_OVERRUN,
	ITEM_CLIENTS,
	FIRST_SINGLE = 96,
	ITEM_LIMIT = FIRST_SINGLE,
};

#define NONE  PMDA_PMUNITS(0, 0, 0, 0, 0, 0)
#define COUNT PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE)
#define BYTES PMDA_PMUNITS(1, 0, 0, PM_SPACE_BYTE, 0, 0)

static const struct metric {
	const char *name; /* below kmmv.ring. */
	int item;
	int type;
	int sem;
	pmUnits units;
	size_t offset; /* in struct kmmv_ring_stats, or 0 */
} metrics[] = {
#define STAT(name, item, sem, units, field)                     \
	{                                                       \
		name, item, PM_TYPE_U64, PM_SEM_##sem, units,   \
			offsetof(struct kmmv_ring_stats, field) \
	}
	{ "size", 0, PM_TYPE_U64, PM_SEM_DISCRETE, BYTES, 0 },
	STAT("reserved", 1, COUNTER, COUNT, events.reserved),
	STAT("written", 2, COUNTER, COUNT, events.written),
	STAT("read", 3, COUNTER, COUNT, events.released),
	STAT("overwritten", 4, COUNTER, COUNT, events.overwritten),
	STAT("discarded", 5, COUNTER, COUNT, events.discarded),
	STAT("inside", 6, INSTANT, COUNT, events.inside),
	STAT("taken", 7, INSTANT, COUNT, events.taken),
	STAT("lost", 8, COUNTER, COUNT, lost),
	STAT("dropped.full", 9, COUNTER, COUNT, dropped[KMMV_DROP_FULL]),
	STAT("dropped.commit", 10, COUNTER, COUNT, dropped[KMMV_DROP_COMMIT]),
	STAT("dropped.nested", 11, COUNTER, COUNT, dropped[KMMV_DROP_NESTED]),
	STAT("dropped.too_large", 12, COUNTER, COUNT,
	     dropped[KMMV_DROP_TOO_LARGE]),
	STAT("dropped.nmi", 13, COUNTER, COUNT, dropped[KMMV_DROP_NMI]),
	STAT("starved", 14, COUNTER, COUNT, starved),
	STAT("contended", 15, COUNTER, COUNT, contended),
	STAT("backwards", 16, COUNTER, COUNT, backwards),
	STAT("anomalies", 17, COUNTER, COUNT, anomalies),
	STAT("bytes.reserved", 18, COUNTER, BYTES, bytes.reserved),
	STAT("bytes.discarded", 19, COUNTER, BYTES, bytes.discarded),
	STAT("bytes.dropped", 20, COUNTER, BYTES, bytes.dropped),
	STAT("bytes.written", 21, COUNTER, BYTES, bytes.written),
	STAT("bytes.overwritten", 22, COUNTER, BYTES, bytes.overwritten),
	STAT("bytes.read", 23, COUNTER, BYTES, bytes.released),
	STAT("bytes.taken", 24, INSTANT, BYTES, bytes.taken),
	STAT("bytes.inside", 25, INSTANT, BYTES, bytes.inside),
#undef STAT
	{ "records", ITEM_RECORDS, PM_TYPE_EVENT, PM_SEM_INSTANT, NONE, 0 },
	{ "mode", ITEM_MODE, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE, 0 },
	{ "enabled", ITEM_ENABLED, PM_TYPE_U32, PM_SEM_DISCRETE, NONE, 0 },
	{ "reader", ITEM_READER, PM_TYPE_STRING, PM_SEM_DISCRETE, NONE, 0 },
	{ "queue.events", ITEM_QUEUE_EVENTS, PM_TYPE_U64, PM_SEM_INSTANT, COUNT,
	  0 },
	{ "queue.bytes", ITEM_QUEUE_BYTES, PM_TYPE_U64, PM_SEM_INSTANT, BYTES,
	  0 },
	{ "queue.overrun", ITEM_QUEUE_OVERRUN, PM_TYPE_U64, PM_SEM_COUNTER,
	  COUNT, 0 },
	{ "clients", ITEM_CLIENTS, PM_TYPE_U32, PM_SEM_INSTANT, COUNT, 0 },
	{ "queue.limit", ITEM_LIMIT, PM_TYPE_U64, PM_SEM_DISCRETE, BYTES, 0 },
};

#define NR_METRICS ((int)(sizeof(metrics) / sizeof(metrics[0])))

static struct ring *rings[MAX_RINGS];
static int limit;
static char *wanted; /* names, with a comma before and behind each */
static uint64_t reading; /* number of the last one */

static pmInDom row_indom(void)
{
	return pmInDom_build(agent_domain, SERIAL_RINGS);
}

static pmInDom cpu_indom(void)
{
	return pmInDom_build(agent_domain, SERIAL_RING_CPUS);
}

static bool is_cpus(pmInDom indom)
{
	return pmInDom_serial(indom) == SERIAL_RING_CPUS;
}

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

static void take(const char *name)
{
	char plain[AGENT_NAME_SIZE];
	struct id *id;

	agent_instance_sanitise(name, plain, sizeof(plain));
	if (strlen(name) > KMMV_RING_NAME_MAX || strchr(name, ',') ||
	    strcmp(name, plain) != 0) {
		agent_error("ring %s: cannot be an instance's name", plain);
		return;
	}
	id = agent_id_find(SERIAL_RINGS, name);
	if (!id) {
		agent_id_add(SERIAL_RINGS, -1, name, "");
		agent_id_commit();
		id = agent_id_find(SERIAL_RINGS, name);
	}
	if (id && (rings[id->number] || make(name, id->number)))
		rings[id->number]->present = true;
}

static void list(void)
{
	char path[MAXPATHLEN];
	struct dirent **names;
	int rid, i, count;

	for (rid = 0; rid < limit; rid++) {
		if (rings[rid])
			rings[rid]->present = false;
	}
	if (!agent_attach_handle())
		return;
	pmsprintf(path, sizeof(path), "%s/ring", agent_attach_device());
	count = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < count; i++) {
		const char *name = names[i]->d_name;

		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
			take(name);
		free(names[i]);
	}
	if (count >= 0)
		free(names);
}

/*
 * What was listed and read, was so by the handle that goes. Counts stay, and so
 * do clients: they go on with what is opened next.
 */
static void ring_forget(void)
{
	uint32_t cpu;
	int rid;

	for (rid = 0; rid < limit; rid++) {
		struct ring *r = rings[rid];

		if (!r)
			continue;
		agent_reader_close(r);
		r->present = false;
		r->status = -ENODEV;
		for (cpu = 0; cpu < r->nr_cpus; cpu++)
			r->cpus[cpu].alive = false;
	}
}

static uint64_t *stat_at(struct kmmv_ring_stats *stats, const struct metric *m)
{
	return (uint64_t *)((char *)stats + m->offset);
}

/* A new buffer counts from zero. */
static void carry_over(struct ring_cpu *cpu)
{
	int i;

	for (i = 0; i < NR_METRICS; i++) {
		const struct metric *m = &metrics[i];

		if (m->offset && m->sem == PM_SEM_COUNTER)
			*stat_at(&cpu->base, m) += *stat_at(&cpu->now, m);
	}
	memset(&cpu->now, 0, sizeof(cpu->now));
}

static int take_info(struct ring *r, struct kmmv_ring *handle)
{
	uint32_t cpu;
	void *p;

	kmmv_ring_get_info(handle, &r->info);
	if (r->info.nr_cpus > r->nr_cpus) {
		p = realloc(r->cpus, r->info.nr_cpus * sizeof(*r->cpus));
		if (!p)
			return -ENOMEM;
		r->cpus = p;
		memset(&r->cpus[r->nr_cpus], 0,
		       (r->info.nr_cpus - r->nr_cpus) * sizeof(*r->cpus));
		r->nr_cpus = r->info.nr_cpus;
	}
	if (r->epoch != r->info.epoch ||
	    r->incarnation != r->info.incarnation) {
		for (cpu = 0; cpu < r->nr_cpus; cpu++)
			carry_over(&r->cpus[cpu]);
		r->epoch = r->info.epoch;
		r->incarnation = r->info.incarnation;
	}
	return 0;
}

static bool possible(uint32_t cpu)
{
	return cpu < 1u << PERCPU_CPU_BITS && agent_attach_possible(cpu);
}

/*
 * A CPU that has no area has no figures either (-ENODEV). Which have one is asked
 * of each: there may be holes, and more of them than when the ring was opened.
 */
static int read_figures(struct ring *r, struct kmmv_ring *handle)
{
	struct kmmv_ring_stats stats;
	uint32_t cpu;
	int rc;

	rc = take_info(r, handle);
	if (rc < 0)
		return rc;
	for (cpu = 0; cpu < r->info.nr_cpus; cpu++) {
		if (!possible(cpu))
			continue;
		memset(&stats, 0, sizeof(stats));
		if (kmmv_ring_get_stats(handle, cpu, &stats) < 0)
			continue;
		r->cpus[cpu].now = stats;
		r->cpus[cpu].alive = true;
		r->enabled = stats.enabled;
	}
	return 0;
}

/* Once for each request. */
static void read_ring(struct ring *r)
{
	struct kmmv_ring *handle = r->reader.handle;
	uint32_t cpu;

	if (r->reading == reading)
		return;
	r->reading = reading;
	r->enabled = 0;
	r->status = 0;
	for (cpu = 0; cpu < r->nr_cpus; cpu++)
		r->cpus[cpu].alive = false;
	if (handle) {
		r->status = read_figures(r, handle);
		return;
	}
	r->status = kmmv_ring_open(agent_attach_device(), r->name, &handle);
	if (r->status < 0)
		return;
	r->status = read_figures(r, handle);
	kmmv_ring_close(handle);
}

/* What is asked for from now on is listed and read anew. */
static void list_anew(void)
{
	reading++;
	list();
}

static int cpu_id(const struct ring *r, uint32_t cpu)
{
	return r->rid << PERCPU_CPU_BITS | (int)cpu;
}

struct selection {
	bool listed;
	const int *ids;
	int count;
};

static bool selected(const struct selection *s, int id)
{
	bool found = s->count &&
		     bsearch(&id, s->ids, s->count, sizeof(id),
			     agent_indom_compare);

	return found == s->listed;
}

static int select_ids(pmInDom indom, const pmProfile *profile,
		      struct selection *s)
{
	return agent_indom_profile(indom, profile, &s->listed, &s->ids,
				   &s->count);
}

bool agent_ring_selected(const struct ring *r, const pmProfile *profile)
{
	struct selection s;

	return select_ids(row_indom(), profile, &s) == 0 &&
	       selected(&s, r->rid);
}

/* Of a ring (CPU -1) or of a ring's CPU. */
typedef void visit_fn(struct ring *r, int cpu, int id, void *data);

static void visit_cpus(struct ring *r, const struct selection *s,
		       visit_fn *visit, void *data)
{
	uint32_t cpu;

	read_ring(r);
	for (cpu = 0; cpu < r->nr_cpus; cpu++) {
		if (r->cpus[cpu].alive && selected(s, cpu_id(r, cpu)))
			visit(r, cpu, cpu_id(r, cpu), data);
	}
}

static int visit_all(pmInDom indom, const pmProfile *profile, visit_fn *visit,
		     void *data)
{
	struct selection s;
	int rid, rc;

	rc = select_ids(indom, profile, &s);
	if (rc < 0)
		return rc;
	for (rid = 0; rid < limit; rid++) {
		struct ring *r = rings[rid];

		if (!r || !r->present)
			continue;
		if (is_cpus(indom))
			visit_cpus(r, &s, visit, data);
		else if (selected(&s, rid))
			visit(r, -1, rid, data);
	}
	return 0;
}

static void count_one(struct ring *r, int cpu, int id, void *data)
{
	(void)r;
	(void)cpu;
	(void)id;
	++*(uint32_t *)data;
}

/* ---- values ---- */

static const struct metric *find(pmID pmid)
{
	int i;

	for (i = 0; i < NR_METRICS; i++) {
		if (metrics[i].item == (int)pmID_item(pmid))
			return &metrics[i];
	}
	return NULL;
}

static pmInDom indom_of(const struct metric *m)
{
	if (m->item >= FIRST_SINGLE)
		return PM_INDOM_NULL;
	return m->item >= FIRST_ROW ? row_indom() : cpu_indom();
}

struct values {
	const struct metric *metric;
	pmValueSet *set;
	uint32_t room, done;
};

static uint64_t number_of(struct ring *r, int cpu, const struct metric *m)
{
	switch (m->item) {
	case ITEM_QUEUE_EVENTS:
		return r->queue.events;
	case ITEM_QUEUE_BYTES:
		return r->queue.bytes;
	case ITEM_QUEUE_OVERRUN:
		return r->queue.overrun;
	}
	if (!m->offset)
		return (uint64_t)r->info.ring_pages * r->info.page_size;
	return *stat_at(&r->cpus[cpu].now, m) + *stat_at(&r->cpus[cpu].base, m);
}

static void put_number(struct ring *r, int cpu, int id, void *data)
{
	struct values *v = data;

	agent_values_put(v->set, v->room, v->done++, id, PM_TYPE_U64,
			 number_of(r, cpu, v->metric));
}

static pmValueSet *numbers(pmID pmid, const struct metric *m,
			   const pmProfile *profile)
{
	struct values v = { .metric = m };
	int rc;

	rc = visit_all(indom_of(m), profile, count_one, &v.room);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	v.set = agent_values_alloc(pmid, v.room);
	if (!v.set)
		return NULL;
	visit_all(indom_of(m), profile, put_number, &v);
	v.set->numval = v.done;
	return v.set;
}

static uint32_t nr_clients(const struct ring *r)
{
	const struct cursor *c;
	uint32_t n = 0;

	for (c = r->cursors; c; c = c->next)
		n++;
	return n;
}

static void put_small(struct ring *r, int cpu, int id, void *data)
{
	struct values *v = data;

	(void)cpu;
	read_ring(r);
	if (v->metric->item == ITEM_ENABLED && r->status < 0)
		return;
	v->set->vlist[v->done].inst = id;
	v->set->vlist[v->done++].value.lval =
		v->metric->item == ITEM_ENABLED ? r->enabled : nr_clients(r);
}

static const char *string_of(struct ring *r, const struct metric *m)
{
	if (m->item == ITEM_READER)
		return agent_reader_state(r);
	read_ring(r);
	if (r->status < 0)
		return NULL;
	return r->info.overwrite ? "overwrite" : "consume";
}

static void put_string(struct ring *r, int cpu, int id, void *data)
{
	struct values *v = data;
	const char *text = string_of(r, v->metric);

	(void)cpu;
	if (text)
		agent_values_put_string(v->set, v->room, v->done++, id, text);
}

static pmValueSet *rows(pmID pmid, const struct metric *m,
			const pmProfile *profile)
{
	bool strings = m->type == PM_TYPE_STRING;
	struct values v = { .metric = m };
	int rc;

	rc = visit_all(row_indom(), profile, count_one, &v.room);
	if (rc < 0)
		return agent_values_error(pmid, rc);
	v.set = strings ? agent_values_alloc_strings(pmid, v.room)
			: agent_values_alloc_u32(pmid, v.room);
	if (!v.set)
		return NULL;
	visit_all(row_indom(), profile, strings ? put_string : put_small, &v);
	v.set->numval = v.done;
	return v.set;
}

static pmValueSet *ring_fetch(pmID pmid, const struct request *req)
{
	const struct metric *m = find(pmid);

	if (!m)
		return agent_values_error(pmid, PM_ERR_PMID);
	if (m->item == ITEM_LIMIT)
		return agent_values_u64(pmid, agent_ring_queue_bytes);
	if (!agent_attach_handle())
		return agent_values_error(pmid, agent_attach_status());
	if (m->item == ITEM_RECORDS)
		return agent_records_value(pmid, req->ctx, req->profile);
	if (m->type == PM_TYPE_U64)
		return numbers(pmid, m, req->profile);
	return rows(pmid, m, req->profile);
}

static bool is_records(pmID pmid)
{
	return pmID_cluster(pmid) == CLUSTER_RING &&
	       pmID_item(pmid) == ITEM_RECORDS;
}

static void ring_prepare(const struct request *req)
{
	int i;

	list_anew();
	for (i = 0; i < req->count; i++) {
		if (!is_records(req->pmids[i]))
			continue;
		agent_records_prepare(req->ctx, req->profile);
		break;
	}
}

/* A filter is the client's own, and only for who may have events. */
static bool ring_may_store(int ctx, pmID pmid)
{
	return is_records(pmid) ? agent_access_events(ctx)
					   : agent_access_store(ctx);
}

static int ring_store(int ctx, const pmValueSet *set)
{
	pmAtomValue atom;
	int rid, rc;

	switch (pmID_item(set->pmid)) {
	case ITEM_RECORDS:
		return agent_records_filter(ctx, set);
	case ITEM_LIMIT:
		break;
	default:
		return find(set->pmid) ? PM_ERR_PERMISSION : PM_ERR_PMID;
	}
	if (set->numval != 1)
		return PM_ERR_VALUE;
	rc = pmExtractValue(set->valfmt, &set->vlist[0], PM_TYPE_U64, &atom,
			    PM_TYPE_U64);
	if (rc < 0)
		return rc;
	if (atom.ull > AGENT_QUEUE_MAX)
		return PM_ERR_BADSTORE;
	agent_ring_queue_bytes = atom.ull;
	for (rid = 0; rid < limit; rid++) {
		if (rings[rid])
			agent_queue_shrink(&rings[rid]->queue, atom.ull);
	}
	return 0;
}

/* ---- metadata ---- */

static int ring_desc(pmID pmid, pmDesc *desc)
{
	const struct metric *m = find(pmid);

	if (!m)
		return PM_ERR_PMID;
	desc->type = m->type;
	desc->indom = indom_of(m);
	desc->sem = m->sem;
	desc->units = m->units;
	return 0;
}

static void ring_names(add_name_fn *add)
{
	int i;

	for (i = NR_METRICS - 1; i >= 0; i--)
		add(pmID_build(agent_domain, CLUSTER_RING, metrics[i].item),
		    "ring.", metrics[i].name);
}

static int ring_indom_text(pmInDom indom, bool oneline, char *text, size_t size)
{
	bool cpus = is_cpus(indom);

	if (oneline)
		pmsprintf(text, size, cpus ? "rings on each CPU" : "rings");
	else
		pmsprintf(
			text, size,
			cpus ? "Ring buffers of events, kmmv/ring below /dev, on each CPU that has an area, as\n"
			       "RING::cpuN. Identifiers last, and are never given out again." :
			       "Ring buffers of events, kmmv/ring below /dev. Identifiers last, and are never\n"
			       "given out again.");
	return 0;
}

static void ring_indom_label(pmInDom indom, pmLabelSet **sets)
{
	pmdaAddLabels(sets, "{\"indom_name\":\"%s\"}",
		      is_cpus(indom) ? "per ring and cpu" : "per ring");
}

static void instance_name(const struct ring *r, int cpu, char *name,
			  size_t size)
{
	if (cpu < 0)
		pmsprintf(name, size, "%s", r->name);
	else
		pmsprintf(name, size, "%s::cpu%d", r->name, cpu);
}

struct listing {
	pmInResult *result;
	uint32_t done;
	bool failed;
};

static void list_one(struct ring *r, int cpu, int id, void *data)
{
	char name[AGENT_NAME_SIZE];
	struct listing *l = data;

	instance_name(r, cpu, name, sizeof(name));
	l->result->instlist[l->done] = id;
	l->result->namelist[l->done] = strdup(name);
	if (!l->result->namelist[l->done++])
		l->failed = true;
}

static int list_all(pmInDom indom, pmInResult **result)
{
	struct listing l = { 0 };
	uint32_t count = 0;
	int rc;

	rc = visit_all(indom, NULL, count_one, &count);
	if (rc < 0)
		return rc;
	l.result = agent_indom_alloc(indom, count, true, true);
	if (!l.result)
		return -ENOMEM;
	visit_all(indom, NULL, list_one, &l);
	if (l.failed) {
		agent_indom_free(l.result);
		return -ENOMEM;
	}
	*result = l.result;
	return 0;
}

struct query {
	const char *name;
	int id;
	char found[AGENT_NAME_SIZE];
};

static void match_one(struct ring *r, int cpu, int id, void *data)
{
	char name[AGENT_NAME_SIZE];
	struct query *q = data;

	instance_name(r, cpu, name, sizeof(name));
	if (q->name ? strcmp(q->name, name) != 0 : q->id != id)
		return;
	q->id = id;
	memcpy(q->found, name, sizeof(name));
}

static int ring_instance(pmInDom indom, int ctx, int inst, const char *name,
			 pmInResult **result)
{
	struct query q = { .name = name, .id = inst };
	pmInResult *res;
	int rc;

	(void)ctx;
	if (inst == (int)PM_IN_NULL && !name) {
		list_anew();
		return list_all(indom, result);
	}
	if (inst != (int)PM_IN_NULL && name)
		return PM_ERR_INST;
	/* Most ask for what they have just seen. */
	rc = visit_all(indom, NULL, match_one, &q);
	if (rc == 0 && !q.found[0]) {
		list_anew();
		rc = visit_all(indom, NULL, match_one, &q);
	}
	if (rc < 0 || !q.found[0])
		return rc < 0 ? rc : PM_ERR_INST;
	res = agent_indom_alloc(indom, 1, name != NULL, name == NULL);
	if (!res)
		return -ENOMEM;
	if (name)
		res->instlist[0] = q.id;
	else
		res->namelist[0] = strdup(q.found);
	if (!name && !res->namelist[0]) {
		agent_indom_free(res);
		return -ENOMEM;
	}
	*result = res;
	return 0;
}

struct labels {
	pmLabelSet *sets;
	uint32_t done;
};

static void label_one(struct ring *r, int cpu, int id, void *data)
{
	struct labels *l = data;
	pmLabelSet *set = &l->sets[l->done++];
	int rc;

	set->inst = id;
	if (cpu < 0)
		rc = pmdaAddLabels(&set, "{\"ring\":\"%s\"}", r->name);
	else
		rc = pmdaAddLabels(&set, "{\"ring\":\"%s\",\"cpu\":%d}",
				   r->name, cpu);
	if (rc < 0)
		return;
	set->nlabels = rc;
	pmdaAddLabelFlags(set, PM_LABEL_INSTANCES);
}

static int ring_instance_labels(pmInDom indom, pmLabelSet **sets,
				const pmProfile *profile)
{
	struct labels l = { 0 };
	uint32_t count = 0;
	int rc;

	list_anew();
	rc = visit_all(indom, profile, count_one, &count);
	if (rc < 0 || count == 0)
		return rc;
	l.sets = calloc(count, sizeof(*l.sets));
	if (!l.sets)
		return -ENOMEM;
	visit_all(indom, profile, label_one, &l);
	*sets = l.sets;
	return l.done;
}

const struct provider agent_ring_provider = {
	.forget = ring_forget,
	.names = ring_names,
	.desc = ring_desc,
	.prepare = ring_prepare,
	.fetch = ring_fetch,
	.may_store = ring_may_store,
	.store = ring_store,
	.instance = ring_instance,
	.indom_text = ring_indom_text,
	.indom_label = ring_indom_label,
	.instance_labels = ring_instance_labels,
};
