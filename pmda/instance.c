// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instances of a family and their lasting identifiers.
 *
 * A family's pmdaCache holds one line per instance ever seen, "name" or, where
 * PCP cannot take the raw name, "name raw". The cache compares first words
 * only, so the external name is the key and the raw one rides along: after a
 * restart "a b" and "a_b" get back what was theirs, in whatever order they
 * come. Entries are hidden, never culled; identifiers are never given out
 * again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

/* An instance by the kernel's number. */
struct slot {
	struct family *family;	/* NULL: nothing is bound */
	uint32_t pos;
};

static struct slot *slots;
static uint32_t nr_slots;
static uint32_t nr_active;
static int save_status;

uint64_t agent_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash;
}

/* Bytes of the valid UTF-8 sequence at P, or 0. */
static int utf8_length(const unsigned char *p)
{
	uint32_t c, least;
	int i, n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] < 0xe0)
		n = 2, c = p[0] & 0x1f, least = 0x80;
	else if (p[0] >= 0xe0 && p[0] < 0xf0)
		n = 3, c = p[0] & 0x0f, least = 0x800;
	else if (p[0] >= 0xf0 && p[0] < 0xf5)
		n = 4, c = p[0] & 0x07, least = 0x10000;
	else
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
}

/*
 * White space would make names one to PCP, a leading '[' reads as a key in
 * the cache file, and clients written in Python raise on invalid UTF-8.
 */
void agent_instance_sanitise(const char *raw, char *name, size_t size)
{
	const unsigned char *p = (const unsigned char *)raw;
	size_t at = 0;

	while (*p && at + 5 < size) {
		int n = utf8_length(p);

		if (n == 0 || *p <= ' ' || *p == 0x7f || (*p == '[' && !at)) {
			name[at++] = '_';
			p++;
			continue;
		}
		while (n--)
			name[at++] = *p++;
	}
	if (at == 0)
		name[at++] = '_';
	name[at] = '\0';
}

void agent_clean_text(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		int n = utf8_length(p);

		if (n == 0 || *p == 0x7f)
			*p = '?';
		else if (*p < ' ')
			*p = ' ';
		p += n ? n : 1;
	}
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
	p = realloc(f->value, room * sizeof(*f->value));
	if (!p)
		return -ENOMEM;
	f->value = p;
	p = realloc(f->status, room * sizeof(*f->status));
	if (!p)
		return -ENOMEM;
	f->status = p;
	f->room = room;
	return 0;
}

/* Identifiers ascend, in the cache and here; RAW is NULL if it is NAME. */
static struct inst *append(struct family *f, int id, const char *name,
			   const char *raw)
{
	struct inst *inst;

	if (f->nr_insts && f->insts[f->nr_insts - 1].id >= id)
		return NULL;
	if (grow(f) < 0)
		return NULL;
	inst = &f->insts[f->nr_insts];
	memset(inst, 0, sizeof(*inst));
	memset(&f->carry[f->nr_insts], 0, sizeof(*f->carry));
	inst->id = id;
	inst->name = strdup(name);
	inst->raw = raw ? strdup(raw) : NULL;
	if (!inst->name || (raw && !inst->raw)) {
		free(inst->name);
		free(inst->raw);
		return NULL;
	}
	f->nr_insts++;
	return inst;
}

/* The cache's private pointer is the position plus one. */
static void *to_private(const struct family *f, const struct inst *inst)
{
	return (void *)(uintptr_t)(inst - f->insts + 1);
}

static void set_cache(struct family *f, struct inst *inst, int flag)
{
	pmdaCacheStore(agent_indom(f, false), flag, inst->name,
		       to_private(f, inst));
}

static void load_entry(struct family *f, int id, const char *line)
{
	char name[AGENT_NAME_SIZE];
	size_t len = strcspn(line, " ");
	struct inst *inst;

	if (len >= sizeof(name))
		return;
	memcpy(name, line, len);
	name[len] = '\0';
	inst = append(f, id, name, line[len] ? line + len + 1 : NULL);
	if (inst)
		set_cache(f, inst, PMDA_CACHE_ADD);
}

void agent_instance_load(struct family *f)
{
	pmInDom indom = agent_indom(f, false);
	char *line;
	int id;

	pmdaCacheOp(indom, PMDA_CACHE_LOAD);
	pmdaCacheOp(indom, PMDA_CACHE_ACTIVE);
	pmdaCacheOp(indom, PMDA_CACHE_WALK_REWIND);
	while ((id = pmdaCacheOp(indom, PMDA_CACHE_WALK_NEXT)) >= 0) {
		if (pmdaCacheLookup(indom, id, &line, NULL) >= 0)
			load_entry(f, id, line);
	}
	pmdaCacheOp(indom, PMDA_CACHE_INACTIVE);
}

struct inst *agent_instance_by_name(struct family *f, const char *name)
{
	uintptr_t at;
	void *private;

	if (strchr(name, ' '))
		return NULL;
	if (pmdaCacheLookupName(agent_indom(f, false), name, NULL,
				&private) < 0)
		return NULL;
	at = (uintptr_t)private;
	return at > 0 && at <= f->nr_insts ? &f->insts[at - 1] : NULL;
}

struct inst *agent_instance_by_id(struct family *f, int id)
{
	uint32_t low = 0, high = f->nr_insts;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (f->insts[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < f->nr_insts && f->insts[low].id == id)
		return &f->insts[low];
	return NULL;
}

static struct inst *create(struct family *f, const char *name, const char *raw)
{
	pmInDom indom = agent_indom(f, false);
	char line[2 * AGENT_NAME_SIZE];
	struct inst *inst;
	int id;

	if (strcmp(name, raw) == 0) {
		raw = NULL;
		pmsprintf(line, sizeof(line), "%s", name);
	} else {
		pmsprintf(line, sizeof(line), "%s %s", name, raw);
	}
	id = pmdaCacheStore(indom, PMDA_CACHE_ADD, line, NULL);
	if (id < 0) {
		agent_error("instance \"%s\" of %s: %s", line, f->name,
			    pmErrStr(id));
		return NULL;
	}
	f->unsaved = true;
	inst = append(f, id, name, raw);
	if (inst)
		set_cache(f, inst, PMDA_CACHE_HIDE);
	return inst;
}

/*
 * The instance of a raw name, made if need be. Clashing names probe a
 * sequence of suffixes; as nothing is ever taken out, a name is found where it
 * was put. After a few steps the suffix is a hash, so that many names of one
 * external form cost no quadratic time.
 */
static struct inst *find_or_create(struct family *f, const char *raw)
{
	char plain[AGENT_NAME_SIZE - 48], name[AGENT_NAME_SIZE];
	struct inst *inst;
	uint64_t hash;
	int i;

	agent_instance_sanitise(raw, plain, sizeof(plain));
	for (i = 1; i < 32; i++) {
		if (i == 1) {
			pmsprintf(name, sizeof(name), "%s", plain);
		} else if (i < 8) {
			pmsprintf(name, sizeof(name), "%s#%d", plain, i);
		} else {
			hash = agent_hash(AGENT_HASH_INIT + i, raw);
			pmsprintf(name, sizeof(name), "%s#%016llx", plain,
				  (unsigned long long)hash);
		}
		inst = agent_instance_by_name(f, name);
		if (!inst)
			return create(f, name, raw);
		if (strcmp(agent_inst_raw(inst), raw) == 0)
			return inst;
	}
	agent_error("instance \"%s\" of %s: no name left for it", raw, f->name);
	return NULL;
}

/* Only what counts goes on: a level starts anew. */
static void carry_over(const struct family *f, struct carry *carry)
{
	if (f->sem == KMMV_SEM_COUNTER)
		carry->base += carry->seen;
	else
		carry->base = 0;
	carry->seen = 0;
}

/* A counter goes on from what its last binding gave. */
static void rebase(struct family *f, struct inst *inst,
		   const struct binding *key)
{
	uint32_t cpu;

	if (inst->key.epoch == key->epoch && inst->key.number == key->number &&
	    inst->key.incarnation == key->incarnation)
		return;
	inst->key = *key;
	carry_over(f, &f->carry[inst - f->insts]);
	for (cpu = 0; inst->cpus && cpu < inst->nr_cpus; cpu++)
		carry_over(f, &inst->cpus[cpu]);
}

static void set_active(struct family *f, struct inst *inst, bool active)
{
	if (inst->active == active)
		return;
	inst->active = active;
	nr_active += active ? 1 : -1;
	f->dirty = true;
	set_cache(f, inst, active ? PMDA_CACHE_ADD : PMDA_CACHE_HIDE);
}

static void unbind_slot(struct slot *slot)
{
	struct family *f = slot->family;
	struct inst *inst;

	if (!f)
		return;
	slot->family = NULL;
	inst = &f->insts[slot->pos];
	set_active(f, inst, false);
	inst->bound = false;
	f->dirty = true;
}

static void bind_slot(uint32_t n, const struct kmmv_instance_info *info,
		      uint64_t epoch)
{
	struct family *f = agent_family_by_kid(info->family);
	struct binding key = { epoch, n, info->incarnation };
	struct inst *inst;

	if (!f)
		return;
	inst = find_or_create(f, info->name);
	if (!inst || inst->bound)
		return;
	rebase(f, inst, &key);
	inst->bound = true;
	f->dirty = true;
	slots[n].family = f;
	slots[n].pos = inst - f->insts;
}

static bool relabel(struct inst *inst, const struct kmmv_instance_info *info)
{
	uint64_t hash = AGENT_HASH_INIT;

	if (info->label_key) {
		hash = agent_hash(hash, info->label_key);
		hash = agent_hash(hash ^ '=', info->label);
	}
	if (inst->label_hash == hash)
		return false;
	inst->label_hash = hash;
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

static int resize_members(struct members *m, uint32_t count)
{
	void *p;

	p = realloc(m->pos, (count + 1) * sizeof(*m->pos));
	if (!p)
		return -ENOMEM;
	m->pos = p;
	p = realloc(m->number, (count + 1) * sizeof(*m->number));
	if (!p)
		return -ENOMEM;
	m->number = p;
	m->count = 0;
	return 0;
}

static void add_member(struct members *m, uint32_t pos, uint32_t number)
{
	m->pos[m->count] = pos;
	m->number[m->count++] = number;
}

static void count_members(struct family *f)
{
	uint32_t pos;

	f->dirty = false;
	f->gone = 0;
	f->active.count = 0;
	f->bound.count = 0;
	if (resize_members(&f->active, f->nr_insts) < 0 ||
	    resize_members(&f->bound, f->nr_insts) < 0) {
		agent_error("no memory for instances of %s", f->name);
		return;
	}
	for (pos = 0; pos < f->nr_insts; pos++) {
		struct inst *inst = &f->insts[pos];

		if (!inst->bound) {
			if (f->sem == KMMV_SEM_COUNTER)
				f->gone += f->carry[pos].base +
					   f->carry[pos].seen;
			continue;
		}
		add_member(&f->bound, pos, inst->key.number);
		if (inst->active)
			add_member(&f->active, pos, inst->key.number);
	}
}

static void save(struct family *f)
{
	int rc = pmdaCacheOp(agent_indom(f, false), PMDA_CACHE_SAVE);

	f->unsaved = false;
	if (rc < 0 && rc != save_status)
		agent_error("identifiers of %s cannot be saved: %s", f->name,
			    pmErrStr(rc));
	save_status = rc;
}

static void finish(void)
{
	int fid;

	for (fid = 0; fid < agent_family_limit(); fid++) {
		struct family *f = agent_family(fid);

		if (f && f->dirty)
			count_members(f);
		/* Before a client learns of an identifier, it is on disk. */
		if (f && f->unsaved)
			save(f);
	}
}

void agent_instance_unbind_all(void)
{
	uint32_t n;

	for (n = 0; n < nr_slots; n++)
		unbind_slot(&slots[n]);
	finish();
}

/* A name may have moved to a lower number: all that ended goes first. */
static void unbind_ended(struct kmmv *handle)
{
	const struct kmmv_instance_info *info;
	uint32_t n;

	for (n = 0; n < nr_slots; n++) {
		struct slot *slot = &slots[n];

		if (!slot->family)
			continue;
		info = kmmv_instance(handle, n);
		if (!info || info->state == KMMV_FREE ||
		    info->incarnation !=
			    slot->family->insts[slot->pos].key.incarnation)
			unbind_slot(slot);
	}
}

void agent_instance_sync(struct kmmv *handle)
{
	const struct kmmv_instance_info *info;
	struct kmmv_info table;
	bool relabelled = false;
	uint32_t n;

	kmmv_get_info(handle, &table);
	if (resize_slots(table.nr_instances) < 0) {
		agent_error("no memory for %u instances", table.nr_instances);
		return;
	}
	unbind_ended(handle);
	for (n = 0; n < table.nr_instances; n++) {
		struct inst *inst;
		bool known = slots[n].family;

		info = kmmv_instance(handle, n);
		if (!info || info->state == KMMV_FREE)
			continue;
		if (!known)
			bind_slot(n, info, table.epoch);
		if (!slots[n].family)
			continue;
		inst = &slots[n].family->insts[slots[n].pos];
		set_active(slots[n].family, inst, info->state == KMMV_ACTIVE);
		if (relabel(inst, info) && known)
			relabelled = true;
	}
	if (relabelled)
		pmdaExtSetFlags(agent_ext, PMDA_EXT_LABEL_CHANGE);
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
	inst = &slots[number].family->insts[slots[number].pos];
	if ((uint16_t)inst->key.incarnation != incarnation)
		return;
	*family = slots[number].family->name;
	*name = inst->name;
}

uint32_t agent_instance_active(void)
{
	return nr_active;
}
