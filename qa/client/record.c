// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of a ring, and the results of writing them.
 *
 * A record checks itself: it has its writer, CPU, context, sequence number in
 * that writer and context, and length; the rest of it is derived from these.
 * The results of all tries are counted by CPU and context, each word by one
 * writer: kmmv_client/ring has a line for each,
 *
 *	CPU CONTEXT TRIES COMMITTED DISCARDED FULL COMMIT NESTED LARGE NMI
 *	BYTES DROPPED_BYTES OTHER
 *
 * BYTES is what the events take on a page, without times in front of them;
 * OTHER counts what should not happen.
 */
#include <linux/kmmv_ring.h>
#include <linux/seq_file.h>

#include "client.h"
#include "record.h"

DEFINE_PER_CPU(struct tally, client_tallies[CLIENT_CONTEXTS]);
int client_record_type = KMMV_EVENT_FIRST;
struct kmmv_ring_head client_record_head = {
	.event.type = KMMV_EVENT_FIRST,
	.event.instance = KMMV_EVENT_NO_INSTANCE,
};

static u32 event_bytes(u32 size)
{
	u32 array = ALIGN(size + (u32)sizeof(struct kmmv_event), 4);

	return array + (array > 4 * KMMV_RING_TYPE_LEN_MAX ? 8 : 4);
}

static void fill(void *to, const struct writer *writer, int context, int cpu,
		 u32 seq, u32 size)
{
	struct ring_record record = {
		.writer = writer->id,
		.cpu = cpu,
		.context = context,
		.storm = writer->storm,
		.seq = seq,
		.size = size,
		.mono = ktime_get_mono_fast_ns(),
	};
	u32 i, word = ring_record_seed(&record);
	u8 *bytes = to;

	memcpy(to, &record, sizeof(record));
	for (i = sizeof(record); i + 4 <= size; i += 4) {
		word = ring_record_next(word);
		memcpy(bytes + i, &word, 4);
	}
	word = ring_record_next(word);
	memcpy(bytes + i, &word, size - i);
}

static void refused(struct tally *tally, int err, u32 size)
{
	switch (err) {
	case -ENOSPC:
		tally->dropped[KMMV_DROP_FULL]++;
		break;
	case -EBUSY:
		tally->dropped[KMMV_DROP_COMMIT]++;
		break;
	case -ELOOP:
		tally->dropped[KMMV_DROP_NESTED]++;
		break;
	case -E2BIG:
		tally->dropped[KMMV_DROP_TOO_LARGE]++;
		break;
	case -EOPNOTSUPP:
		tally->dropped[KMMV_DROP_NMI]++;
		break;
	default:
		tally->other++;
		return;
	}
	tally->dropped_bytes += event_bytes(size);
}

/*
 * Fill and commit a reserved entry; preemption is disabled since the
 * reservation.
 */
void client_record_finish(struct writer *writer, struct tally *tally,
			  struct kmmv_ring_entry *entry, int context, u32 seq,
			  u32 size, bool discard)
{
	if (discard) {
		/* Readers must not see this. */
		memset(entry->payload, 0xa5, size);
		kmmv_ring_discard(entry);
		tally->discarded++;
		return;
	}
	fill(entry->payload, writer, context, smp_processor_id(), seq, size);
	kmmv_ring_commit(entry);
	tally->committed++;
	tally->bytes += event_bytes(size);
	writer->committed[context]++;
}

int client_record_reserve(struct writer *writer, struct tally *tally,
			  int context, u32 size, struct kmmv_ring_entry *entry,
			  u32 *seq)
{
	int err;

	tally->tries++;
	*seq = ++writer->sources[context].seq;
	if (*seq % 2)
		err = kmmv_ring_reserve(writer->ring, client_record_type, -1,
					size, entry);
	else
		err = kmmv_ring_reserve_head(writer->ring, client_record_head,
					     size, entry);
	if (err)
		refused(tally, err, size);
	return err;
}

/* By each function that writes a whole event. */
static int write_whole(struct kmmv_ring *ring, u32 seq, const u8 *record,
		       u32 size)
{
	struct kmmv_ring_head head = client_record_head;

	if (seq % 2)
		return kmmv_ring_write(ring, client_record_type, -1, record,
				       size);
	switch (size) {
	case 32:
		return kmmv_ring_write_head(ring, head, record, 32);
	case 64:
		return kmmv_ring_write_head(ring, head, record, 64);
	default:
		return kmmv_ring_write_head(ring, head, record, size);
	}
}

/* The ring reserves, fills and commits this one itself. */
static int write_small(struct writer *writer, struct tally *tally, int context,
		       u32 size)
{
	u8 record[SMALL];
	u32 seq = ++writer->sources[context].seq;
	int err;

	tally->tries++;
	fill(record, writer, context, smp_processor_id(), seq, size);
	err = write_whole(writer->ring, seq, record, size);
	if (err) {
		refused(tally, err, size);
		return err;
	}
	tally->committed++;
	tally->bytes += event_bytes(size);
	writer->committed[context]++;
	return 0;
}

int client_record_write(struct writer *writer, int context, u32 size,
			bool discard)
{
	struct kmmv_ring_entry entry;
	struct tally *tally;
	u32 seq;
	int err;

	preempt_disable();
	tally = this_cpu_ptr(&client_tallies[context]);
	if (size <= SMALL && !discard) {
		err = write_small(writer, tally, context, size);
	} else {
		err = client_record_reserve(writer, tally, context, size,
					    &entry, &seq);
		if (!err)
			client_record_finish(writer, tally, &entry, context,
					     seq, size, discard);
	}
	preempt_enable();
	return err;
}

void client_records_clear(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&client_tallies[0], cpu), 0,
		       sizeof(client_tallies));
}

static int tallies_show(struct seq_file *file, void *unused)
{
	struct tally *tally;
	int cpu, i, j;

	for_each_possible_cpu(cpu)
		for (i = 0; i < CLIENT_CONTEXTS; i++) {
			tally = per_cpu_ptr(&client_tallies[i], cpu);
			seq_printf(file, "%d %s %llu %llu %llu", cpu,
				   client_context_names[i], tally->tries,
				   tally->committed, tally->discarded);
			for (j = 0; j < KMMV_DROP_NR; j++)
				seq_printf(file, " %llu", tally->dropped[j]);
			seq_printf(file, " %llu %llu %llu\n", tally->bytes,
				   tally->dropped_bytes, tally->other);
		}
	return 0;
}

static int tallies_open(struct inode *inode, struct file *file)
{
	return single_open(file, tallies_show, NULL);
}

const struct file_operations client_ring_fops = {
	.owner = THIS_MODULE,
	.open = tallies_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};
