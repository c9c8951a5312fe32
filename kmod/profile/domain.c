// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of what was sampled, and their instances: of the kernel's functions, of
 * commands, of files.
 *
 * A name has an instance from its first sample on, so that events can refer to
 * it. The instances of the most frequent names are active: those are shown, and
 * count for themselves. All others count in the instance "others". So no count
 * falls, and the sum over a family is what was sampled. A name that ceases to be
 * shown keeps what it has, and goes on from there when it is shown again.
 *
 * A sketch (top.h) tells which names are frequent. A name is shown if there is
 * room, or if it was clearly more frequent, in this window and the one before it,
 * than the least frequent one that is shown: names do not come and go with every
 * sample.
 *
 * There is room for a number of names. When it is used up, the one that has not
 * been sampled for longest, and is not shown, is forgotten. Its own count goes
 * over to profile.forgotten in one step with its number: a reader that checks
 * the generation finds the samples in one of them. In others it would be a
 * burst of samples taken long ago, and more than profile.error allows.
 *
 * Context of all: task, under kmmv_profile_drain_lock.
 */
#include <linux/cpu.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "own.h"
#include "profile.h"
#include "top.h"

#define NAME_BITS     9
#define ENTRIES_SHOWN 4 /* entries of a sketch, per name that is shown */
#define OTHERS	      "others"

static unsigned int top = 64;
module_param(top, uint, 0444);
MODULE_PARM_DESC(
	top, "how many names of each kind are shown (1 to 1024, default 64)");

static unsigned int names = 4096;
module_param(names, uint, 0444);
MODULE_PARM_DESC(
	names,
	"how many names of each kind are kept (8 times top or more, default 4096)");

static unsigned int window_s = 300;
module_param(window_s, uint, 0644);
MODULE_PARM_DESC(
	window_s,
	"seconds after which the most frequent names are sought anew (default 300)");

/**
 * struct kmmv_profile_name - a name
 * @node: in the hash
 * @used: among all, in the order in which they were sampled last
 * @key: in the sketch
 * @before: how often it was counted in the last window
 * @shown: its instance is active, and counts for itself
 * @instance: number
 * @slot: handle
 * @name: the name
 */
struct kmmv_profile_name {
	struct hlist_node node;
	struct list_head used;
	struct kmmv_top_key key;
	u64 before;
	bool shown;
	int instance;
	struct kmmv_slot slot;
	char name[];
};

/**
 * struct domain - names of one kind
 * @family: id
 * @top: which are frequent
 * @hash: all names
 * @used: likewise, least recently used first
 * @nr: how many
 * @nr_shown: how many of them are shown
 * @others: instance of the others
 * @slot: its handle
 * @forgotten: instance of what forgotten names had counted for themselves
 * @began: what an earlier load of this module has shown as the error
 * @error: instance of the error
 */
struct domain {
	int family;
	struct kmmv_top top;
	DECLARE_HASHTABLE(hash, NAME_BITS);
	struct list_head used;
	unsigned int nr;
	unsigned int nr_shown;
	int others;
	struct kmmv_slot slot;
	enum kmmv_profile_self forgotten;
	u64 began;
	enum kmmv_profile_self error;
};

static struct domain domains[KMMV_PROFILE_DOMAINS];
static u64 window_began;

#define ABOUT                                                                                \
	"The most frequent names, as many as the module's parameter top says, and\n"         \
	"\"others\" with all other samples, so that kmmv.all is the number of all. A name\n" \
	"counts for itself while it is shown; profile.error says how much others may\n"      \
	"have of any one name, and profile.forgotten what forgotten names had. Samples\n"    \
	"of the idle task are not included, unless the file idle in configfs is 1."

static const struct kmmv_family symbol_family = {
	.name = "profile.symbol.samples",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Samples of the kernel, by function",
	.help = "Functions of modules have the module's name behind theirs. Functions of\n"
		"one name in one module are one instance. [unknown] is code that is gone.\n" ABOUT,
};

static const struct kmmv_family command_family = {
	.name = "profile.command.samples",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline =
		"Samples of programs and of the kernel on their behalf, by command",
	.help = "The name that the thread had when the sample was taken.\n" ABOUT,
};

static const struct kmmv_family image_family = {
	.name = "profile.image.samples",
	.units = KMMV_UNITS_COUNT,
	.semantics = KMMV_COUNTER,
	.oneline = "Samples by the file that has the code",
	.help = "The path, from the root of the mounts that the file is on, which for a\n"
		"container is its own; its last 255 bytes. Of a path that is too long for the\n"
		"kernel, its last four names at most. [kernel]: the kernel, its modules included.\n"
		"[anonymous]: memory that is no file's, as of code that was generated.\n"
		"[unknown]: the program had ended, or was changing its mappings, when the\n"
		"file was looked up.\n" ABOUT,
};

static void failed(void)
{
	kmmv_slot_add(kmmv_profile_self[KMMV_PROFILE_W_FAILED], 1);
}

static u32 hash_of(const char *name)
{
	return jhash(name, strlen(name), 0);
}

static void hide(struct domain *domain, struct kmmv_profile_name *name)
{
	perf_del(name->instance);
	name->shown = false;
	domain->nr_shown--;
}

/* The instance is there already: this fails only without memory. */
static void show(struct domain *domain, struct kmmv_profile_name *name)
{
	if (kmmv_add(domain->family, name->name) < 0) {
		failed();
		return;
	}
	name->shown = true;
	domain->nr_shown++;
}

/* How often a name was counted in this window and the last one, at least. */
static u64 weight(const struct kmmv_profile_name *name)
{
	return kmmv_top_least(&name->key) + name->before;
}

static struct kmmv_profile_name *lightest(struct domain *domain)
{
	struct kmmv_profile_name *name, *found = NULL;

	list_for_each_entry(name, &domain->used, used)
		if (name->shown && (!found || weight(name) < weight(found)))
			found = name;
	return found;
}

/*
 * Twice as frequent, and more than chance: of two equally frequent names, one has
 * eight more than twice the other's samples in a few per cent of cases only.
 */
static bool is_heavier(const struct kmmv_profile_name *name,
		       const struct kmmv_profile_name *than)
{
	return weight(name) > 2 * weight(than) + 8;
}

static void consider(struct domain *domain, struct kmmv_profile_name *name)
{
	struct kmmv_profile_name *other;

	if (domain->nr_shown >= top) {
		if (weight(name) <= 8)
			return;
		other = lightest(domain);
		if (other && !is_heavier(name, other))
			return;
		if (other)
			hide(domain, other);
	}
	show(domain, name);
}

static void name_free(struct domain *domain, struct kmmv_profile_name *name)
{
	hash_del(&name->node);
	list_del(&name->used);
	kmmv_top_forget(&domain->top, &name->key);
	domain->nr--;
	kfree(name);
}

static void forget(struct domain *domain, struct kmmv_profile_name *name)
{
	int err;

	cpus_read_lock();
	err = kmmv_merge(name->instance,
			 kmmv_profile_self_instance(domain->forgotten));
	cpus_read_unlock();
	/* Its instance stays, and goes on if the name comes back. */
	if (err)
		failed();
	name_free(domain, name);
}

/* The loop passes few names: those that are shown or in the sketch. */
static bool make_room(struct domain *domain)
{
	struct kmmv_profile_name *name;

	list_for_each_entry(name, &domain->used, used)
		if (!name->shown && !name->key.entry) {
			forget(domain, name);
			return true;
		}
	return false;
}

static struct kmmv_profile_name *create(struct domain *domain, const char *text)
{
	size_t size = strlen(text) + 1;
	struct kmmv_profile_name *name;

	if (domain->nr >= names && !make_room(domain))
		return NULL;
	name = kzalloc(struct_size(name, name, size), GFP_KERNEL);
	if (!name)
		return NULL;
	memcpy(name->name, text, size);
	name->instance = kmmv_add(domain->family, text);
	if (kmmv_get_slot(name->instance, &name->slot)) {
		kfree(name);
		return NULL;
	}
	/* Inactive until it is shown. */
	perf_del(name->instance);
	hash_add(domain->hash, &name->node, hash_of(text));
	list_add_tail(&name->used, &domain->used);
	domain->nr++;
	return name;
}

/**
 * kmmv_profile_name_get() - find a name, or make it
 * @domain: of which kind
 * @text: 1 to KMMV_NAME_MAX bytes, no control characters
 *
 * Return: the name, valid until the next one is made; NULL if there is no room
 * or no memory.
 */
struct kmmv_profile_name *kmmv_profile_name_get(enum kmmv_profile_domain domain,
						const char *text)
{
	struct domain *of = &domains[domain];
	struct kmmv_profile_name *name;

	if (!strcmp(text, OTHERS))
		return NULL;
	hash_for_each_possible(of->hash, name, node, hash_of(text))
		if (!strcmp(name->name, text)) {
			list_move_tail(&name->used, &of->used);
			return name;
		}
	name = create(of, text);
	if (!name)
		failed();
	return name;
}

/**
 * kmmv_profile_name_count() - count a sample
 * @domain: of the name
 * @name: the name, or NULL for one that there is no room for
 * @cpu: on which it was taken
 */
void kmmv_profile_name_count(enum kmmv_profile_domain domain,
			     struct kmmv_profile_name *name, int cpu)
{
	struct domain *of = &domains[domain];
	bool shown;

	if (!name) {
		kmmv_top_count(&of->top, NULL, false);
		kmmv_profile_self_add(of->slot, cpu);
		return;
	}
	if (!name->shown)
		consider(of, name);
	shown = name->shown;
	kmmv_top_count(&of->top, &name->key, shown);
	kmmv_profile_self_add(shown ? name->slot : of->slot, cpu);
}

/* The number of a name's instance. */
int kmmv_profile_name_number(const struct kmmv_profile_name *name)
{
	return name->instance;
}

static void next_window(struct domain *domain)
{
	struct kmmv_profile_name *name;

	list_for_each_entry(name, &domain->used, used)
		name->before = kmmv_top_least(&name->key);
	kmmv_top_begin(&domain->top);
}

/**
 * kmmv_profile_domain_tick() - show the errors, and begin windows
 * @now: the time in nanoseconds
 */
void kmmv_profile_domain_tick(u64 now)
{
	u64 window = (u64)max(READ_ONCE(window_s), 1U) * NSEC_PER_SEC;
	bool over = now - window_began >= window;
	struct domain *domain;

	for (domain = domains; domain < domains + ARRAY_SIZE(domains);
	     domain++) {
		if (over)
			next_window(domain);
		kmmv_profile_self_set(kmmv_profile_self[domain->error],
				      domain->began +
					      kmmv_top_bound(&domain->top));
	}
	if (over)
		window_began = now;
}

/*
 * Take over the names that an earlier load has shown, so that they, too, are
 * forgotten when there is no room.
 */
static void adopt(struct domain *domain)
{
	char text[KMMV_NAME_MAX + 1];
	int number = 0;

	for (;; number++) {
		number = kmmv_find_inactive(domain->family, number, text);
		if (number < 0)
			return;
		if (strcmp(text, OTHERS) && !create(domain, text))
			failed();
		cond_resched();
	}
}

static int domain_begin(struct domain *domain, const struct kmmv_family *family,
			enum kmmv_profile_self error,
			enum kmmv_profile_self forgotten)
{
	int err;

	INIT_LIST_HEAD(&domain->used);
	hash_init(domain->hash);
	domain->error = error;
	domain->forgotten = forgotten;
	domain->began = kmmv_profile_self_sum(error);
	domain->family = kmmv_register_own_family(family);
	domain->others = kmmv_add(domain->family, OTHERS);
	err = kmmv_get_slot(domain->others, &domain->slot);
	if (err)
		return err;
	err = kmmv_top_init(&domain->top, ENTRIES_SHOWN * top);
	if (err) {
		perf_del(domain->others);
		return err;
	}
	adopt(domain);
	return 0;
}

/*
 * Names that are shown keep their instances, of which the next load takes over those
 * that it has room for. The others are forgotten.
 */
static void domain_end(struct domain *domain)
{
	struct kmmv_profile_name *name, *next;

	list_for_each_entry_safe(name, next, &domain->used, used) {
		if (name->shown) {
			hide(domain, name);
			name_free(domain, name);
		} else {
			forget(domain, name);
		}
		cond_resched();
	}
	kmmv_top_exit(&domain->top);
	perf_del(domain->others);
}

/**
 * kmmv_profile_domain_init() - register the families, with the others' instances
 *
 * Return: 0; -EINVAL for parameters; -ENOMEM; an error of kmmv_register_family()
 * or kmmv_add().
 */
int kmmv_profile_domain_init(void)
{
	int err;

	if (!top || top > 1024 || names / 8 < top) {
		pr_err("top=%u names=%u: top has to be 1 to 1024, names 8 times as much or more\n",
		       top, names);
		return -EINVAL;
	}
	window_began = ktime_get_ns();
	err = domain_begin(&domains[KMMV_PROFILE_SYMBOLS], &symbol_family,
			   KMMV_PROFILE_V_SYMBOL, KMMV_PROFILE_G_SYMBOL);
	if (err)
		return err;
	err = domain_begin(&domains[KMMV_PROFILE_COMMANDS], &command_family,
			   KMMV_PROFILE_V_COMMAND, KMMV_PROFILE_G_COMMAND);
	if (err)
		goto err_symbols;
	err = domain_begin(&domains[KMMV_PROFILE_IMAGES], &image_family,
			   KMMV_PROFILE_V_IMAGE, KMMV_PROFILE_G_IMAGE);
	if (err)
		goto err_commands;
	return 0;

err_commands:
	domain_end(&domains[KMMV_PROFILE_COMMANDS]);
err_symbols:
	domain_end(&domains[KMMV_PROFILE_SYMBOLS]);
	return err;
}

void kmmv_profile_domain_exit(void)
{
	int i;

	for (i = KMMV_PROFILE_DOMAINS; i--;)
		domain_end(&domains[i]);
}
