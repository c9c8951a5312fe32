// SPDX-License-Identifier: LGPL-2.1-or-later
/* A handle: open, close, wait, refresh, and what is known of the area. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "handle.h"

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
		err = kmmv_read_on(k);
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
		return kmmv_fail(k, -errno, "%s/counters: copy: %s", k->dir,
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
