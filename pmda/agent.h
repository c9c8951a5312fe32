/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmdakmmv: declarations shared by its files.
 *
 * There is one device directory, and one thread: another one, in iddisk.c, only
 * waits for the disk. State is in the file that owns it:
 *
 *	pmda.c		options, start of the DSO and of the daemon
 *	host.c		the domain and libpcp_pmda's state
 *	error.c		errors, for the log and for clients
 *	clock.h		the time for waits and retries
 *	number.c	decimal numbers
 *	attach.c	the mapping: open, close
 *	id.c		lasting numbers, see id.h; their table is in idtable.c with
 *			idlist.c and idpool.c, their file in idfile.c with
 *			idrecord.c idcopy.c iddisk.c, see idtable.h and idfile.h
 *	family.c	families
 *	instance.c	instances of a family; their names are in name.c
 *	lookup.c	instances by what clients know them by
 *	carry.c		counts carried over from one binding to the next
 *	percpu.c	instances name::cpuN
 *	view.c		metrics of families; their values are in reading.c
 *	member.c	instance domains of families
 *	seen.c		instances that clients fetched and may still ask for
 *	asked.c		those of CPUs that clients fetched by a list
 *	label.c		labels
 *	control.c	kmmv.control.*; permissions are in access.c,
 *			the users that have some in users.c, see access.h
 *	profile.c	the profiler's settings
 *	ringview.c	kmmv.ring.*, with the files that ring.h lists: ring.c
 *			figure.c ringindom.c reader.c queue.c records.c
 *			filter.c param.c field.c fieldkey.c
 *	provider.c	table of providers, see provider.h
 *	dispatch.c	requests of clients
 *	pmns.c		the name space
 *	values.c	value sets, see values.h
 *	indom.c		profiles, and instance results for libpcp
 *	loop.c		the daemon's loop
 *
 * Names start with agent_; kmmv_ is the prefix of the library linked in.
 */
#ifndef KMMV_AGENT_H
#define KMMV_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include "libkmmv.h"
#include "id.h"

/* PCP 7 gave pmResult a finer clock; agents keep the old structure. */
#ifndef pmdaResult
#define pmdaResult pmResult
#endif

/*
 * Archives depend on these numbers. A family's cluster and its two instance
 * domains follow from its lasting number; clusters below FIRST_CLUSTER and
 * serials below FIRST_SERIAL are the agent's own.
 */
enum {
	CLUSTER_CONTROL,
	CLUSTER_RING,
	CLUSTER_RING_EVENT,
	CLUSTER_RING_FIELDS = 8,	/* up to FIRST_CLUSTER */
	FIRST_CLUSTER = 16,
	LAST_CLUSTER = 4095,
	MAX_FAMILIES = LAST_CLUSTER - FIRST_CLUSTER + 1,
	MAX_FIELDS = (FIRST_CLUSTER - CLUSTER_RING_FIELDS) * 1024,
	MAX_RINGS = 4096,
};

enum { ITEM_SUM, ITEM_PERCPU, ITEM_ALL, NR_ITEMS };

/*
 * Families of kmmv's own modules have fixed numbers, the same on every host,
 * listed in family.c. The ranges leave room for future modules. The cluster is
 * FIRST_CLUSTER + number.
 */
enum {
	FAMILY_CORE = 0,	/* kmmv, kmmv_stat */
	FAMILY_BLOCK = 16,
	FAMILY_NET = 48,	/* kmmv_net */
	FAMILY_TRACE = 80,	/* kmmv_trace */
	FAMILY_PROFILE = 112,	/* kmmv_profile */
	FAMILY_PARTITIONS = 144,
	FIRST_FREE_FAMILY = 240,
};

enum {
	SERIAL_FAMILIES,	/* not a domain: scope of families */
	SERIAL_FIELDS,		/* not a domain: scope of event fields */
	SERIAL_RINGS,
	SERIAL_RING_CPUS,
	FIRST_SERIAL = 16,
};

/* Size of an instance's external name, with its suffix and ::cpuN. */
#define AGENT_NAME_SIZE 320

/* ---- host.c ---- */

extern int agent_domain;
extern pmdaExt *agent_ext;

/* ---- error.c ---- */

/*
 * Log an error and show it in kmmv.control.error until its subject is settled.
 * ABOUT, the subject, is any address, or NULL for an error that stays until the
 * agent exits.
 */
void agent_error(const void *about, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
const char *agent_error_text(void);
/*
 * Check a subject again: its errors that are not reported anew between begin
 * and end are removed at the end.
 */
void agent_error_begin(const void *about);
void agent_error_end(const void *about);
/* Remove all errors of a subject. */
void agent_error_settle(const void *about);
/* Whether a subject has errors, or may have some that were not kept. */
bool agent_error_has(const void *about);
/* Subject of errors that a sync finds in the device's tables. */
extern const char agent_table_errors[1];
/* Subject of errors about names that were another metric's; until a client detaches. */
extern const char agent_name_errors[1];

/* ---- attach.c ---- */

/*
 * What has changed in the device's tables: the instances with these numbers of
 * the kernel, some perhaps twice; ALL: anything.
 */
struct changes {
	const uint32_t *number;
	uint32_t count;
	bool all;
};

/* Bring the mapping and the tables up to date; true if there is a mapping. */
bool agent_attach_sync(void);
/*
 * Report that a sync has no memory for something. That is an error of the tables, and
 * the first request after a second takes all of them over again, changed or not.
 */
void agent_attach_no_memory(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
struct kmmv *agent_attach_handle(void);
/* False for every CPU if there is no mapping. */
bool agent_attach_possible(uint32_t cpu);
/*
 * SYNC is called when the device's tables have been mapped or have changed,
 * FORGET before the mapping is closed.
 */
void agent_attach_init(const char *dir,
		       void (*sync)(struct kmmv *handle,
				    const struct changes *changes),
		       void (*forget)(void));
void agent_attach_close(void);
/* Attach (true) or detach (false) from now on. */
void agent_attach_want(bool on);
bool agent_attach_wanted(void);
/* Bring the tables up to date; true if they had changed. */
bool agent_attach_changed(void);
const char *agent_attach_device(void);
const char *agent_attach_state(void);
/* The error that metrics return while there is no mapping. */
int agent_attach_status(void);
void agent_attach_counts(uint64_t *retries, uint64_t *rereads);

/* ---- instance.c ---- */

/* The kernel's number that an instance is bound to. */
struct binding {
	uint32_t epoch;		/* index among those seen */
	uint32_t number;
	uint32_t incarnation;
};

/*
 * seen is the last raw value of this binding, base is added to it. Until the
 * first value of a binding is read, base is the value that clients saw last,
 * and seen is 0, or CARRY_UNREAD if the first value must be compared with base.
 */
struct carry {
	uint64_t base;
	uint64_t seen;
};

/* The counts of each CPU. */
struct carry_cpus {
	uint32_t nr;
	struct carry cpu[];
};

/*
 * There are as many as names: the order of the fields leaves no holes. A hash of
 * its label is in lasting->note.
 */
struct inst {
	int id;			/* lasting; -1: unused position */
	struct binding key;	/* kept after the binding ends */
	uint64_t left : 61;	/* when it ceased to be active, see seen.c */
	bool bound : 1;		/* the kernel has it, active or not */
	bool active : 1;
	bool listed : 1;	/* in family.left */
	struct id *lasting;
	struct carry_cpus *cpus;	/* NULL until they are first read */
};
_Static_assert(sizeof(void *) > 4 || sizeof(struct inst) == 32, "no holes");
_Static_assert(sizeof(void *) < 8 || sizeof(struct inst) == 40, "no holes");

/* Instances, as positions in family.insts. */
struct members {
	uint32_t *pos;
	uint32_t count, room;
};

struct family {
	int fid;		/* lasting */
	uint32_t order;		/* of one name, the greatest wins */
	char *name;
	bool present;		/* in the table mapped now */
	bool dirty;		/* active is out of date */
	enum kmmv_sem sem;
	bool since_boot;	/* absolute: nothing is carried over */
	bool total;		/* its instances add up */
	bool source;		/* a source copies its values */
	pmUnits units;
	char *oneline;
	char *help;

	struct inst *insts;
	struct carry *carry;	/* parallel to insts */
	int16_t *status;	/* parallel: results of the last reading */
	uint32_t nr_insts, room;
	uint32_t unused;	/* the first unused position, plus one */
	struct members active;	/* sorted by id */
	uint64_t moved;		/* positions moved in active, see instance.c */
	/* Sum of the counts of instances not bound, and of those purged. */
	uint64_t gone;
	uint64_t reading;	/* see reading.c */
	uint32_t omitted;	/* by agent_percpu_omit() */
	int omitted_ctx;
	int *left;		/* that clients may ask for, see seen.c */
	uint32_t nr_left, left_room;
	struct asked *asked;	/* of each client, see asked.c */
};

/* A count since boot never has this value; one that can wrap may. */
#define CARRY_UNREAD UINT64_MAX

static inline uint64_t agent_carry_sum(const struct family *f,
				       const struct carry *carry)
{
	if (f->since_boot && carry->seen == CARRY_UNREAD)
		return carry->base;
	return carry->base + carry->seen;
}

/* A sum over past and present instances is meaningful only for counters. */
static inline bool agent_family_has_total(const struct family *f)
{
	return f->total && f->sem == KMMV_SEM_COUNTER;
}

/* A level may be negative. */
static inline int agent_family_type(const struct family *f)
{
	return f->sem == KMMV_SEM_COUNTER ? PM_TYPE_U64 : PM_TYPE_64;
}

/* The external name. */
static inline const char *agent_inst_name(const struct inst *inst)
{
	return inst->lasting->name;
}

/* The rest of an instance's lasting number is its raw name, if that differs. */
static inline const char *agent_id_raw(const struct id *id)
{
	const char *rest = agent_id_rest(id);

	return *rest ? rest : id->name;
}

static inline const char *agent_inst_raw(const struct inst *inst)
{
	return agent_id_raw(inst->lasting);
}

/* Bind the instances that changed; call after agent_family_sync(). */
void agent_instance_sync(struct kmmv *handle, const struct changes *changes);
/* Instances that agent_instance_sync() has visited so far. */
extern uint64_t agent_instance_visits;
/* Unbind all instances, before the mapping is closed. */
void agent_instance_unbind_all(void);
/* What id.c asks of names that instances have. */
extern const struct id_ops agent_instance_id_ops;
struct inst *agent_instance_by_id(struct family *f, int id);
struct inst *agent_instance_by_name(struct family *f, const char *name);
uint32_t agent_instance_active(void);
/*
 * The family and external name of the kernel's NUMBER, if INCARNATION matches
 * the low bits of the bound one; otherwise both stay as they are. The family's
 * name is never freed; release the other one with agent_id_release().
 */
void agent_instance_names(uint32_t number, uint16_t incarnation,
			  const char **family, const char **name);
/* The instance of ID, created if need be; NULL if there is no memory. */
struct inst *agent_instance_of_id(struct family *f, struct id *id);

/* ---- carry.c ---- */

/* Limit of the per-CPU counts kept, of all families; 16 bytes each. */
extern uint64_t agent_carry_cells_max;

/*
 * Note that RAW was read; agent_carry_value() is the value for clients then. The
 * first value of a binding determines the base. A count since boot is shown as
 * it is, unless that is less than the last value shown: the kernel's count
 * wrapped at 32 bits, or fell. Then it continues from the last value shown.
 */
static inline void agent_carry_read(const struct family *f, struct carry *carry,
				    uint64_t raw)
{
	if (f->since_boot && carry->seen == CARRY_UNREAD)
		carry->base = raw < carry->base ? carry->base - raw : 0;
	carry->seen = raw;
}

/* The value for what was read last, also if that is CARRY_UNREAD. */
static inline uint64_t agent_carry_value(const struct carry *carry)
{
	return carry->base + carry->seen;
}

/* Start another binding. */
void agent_carry_over(const struct family *f, struct carry *carry);
/* Set whether F's counts are absolute. */
void agent_carry_since(struct family *f, bool since_boot);
/* The counts of each CPU; NULL if there is no room. */
struct carry *agent_carry_cpus(struct inst *inst, uint32_t nr_cpus);
void agent_carry_forget(struct inst *inst);

/* ---- number.c ---- */

/*
 * The decimal digits that TEXT begins with, up to UINT32_MAX; *END is after them. False:
 * there are none, or too many.
 */
bool agent_number(const char *text, const char **end, uint32_t *value);
/* The same, with nothing after them. */
bool agent_number_alone(const char *text, uint32_t *value);
/* Of a user or a process: false for the greatest number, which is none. */
bool agent_number_id(const char *text, uint32_t *id);

/* ---- name.c ---- */

/* External form of a raw name, before clashes are resolved. */
void agent_instance_sanitise(const char *raw, char *name, size_t size);
/* Replace invalid UTF-8 and control characters in place. */
void agent_clean_text(char *text);
/* Components of letters, digits and underscores that start with a letter. */
bool agent_name_valid(const char *name);
/* Whether NAME is PREFIX followed by a dot and more. */
bool agent_name_below(const char *name, const char *prefix);
/* FNV-1a, continued from HASH. */
uint64_t agent_hash(uint64_t hash, const char *text);
#define AGENT_HASH_INIT 0xcbf29ce484222325ULL

/* ---- family.c ---- */

void agent_family_load(void);
/* Take over the table's families; true if the name space changed. */
bool agent_family_sync(struct kmmv *handle);
void agent_family_absent_all(void);
/* Whether a later family has that name, or one above or below it. */
bool agent_family_hidden(const struct family *f);
/* NULL if this process has not seen it. */
struct family *agent_family(int fid);
struct family *agent_family_by_name(const char *name);
struct family *agent_family_by_kid(uint32_t kid);
/* Greater than every lasting number that this process has seen. */
int agent_family_limit(void);
int agent_family_present(void);

/* The scope of the lasting numbers of F's instances. */
static inline int agent_scope_of(const struct family *f)
{
	return FIRST_SERIAL + 2 * f->fid;
}

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

#define PERCPU_CPU_BITS 13	/* NR_CPUS is at most 8192 */
/*
 * An instance has a lasting number for each block of 64 of its CPUs that was
 * asked for. The identifier is that number followed by the CPU's place in the
 * block.
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
	uint32_t omitted;	/* further ones that were to be selected */
};

#define AGENT_PERCPU_MAX (1u << 20)

extern uint32_t agent_percpu_limit;	/* up to AGENT_PERCPU_MAX */

/* CTX has fetched values of F, of which so many were left out. */
void agent_percpu_omit(struct family *f, int ctx, uint32_t omitted);
/* By each family's last fetch, if its context has not ended. */
uint32_t agent_percpu_omitted(void);
/* Forget what CTX missed, or, with -1, what any context did. */
void agent_percpu_end(int ctx);
/* Note which CPUs are online. */
void agent_percpu_sync(struct kmmv *handle);
/* Identifier of a selected cell, or -1 if it has none (yet). */
int agent_percpu_id(const struct inst *inst, uint32_t cpu);
/*
 * Cells that PROFILE selects, up to the limit; or -errno. The result is valid
 * until the next call.
 */
int agent_percpu_select(struct family *f, const pmProfile *profile,
			const struct cells **cells);
/*
 * Cells of a listing for CTX: those of active instances, those of its last fetch
 * that have left since, and others that it has fetched. At most three times the
 * limit.
 */
int agent_percpu_list(struct family *f, int ctx, const struct cells **cells);
/*
 * The instance, active or not, and CPU of an identifier or name; or
 * PM_ERR_INST.
 */
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

/*
 * The instance list of INDOM in PROFILE: a sorted copy without duplicates,
 * valid until the next call. *LISTED: the list is of the instances included,
 * not of those excluded.
 */
int agent_indom_profile(pmInDom indom, const pmProfile *profile, bool *listed,
			const int **ids, int *count);
/* Whether there is such a list, of those to include or to exclude. */
bool agent_indom_has_list(pmInDom indom, const pmProfile *profile);
/* An empty result with room for COUNT, which libpcp can free. */
pmInResult *agent_indom_alloc(pmInDom indom, uint32_t count, bool ids,
			      bool names);
void agent_indom_free(pmInResult *result);

/* ---- member.c ---- */

/*
 * Active instances of F that PROFILE selects, as positions; valid until the
 * next call.
 */
int agent_member_select(struct family *f, const pmProfile *profile,
			const struct members **members);
/* The instance domain operations of agent_view_provider, see provider.h. */
int agent_member_instance(pmInDom indom, int ctx, int inst, const char *name,
			  pmInResult **result);
int agent_member_text(pmInDom indom, bool oneline, char *text, size_t size);
void agent_member_label(pmInDom indom, pmLabelSet **sets);
int agent_member_labels(pmInDom indom, pmLabelSet **sets,
			const pmProfile *profile);

/* ---- label.c ---- */

void agent_label_domain(pmLabelSet **sets);
/* CPU -1: the instance, not one of its CPUs. False: it has no label. */
bool agent_label_instance(const struct inst *inst, int cpu, pmLabelSet *set);

/* ---- seen.c ---- */

/* The kinds of metrics whose fetches are told apart. */
enum agent_seen { SEEN_FAMILIES, SEEN_RINGS, NR_SEEN };

/* CTX fetches metrics of this kind. */
void agent_seen_fetch(int ctx, enum agent_seen what);
/* CTX's fetch ends. One that is not answered does not count. */
void agent_seen_settle(int ctx, bool is_answered);
void agent_seen_end(int ctx);
/* The time, for what leaves now. */
uint64_t agent_seen_moment(void);
/* Whether CTX's last fetch of this kind was before what left at LEFT did. */
bool agent_seen_before(int ctx, enum agent_seen what, uint64_t left);
/* INST has ceased to be active. */
void agent_seen_left(struct family *f, struct inst *inst);
/* Whether the instance of ID, not in use, was in the last fetch of any client. */
bool agent_seen_awaits(const struct id *id);
/* Whether INST is in CTX's domain: active, or in its last fetch. */
bool agent_seen_has(int ctx, const struct inst *inst);
/*
 * Those in CTX's domain that are not active, by id; *IDS is valid until the
 * next call.
 */
uint32_t agent_seen_list(struct family *f, int ctx, const int **ids);

/* ---- asked.c ---- */

/* Limit of the identifiers kept, of all families and clients. */
extern uint64_t agent_asked_max;
/* CTX is given what SET has, which it fetched by a list: MOST values at most. */
void agent_asked_fetch(struct family *f, int ctx, const pmValueSet *set,
		       uint32_t most);
/* The identifiers of such fetches, sorted; *IDS is valid until the next one. */
uint32_t agent_asked_list(const struct family *f, int ctx, const int **ids);
void agent_asked_end(int ctx);

/* ---- pmns.c ---- */

void agent_pmns_rebuild(void);
/* Whether it is to be rebuilt, as there was no memory for all of it. */
bool agent_pmns_is_due(void);
int agent_pmns_pmid(const char *name, pmID *pmid, pmdaExt *ext);
int agent_pmns_name(pmID pmid, char ***names, pmdaExt *ext);
int agent_pmns_children(const char *name, int traverse, char ***names,
			int **status, pmdaExt *ext);

/* ---- ring.c ---- */

/* NAMES, separated by commas, are the rings whose events clients can read. */
void agent_ring_init(const char *names);

/* ---- queue.c ---- */

#define AGENT_QUEUE_MAX (256ULL << 20)

/* Limit of each ring's queue, up to AGENT_QUEUE_MAX. */
extern uint64_t agent_queue_bytes;

/* ---- records.c ---- */

/* Before a fetch of events: read the rings and create CTX's missing cursors. */
void agent_records_prepare(int ctx, const pmProfile *profile);
pmValueSet *agent_records_value(pmID pmid, int ctx, const pmProfile *profile);
/* The end of a fetch that asked for them: whether CTX gets the answer. */
void agent_records_settle(int ctx, bool is_answered);
int agent_records_filter(int ctx, const pmValueSet *set);
void agent_records_end(int ctx);
/* Read the rings that have clients. WOKEN: poll() reported one ready. */
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
/* Values that a request gets take so much memory, and one more metric. */
extern uint64_t agent_fetch_bytes_max;

#endif /* KMMV_AGENT_H */
