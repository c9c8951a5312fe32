// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * struct kmmv_instance_info, filled in on request. The table keeps a third of its
 * data. The rest is made when a caller asks, at an address that is the same until the
 * next update. Most callers ask for all instances once, and then for those that
 * change: the memory is given back when they update.
 *
 * It is mapped from the start, so that no answer fails for lack of it. Pages without
 * a requested instance take no memory.
 */
#include <string.h>
#include <sys/mman.h>

#include "handle.h"
#include "identity.h"

/* Pages kept across updates: giving back fewer costs more than keeping them. */
enum { KEPT = 256 };

int kmmv_infos_room(struct kmmv *k, uint32_t room)
{
	struct kmmv_table *t = &k->table;
	size_t size;
	void *p;

	if (__builtin_mul_overflow(room, sizeof(t->infos->info[0]), &size) ||
	    __builtin_add_overflow(size, sizeof(*t->infos), &size))
		return kmmv_fail_nomem(k);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return kmmv_fail_nomem(k);
	/* A huge page would be memory for 50000 instances, few of them requested. */
	madvise(p, size, MADV_NOHUGEPAGE);
	kmmv_infos_fini(k);
	t->infos = p;
	t->infos_size = size;
	return 0;
}

void kmmv_infos_give_back(struct kmmv *k)
{
	struct kmmv_table *t = &k->table;

	if (t->infos && t->infos->given >= KEPT)
		madvise(t->infos, t->infos_size, MADV_DONTNEED);
}

void kmmv_infos_fini(struct kmmv *k)
{
	if (k->table.infos)
		munmap(k->table.infos, k->table.infos_size);
}

void kmmv_infos_put(const struct kmmv *k, uint32_t number,
		    struct kmmv_instance_info *info)
{
	const struct kmmv_table *t = &k->table;
	const struct kmmv_instance *in = &t->instances[number];
	const char *name;

	info->number = number;
	info->incarnation = in->incarnation;
	info->family = in->family;
	info->state = in->state;
	info->name = kmmv_instance_name(t, in);
	info->label_key = info->label = NULL;
	if (!in->labelled)
		return;
	/* A labelled instance has a name, but the compiler would warn of info->name. */
	name = kmmv_arena_text(&t->arena, in->name);
	info->label_key = name + strlen(name) + 1;
	info->label = info->label_key + strlen(info->label_key) + 1;
}

const struct kmmv_instance_info *kmmv_instance(const struct kmmv *k,
					       uint32_t number)
{
	const struct kmmv_table *t = &k->table;
	struct kmmv_instance_info *info;

	if (number >= t->nr || !t->links[number].seen)
		return NULL;
	info = &t->infos->info[number];
	kmmv_infos_put(k, number, info);
	t->infos->given++;
	return info;
}
