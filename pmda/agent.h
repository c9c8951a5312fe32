/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmdakmmv: what its files share.
 *
 * One thread, one device directory, state in the file that owns it:
 *
 *	pmda.c		options, the DSO's and the daemon's start
 *	host.c		what libpcp_pmda knows the process by
 *	error.c		what is wrong
 *	attach.c	the mapping: open, close
 *	id.c		lasting numbers, see id.h; idfile.c has their file
 *	family.c	families
 *	instance.c	instances of a family; name.c has their names
 *	carry.c		counts that go on
 *	percpu.c	name::cpuN
 *	view.c		metrics of families; reading.c has their values
 *	member.c	instance domains of families
 *	seen.c		what clients have fetched, and may still ask for
 *	label.c		labels
 *	control.c	kmmv.control.*; access.c says who may store
 *	ringview.c	kmmv.ring.*, and what ring.h lists: ring.c figure.c
 *			ringindom.c reader.c queue.c records.c filter.c param.c
 *	provider.c	which of these answers for what, see provider.h
 *	dispatch.c	clients' questions
 *	pmns.c		the name space
 *	values.c	sets of values
 *	indom.c		what profiles ask for, and instances as libpcp has them
 *	loop.c		the daemon's loop
 *
 * Names start with agent_, because kmmv_ is the library's, which is linked in.
 */
#ifndef KMMV_AGENT_H
#define KMMV_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include "libkmmv.h"
#include "id.h"

/* PCP 7 gave pmResult a finer clock; agents keep the old structure. */
#ifndef pmdaResult
#define pmdaResult pmResult
#endif

/*
 * Archives depend on these numbers. A family's cluster and its two domains
 * follow from its lasting id; clusters below FIRST_CLUSTER and serials below
 * FIRST_SERIAL are the agent's own.
 */
enum {
	CLUSTER_CONTROL,
	CLUSTER_RING,
	CLUSTER_RING_EVENT,
	CLUSTER_RING_FIELDS = 8,	/* and those up to FIRST_CLUSTER */
	FIRST_CLUSTER = 16,
	LAST_CLUSTER = 4095,
	MAX_FAMILIES = LAST_CLUSTER - FIRST_CLUSTER + 1,
	MAX_FIELDS = (FIRST_CLUSTER - CLUSTER_RING_FIELDS) * 1024,
	MAX_RINGS = 4096,
};

enum { ITEM_SUM, ITEM_PERCPU, ITEM_ALL, NR_ITEMS };

/*
 * Families of kmmv's own modules have numbers that are the same on every host,
 * listed in family.c, with room for those of modules to come. The cluster is
 * FIRST_CLUSTER + number.
 */
enum {
	FAMILY_CORE = 0,	/* kmmv, kmmv_stat */
	FAMILY_BLOCK = 16,
	FAMILY_NET = 48,
	FAMILY_TRACE = 80,
	FAMILY_PROFILE = 112,
	FIRST_FREE_FAMILY = 240,
};

enum {
	SERIAL_FAMILIES,	/* not a domain: the numbers of families */
	SERIAL_FIELDS,		/* likewise, of the fields of events */
	SERIAL_RINGS,
	SERIAL_RING_CPUS,
	FIRST_SERIAL = 16,
};

/* Room for an instance's external name, a suffix and ::cpuN included. */
#define AGENT_NAME_SIZE 320

/* ---- host.c ---- */

extern int agent_domain;
extern pmdaExt *agent_ext;

/* ---- error.c ---- */

/* Log what is wrong, and show it in kmmv.control.error until its subject is settled:
 * any address, or NULL for what stays wrong as long as the agent runs. */
void agent_error(const void *about, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *agent_error_text(void);
/* Look at a subject anew: what is not said of it again until the end is settled. */
void agent_error_begin(const void *about);
void agent_error_end(const void *about);
/* Nothing is wrong with it any more. */
void agent_error_settle(const void *about);
/* The subject of what a sync finds in the device's tables. */
extern const char agent_table_errors[1];

/* ---- attach.c ---- */

/* Bring mapping and tables up to date; true if there is a mapping. */
bool agent_attach_sync(void);
struct kmmv *agent_attach_handle(void);
/* Of no CPU if there is no mapping. */
bool agent_attach_possible(uint32_t cpu);
/* SYNC when the device's tables were mapped or have changed, FORGET before the
 * mapping goes. */
void agent_attach_init(const char *dir, void (*sync)(struct kmmv *handle),
		       void (*forget)(void));
void agent_attach_close(void);
/* Attach (1) or let go of the device (0), from now on. */
void agent_attach_want(bool on);
bool agent_attach_wanted(void);
/* Look at the device anew: true if its tables had changed. */
bool agent_attach_changed(void);
const char *agent_attach_device(void);
const char *agent_attach_state(void);
/* What a value that cannot be had answers; for when there is no mapping. */
int agent_attach_status(void);
void agent_attach_counts(uint64_t *retries, uint64_t *rereads);

/* ---- instance.c ---- */

/* Which of the kernel's numbers an instance stands for. */
struct binding {
	uint64_t epoch;
	uint32_t number;
	uint32_t incarnation;
};

/*
 * seen is the last raw value of this binding, base what is added to it. While
 * nothing was read of a new binding, base is what clients saw last; seen is 0
 * then, or CARRY_UNREAD where the first value has to be compared with base.
 */
struct carry {
	uint64_t base;
	uint64_t seen;
};

struct inst {
	int id;			/* lasting; -1: nobody has this position */
	bool bound;		/* the kernel has it, active or not */
	bool active;
	bool listed;		/* in family.left */
	struct binding key;	/* also of the last binding */
	uint64_t left;		/* when it ceased to be active, see seen.c */
	uint64_t label_hash;
	struct id *lasting;
	const char *name;	/* external; lasting's, as raw */
	const char *raw;	/* NULL where it is the same */
	struct carry *cpus;	/* nr_cpus, once asked for */
	uint32_t nr_cpus;
};

/* Instances as positions in family.insts, and their numbers. */
struct members {
	uint32_t *pos;
	uint32_t *number;
	uint32_t count;
};

struct family {
	int fid;		/* lasting */
	uint32_t order;		/* of those with one name, the last one counts */
	char *name;
	bool present;		/* in the table that is mapped now */
	bool dirty;		/* members are out of date */
	enum kmmv_sem sem;
	bool since_boot;	/* absolute: nothing is carried over */
	bool total;		/* its instances add up */
	pmUnits units;
	char *oneline;
	char *help;

	struct inst *insts;
	struct carry *carry;	/* parallel to insts */
	uint64_t *value;	/* parallel: what the last reading gave */
	int *status;
	uint32_t nr_insts, room;
	uint32_t unused;	/* a position that nobody has, plus one */
	struct members active, bound;	/* by id */
	uint64_t gone;		/* counts of instances that are not bound */
	uint64_t purged;	/* of those, whose names are purged */
	uint64_t reading;	/* see reading.c */
	int *left;		/* ids that some client may ask for, see seen.c */
	uint32_t nr_left, left_room;
};

/* No count since boot has this value; others, which may wrap, can. */
#define CARRY_UNREAD UINT64_MAX

static inline uint64_t agent_carry_sum(const struct family *f,
				       const struct carry *carry)
{
	if (f->since_boot && carry->seen == CARRY_UNREAD)
		return carry->base;
	return carry->base + carry->seen;
}

/* A sum over instances that came and went means something only of what counts. */
static inline bool agent_family_has_total(const struct family *f)
{
	return f->total && f->sem == KMMV_SEM_COUNTER;
}

/* A level may be below zero. */
static inline int agent_family_type(const struct family *f)
{
	return f->sem == KMMV_SEM_COUNTER ? PM_TYPE_U64 : PM_TYPE_64;
}

static inline const char *agent_inst_raw(const struct inst *inst)
{
	return inst->raw ? inst->raw : inst->name;
}

/* Bind what the table has; after family.c has done its part. */
void agent_instance_sync(struct kmmv *handle);
/* The mapping is about to go: nothing is bound any more. */
void agent_instance_unbind_all(void);
/* A name that nothing is bound to is no more; its count is in the total. */
void agent_instance_purged(struct id *id);
/* Whether its count goes on by itself, so that it is not to be kept. */
bool agent_instance_is_absolute(const struct id *id);
struct inst *agent_instance_by_id(struct family *f, int id);
struct inst *agent_instance_by_name(struct family *f, const char *name);
uint32_t agent_instance_active(void);
/* What the kernel's number stands for, if INCARNATION are the low bits of the
 * one that is known. The family's name lasts as long as the agent, the other
 * one until it is given to agent_id_release(). */
void agent_instance_names(uint32_t number, uint16_t incarnation,
			  const char **family, const char **name);
/* The instance, made if it has an id already; NULL if it has none. */
struct inst *agent_instance_of_id(struct family *f, struct id *id);

/* ---- carry.c ---- */

/* So many instances and CPUs are remembered, 16 bytes each, of all families. */
extern uint64_t agent_carry_cells_max;

/* RAW was read: what clients see. */
uint64_t agent_carry_read(const struct family *f, struct carry *carry,
			  uint64_t raw);
/* Another binding begins. */
void agent_carry_over(const struct family *f, struct carry *carry);
/* F's counts are absolute from now on, or are not any more. */
void agent_carry_since(struct family *f, bool since_boot);
/* Those of each CPU; NULL where there is no room. */
struct carry *agent_carry_cpus(struct inst *inst, uint32_t nr_cpus);
void agent_carry_forget(struct inst *inst);

/* ---- name.c ---- */

/* External form of a raw name, without regard to clashes. */
void agent_instance_sanitise(const char *raw, char *name, size_t size);
/* Make it valid UTF-8 without control characters, in place. */
void agent_clean_text(char *text);
/* Whether NAME is PREFIX, a dot and more. */
bool agent_name_below(const char *name, const char *prefix);
/* FNV-1a; goes on from HASH. */
uint64_t agent_hash(uint64_t hash, const char *text);
#define AGENT_HASH_INIT 0xcbf29ce484222325ULL

/* ---- family.c ---- */

void agent_family_load(void);
/* Take over the table's families; true if metrics are named otherwise now. */
bool agent_family_sync(struct kmmv *handle);
void agent_family_absent_all(void);
/* Whether a later one is of that name, or above or below it. */
bool agent_family_hidden(const struct family *f);
/* NULL where this process has never seen it. */
struct family *agent_family(int fid);
struct family *agent_family_by_name(const char *name);
struct family *agent_family_by_kid(uint32_t kid);
/* Lasting ids are below it, whether seen by this process or not. */
int agent_family_limit(void);
int agent_family_present(void);

static inline pmInDom agent_indom(const struct family *f, bool percpu)
{
	return pmInDom_build(agent_domain,
			     FIRST_SERIAL + 2 * f->fid + percpu);
}

static inline pmID agent_pmid(const struct family *f, int item)
{
	return pmID_build(agent_domain, FIRST_CLUSTER + f->fid, item);
}

/* The family of an instance domain, or NULL; sets *PERCPU and *FID. */
struct family *agent_family_of_indom(pmInDom indom, bool *percpu, int *fid);

/* ---- percpu.c ---- */

#define PERCPU_CPU_BITS 13	/* NR_CPUS goes to 8192 */
/*
 * An instance has a lasting number for each block of 64 CPUs of it that was
 * asked for; the identifier is that number and the CPU's within the block.
 */
#define PERCPU_BLOCK_BITS 6
#define PERCPU_MAX_BLOCKS (1 << (31 - PERCPU_BLOCK_BITS))

struct cell {
	uint32_t pos;		/* in family.insts */
	uint32_t cpu;
};

struct cells {
	struct cell *cell;
	uint32_t count, room;
};

#define AGENT_PERCPU_MAX (1u << 20)

extern uint32_t agent_percpu_limit;	/* up to AGENT_PERCPU_MAX */
extern uint32_t agent_percpu_omitted;

/* Note which CPUs are online. */
void agent_percpu_sync(struct kmmv *handle);
/* Identifier of a cell that was selected, or -1 where it has none (yet). */
int agent_percpu_id(const struct inst *inst, uint32_t cpu);
/* Cells that PROFILE asks for, up to the limit; -errno. The result is valid
 * until the next call. */
int agent_percpu_select(struct family *f, const pmProfile *profile,
			const struct cells **cells);
/* Those of a listing for CTX: what it fetched last, and has gone, too; up to
 * the limit twice. */
int agent_percpu_list(struct family *f, int ctx, const struct cells **cells);
/* The instance, active or not, and CPU of an identifier or name; PM_ERR_INST. */
int agent_percpu_by_id(struct family *f, int id, struct cell *cell);
int agent_percpu_by_name(struct family *f, const char *name,
			 struct cell *cell);
void agent_percpu_name(const struct inst *inst, uint32_t cpu, char *name,
		       size_t size);

/* ---- indom.c ---- */

/* For qsort() and bsearch() of identifiers. */
static inline int agent_indom_compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? -1 : x > y;
}

/* The instance list of INDOM in PROFILE: sorted copy without duplicates, valid
 * until the next call. *LISTED says whether the list is what is asked for or
 * what is not. */
int agent_indom_profile(pmInDom indom, const pmProfile *profile, bool *listed,
			const int **ids, int *count);
/* A result with room for COUNT, as libpcp frees it. */
pmInResult *agent_indom_alloc(pmInDom indom, uint32_t count, bool ids,
			      bool names);
void agent_indom_free(pmInResult *result);

/* ---- member.c ---- */

/* Active instances of F that PROFILE asks for, as positions; valid until the
 * next call. */
int agent_member_select(struct family *f, const pmProfile *profile,
			const struct members **members);
/* Of a family's two domains, see provider.h. */
int agent_member_instance(pmInDom indom, int ctx, int inst, const char *name,
			  pmInResult **result);
int agent_member_text(pmInDom indom, bool oneline, char *text, size_t size);
void agent_member_label(pmInDom indom, pmLabelSet **sets);
int agent_member_labels(pmInDom indom, pmLabelSet **sets,
			const pmProfile *profile);

/* ---- label.c ---- */

void agent_label_domain(pmLabelSet **sets);
/* CPU -1: of all of them. */
void agent_label_instance(const struct inst *inst, int cpu, pmLabelSet *set);

/* ---- seen.c ---- */

/* CTX has fetched, of the families that there are now. */
void agent_seen_fetch(int ctx);
void agent_seen_end(int ctx);
/* INST is active no more. */
void agent_seen_left(struct family *f, struct inst *inst);
/* Whether INST is of CTX's domain: active, or in its last fetch. */
bool agent_seen_has(int ctx, const struct inst *inst);
/* Those that are of it and not active, by id; *IDS until the next call. */
uint32_t agent_seen_list(struct family *f, int ctx, const int **ids);

/* ---- pmns.c ---- */

void agent_pmns_rebuild(void);
int agent_pmns_pmid(const char *name, pmID *pmid, pmdaExt *ext);
int agent_pmns_name(pmID pmid, char ***names, pmdaExt *ext);
int agent_pmns_children(const char *name, int traverse, char ***names,
			int **status, pmdaExt *ext);

/* ---- values.c ---- */

/*
 * A value set with room for COUNT values is one allocation, value blocks
 * included: PM_VAL_SPTR tells everyone to free the set and nothing else, and
 * the values live exactly as long as the set does.
 */
pmValueSet *agent_values_alloc(pmID pmid, uint32_t count);
/* TYPE is PM_TYPE_U64 or PM_TYPE_64. */
void agent_values_put(pmValueSet *set, uint32_t count, uint32_t index, int inst,
		      int type, uint64_t value);
pmValueSet *agent_values_alloc_u32(pmID pmid, uint32_t count);
pmValueSet *agent_values_alloc_strings(pmID pmid, uint32_t count);
/* Short words only: what is longer is cut. */
void agent_values_put_string(pmValueSet *set, uint32_t count, uint32_t index,
			     int inst, const char *text);
/* With room for BYTES of value blocks, *AT. */
pmValueSet *agent_values_alloc_bytes(pmID pmid, uint32_t count, size_t bytes,
				     char **at);
pmValueSet *agent_values_error(pmID pmid, int status);
pmValueSet *agent_values_u32(pmID pmid, uint32_t value);
pmValueSet *agent_values_u64(pmID pmid, uint64_t value);
pmValueSet *agent_values_string(pmID pmid, const char *text);

/* ---- access.c ---- */

/* Once, before there are clients. */
void agent_access_init(void);
int agent_access_attribute(int ctx, int key, const char *value, int length,
			   pmdaExt *ext);
void agent_access_end(int ctx);
/* Whether the client may store what is not its own, and have events. No look-ups. */
bool agent_access_store(int ctx);
bool agent_access_events(int ctx);

/* ---- ring.c ---- */

/* NAMES, with commas, are those whose events clients can have. */
void agent_ring_init(const char *names);

/* ---- queue.c ---- */

#define AGENT_QUEUE_MAX (256ULL << 20)

/* Limit of each ring's queue, up to AGENT_QUEUE_MAX. */
extern uint64_t agent_queue_bytes;

/* ---- records.c ---- */

/* Before a fetch of events: read the rings, begin what CTX has not yet. */
void agent_records_prepare(int ctx, const pmProfile *profile);
pmValueSet *agent_records_value(pmID pmid, int ctx, const pmProfile *profile);
int agent_records_filter(int ctx, const pmValueSet *set);
void agent_records_end(int ctx);
/* Read the rings that have clients; WOKEN: because one is said to be ready. */
void agent_records_drain(bool woken);

/* ---- loop.c ---- */

void agent_loop(pmdaInterface *dispatch);

/* ---- dispatch.c ---- */

int agent_desc(pmID pmid, pmDesc *desc, pmdaExt *ext);
int agent_text(int ident, int type, char **text, pmdaExt *ext);
int agent_label(int ident, int type, pmLabelSet **sets, pmdaExt *ext);
int agent_instance(pmInDom indom, int inst, char *name, pmInResult **result,
		   pmdaExt *ext);
int agent_store(pmdaResult *result, pmdaExt *ext);
int agent_fetch(int count, pmID *pmids, pmdaResult **result, pmdaExt *ext);

#endif /* KMMV_AGENT_H */
