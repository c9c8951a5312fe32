// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters in configfs: /sys/kernel/config/kmmv/trace/NAME. mkdir makes one;
 * rmdir has it stop counting, if ftrace is not dead, and keeps its numbers for
 * the next one of that name.
 */
#include <linux/slab.h>

#include "kmmv_configfs.h"
#include "name.h"
#include "trace.h"

#define KEYS_DEFAULT	64
/*
 * A histogram by so many keys takes 34 MB for each CPU, and each hit with yet
 * another key looks at all cells.
 */
#define KEYS_MAX	65536U

static struct kmmv_trace_counter *to_counter(struct config_item *item)
{
	return container_of(item, struct kmmv_trace_counter, item);
}

static int may_change(struct kmmv_trace_counter *counter)
{
	if (!kmmv_trace_enabled(counter))
		return 0;
	return kmmv_trace_fail(counter, -EBUSY,
			       "the counter is enabled: write 0 to enable first");
}

static const char * const syntax[KMMV_TRACE_TEXTS] = {
	[KMMV_TRACE_TRACEPOINT] = "not a tracepoint's name: SYSTEM/NAME or NAME",
	[KMMV_TRACE_FUNCTION] = "not a function's name, with * for a glob",
	[KMMV_TRACE_VALUE] = "not [log2 ]NAME=argN[@OFF...]:SIZE[u|s|x][+SHIFT.BITS]",
	[KMMV_TRACE_KEY] = "not NAME=argN[@OFF...]:SIZE[u|s|x|t|p][+SHIFT.BITS]",
	[KMMV_TRACE_EVENT] = "not RING NAME=argN[@OFF...]:SIZE[u|s|x|t|p][+SHIFT.BITS]..., 16 fields at most",
	[KMMV_TRACE_UNITS] = "not units in PCP's spelling, such as count, byte or nanosec",
	[KMMV_TRACE_ONELINE] = "more than 127 bytes, or control characters",
	[KMMV_TRACE_HELP] = "more than 1023 bytes, or control characters",
};

static int set_text(struct kmmv_trace_counter *counter,
		    enum kmmv_trace_text which, char *text)
{
	enum kmmv_trace_text other = which == KMMV_TRACE_TRACEPOINT ?
					     KMMV_TRACE_FUNCTION :
					     KMMV_TRACE_TRACEPOINT;
	int err;

	err = may_change(counter);
	if (err)
		return err;
	if (*text) {
		err = kmmv_trace_check(which, text);
		if (err)
			return kmmv_trace_fail(counter, err, "%s",
					       syntax[which]);
		if (which <= KMMV_TRACE_FUNCTION && counter->text[other])
			return kmmv_trace_fail(counter, -EINVAL,
					       "a counter has a tracepoint or a function: write an empty line to the other one first");
	}
	kfree(counter->text[which]);
	counter->text[which] = NULL;
	swap(counter->text[which], text);
	if (!*counter->text[which]) {
		kfree(counter->text[which]);
		counter->text[which] = NULL;
	}
	counter->error[0] = '\0';
	return 0;
}

static ssize_t text_store(struct config_item *item, enum kmmv_trace_text which,
			  const char *page, size_t size)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	size_t length = size;
	char *text;
	int err;

	while (length && page[length - 1] == '\n')
		length--;
	text = kmemdup_nul(page, length, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	mutex_lock(&kmmv_trace_lock);
	if (strlen(text) != length)
		err = kmmv_trace_fail(counter, -EINVAL, "%s", syntax[which]);
	else
		err = set_text(counter, which, text);
	mutex_unlock(&kmmv_trace_lock);
	if (err)
		kfree(text);
	return err ?: size;
}

static ssize_t text_show(struct config_item *item, enum kmmv_trace_text which,
			 char *page)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	ssize_t size;

	mutex_lock(&kmmv_trace_lock);
	size = sysfs_emit(page, "%s\n", counter->text[which] ?: "");
	mutex_unlock(&kmmv_trace_lock);
	return size;
}

#define TEXT(name, which)						\
static ssize_t counter_##name##_show(struct config_item *item,		\
				     char *page)			\
{									\
	return text_show(item, which, page);				\
}									\
									\
static ssize_t counter_##name##_store(struct config_item *item,		\
				      const char *page, size_t size)	\
{									\
	return text_store(item, which, page, size);			\
}									\
CONFIGFS_ATTR(counter_, name)

TEXT(tracepoint, KMMV_TRACE_TRACEPOINT);
TEXT(function, KMMV_TRACE_FUNCTION);
TEXT(value, KMMV_TRACE_VALUE);
TEXT(key, KMMV_TRACE_KEY);
TEXT(event, KMMV_TRACE_EVENT);
TEXT(units, KMMV_TRACE_UNITS);
TEXT(oneline, KMMV_TRACE_ONELINE);
TEXT(help, KMMV_TRACE_HELP);

static ssize_t counter_max_keys_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(to_counter(item)->max_keys));
}

static ssize_t counter_max_keys_store(struct config_item *item,
				      const char *page, size_t size)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	unsigned int limit = min(READ_ONCE(kmmv_trace_max_keys), KEYS_MAX);
	u64 number;
	int err;

	mutex_lock(&kmmv_trace_lock);
	err = may_change(counter);
	if (!err) {
		err = kmmv_number(page, limit, &number);
		if (err || !number)
			err = kmmv_trace_fail(counter, -EINVAL,
					      "not a number from 1 to %u (the parameter max_keys, at most %u)",
					      limit, KEYS_MAX);
	}
	if (!err) {
		WRITE_ONCE(counter->max_keys, number);
		counter->error[0] = '\0';
	}
	mutex_unlock(&kmmv_trace_lock);
	return err ?: size;
}
CONFIGFS_ATTR(counter_, max_keys);

static ssize_t counter_enable_show(struct config_item *item, char *page)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	bool enabled;

	mutex_lock(&kmmv_trace_lock);
	enabled = kmmv_trace_enabled(counter);
	mutex_unlock(&kmmv_trace_lock);
	return sysfs_emit(page, "%d\n", enabled);
}

static int set_enabled(struct kmmv_trace_counter *counter, bool enable)
{
	int err = 0;

	/* Its values have to be written first, as `error' says. */
	if (enable && counter->state == KMMV_TRACE_STALE)
		return -ESTALE;
	if (!enable || counter->state == KMMV_TRACE_FAILED)
		err = kmmv_trace_disable(counter);
	if (err)
		return err;
	if (enable && !kmmv_trace_enabled(counter))
		return kmmv_trace_enable(counter);
	counter->error[0] = '\0';
	return 0;
}

static ssize_t counter_enable_store(struct config_item *item, const char *page,
				    size_t size)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	u64 enable;
	int err;

	mutex_lock(&kmmv_trace_lock);
	err = kmmv_number(page, 1, &enable);
	if (err)
		err = kmmv_trace_fail(counter, -EINVAL, "not 0 or 1");
	else
		err = set_enabled(counter, enable);
	mutex_unlock(&kmmv_trace_lock);
	return err ?: size;
}
CONFIGFS_ATTR(counter_, enable);

static ssize_t counter_state_show(struct config_item *item, char *page)
{
	static const char * const words[] = {
		[KMMV_TRACE_OFF] = "off",
		[KMMV_TRACE_ON] = "on",
		[KMMV_TRACE_WAITING] = "waiting",
		[KMMV_TRACE_STALE] = "stale",
		[KMMV_TRACE_FAILED] = "failed",
	};
	struct kmmv_trace_counter *counter = to_counter(item);
	ssize_t size;

	mutex_lock(&kmmv_trace_lock);
	size = sysfs_emit(page, "%s\n", words[counter->state]);
	mutex_unlock(&kmmv_trace_lock);
	return size;
}
CONFIGFS_ATTR_RO(counter_, state);

static ssize_t counter_error_show(struct config_item *item, char *page)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	const char *text;
	ssize_t size = 0;

	mutex_lock(&kmmv_trace_lock);
	text = counter->error[0] ? counter->error : counter->missing;
	if (*text)
		size = sysfs_emit(page, "%s\n", text);
	mutex_unlock(&kmmv_trace_lock);
	return size;
}
CONFIGFS_ATTR_RO(counter_, error);

static ssize_t counter_hits_show(struct config_item *item, char *page)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	u64 hits;

	mutex_lock(&kmmv_trace_lock);
	hits = counter->hits;
	if (counter->run)
		hits += kmmv_trace_hits(counter->run);
	mutex_unlock(&kmmv_trace_lock);
	return sysfs_emit(page, "%llu\n", hits);
}
CONFIGFS_ATTR_RO(counter_, hits);

static struct configfs_attribute *counter_attrs[] = {
	&counter_attr_tracepoint,
	&counter_attr_function,
	&counter_attr_value,
	&counter_attr_key,
	&counter_attr_max_keys,
	&counter_attr_event,
	&counter_attr_units,
	&counter_attr_oneline,
	&counter_attr_help,
	&counter_attr_enable,
	&counter_attr_state,
	&counter_attr_error,
	&counter_attr_hits,
	NULL,
};

static void counter_release(struct config_item *item)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	int i;

	for (i = 0; i < KMMV_TRACE_TEXTS; i++)
		kfree(counter->text[i]);
	kfree(counter);
}

static struct configfs_item_operations counter_ops = {
	.release = counter_release,
};

static const struct config_item_type counter_type = {
	.ct_item_ops = &counter_ops,
	.ct_attrs = counter_attrs,
	.ct_owner = THIS_MODULE,
};

/*
 * A removed counter of this name that a dead ftrace still calls: its numbers
 * are in use.
 */
static bool is_kept(const char *name)
{
	const struct kmmv_trace_counter *counter;
	bool found = false;

	mutex_lock(&kmmv_trace_lock);
	list_for_each_entry(counter, &kmmv_trace_counters, link)
		found |= !strcmp(kmmv_trace_name(counter), name);
	mutex_unlock(&kmmv_trace_lock);
	return found;
}

static struct config_item *trace_make_item(struct config_group *group,
					   const char *name)
{
	static const char * const own[] = { "stat" };
	struct kmmv_trace_counter *counter;
	int err;

	err = kmmv_name_check(name, KMMV_FAMILY_MAX - strlen("trace."), true);
	if (err)
		return ERR_PTR(err);
	/* Names of the module's own families. */
	if (kmmv_name_is_below(name, own, ARRAY_SIZE(own)))
		return ERR_PTR(-EADDRINUSE);
	if (is_kept(name))
		return ERR_PTR(-EBUSY);
	counter = kzalloc(sizeof(*counter), GFP_KERNEL);
	if (!counter)
		return ERR_PTR(-ENOMEM);
	snprintf(counter->name, sizeof(counter->name), "trace.%s", name);
	counter->max_keys = min(KEYS_DEFAULT, READ_ONCE(kmmv_trace_max_keys)) ?: 1;
	config_item_init_type_name(&counter->item, name, &counter_type);
	mutex_lock(&kmmv_trace_lock);
	list_add_tail(&counter->link, &kmmv_trace_counters);
	mutex_unlock(&kmmv_trace_lock);
	return &counter->item;
}

static void trace_drop_item(struct config_group *group,
			    struct config_item *item)
{
	struct kmmv_trace_counter *counter = to_counter(item);
	int err;

	mutex_lock(&kmmv_trace_lock);
	err = kmmv_trace_drop(counter);
	if (!err)
		list_del(&counter->link);
	mutex_unlock(&kmmv_trace_lock);
	/* A counter that a dead ftrace calls stays in the list. */
	if (err)
		__module_get(THIS_MODULE);
	else
		config_item_put(item);
}

static struct configfs_group_operations trace_ops = {
	.make_item = trace_make_item,
	.drop_item = trace_drop_item,
};

static const struct config_item_type trace_type = {
	.ct_group_ops = &trace_ops,
	.ct_owner = THIS_MODULE,
};

static struct config_group trace_group;

int kmmv_trace_dir_init(void)
{
	config_group_init_type_name(&trace_group, "trace", &trace_type);
	return kmmv_register_directory(&trace_group);
}

void kmmv_trace_dir_exit(void)
{
	kmmv_unregister_directory(&trace_group);
}
