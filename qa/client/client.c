// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of kmmv for tests: its commands call each function of the API.
 *
 * A command is written to debugfs, kmmv_client/call, in one write(2); reading
 * the file gives the result of the last one: a number or -errno. NAME is the
 * rest of the command, any bytes; "(null)" stands for NULL. CONTEXT is task,
 * softirq, hardirq or nmi; CPU -1 is any.
 *
 *	add NAME			perf_add()
 *	addin FAMILY NAME		kmmv_add()
 *	addmany FAMILY COUNT PREFIX	PREFIX0, PREFIX1, ...: "LAST ADDED"
 *	del NUMBER			perf_del()
 *	delmany FIRST COUNT
 *	forget NUMBER			perf_forget()
 *	forgetmany FIRST COUNT		the first result that is not 0
 *	family SEMANTICS|UNITS|NAME|ONELINE|HELP
 *	label NUMBER KEY|TEXT		kmmv_set_label()
 *	adjust CONTEXT CPU NUMBER DELTA	perf_adjust()
 *	slot CONTEXT CPU NUMBER DELTA	kmmv_slot_add(), also without a handle
 *	store NUMBER CPU VALUE		kmmv_store()
 *	read NUMBER			kmmv_read(): the sum, unsigned
 *	storm UPDATES TURNS [nmi]	see storm.c; kmmv_client/totals after it
 *	ring ...			see ring.c; kmmv_client/ring
 *	latency ...			see latency.c
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "client.h"

#define COMMAND_MAX	8192

static DEFINE_MUTEX(call_lock);
static char call_result[512];
static struct dentry *client_dir;

static void result(s64 value)
{
	snprintf(call_result, sizeof(call_result), "%lld\n", value);
}

static char *or_null(char *text)
{
	return text && !strcmp(text, "(null)") ? NULL : text;
}

struct update {
	int			instance;
	struct kmmv_slot	slot;
	s64			delta;
};

static void update_by_number(void *argument)
{
	struct update *update = argument;

	perf_adjust(update->instance, update->delta);
}

static void update_by_slot(void *argument)
{
	struct update *update = argument;

	kmmv_slot_add(update->slot, update->delta);
}

static int do_update(const char *text, bool by_slot)
{
	struct update update;
	char word[16];
	int context, cpu, err, ran;

	if (sscanf(text, "%15s %d %d %lld", word, &cpu, &update.instance,
		   &update.delta) != 4)
		return -ENOMSG;
	context = client_context_of(word);
	if (context < 0)
		return -ENOMSG;
	if (!by_slot)
		return client_context_run(context, cpu, update_by_number,
					  &update);
	/* Like a client that ignores errors: the slot is no valid handle. */
	memset(&update.slot, 0x5a, sizeof(update.slot));
	err = kmmv_get_slot(update.instance, &update.slot);
	ran = client_context_run(context, cpu, update_by_slot, &update);
	return err ?: ran;
}

static void call_add(char *text)
{
	result(perf_add(or_null(text)));
}

static void call_addin(char *text)
{
	int family = simple_strtol(strsep(&text, " "), NULL, 0);

	result(kmmv_add(family, or_null(text)));
}

static void call_addmany(char *text)
{
	int family, number = -ENOMSG, used = 0;
	char name[KMMV_NAME_MAX + 1];
	unsigned int count, i = 0;

	if (sscanf(text, "%d %u %n", &family, &count, &used) == 2 && used)
		for (; i < count; i++) {
			snprintf(name, sizeof(name), "%s%u", text + used, i);
			number = kmmv_add(family, name);
			if (number < 0)
				break;
			cond_resched();
		}
	snprintf(call_result, sizeof(call_result), "%d %u\n", number, i);
}

static void call_del(char *text)
{
	perf_del(simple_strtol(text, NULL, 0));
	result(0);
}

static void call_delmany(char *text)
{
	unsigned int count, i;
	int first;

	if (sscanf(text, "%d %u", &first, &count) != 2)
		return result(-ENOMSG);
	for (i = 0; i < count; i++) {
		perf_del(first + i);
		cond_resched();
	}
	result(0);
}

static void call_forget(char *text)
{
	result(perf_forget(simple_strtol(text, NULL, 0)));
}

static void call_forgetmany(char *text)
{
	int first, err = 0;
	unsigned int count, i;

	if (sscanf(text, "%d %u", &first, &count) != 2)
		return result(-ENOMSG);
	for (i = 0; i < count && !err; i++) {
		err = perf_forget(first + i);
		cond_resched();
	}
	result(err);
}

static void call_family(char *text)
{
	struct kmmv_family family = {
		.semantics = simple_strtol(strsep(&text, "|"), NULL, 0),
	};

	family.units = or_null(strsep(&text, "|"));
	family.name = or_null(strsep(&text, "|"));
	family.oneline = or_null(strsep(&text, "|"));
	family.help = or_null(text);
	result(kmmv_register_family(&family));
}

static void call_label(char *text)
{
	int number = simple_strtol(strsep(&text, " "), NULL, 0);
	char *key = strsep(&text, "|");

	result(kmmv_set_label(number, or_null(key), or_null(text)));
}

static void call_adjust(char *text)
{
	result(do_update(text, false));
}

static void call_slot(char *text)
{
	result(do_update(text, true));
}

static void call_store(char *text)
{
	struct kmmv_slot slot;
	int number, cpu, err;
	u64 value;

	if (sscanf(text, "%d %d %llu", &number, &cpu, &value) != 3)
		return result(-ENOMSG);
	err = kmmv_get_slot(number, &slot);
	if (!err) {
		cpus_read_lock();
		err = kmmv_store(slot, cpu, value);
		cpus_read_unlock();
	}
	result(err);
}

static void call_read(char *text)
{
	u64 sum;
	int err = kmmv_read(simple_strtol(text, NULL, 0), &sum);

	if (err)
		result(err);
	else
		snprintf(call_result, sizeof(call_result), "%llu\n", sum);
}

static void call_storm(char *text)
{
	u64 updates, turns;
	char word[8] = "";

	if (sscanf(text, "%llu %llu %7s", &updates, &turns, word) < 2)
		return result(-ENOMSG);
	client_storm(call_result, sizeof(call_result), updates, turns,
		     !strcmp(word, "nmi"));
}

static void call_ring(char *text)
{
	client_ring(text, call_result, sizeof(call_result));
}

static void call_latency(char *text)
{
	client_latency(text, call_result, sizeof(call_result));
}

static const struct {
	const char *name;
	void (*call)(char *text);
} calls[] = {
	{ "add", call_add },
	{ "addin", call_addin },
	{ "addmany", call_addmany },
	{ "del", call_del },
	{ "delmany", call_delmany },
	{ "forget", call_forget },
	{ "forgetmany", call_forgetmany },
	{ "family", call_family },
	{ "label", call_label },
	{ "adjust", call_adjust },
	{ "slot", call_slot },
	{ "store", call_store },
	{ "read", call_read },
	{ "storm", call_storm },
	{ "ring", call_ring },
	{ "latency", call_latency },
};

static ssize_t call_write(struct file *file, const char __user *from,
			  size_t size, loff_t *offset)
{
	char *command, *rest;
	const char *word;
	int i;

	if (size > COMMAND_MAX)
		return -EINVAL;
	command = memdup_user_nul(from, size);
	if (IS_ERR(command))
		return PTR_ERR(command);
	rest = command;
	word = strsep(&rest, " ");
	if (!rest)
		rest = command + strlen(command);

	mutex_lock(&call_lock);
	result(-ENOMSG);
	for (i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(word, calls[i].name))
			calls[i].call(rest);
	mutex_unlock(&call_lock);
	kfree(command);
	return size;
}

static ssize_t call_read_result(struct file *file, char __user *to, size_t size,
				loff_t *offset)
{
	ssize_t n;

	mutex_lock(&call_lock);
	n = simple_read_from_buffer(to, size, offset, call_result,
				    strlen(call_result));
	mutex_unlock(&call_lock);
	return n;
}

static const struct file_operations call_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = call_read_result,
	.write = call_write,
	.llseek = default_llseek,
};

static int __init client_init(void)
{
	int err = client_context_init();

	if (err)
		return err;
	client_ring_init();
	client_dir = debugfs_create_dir("kmmv_client", NULL);
	debugfs_create_file("call", 0600, client_dir, NULL, &call_fops);
	debugfs_create_file("totals", 0400, client_dir, NULL,
			    &client_totals_fops);
	debugfs_create_file("ring", 0400, client_dir, NULL, &client_ring_fops);
	return 0;
}

static void __exit client_exit(void)
{
	debugfs_remove(client_dir);
	client_storm_fini();
	client_ring_exit();
	client_context_exit();
}

module_init(client_init);
module_exit(client_exit);

MODULE_DESCRIPTION("Test client of kmmv");
MODULE_AUTHOR("The kmmv maintainers");
MODULE_LICENSE("GPL");
