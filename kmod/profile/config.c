// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/config/kmmv/profile, as oprofilefs was: its users' scripts know the
 * names. A directory made in events holds the module.
 */
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kmmv_configfs.h"
#include "profile.h"

static int bool_of(const char *text, bool *value)
{
	u64 number = 0;
	int err;

	err = kmmv_number(text, U64_MAX, &number);
	if (!err && number > 1)
		err = -EINVAL;
	*value = number;
	return err;
}

/* ---- events */

static struct kmmv_profile_event *to_event(struct config_item *item)
{
	return container_of(to_config_group(item), struct kmmv_profile_event,
			    group);
}

static ssize_t event_event_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", to_event(item)->what);
}

static void set_what(struct kmmv_profile_event *event, const void *value)
{
	strscpy(event->what, value, sizeof(event->what));
}

static ssize_t event_event_store(struct config_item *item, const char *page,
				 size_t size)
{
	char what[sizeof(to_event(item)->what)];
	int err;

	if (strscpy(what, page, sizeof(what)) < 0)
		return -ENAMETOOLONG;
	err = kmmv_profile_event_change(to_event(item), set_what, strim(what));
	return err ?: size;
}
CONFIGFS_ATTR(event_, event);

static ssize_t event_count_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", to_event(item)->count);
}

static void set_count(struct kmmv_profile_event *event, const void *value)
{
	event->count = *(const u64 *)value;
}

static ssize_t event_count_store(struct config_item *item, const char *page,
				 size_t size)
{
	u64 count;
	int err;

	err = kmmv_number(page, U64_MAX, &count);
	err = err
		      ?: kmmv_profile_event_change(to_event(item), set_count,
						   &count);
	return err ?: size;
}
CONFIGFS_ATTR(event_, count);

static ssize_t event_freq_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", to_event(item)->freq);
}

static void set_freq(struct kmmv_profile_event *event, const void *value)
{
	event->freq = *(const u64 *)value;
	event->count = 0;
}

static ssize_t event_freq_store(struct config_item *item, const char *page,
				size_t size)
{
	u64 freq;
	int err;

	err = kmmv_number(page, kmmv_profile_max_freq, &freq);
	if (!err && !freq)
		err = -ERANGE;
	err = err ?: kmmv_profile_event_change(to_event(item), set_freq, &freq);
	return err ?: size;
}
CONFIGFS_ATTR(event_, freq);

static ssize_t event_unit_mask_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%llu\n", to_event(item)->unit_mask);
}

static void set_mask(struct kmmv_profile_event *event, const void *value)
{
	event->unit_mask = *(const u64 *)value;
}

static ssize_t event_unit_mask_store(struct config_item *item, const char *page,
				     size_t size)
{
	u64 mask;
	int err;

	err = isdigit(*page) ? kstrtou64(page, 0, &mask) : -EINVAL;
	if (!err && mask > 0xff)
		err = -ERANGE;
	err = err ?: kmmv_profile_event_change(to_event(item), set_mask, &mask);
	return err ?: size;
}
CONFIGFS_ATTR(event_, unit_mask);

#define EVENT_BOOL(member)                                                   \
	static ssize_t event_##member##_show(struct config_item *item,       \
					     char *page)                     \
	{                                                                    \
		return sysfs_emit(page, "%d\n", to_event(item)->member);     \
	}                                                                    \
	\
	static void set_##member(struct kmmv_profile_event *event,           \
				 const void *value)                          \
	{                                                                    \
		event->member = *(const bool *)value;                        \
	}                                                                    \
	\
	static ssize_t event_##member##_store(struct config_item *item,      \
					      const char *page, size_t size) \
	{                                                                    \
		bool value;                                                  \
		int err;                                                     \
	\
		err = bool_of(page, &value);                                 \
		err = err                                                    \
			      ?: kmmv_profile_event_change(to_event(item),   \
							   set_##member,     \
							   &value);          \
		return err ?: size;                                          \
	}                                                                    \
	CONFIGFS_ATTR(event_, member)

EVENT_BOOL(kernel);
EVENT_BOOL(user);
EVENT_BOOL(enabled);

static ssize_t event_error_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", to_event(item)->error);
}
CONFIGFS_ATTR_RO(event_, error);

static struct configfs_attribute *event_attrs[] = {
	&event_attr_event,     &event_attr_count,  &event_attr_freq,
	&event_attr_unit_mask, &event_attr_kernel, &event_attr_user,
	&event_attr_enabled,   &event_attr_error,  NULL,
};

static void event_release(struct config_item *item)
{
	struct kmmv_profile_event *event = to_event(item);

	/* The default one is freed by control.c. */
	if (event == kmmv_profile_default())
		return;
	kmmv_profile_event_free(event);
	kfree(event);
}

static struct configfs_item_operations event_item_ops = {
	.release = event_release,
};

static const struct config_item_type event_type = {
	.ct_item_ops = &event_item_ops,
	.ct_attrs = event_attrs,
	.ct_owner = THIS_MODULE,
};

static int name_check(const char *name)
{
	for (; *name; name++)
		if (!isascii(*name) ||
		    (!isalnum(*name) && !strchr("_-.", *name)))
			return -EINVAL;
	return 0;
}

static struct config_group *events_make_group(struct config_group *group,
					      const char *name)
{
	struct kmmv_profile_event *event;
	int err;

	err = name_check(name);
	if (err)
		return ERR_PTR(err);
	event = kzalloc(sizeof(*event), GFP_KERNEL);
	if (!event)
		return ERR_PTR(-ENOMEM);
	err = kmmv_profile_event_init(event, name);
	if (err)
		goto err_kfree;
	err = kmmv_profile_event_add(event);
	if (err)
		goto err_free;
	config_group_init_type_name(&event->group, name, &event_type);
	return &event->group;

err_free:
	kmmv_profile_event_free(event);
err_kfree:
	kfree(event);
	return ERR_PTR(err);
}

static void events_drop_item(struct config_group *group,
			     struct config_item *item)
{
	kmmv_profile_event_remove(to_event(item));
	config_item_put(item);
}

static struct configfs_group_operations events_group_ops = {
	.make_group = events_make_group,
	.drop_item = events_drop_item,
};

static const struct config_item_type events_type = {
	.ct_group_ops = &events_group_ops,
	.ct_owner = THIS_MODULE,
};

/* ---- stats; per CPU and in total */

/**
 * struct stat_cpu - a directory of a CPU's counts
 * @group: the directory
 * @cpu: the CPU
 */
struct stat_cpu {
	struct config_group group;
	int cpu;
};

static struct stat_cpu *stat_cpus;

static int cpu_of(struct config_item *item)
{
	return container_of(to_config_group(item), struct stat_cpu, group)->cpu;
}

static u64 on_cpu(struct config_item *item, enum kmmv_profile_self self)
{
	return kmmv_load(kmmv_profile_self[self], cpu_of(item));
}

static u64 in_total(struct config_item *item, enum kmmv_profile_self self)
{
	return kmmv_profile_self_sum(self);
}

static u64 inside_in_total(void)
{
	u64 inside = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		inside += kmmv_profile_inside(cpu);
	return inside;
}

#define STAT(of, called, what)                                        \
	static ssize_t of##_##called##_show(struct config_item *item, \
					    char *page)               \
	{                                                             \
		return sysfs_emit(page, "%llu\n", what);              \
	}                                                             \
	CONFIGFS_ATTR_RO(of##_, called)

#define RECEIVED(of)                                                       \
	(of(item, KMMV_PROFILE_S_KERNEL) + of(item, KMMV_PROFILE_S_USER) + \
	 of(item, KMMV_PROFILE_S_IDLE))

STAT(cpu, sample_received, RECEIVED(on_cpu));
STAT(cpu, sample_idle, on_cpu(item, KMMV_PROFILE_S_IDLE));
STAT(cpu, sample_not_kept, on_cpu(item, KMMV_PROFILE_W_IDLE));
STAT(cpu, sample_delivered, on_cpu(item, KMMV_PROFILE_W_DELIVERED));
STAT(cpu, sample_inside, kmmv_profile_inside(cpu_of(item)));
STAT(cpu, sample_lost_overflow, on_cpu(item, KMMV_PROFILE_L_OVERFLOW));
STAT(cpu, event_lost_overflow, on_cpu(item, KMMV_PROFILE_L_RING));
STAT(cpu, event_lost_disabled, on_cpu(item, KMMV_PROFILE_L_DISABLED));
STAT(cpu, sample_lost_no_mm, on_cpu(item, KMMV_PROFILE_W_NO_MM));
STAT(cpu, sample_lost_no_mapping, on_cpu(item, KMMV_PROFILE_W_NO_MAPPING));
STAT(cpu, sample_no_symbol, on_cpu(item, KMMV_PROFILE_W_NO_SYMBOL));
STAT(cpu, sample_backed_off, on_cpu(item, KMMV_PROFILE_M_BACKOFF));
STAT(cpu, sample_throttled, on_cpu(item, KMMV_PROFILE_M_THROTTLED));
STAT(cpu, sample_late, on_cpu(item, KMMV_PROFILE_M_LATE));

static struct configfs_attribute *cpu_attrs[] = {
	&cpu_attr_sample_received,
	&cpu_attr_sample_idle,
	&cpu_attr_sample_not_kept,
	&cpu_attr_sample_delivered,
	&cpu_attr_sample_inside,
	&cpu_attr_sample_lost_overflow,
	&cpu_attr_event_lost_overflow,
	&cpu_attr_event_lost_disabled,
	&cpu_attr_sample_lost_no_mm,
	&cpu_attr_sample_lost_no_mapping,
	&cpu_attr_sample_no_symbol,
	&cpu_attr_sample_backed_off,
	&cpu_attr_sample_throttled,
	&cpu_attr_sample_late,
	NULL,
};

static const struct config_item_type cpu_type = {
	.ct_attrs = cpu_attrs,
	.ct_owner = THIS_MODULE,
};

STAT(total, sample_received, RECEIVED(in_total));
STAT(total, sample_idle, in_total(item, KMMV_PROFILE_S_IDLE));
STAT(total, sample_not_kept, in_total(item, KMMV_PROFILE_W_IDLE));
STAT(total, sample_delivered, in_total(item, KMMV_PROFILE_W_DELIVERED));
STAT(total, sample_inside, inside_in_total());
STAT(total, sample_lost_overflow, in_total(item, KMMV_PROFILE_L_OVERFLOW));
STAT(total, event_lost_overflow, in_total(item, KMMV_PROFILE_L_RING));
STAT(total, event_lost_disabled, in_total(item, KMMV_PROFILE_L_DISABLED));
STAT(total, sample_lost_no_mm, in_total(item, KMMV_PROFILE_W_NO_MM));
STAT(total, sample_lost_no_mapping, in_total(item, KMMV_PROFILE_W_NO_MAPPING));
STAT(total, sample_no_symbol, in_total(item, KMMV_PROFILE_W_NO_SYMBOL));
STAT(total, sample_backed_off, in_total(item, KMMV_PROFILE_M_BACKOFF));
STAT(total, sample_throttled, in_total(item, KMMV_PROFILE_M_THROTTLED));
STAT(total, sample_late, in_total(item, KMMV_PROFILE_M_LATE));
STAT(total, backoffs, in_total(item, KMMV_PROFILE_W_BACKOFFS));

static struct configfs_attribute *total_attrs[] = {
	&total_attr_sample_received,
	&total_attr_sample_idle,
	&total_attr_sample_not_kept,
	&total_attr_sample_delivered,
	&total_attr_sample_inside,
	&total_attr_sample_lost_overflow,
	&total_attr_event_lost_overflow,
	&total_attr_event_lost_disabled,
	&total_attr_sample_lost_no_mm,
	&total_attr_sample_lost_no_mapping,
	&total_attr_sample_no_symbol,
	&total_attr_sample_backed_off,
	&total_attr_sample_throttled,
	&total_attr_sample_late,
	&total_attr_backoffs,
	NULL,
};

static const struct config_item_type total_type = {
	.ct_attrs = total_attrs,
	.ct_owner = THIS_MODULE,
};

/* ---- the directory itself */

static ssize_t profile_enable_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", kmmv_profile_enabled());
}

static ssize_t profile_enable_store(struct config_item *item, const char *page,
				    size_t size)
{
	bool enable;
	int err;

	err = bool_of(page, &enable);
	err = err ?: kmmv_profile_enable(enable);
	return err ?: size;
}
CONFIGFS_ATTR(profile_, enable);

static ssize_t profile_buffer_size_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", kmmv_profile_get_buffer());
}

static ssize_t profile_buffer_size_store(struct config_item *item,
					 const char *page, size_t size)
{
	u64 samples;
	int err;

	err = kmmv_number(page, U32_MAX, &samples);
	err = err ?: kmmv_profile_set_buffer(samples);
	return err ?: size;
}
CONFIGFS_ATTR(profile_, buffer_size);

static ssize_t profile_buffer_watershed_show(struct config_item *item,
					     char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(kmmv_profile_watershed));
}

static ssize_t profile_buffer_watershed_store(struct config_item *item,
					      const char *page, size_t size)
{
	u64 samples;
	int err;

	err = kmmv_number(page, U32_MAX, &samples);
	if (!err && !samples)
		err = -ERANGE;
	if (!err)
		WRITE_ONCE(kmmv_profile_watershed, samples);
	return err ?: size;
}
CONFIGFS_ATTR(profile_, buffer_watershed);

#define PROFILE_BOOL(called, variable)                                         \
	static ssize_t profile_##called##_show(struct config_item *item,       \
					       char *page)                     \
	{                                                                      \
		return sysfs_emit(page, "%d\n", READ_ONCE(variable));          \
	}                                                                      \
	\
	static ssize_t profile_##called##_store(struct config_item *item,      \
						const char *page, size_t size) \
	{                                                                      \
		bool value;                                                    \
		int err;                                                       \
	\
		err = bool_of(page, &value);                                   \
		if (!err)                                                      \
			WRITE_ONCE(variable, value);                           \
		return err ?: size;                                            \
	}                                                                      \
	CONFIGFS_ATTR(profile_, called)

PROFILE_BOOL(idle, kmmv_profile_idle);
PROFILE_BOOL(stack, kmmv_profile_stacks);

static ssize_t profile_source_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%s\n", kmmv_profile_source_name());
}
CONFIGFS_ATTR_RO(profile_, source);

/* OProfile's word for a machine without a counter, whatever the clock. */
static ssize_t profile_cpu_type_show(struct config_item *item, char *page)
{
	enum kmmv_profile_source by = READ_ONCE(kmmv_profile_default()->source);
	bool perf = by == KMMV_PROFILE_PMU || by == KMMV_PROFILE_EVENT;

	return sysfs_emit(page, "%s\n", perf ? "perf" : "timer");
}
CONFIGFS_ATTR_RO(profile_, cpu_type);

static ssize_t profile_pointer_size_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%zu\n", sizeof(void *));
}
CONFIGFS_ATTR_RO(profile_, pointer_size);

static ssize_t profile_error_show(struct config_item *item, char *page)
{
	return kmmv_profile_errors(page);
}
CONFIGFS_ATTR_RO(profile_, error);

static struct configfs_attribute *profile_attrs[] = {
	&profile_attr_enable,
	&profile_attr_buffer_size,
	&profile_attr_buffer_watershed,
	&profile_attr_idle,
	&profile_attr_stack,
	&profile_attr_source,
	&profile_attr_cpu_type,
	&profile_attr_pointer_size,
	&profile_attr_error,
	NULL,
};

static const struct config_item_type profile_type = {
	.ct_attrs = profile_attrs,
	.ct_owner = THIS_MODULE,
};

static struct config_group profile_group, events_group, stats_group;

/* With a directory for each CPU that there may be. */
static int stats_add(void)
{
	char name[16];
	int cpu;

	stat_cpus = kvcalloc(nr_cpu_ids, sizeof(*stat_cpus), GFP_KERNEL);
	if (!stat_cpus)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct stat_cpu *of = &stat_cpus[cpu];

		of->cpu = cpu;
		snprintf(name, sizeof(name), "cpu%d", cpu);
		config_group_init_type_name(&of->group, name, &cpu_type);
		configfs_add_default_group(&of->group, &stats_group);
	}
	return 0;
}

/**
 * kmmv_profile_config_init() - make the directory
 *
 * Return: 0; -EEXIST; -ENOMEM.
 */
int kmmv_profile_config_init(void)
{
	struct kmmv_profile_event *first = kmmv_profile_default();
	int err;

	config_group_init_type_name(&profile_group, "profile", &profile_type);
	config_group_init_type_name(&events_group, "events", &events_type);
	config_group_init_type_name(&stats_group, "stats", &total_type);
	config_group_init_type_name(&first->group, KMMV_PROFILE_DEFAULT,
				    &event_type);
	configfs_add_default_group(&events_group, &profile_group);
	configfs_add_default_group(&stats_group, &profile_group);
	configfs_add_default_group(&first->group, &events_group);
	err = stats_add();
	if (err)
		return err;
	err = kmmv_register_directory(&profile_group);
	if (err)
		kvfree(stat_cpus);
	return err;
}

void kmmv_profile_config_exit(void)
{
	kmmv_unregister_directory(&profile_group);
	kvfree(stat_cpus);
}
