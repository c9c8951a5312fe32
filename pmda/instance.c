// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances of a family, and their bindings to the kernel's numbers.
 *
 * An instance's lasting number, see id.c, is kept with its external name and,
 * if PCP cannot take the raw name, with the raw name as the rest: after a
 * restart "a b" and "a_b" get their numbers back in whatever order they appear.
 * An instance is created when its name is first bound in this process, and
 * removed when its name is purged; its position in the family's arrays is then
 * reused.
 *
 * A change of the table costs what it changes: only its numbers are visited,
 * and active instances and the sum of those that are gone are kept up to date
 * one by one, unless that were more work than to count them anew.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

/* The instance bound to a number of the kernel's. */
struct slot {
	uint32_t family;	/* its fid, plus one; 0: nothing is bound */
	uint32_t pos;
};

static struct slot *slots;
static uint32_t nr_slots;
static uint32_t nr_active;
static bool missed;	/* a name is not bound: visit all next time */
static bool unbound_all;	/* by a detach; the names may return as they were */

/* Epochs seen: a binding has an index, which takes half as much. */
static uint64_t *epochs;
static uint32_t nr_epochs;

uint64_t agent_instance_visits;

static struct family *family_of(const struct slot *slot)
{
	return slot->family ? agent_family(slot->family - 1) : NULL;
}

static struct inst *inst_of(const struct slot *slot)
{
	return &family_of(slot)->insts[slot->pos];
}

/* The index of EPOCH, mostly the last one, or -ENOMEM. */
static int64_t find_epoch(uint64_t epoch)
{
	uint32_t i;
	void *p;

	for (i = nr_epochs; i-- > 0;) {
		if (epochs[i] == epoch)
			return i;
	}
	p = realloc(epochs, (nr_epochs + 1) * sizeof(*epochs));
	if (!p)
		return -ENOMEM;
	epochs = p;
	epochs[nr_epochs] = epoch;
	return nr_epochs++;
}

static int grow(struct family *f)
{
	uint32_t room = f->room ? 2 * f->room : 64;
	void *p;

	if (f->nr_insts < f->room)
		return 0;
	p = realloc(f->insts, room * sizeof(*f->insts));
	if (!p)
		return -ENOMEM;
	f->insts = p;
	p = realloc(f->carry, room * sizeof(*f->carry));
	if (!p)
		return -ENOMEM;
	f->carry = p;
	p = realloc(f->status, room * sizeof(*f->status));
	if (!p)
		return -ENOMEM;
	f->status = p;
	f->room = room;
	return 0;
}

/* An unused position, or -ENOMEM. */
static int64_t take_position(struct family *f)
{
	uint32_t pos = f->unused;

	if (pos) {
		f->unused = f->insts[pos - 1].key.number;
		return pos - 1;
	}
	if (grow(f) < 0)
		return -ENOMEM;
	return f->nr_insts++;
}

struct inst *agent_instance_of_id(struct family *f, struct id *id)
{
	struct inst *inst;
	int64_t pos;

	if (id->user)
		return &f->insts[id->user - 1];
	pos = take_position(f);
	if (pos < 0) {
		agent_attach_no_memory("instances of %s", f->name);
		return NULL;
	}
	inst = &f->insts[pos];
	memset(inst, 0, sizeof(*inst));
	memset(&f->carry[pos], 0, sizeof(*f->carry));
	inst->id = id->number;
	inst->lasting = id;
	id->user = pos + 1;
	return inst;
}

/*
 * A count since the boot may always return. Others may after a detach, if the module
 * stays loaded. Only a total has the count of a purged name.
 */
static bool may_return(const struct id *id)
{
	const struct family *f = agent_family((id->scope - FIRST_SERIAL) / 2);

	return agent_family_has_total(f) &&
	       (f->since_boot || (unbound_all && id->state == ID_AWAY));
}

static void purged(struct id *id)
{
	struct family *f = agent_family((id->scope - FIRST_SERIAL) / 2);
	uint32_t pos = id->user - 1;
	struct inst *inst = &f->insts[pos];

	/* Its count remains part of what is gone. */
	agent_carry_forget(inst);
	memset(inst, 0, sizeof(*inst));
	inst->id = -1;
	inst->key.number = f->unused;
	f->unused = id->user;
	id->user = 0;
}

const struct id_ops agent_instance_id_ops = {
	.purged = purged,
	.may_return = may_return,
	.is_awaited = agent_seen_awaits,
};

/*
 * The lasting number of a raw name; or NULL, with the external name for it in
 * NAME, which is empty if none is left. Clashing names probe a sequence of
 * suffixes, which after a few steps are hashes, so that many names of one
 * external form do not take quadratic time. A purged name leaves a gap in the
 * sequence: where names clash at all, a name is new only after the whole
 * sequence was searched.
 */
static struct id *lookup(struct family *f, const char *raw, char *name,
			 size_t size)
{
	char plain[AGENT_NAME_SIZE - 48], text[AGENT_NAME_SIZE];
	bool clashes = agent_id_has_rests(agent_scope_of(f));
	bool free_name = false;
	struct id *id;
	uint64_t hash;
	int i;

	agent_instance_sanitise(raw, plain, sizeof(plain));
	for (i = 1; i < 32; i++) {
		if (i == 1) {
			pmsprintf(text, sizeof(text), "%s", plain);
		} else if (i < 8) {
			pmsprintf(text, sizeof(text), "%s#%d", plain, i);
		} else {
			hash = agent_hash(AGENT_HASH_INIT + i, raw);
			pmsprintf(text, sizeof(text), "%s#%016llx", plain,
				  (unsigned long long)hash);
		}
		id = agent_id_find(agent_scope_of(f), text);
		if (id && strcmp(agent_id_raw(id), raw) == 0)
			return id;
		if (!id && !free_name) {
			pmsprintf(name, size, "%s", text);
			free_name = true;
		}
		if (!id && !clashes)
			break;
	}
	if (!free_name)
		*name = '\0';
	return NULL;
}

/* A counter is carried over from its last binding. */
static void rebase(struct family *f, struct inst *inst,
		   const struct binding *key)
{
	uint32_t cpu;

	if (inst->key.epoch == key->epoch && inst->key.number == key->number &&
	    inst->key.incarnation == key->incarnation)
		return;
	inst->key = *key;
	agent_carry_over(f, &f->carry[inst - f->insts]);
	for (cpu = 0; inst->cpus && cpu < inst->cpus->nr; cpu++)
		agent_carry_over(f, &inst->cpus->cpu[cpu]);
}

/* The first of F's active instances whose id is ID or greater. */
static uint32_t place_of(const struct family *f, int id)
{
	const struct members *m = &f->active;
	uint32_t low = 0, high = m->count;

	/* New names have the greatest numbers. */
	if (high && f->insts[m->pos[high - 1]].id < id)
		return high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->insts[m->pos[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int grow_members(struct family *f)
{
	struct members *m = &f->active;
	void *p;

	if (f->nr_insts <= m->room)
		return 0;
	p = realloc(m->pos, f->room * sizeof(*m->pos));
	if (!p)
		return -ENOMEM;
	m->pos = p;
	m->room = f->room;
	return 0;
}

/*
 * Put INST among the active ones, or take it out. To move those behind it is
 * cheap, but not for many instances in turn: as many moves as MOVES times the
 * instances cost about as much as to count.
 */
enum { MOVES = 16 };

static void move_member(struct family *f, const struct inst *inst)
{
	struct members *m = &f->active;
	uint32_t at, behind;

	if (f->dirty)
		return;
	at = place_of(f, inst->id);
	behind = m->count - at;
	f->moved += behind;
	if (f->moved > (uint64_t)MOVES * f->nr_insts || grow_members(f) < 0) {
		f->dirty = true;
		return;
	}
	if (inst->active) {
		memmove(&m->pos[at + 1], &m->pos[at], behind * sizeof(*m->pos));
		m->pos[at] = inst - f->insts;
		m->count++;
	} else {
		memmove(&m->pos[at], &m->pos[at + 1],
			(behind - 1) * sizeof(*m->pos));
		m->count--;
	}
}

static void set_active(struct family *f, struct inst *inst, bool active)
{
	if (inst->active == active)
		return;
	inst->active = active;
	nr_active += active ? 1 : -1;
	move_member(f, inst);
	if (!active)
		agent_seen_left(f, inst);
}

static uint64_t count_of(const struct family *f, const struct inst *inst)
{
	return f->sem == KMMV_SEM_COUNTER ?
		       agent_carry_sum(f, &f->carry[inst - f->insts]) :
		       0;
}

/*
 * STATE: ID_AWAY, or ID_FORGOTTEN by the kernel. Tolerated: of a forgotten name, the total
 * keeps what was last read, and lacks what was counted since. The kernel has given the
 * number back before the table shows it: what is there may be its next owner's.
 */
static void unbind_slot(struct slot *slot, int state)
{
	struct family *f = family_of(slot);
	struct inst *inst;

	if (!f)
		return;
	slot->family = 0;
	inst = &f->insts[slot->pos];
	set_active(f, inst, false);
	inst->bound = false;
	f->gone += count_of(f, inst);
	agent_id_set_state(inst->lasting, state);
	/* Those of its blocks. */
	agent_error_settle(inst->lasting);
}

static void bind_slot(uint32_t n, const struct kmmv_instance_info *info,
		      uint32_t epoch)
{
	struct family *f = agent_family_by_kid(info->family);
	struct binding key = { epoch, n, info->incarnation };
	char name[AGENT_NAME_SIZE];
	struct inst *inst;
	struct id *id;

	id = f ? lookup(f, info->name, name, sizeof(name)) : NULL;
	inst = id ? agent_instance_of_id(f, id) : NULL;
	if (!inst || inst->bound)
		return;
	agent_id_set_state(id, ID_USED);
	f->gone -= count_of(f, inst);
	rebase(f, inst, &key);
	inst->bound = true;
	slots[n].family = f->fid + 1;
	slots[n].pos = inst - f->insts;
}

/* The numbers to visit: all below COUNT if NUMBER is NULL. */
struct visit {
	const uint32_t *number;
	uint32_t count;
};

static uint32_t visited(const struct visit *v, uint32_t i)
{
	return v->number ? v->number[i] : i;
}

/*
 * Add numbers for new names, a batch at most. Returns how many of the kernel's
 * numbers were examined; the rest is left for later.
 */
static uint32_t add_new(struct kmmv *handle, const struct visit *v)
{
	char name[AGENT_NAME_SIZE];
	uint32_t i;

	for (i = 0; i < v->count && !agent_id_batch_full(); i++) {
		const struct kmmv_instance_info *info;
		uint32_t n = visited(v, i);
		struct family *f;

		info = slots[n].family ? NULL : kmmv_instance(handle, n);
		if (!info || info->state == KMMV_FREE)
			continue;
		f = agent_family_by_kid(info->family);
		if (!f || lookup(f, info->name, name, sizeof(name)))
			continue;
		if (*name)
			agent_id_add(agent_table_errors, agent_scope_of(f), -1,
				     name,
				     strcmp(name, info->name) ? info->name :
								"");
		else
			agent_error(
				agent_table_errors,
				"instance \"%s\" of %s: no external name left",
				info->name, f->name);
	}
	return i;
}

static bool relabel(struct inst *inst, const struct kmmv_instance_info *info)
{
	uint64_t hash = AGENT_HASH_INIT;

	if (info->label_key) {
		hash = agent_hash(hash, info->label_key);
		hash = agent_hash(hash ^ '=', info->label);
	}
	if (inst->lasting->note == hash)
		return false;
	inst->lasting->note = hash;
	return true;
}

static int resize_slots(uint32_t count)
{
	struct slot *p;

	if (count <= nr_slots)
		return 0;
	p = realloc(slots, count * sizeof(*slots));
	if (!p)
		return -ENOMEM;
	memset(p + nr_slots, 0, (count - nr_slots) * sizeof(*slots));
	slots = p;
	nr_slots = count;
	return 0;
}

static const struct inst *sorted;

static int compare_positions(const void *a, const void *b)
{
	int x = sorted[*(const uint32_t *)a].id;
	int y = sorted[*(const uint32_t *)b].id;

	return x < y ? -1 : x > y;
}

static void sort_members(const struct family *f, struct members *m)
{
	uint32_t i;

	for (i = 1; i < m->count; i++) {
		if (f->insts[m->pos[i - 1]].id > f->insts[m->pos[i]].id)
			break;
	}
	if (i < m->count) {
		sorted = f->insts;
		qsort(m->pos, m->count, sizeof(*m->pos), compare_positions);
	}
}

static void count_members(struct family *f)
{
	uint32_t pos;

	f->active.count = 0;
	if (grow_members(f) < 0) {
		agent_attach_no_memory("instances of %s", f->name);
		return;
	}
	f->dirty = false;
	for (pos = 0; pos < f->nr_insts; pos++) {
		if (f->insts[pos].active)
			f->active.pos[f->active.count++] = pos;
	}
	sort_members(f, &f->active);
}

static void finish(void)
{
	int fid;

	for (fid = 0; fid < agent_family_limit(); fid++) {
		struct family *f = agent_family(fid);

		if (!f)
			continue;
		f->moved = 0;
		if (f->dirty)
			count_members(f);
	}
}

void agent_instance_unbind_all(void)
{
	uint32_t n;

	for (n = 0; n < nr_slots; n++)
		unbind_slot(&slots[n], ID_AWAY);
	finish();
	unbound_all = true;
}

/* A name may have moved to a lower number: unbind all that ended first. */
static void unbind_ended(struct kmmv *handle, const struct visit *v)
{
	const struct kmmv_instance_info *info;
	uint32_t i;

	for (i = 0; i < v->count; i++) {
		struct slot *slot = &slots[visited(v, i)];

		if (!slot->family)
			continue;
		info = kmmv_instance(handle, slot - slots);
		if (!info)
			unbind_slot(slot, ID_AWAY);
		else if (info->state == KMMV_FREE ||
			 info->incarnation !=
				 inst_of(slot)->key.incarnation)
			unbind_slot(slot, ID_FORGOTTEN);
	}
}

/*
 * Bind the kernel's number N if it has a name, which has a lasting number or,
 * if not EXAMINED, may have none yet. True if its label changed.
 */
static bool visit(struct kmmv *handle, uint32_t n, bool examined,
		  uint32_t epoch)
{
	const struct kmmv_instance_info *info = kmmv_instance(handle, n);
	bool known = slots[n].family;
	struct inst *inst;

	if (!info || info->state == KMMV_FREE)
		return false;
	if (!known && examined)
		bind_slot(n, info, epoch);
	if (!slots[n].family) {
		/* If its family is missing, only the family is to be tried again. */
		missed |= agent_family_by_kid(info->family) != NULL;
		return false;
	}
	inst = inst_of(&slots[n]);
	set_active(family_of(&slots[n]), inst, info->state == KMMV_ACTIVE);
	return relabel(inst, info) && known;
}

void agent_instance_sync(struct kmmv *handle, const struct changes *changes)
{
	struct visit v = { changes->number, changes->count };
	struct kmmv_info table;
	bool relabelled = false;
	uint32_t i, count;
	int64_t epoch;

	kmmv_get_info(handle, &table);
	if (changes->all || missed)
		v = (struct visit){ NULL, table.nr_instances };
	missed = true;
	epoch = find_epoch(table.epoch);
	if (epoch < 0 || resize_slots(table.nr_instances) < 0) {
		agent_attach_no_memory("%u instances", table.nr_instances);
		/*
		 * A number that now belongs to another instance must not show the
		 * previous one's value.
		 */
		v = (struct visit){ NULL, nr_slots };
		unbind_ended(handle, &v);
		finish();
		return;
	}
	missed = false;
	agent_instance_visits += v.count;
	unbind_ended(handle, &v);
	count = add_new(handle, &v);
	/* An identifier is on disk before a client learns of it. */
	agent_id_commit();
	for (i = 0; i < v.count; i++)
		relabelled |= visit(handle, visited(&v, i), i < count,
				    epoch);
	if (relabelled)
		pmdaExtSetFlags(agent_ext, PMDA_EXT_LABEL_CHANGE);
	unbound_all = false;
	agent_id_purge();
	finish();
	if (pmDebugOptions.appl0)
		pmNotifyErr(LOG_DEBUG, "generation %llu: %u active instances",
			    (unsigned long long)table.generation, nr_active);
}

void agent_instance_names(uint32_t number, uint16_t incarnation,
			  const char **family, const char **name)
{
	const struct inst *inst;

	if (number >= nr_slots || !slots[number].family)
		return;
	inst = inst_of(&slots[number]);
	if ((uint16_t)inst->key.incarnation != incarnation)
		return;
	agent_id_hold(inst->lasting);
	*family = family_of(&slots[number])->name;
	*name = agent_inst_name(inst);
}

uint32_t agent_instance_active(void)
{
	return nr_active;
}
