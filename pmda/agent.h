/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmdakmmv: what its files share.
 *
 * One thread, one device directory, state in the file that owns it:
 *
 *	pmda.c		options, dispatch, the DSO's and the daemon's start
 *	attach.c	the mapping: open, close, what is wrong
 *	family.c	families and their lasting numbers
 *	instance.c	instances of a family and their lasting numbers
 *	percpu.c	name::cpuN, numbered by arithmetic
 *	pmns.c		the name space
 *	desc.c		descriptors
 *	indom.c		instance domains as clients see them
 *	fetch.c		value sets; values.c builds one
 *	control.c	kmmv.control.*; access.c says who may store
 *	ring.c		kmmv.ring.*, and what ring.h lists: reader.c queue.c
 *			records.c filter.c param.c
 *	loop.c		the daemon's loop
 *	text.c label.c	help and labels
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
};

enum { ITEM_SUM, ITEM_PERCPU, ITEM_ALL, NR_ITEMS };

enum {
	SERIAL_FAMILIES,	/* not a domain: the cache of family names */
	SERIAL_FIELDS,		/* likewise, of the fields of events */
	SERIAL_RINGS,
	SERIAL_RING_CPUS,
	FIRST_SERIAL = 16,
};

/* Room for an instance's external name, a suffix and ::cpuN included. */
#define AGENT_NAME_SIZE 320

extern int agent_domain;
extern pmdaExt *agent_ext;

/* ---- attach.c ---- */

/* Bring mapping and tables up to date; true if there is a mapping. */
bool agent_attach_sync(void);
struct kmmv *agent_attach_handle(void);
void agent_attach_init(const char *dir);
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
/* Remember, and log, what is wrong; kmmv.control.error shows the last one. */
void agent_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *agent_error_text(void);

/* ---- instance.c ---- */

/* Which of the kernel's numbers an instance stands for. */
struct binding {
	uint64_t epoch;
	uint32_t number;
	uint32_t incarnation;
};

/*
 * base is what was counted under earlier bindings, seen the last raw value of
 * this one. A binding that ends leaves its count in base, so that a counter
 * goes on where clients saw it last.
 */
struct carry {
	uint64_t base;
	uint64_t seen;
};

struct inst {
	int id;			/* lasting, ascending in family.insts */
	bool bound;		/* the kernel has it, active or not */
	bool active;
	struct binding key;	/* also of the last binding */
	uint64_t label_hash;
	char *name;		/* external */
	char *raw;		/* NULL where it is the same */
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
	char *name;
	bool present;		/* in the table that is mapped now */
	bool dirty;		/* members are out of date */
	bool unsaved;		/* has ids that are not on disk yet */
	bool loaded;
	enum kmmv_sem sem;
	pmUnits units;
	char *units_text;
	char *oneline;
	char *help;

	struct inst *insts;
	struct carry *carry;	/* parallel to insts */
	uint64_t *value;	/* parallel: what the last reading gave */
	int *status;
	uint32_t nr_insts, room;
	struct members active, bound;
	uint64_t gone;		/* counts of instances that are not bound */
	uint64_t reading;	/* see fetch.c */
};

static inline const char *agent_inst_raw(const struct inst *inst)
{
	return inst->raw ? inst->raw : inst->name;
}

/* Bind what the table has; after family.c has done its part. */
void agent_instance_sync(struct kmmv *handle);
/* The mapping is about to go: nothing is bound any more. */
void agent_instance_unbind_all(void);
/* The lasting ids of a family, once, before its first binding. */
void agent_instance_load(struct family *f);
struct inst *agent_instance_by_id(struct family *f, int id);
struct inst *agent_instance_by_name(struct family *f, const char *name);
uint32_t agent_instance_active(void);
/* What the kernel's number stands for, if INCARNATION are the low bits of the
 * one that is known; the names last as long as the agent. */
void agent_instance_names(uint32_t number, uint16_t incarnation,
			  const char **family, const char **name);
/* External form of a raw name, without regard to clashes. */
void agent_instance_sanitise(const char *raw, char *name, size_t size);
/* Make it valid UTF-8 without control characters, in place. */
void agent_clean_text(char *text);
/* FNV-1a; goes on from HASH. */
uint64_t agent_hash(uint64_t hash, const char *text);
#define AGENT_HASH_INIT 0xcbf29ce484222325ULL

/* ---- family.c ---- */

void agent_family_load(void);
/* Take over the table's families; flags changes for clients. */
void agent_family_sync(struct kmmv *handle);
void agent_family_absent_all(void);
/* NULL where this process has never seen it. */
struct family *agent_family(int fid);
struct family *agent_family_by_name(const char *name);
struct family *agent_family_by_kid(uint32_t kid);
/* Lasting ids are below it, whether seen by this process or not. */
int agent_family_limit(void);
bool agent_family_known(int fid);
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

struct cell {
	uint32_t pos;		/* in family.insts */
	uint32_t cpu;
};

struct cells {
	struct cell *cell;
	uint32_t count, room;
};

extern uint32_t agent_percpu_limit;
extern uint32_t agent_percpu_omitted;

/* Note which CPUs are online. */
void agent_percpu_sync(struct kmmv *handle);
/* Identifier of a cell, or -1 where the arithmetic has no room. */
int agent_percpu_id(const struct inst *inst, uint32_t cpu);
/* Cells that PROFILE asks for, up to the limit; -errno. The result is valid
 * until the next call. */
int agent_percpu_select(struct family *f, const pmProfile *profile,
			const struct cells **cells);
/* The active instance and CPU of an identifier or name; PM_ERR_INST. */
int agent_percpu_by_id(struct family *f, int id, struct cell *cell);
int agent_percpu_by_name(struct family *f, const char *name,
			 struct cell *cell);
void agent_percpu_name(const struct inst *inst, uint32_t cpu, char *name,
		       size_t size);

/* ---- indom.c ---- */

/* Active instances of F that PROFILE asks for, as positions; valid until the
 * next call. */
int agent_indom_select(struct family *f, const pmProfile *profile,
		       const struct members **members);
/* The instance list of INDOM in PROFILE: sorted copy without duplicates, valid
 * until the next call. *LISTED says whether the list is what is asked for or
 * what is not. */
int agent_indom_profile(pmInDom indom, const pmProfile *profile, bool *listed,
			const int **ids, int *count);
/* A result with room for COUNT, as libpcp frees it. */
pmInResult *agent_indom_alloc(pmInDom indom, uint32_t count, bool ids,
			      bool names);
void agent_indom_free(pmInResult *result);
int agent_indom_instance(pmInDom indom, int inst, char *name,
			 pmInResult **result, pmdaExt *ext);

/* ---- pmns.c ---- */

void agent_pmns_rebuild(void);
int agent_pmns_pmid(const char *name, pmID *pmid, pmdaExt *ext);
int agent_pmns_name(pmID pmid, char ***names, pmdaExt *ext);
int agent_pmns_children(const char *name, int traverse, char ***names,
			int **status, pmdaExt *ext);

/* ---- desc.c ---- */

int agent_desc(pmID pmid, pmDesc *desc, pmdaExt *ext);

/* ---- values.c ---- */

/*
 * A value set with room for COUNT values is one allocation, value blocks
 * included: PM_VAL_SPTR tells everyone to free the set and nothing else, and
 * the values live exactly as long as the set does.
 */
pmValueSet *agent_values_alloc(pmID pmid, uint32_t count);
void agent_values_put_u64(pmValueSet *set, uint32_t count, uint32_t index,
			  int inst, uint64_t value);
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

/* ---- fetch.c ---- */

extern uint64_t agent_fetch_max_age;	/* nanoseconds */

int agent_fetch(int count, pmID *pmids, pmdaResult **result, pmdaExt *ext);
/* Everything that F ever counted; false if there is nothing to read. */
bool agent_fetch_total(struct family *f, uint64_t *total);

/* ---- control.c ---- */

struct control {
	const char *name;	/* below kmmv.control. */
	int item;
	int type;
	int sem;
	pmUnits units;
};

#define AGENT_NR_CONTROLS 20

const struct control *agent_control(int index);
int agent_control_desc(int item, pmDesc *desc);
pmValueSet *agent_control_value(pmID pmid);
int agent_control_store(pmdaResult *result, pmdaExt *ext);

/* ---- access.c ---- */

int agent_access_attribute(int ctx, int key, const char *value, int length,
			   pmdaExt *ext);
void agent_access_end(int ctx);
/* Whether the client may store, and have events: uid 0 or group pcp, on this
 * machine. */
bool agent_access_allowed(int ctx);

/* ---- ring.c ---- */

extern uint64_t agent_ring_queue_bytes;	/* limit of each ring's queue */

/* NAMES, with commas, are those whose events clients can have. */
void agent_ring_init(const char *names);
/* Before a request that is about rings: list them, read each anew. */
void agent_ring_request(void);
void agent_ring_close_all(void);
void agent_ring_names(void (*add)(pmID pmid, const char *prefix,
				  const char *name));
int agent_ring_desc(pmID pmid, pmDesc *desc);
pmValueSet *agent_ring_value(pmID pmid, int ctx, const pmProfile *profile);
bool agent_ring_is_records(pmID pmid);
int agent_ring_store(int ctx, const pmValueSet *set);
bool agent_ring_is_indom(pmInDom indom, bool *percpu);
int agent_ring_instance(pmInDom indom, int inst, const char *name,
			pmInResult **result);
int agent_ring_labels(pmInDom indom, pmLabelSet **sets,
		      const pmProfile *profile);

/* ---- records.c ---- */

/* Before a fetch of events: read the rings, begin what CTX has not yet. */
void agent_records_prepare(int ctx, const pmProfile *profile);
pmValueSet *agent_records_value(pmID pmid, int ctx, const pmProfile *profile);
int agent_records_filter(int ctx, const pmValueSet *set);
void agent_records_end(int ctx);
/* Read the rings that have clients; WOKEN: because one is said to be ready. */
void agent_records_drain(bool woken);

/* ---- param.c ---- */

void agent_param_load(void);
/* Take over the table's types of events. */
void agent_param_sync(struct kmmv *handle);
void agent_param_names(void (*add)(pmID pmid, const char *prefix,
				   const char *name));
bool agent_param_is(pmID pmid);
int agent_param_desc(pmID pmid, pmDesc *desc);
/* Of a registered type's field; others have theirs in the help file. */
int agent_param_text(pmID pmid, bool oneline, char *text, size_t size);

/* ---- loop.c ---- */

void agent_loop(pmdaInterface *dispatch);

/* ---- text.c, label.c ---- */

int agent_text(int ident, int type, char **text, pmdaExt *ext);
int agent_label(int ident, int type, pmLabelSet **sets, pmdaExt *ext);

#endif /* KMMV_AGENT_H */
