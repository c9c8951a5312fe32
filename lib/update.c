// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening a handle, and following changes of the table.
 *
 * Memory ordering; the writer's side is in kmod/core/change.c:
 *
 *	update_words:A  gen2 before the words, acquire  - change:B
 *	update_words:B  the words before gen1           - change:A
 *	update_words:B  counts before gen1              - change:D
 *	    with equal generations, the words are of one table.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "handle.h"
#include "barrier.h"

enum { TRIES_MAX = 64, SPINS = 16, NAP_MAX_NS = 4000000 };

/* The kernel and the C library name the type differently. */
static const uint64_t *kword(const __u64 *kword)
{
	return (const uint64_t *)kword;
}

/* A change takes microseconds: spin a little, then sleep, ever longer. */
bool kmmv_retry(struct kmmv *k, unsigned int *tries)
{
	struct timespec nap = { 0, 1000 };

	k->retries++;
	if (++*tries >= TRIES_MAX)
		return false;
	if (*tries < SPINS) {
		kmmv_relax();
		return true;
	}
	nap.tv_nsec <<= *tries - SPINS < 12 ? *tries - SPINS : 12;
	if (nap.tv_nsec > NAP_MAX_NS)
		nap.tv_nsec = NAP_MAX_NS;
	nanosleep(&nap, NULL);
	return true;
}

static int take_online(struct kmmv *k)
{
	uint32_t i;

	for (i = 0; i < k->mask_words; i++)
		if (k->scratch[i] & ~k->possible[i])
			return kmmv_fail(k, -EBADMSG,
					 "%s/counters: a CPU is online that is not possible",
					 k->dir);
	memcpy(k->online, k->scratch, k->mask_words * 8);
	return 0;
}

/* Read the header's words that belong to the table, of one generation. */
int kmmv_update_words(struct kmmv *k)
{
	unsigned int tries = 0;
	uint64_t generation;
	uint32_t i, slots_free;

	do {
		/* update_words:A pairs with change:B. */
		generation = kmmv_load64_acquire(kword(&k->kheader->gen2));
		slots_free = kmmv_load32(&k->kheader->slots_free);
		for (i = 0; i < k->mask_words; i++)
			k->scratch[i] = kmmv_load64(&k->konline[i]);
		/* update_words:B pairs with change:A, change:D. */
		kmmv_rmb();
		if (kmmv_load64(kword(&k->kheader->gen1)) == generation) {
			k->slots_free = slots_free;
			return take_online(k);
		}
	} while (kmmv_retry(k, &tries));
	return kmmv_fail(k, -EAGAIN, "%s: the table keeps changing; try again",
			 k->dir);
}

/* Read the names up to the header's generation, and what depends on them. */
static int read_on(struct kmmv *k)
{
	unsigned int tries = 0;
	uint64_t target;
	int err;

	for (;;) {
		/* update_words:A as well: the names are read after it. */
		target = kmmv_load64_acquire(kword(&k->kheader->gen2));
		err = kmmv_names_read(k, target);
		if (err != -EAGAIN || k->kind == KMMV_CAPTURED)
			break;
		if (!kmmv_retry(k, &tries))
			return kmmv_fail(k, -EAGAIN,
					 "%s: the names do not reach the counters' generation; try again",
					 k->dir);
	}
	if (!err)
		err = kmmv_extent_read(k);
	if (!err && k->table.nr > k->nr_instances)
		err = kmmv_fail(k, -EBADMSG,
				"%s: the names have instance %u, the counters only %u",
				k->dir, k->table.nr - 1, k->nr_instances);
	if (!err)
		err = kmmv_update_words(k);
	if (!err)
		k->generation = k->stream.generation;
	return err;
}

/* A captured table does not change, so its parts must agree at once. */
static int open_table(struct kmmv *k)
{
	int err = 0;

	if (k->kind == KMMV_CAPTURED && k->header.gen1 != k->header.gen2)
		return kmmv_fail(k, -EBADMSG,
				 "%s/counters: copied amid a change; use kmmvdump --capture",
				 k->dir);
	err = kmmv_extent_read(k);
	if (!err)
		err = read_on(k);
	if (k->kind == KMMV_CAPTURED && (!err || err == -EAGAIN) &&
	    k->stream.generation != k->header.gen2)
		err = kmmv_fail(k, -EBADMSG,
				"%s: names and counters are of different generations; capture them again",
				k->dir);
	return err;
}

int kmmv_open(const char *dir, struct kmmv **handle)
{
	struct kmmv *k = calloc(1, sizeof(*k));
	int err;

	*handle = NULL;
	if (!k) {
		kmmv_fail_open(NULL);
		return -ENOMEM;
	}
	err = kmmv_map_open(k, dir);
	if (!err)
		err = kmmv_table_init(k);
	if (!err)
		err = open_table(k);
	if (err) {
		kmmv_fail_open(k);
		kmmv_close(k);
		return err;
	}
	k->stream.changed = false;
	k->stream.moved = false;
	*handle = k;
	return 0;
}

void kmmv_close(struct kmmv *k)
{
	if (!k)
		return;
	kmmv_table_fini(k);
	kmmv_map_close(k);
	free(k);
}

/* A file in place of a device may have been replaced. */
static bool is_replaced(const struct kmmv *k)
{
	struct stat st;
	char path[4096];

	if (k->kind != KMMV_SEALED)
		return false;
	if ((size_t)snprintf(path, sizeof(path), "%s/counters", k->dir) >=
	    sizeof(path))
		return false;
	return stat(path, &st) || st.st_dev != k->dev || st.st_ino != k->ino;
}

static int update(struct kmmv *k)
{
	if (kmmv_load64(kword(&k->kheader->epoch)) != k->header.epoch ||
	    is_replaced(k))
		return kmmv_fail(k, -ESTALE,
				 "%s: the module was loaded again; open the device again",
				 k->dir);
	/* update_words:A as well: no change has begun since. */
	if (kmmv_load64_acquire(kword(&k->kheader->gen2)) == k->generation &&
	    kmmv_load64(kword(&k->kheader->gen1)) == k->generation)
		return kmmv_extent_read(k);
	return read_on(k);
}

int kmmv_update(struct kmmv *k)
{
	uint64_t before = k->generation;
	bool changed;
	int err;

	kmmv_infos_give_back(k);
	if (k->kind == KMMV_CAPTURED)
		return 0;
	if (k->broken)
		return k->broken;
	err = update(k);
	if (err == -ESTALE || err == -EBADMSG || err == -EOPNOTSUPP ||
	    err == -ENOMEM)
		k->broken = err;
	/*
	 * Values are checked against the last complete batch: a caller that
	 * keeps numbers must learn of it, even while the rest keeps changing.
	 */
	if (err && (err != -EAGAIN || !k->stream.moved))
		return err;
	changed = k->stream.changed || k->generation != before;
	k->stream.changed = false;
	k->stream.moved = false;
	return changed;
}

int kmmv_pollfd(const struct kmmv *k)
{
	return k->kind == KMMV_DEVICE ? k->names_fd : -ENODEV;
}

int kmmv_wait(struct kmmv *k, int timeout_ms)
{
	struct pollfd pollfd = { .fd = k->names_fd, .events = POLLIN };
	int n;

	if (k->kind != KMMV_DEVICE)
		return kmmv_fail(k, -ENODEV, "%s: not a device, so it cannot be waited for",
				 k->dir);
	n = poll(&pollfd, 1, timeout_ms);
	if (n < 0)
		return kmmv_fail(k, -errno, "%s/names: %s", k->dir,
				 strerror(errno));
	if (n && !(pollfd.revents & POLLIN))
		return kmmv_fail(k, -EUSERS,
				 "%s/names: too many wait for this file; open the device once more",
				 k->dir);
	return n;
}

int kmmv_refresh(struct kmmv *k, uint64_t max_age_ns, uint64_t *age_ns)
{
	struct kmmv_refresh refresh = { .max_age = max_age_ns };

	if (age_ns)
		*age_ns = 0;
	if (k->kind != KMMV_DEVICE)
		return 0;
	if (ioctl(k->counters_fd, KMMV_IOC_REFRESH, &refresh))
		return kmmv_fail(k, -errno, "%s/counters: refresh: %s", k->dir,
				 strerror(errno));
	if (age_ns)
		*age_ns = refresh.age;
	return 0;
}

void kmmv_get_info(const struct kmmv *k, struct kmmv_info *info)
{
	const struct kmmv_header *h = &k->header;

	*info = (struct kmmv_info){
		.major = h->major,
		.minor = h->minor,
		.features = h->features_compat,
		.epoch = h->epoch,
		.generation = k->generation,
		.page_size = h->page_size,
		.nr_cpus = h->nr_cpus,
		.nr_possible = k->nr_areas,
		.nr_online = kmmv_mask_weight(k->online, k->mask_words),
		.capacity = h->capacity,
		.nr_instances = k->nr_instances,
		.slots_free = k->slots_free,
		.nr_families = k->table.nr_families,
		.mapped = k->map_length,
		.live = k->kind != KMMV_CAPTURED,
		.retries = k->retries,
		.rereads = k->rereads,
	};
}

bool kmmv_cpu_possible(const struct kmmv *k, uint32_t cpu)
{
	return cpu < k->header.nr_cpus && kmmv_mask_test(k->possible, cpu);
}

bool kmmv_cpu_online(const struct kmmv *k, uint32_t cpu)
{
	return cpu < k->header.nr_cpus && kmmv_mask_test(k->online, cpu);
}
