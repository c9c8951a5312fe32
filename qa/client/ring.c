// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ring buffers: the commands "ring ..." of the test client. RING is what
 * "ring get" said.
 *
 *	get NAME			kmmv_ring_get(): RING, or -errno
 *	make PAGES [NAME]		kmmv_ring_make(): RING, or -errno
 *	put RING			kmmv_ring_put()
 *	type NAME			kmmv_ring_register_type()
 *	trace RING INSTANCE		kmmv_ring_trace(); RING -1 is NULL
 *	mark RING CONTEXT CPU INSTANCE TEXT
 *	heads RING			checks prepared heads: 0, or the line of
 *					the first check that fails
 *	write RING CONTEXT CPU SIZE COUNT
 *					records; answers how many were refused
 *	discard RING CPU SIZE COUNT	records that are discarded
 *	nested RING CPU DEPTH SIZE COUNT
 *					records inside DEPTH writers: "REFUSED
 *					REFUSED", of the writers, of the records
 *	later RING CONTEXT CPU NS [COUNT]
 *					one record after NS; or COUNT, NS apart
 *	waking RING PID			a record whenever that task is woken;
 *					PID 0: stop
 *	nmi RING			a record at each NMI without a handler;
 *					RING -1: stop
 *	clear				reset the counts
 *	storm RING RECORDS [nmi]	see ringstorm.c
 */
#include <linux/cpumask.h>
#include <linux/kmmv_ring.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "client.h"
#include "record.h"

#define RINGS		8

static struct kmmv_ring *rings[RINGS];

/* The writer of single records; its commands run one at a time. */
static struct writer single = { .id = RING_RECORD_SINGLE };

/* ---- single records */

struct job {
	u32	size;
	u32	count;
	u32	refused;
	int	instance;
	char	*text;
	int	err;
};

static void write_records(void *argument)
{
	int context = client_context_now();
	struct job *job = argument;
	u32 i;

	for (i = 0; i < job->count; i++)
		job->refused += client_record_write(&single, context,
						    job->size, false) < 0;
}

static void discard_records(void *argument)
{
	struct job *job = argument;
	u32 i;

	for (i = 0; i < job->count; i++)
		job->refused += client_record_write(&single, CLIENT_TASK,
						    job->size, true) < 0;
}

static void mark(void *argument)
{
	struct job *job = argument;

	job->err = kmmv_ring_mark(single.ring, job->instance, job->text);
}

/* The incarnation of an event in the ring, which is then discarded. */
static int incarnation_of(const struct kmmv_ring_head *head, int instance)
{
	struct kmmv_ring_entry entry;
	const struct kmmv_event *event;
	int err;

	if (head)
		err = kmmv_ring_reserve_head(single.ring, *head, 8, &entry);
	else
		err = kmmv_ring_reserve(single.ring, client_record_type,
					instance, 8, &entry);
	if (err)
		return err;
	event = (const struct kmmv_event *)entry.payload - 1;
	err = event->instance == instance &&
			      event->type == client_record_type ?
		      event->incarnation :
		      -EPROTO;
	kmmv_ring_discard(&entry);
	return err;
}

/* Prepared heads. Return: 0, or the line of the first check that fails. */
static int heads(void)
{
	struct kmmv_ring_head head = {}, sink;
	u64 payload[2] = {};
	int instance, was;

#define CHECK(what)	do { if (!(what)) return __LINE__; } while (0)
#define SAYS(err)							\
	CHECK(kmmv_ring_write_head(single.ring, sink, payload, 8) == err && \
	      kmmv_ring_write_head(single.ring, sink, payload, 16) == err && \
	      incarnation_of(&sink, -1) == err)

	instance = perf_add("client:head");
	CHECK(instance > 0);
	sink = head;
	SAYS(-EINVAL);
	CHECK(!kmmv_ring_get_head(client_record_type, instance, &head));
	was = incarnation_of(&head, instance);
	CHECK(was >= 0 && incarnation_of(NULL, instance) == was);
	CHECK(!kmmv_ring_write_head(single.ring, head, payload, 8));
	CHECK(!kmmv_ring_write_head(single.ring, head, payload, 16));
	CHECK(!kmmv_ring_write_head(single.ring, head, payload, 3));
	/* The next owner of the number does not get the events. */
	perf_del(instance);
	CHECK(!perf_forget(instance));
	CHECK(incarnation_of(&head, instance) == was);
	CHECK(incarnation_of(NULL, instance) != was);
	CHECK(kmmv_ring_get_head(client_record_type, instance, &sink) == -ENOENT);
	SAYS(-ENOENT);
	CHECK(kmmv_ring_get_head(client_record_type, 0, &sink) == -ENOENT);
	SAYS(-ENOENT);
	CHECK(kmmv_ring_get_head(-ENFILE, instance, &sink) == -ENFILE);
	SAYS(-ENFILE);
	CHECK(kmmv_ring_get_head(client_record_type, -ENOSPC, &sink) == -ENOSPC);
	SAYS(-ENOSPC);
	CHECK(kmmv_ring_get_head(0, -1, &sink) == -EINVAL);
	SAYS(-EINVAL);
	CHECK(kmmv_ring_get_head(U16_MAX + 1, -1, &sink) == -EINVAL);
	SAYS(-EINVAL);
	return 0;
#undef SAYS
#undef CHECK
}

/* Nested writers, all in this thread. */
static int nested(u32 depth, u32 size, u32 count)
{
	struct kmmv_ring_entry *entries;
	u32 i, failed = 0, *seqs;
	struct tally *tally;

	if (depth > 64)
		return -EINVAL;
	entries = kcalloc(64, sizeof(*entries), GFP_KERNEL);
	seqs = kcalloc(64, sizeof(*seqs), GFP_KERNEL);
	if (!entries || !seqs) {
		failed = -ENOMEM;
		goto free;
	}
	preempt_disable();
	tally = this_cpu_ptr(&client_tallies[CLIENT_TASK]);
	for (i = 0; i < depth - failed; i++)
		if (client_record_reserve(&single, tally, CLIENT_TASK, 32,
					  &entries[i], &seqs[i])) {
			failed++;
			i--;
		}
	while (count--)
		client_record_write(&single, CLIENT_TASK, size, false);
	while (i--)
		client_record_finish(&single, tally, &entries[i], CLIENT_TASK,
				     seqs[i], 32, false);
	preempt_enable();
free:
	kfree(entries);
	kfree(seqs);
	return failed;
}

/* ---- commands */

static struct kmmv_ring *ring_of(const char *text)
{
	int i = -1;

	return sscanf(text, "%d", &i) == 1 && i >= 0 && i < RINGS ? rings[i] :
								    NULL;
}

/* With pages, made if there is none. */
static int get(const char *name, u32 pages)
{
	struct kmmv_ring *ring;
	int i;

	for (i = 0; i < RINGS && rings[i]; i++)
		continue;
	if (i == RINGS)
		return -EMFILE;
	ring = pages ? kmmv_ring_make(name, pages) : kmmv_ring_get(name);
	if (IS_ERR_OR_NULL(ring))
		return ring ? PTR_ERR(ring) : -ENOENT;
	rings[i] = ring;
	return i;
}

static int make(const char *text)
{
	int used = 0;
	u32 pages;

	if (sscanf(text, "%u%n", &pages, &used) != 1 || !pages)
		return -ENOMSG;
	return get(skip_spaces(text + used), pages);
}

static int put(const char *text)
{
	struct kmmv_ring *ring = ring_of(text);
	int i;

	if (!ring)
		return -EBADF;
	for (i = 0; i < RINGS; i++)
		if (rings[i] == ring)
			break;
	rings[i] = NULL;
	client_moment_end(ring);
	kmmv_ring_put(ring);
	return 0;
}

static int register_record(const char *name)
{
	static const struct kmmv_field fields[] = {
		{ "writer", KMMV_FIELD_UNSIGNED, 0, 2, NULL },
		{ "cpu", KMMV_FIELD_UNSIGNED, 2, 2, NULL },
		{ "context", KMMV_FIELD_UNSIGNED, 4, 2, NULL },
		{ "storm", KMMV_FIELD_UNSIGNED, 6, 2, NULL },
		{ "seq", KMMV_FIELD_UNSIGNED, 8, 4, NULL },
		{ "size", KMMV_FIELD_UNSIGNED, 12, 4, KMMV_UNITS_BYTES },
		{ "mono", KMMV_FIELD_UNSIGNED, 16, 8, NULL },
	};
	struct kmmv_event_type type = {
		.name = name,
		.oneline = "Records of the test client",
		.fields = fields,
		.nr_fields = ARRAY_SIZE(fields),
	};
	int number = kmmv_ring_register_type(&type);

	if (number >= 0)
		client_record_type = number;
	return kmmv_ring_get_head(client_record_type, -1,
				  &client_record_head) ?: number;
}

static int do_trace(const char *text)
{
	int ring, instance;

	if (sscanf(text, "%d %d", &ring, &instance) != 2)
		return -ENOMSG;
	return kmmv_ring_trace(ring_of(text), instance);
}

static int do_mark(char *text)
{
	struct job job = {};
	int ring, cpu, used = 0, context, err;
	char word[16];

	if (sscanf(text, "%d %15s %d %d %n", &ring, word, &cpu, &job.instance,
		   &used) != 4 || !used)
		return -ENOMSG;
	context = client_context_of(word);
	if (context < 0)
		return -ENOMSG;
	job.text = text + used;
	err = client_context_run(context, cpu, mark, &job);
	return err ?: job.err;
}

static int do_write(const char *text)
{
	int ring, cpu, context, err;
	struct job job = {};
	char word[16];

	if (sscanf(text, "%d %15s %d %u %u", &ring, word, &cpu, &job.size,
		   &job.count) != 5 || job.size < sizeof(struct ring_record))
		return -ENOMSG;
	context = client_context_of(word);
	if (context < 0)
		return -ENOMSG;
	err = client_context_run(context, cpu, write_records, &job);
	return err ?: job.refused;
}

static int do_discard(const char *text)
{
	struct job job = {};
	int ring, cpu, err;

	if (sscanf(text, "%d %d %u %u", &ring, &cpu, &job.size, &job.count) != 4)
		return -ENOMSG;
	err = client_context_run(CLIENT_TASK, cpu, discard_records, &job);
	return err ?: job.refused;
}

struct nested {
	u32	depth;
	u32	size;
	u32	count;
	int	failed;
};

static int do_nested(const char *text)
{
	struct nested n = {};
	int ring, cpu, err;
	cpumask_var_t before;

	if (sscanf(text, "%d %d %u %u %u", &ring, &cpu, &n.depth, &n.size,
		   &n.count) != 5 || n.size < sizeof(struct ring_record))
		return -ENOMSG;
	if (!alloc_cpumask_var(&before, GFP_KERNEL))
		return -ENOMEM;
	cpumask_copy(before, current->cpus_ptr);
	err = set_cpus_allowed_ptr(current, cpumask_of(cpu));
	if (!err)
		err = nested(n.depth, n.size, n.count);
	set_cpus_allowed_ptr(current, before);
	free_cpumask_var(before);
	return err;
}

/**
 * client_ring() - a command
 * @text: what follows "ring "
 * @answer: gets the result
 * @size: bytes of it
 */
void client_ring(char *text, char *answer, size_t size)
{
	const char *word = strsep(&text, " ");
	unsigned long long records;
	char option[8] = "";
	int err = -ENOMSG;

	text = text ?: "";
	single.ring = ring_of(text);
	if (!strcmp(word, "get"))
		err = get(text, 0);
	else if (!strcmp(word, "make"))
		err = make(text);
	else if (!strcmp(word, "type"))
		err = register_record(text);
	else if (!strcmp(word, "trace"))
		err = do_trace(text);
	else if (!strcmp(word, "nmi"))
		err = client_moment_nmi(single.ring);
	else if (!strcmp(word, "waking"))
		err = client_moment_waking(single.ring, text);
	else if (!strcmp(word, "clear"))
		client_records_clear(), err = 0;
	else if (!single.ring)
		err = -EBADF;
	else if (!strcmp(word, "put"))
		err = put(text);
	else if (!strcmp(word, "heads"))
		err = heads();
	else if (!strcmp(word, "mark"))
		err = do_mark(text);
	else if (!strcmp(word, "write"))
		err = do_write(text);
	else if (!strcmp(word, "discard"))
		err = do_discard(text);
	else if (!strcmp(word, "nested"))
		err = do_nested(text);
	else if (!strcmp(word, "later"))
		err = client_moment_later(single.ring, text);
	else if (!strcmp(word, "storm") &&
		 sscanf(text, "%*d %llu %7s", &records, option) >= 1)
		return client_ring_storm(single.ring, records,
					 !strcmp(option, "nmi"), answer, size);
	snprintf(answer, size, "%d\n", err);
}

void client_ring_init(void)
{
	client_moment_init();
}

void client_ring_exit(void)
{
	int i;

	client_moment_exit();
	for (i = 0; i < RINGS; i++)
		if (rings[i])
			kmmv_ring_put(rings[i]);
}
