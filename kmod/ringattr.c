// SPDX-License-Identifier: GPL-2.0-only
/* The files of a ring's directory in configfs. */
#include <linux/module.h>

#include "kmmv_configfs.h"
#include "rings.h"

/* The ring of a directory. */
struct kmmv_ring *kmmv_to_ring(struct config_item *item)
{
	return container_of(to_config_group(item), struct kmmv_ring, group);
}

static ssize_t ring_mode_show(struct config_item *item, char *page)
{
	bool overwrite = READ_ONCE(kmmv_to_ring(item)->overwrite);

	return sysfs_emit(page, "%s\n", overwrite ? "overwrite" : "consume");
}

static ssize_t ring_mode_store(struct config_item *item, const char *page,
			       size_t size)
{
	bool overwrite = sysfs_streq(page, "overwrite");
	int err;

	if (!overwrite && !sysfs_streq(page, "consume"))
		return -EINVAL;
	err = kmmv_ring_set_mode(kmmv_to_ring(item), overwrite);
	return err ?: size;
}
CONFIGFS_ATTR(ring_, mode);

static ssize_t ring_pages_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(kmmv_to_ring(item)->ring_pages));
}

static ssize_t ring_pages_store(struct config_item *item, const char *page,
				size_t size)
{
	u64 pages;
	int err;

	err = kmmv_number(page, U32_MAX, &pages);
	err = err ?: kmmv_ring_set_pages(kmmv_to_ring(item), pages);
	return err ?: size;
}
CONFIGFS_ATTR(ring_, pages);

static ssize_t ring_spares_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(kmmv_to_ring(item)->spares));
}

static ssize_t ring_spares_store(struct config_item *item, const char *page,
				 size_t size)
{
	u64 spares;
	int err;

	err = kmmv_number(page, U32_MAX, &spares);
	err = err ?: kmmv_ring_set_spares(kmmv_to_ring(item), spares);
	return err ?: size;
}
CONFIGFS_ATTR(ring_, spares);

static ssize_t ring_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(kmmv_to_ring(item)->enabled));
}

static ssize_t ring_enable_store(struct config_item *item, const char *page,
				 size_t size)
{
	u64 enable;
	int err;

	err = kmmv_number(page, U32_MAX, &enable);
	if (!err && enable > 1)
		err = -EINVAL;
	err = err ?: kmmv_ring_enable(kmmv_to_ring(item), enable);
	return err ?: size;
}
CONFIGFS_ATTR(ring_, enable);

static ssize_t ring_trace_show(struct config_item *item, char *page)
{
	return kmmv_hit_list(kmmv_to_ring(item), page, PAGE_SIZE);
}

/* NUMBER starts to trace an instance, -NUMBER stops. */
static ssize_t ring_trace_store(struct config_item *item, const char *page,
				size_t size)
{
	struct kmmv_ring *ring = kmmv_to_ring(item);
	bool end = *page == '-';
	u64 number;
	int err;

	err = kmmv_number(page + end, U32_MAX, &number);
	if (err)
		return err;
	if (number > INT_MAX)
		return -ENOENT;
	err = end ? kmmv_hit_unfollow(ring, number) :
		    kmmv_ring_trace(ring, number);
	return err ?: size;
}
CONFIGFS_ATTR(ring_, trace);

static struct configfs_attribute *ring_attrs[] = {
	&ring_attr_mode,
	&ring_attr_pages,
	&ring_attr_spares,
	&ring_attr_enable,
	&ring_attr_trace,
	NULL,
};

static void ring_release(struct config_item *item)
{
	kmmv_ring_free(kmmv_to_ring(item));
}

static struct configfs_item_operations ring_item_ops = {
	.release = ring_release,
};

static const struct config_item_type ring_type = {
	.ct_item_ops = &ring_item_ops,
	.ct_attrs = ring_attrs,
	.ct_owner = THIS_MODULE,
};

/* The directory of a ring, which is not visible yet. */
void kmmv_ringattr_init(struct kmmv_ring *ring, const char *name)
{
	config_group_init_type_name(&ring->group, name, &ring_type);
}
