/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The agent in this process, called through its dispatch table, as pmcd calls a
 * DSO: on an area that the test has made, on rings of qa/agent/ringsim.c, with
 * numbers in a folder of its own.
 */
#ifndef HOST_H
#define HOST_H

#include <ftw.h>
#include <stdbool.h>
#include "agent.h"
#include "idfile.h"

#undef main
#include "libarea.h"

void kmmv_init(pmdaInterface *dispatch);

enum { DOMAIN = 389, CTX = 7, HOST_PATIENCE = 600000 };

struct host {
	char var[64];		/* PCP_VAR_DIR */
	pmdaInterface dispatch;
	pmInDomProfile only;
	pmProfile profile;
};

extern struct host host;
extern struct area area;

/* The allocation that fails, counted from 1; 0 once it has, or for none. */
extern int host_fails_at;
/* Each allocation of this size fails; 0: none does */
extern size_t malloc_refused;

/* Times that the agent has had mirrored counters copied. */
extern unsigned int host_refreshes;
/* How old they might be, in nanoseconds. */
extern uint64_t host_max_age;
/* What a copy returns. */
extern int host_refresh_error;

#define CALL(what, ...) \
	(host.dispatch.version.seven.what(__VA_ARGS__, \
					  host.dispatch.version.seven.ext))

static inline void host_attribute(int ctx, int key, const char *value)
{
	ck_assert_int_eq(CALL(attribute, ctx, key, value, strlen(value) + 1),
			 0);
}

/* A client with this uid, by the local socket. */
static inline void host_client(int ctx, const char *uid)
{
	host_attribute(ctx, PMDA_ATTR_USERID, uid);
	host_attribute(ctx, PMDA_ATTR_GROUPID, uid);
	host_attribute(ctx, PMDA_ATTR_PROCESSID, "1");
	host.dispatch.version.seven.ext->e_context = ctx;
}

/* Write TEXT to DIR/NAME; makes the folders of rings. */
static inline void host_write(const char *dir, const char *name,
			      const char *text)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ring", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/sim", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static inline void host_init(const char *dir)
{
	char path[128];

	snprintf(host.var, sizeof(host.var), "%s/kmmv.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	ck_assert_ptr_nonnull(mkdtemp(host.var));
	snprintf(path, sizeof(path), "%s/config", host.var);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	strcat(path, "/pmda");
	ck_assert_int_eq(mkdir(path, 0755), 0);
	setenv("PCP_VAR_DIR", host.var, 1);
	setenv("PCP_PMDAS_DIR", host.var, 1);
	setenv("PCP_SYSCONF_DIR", host.var, 1);
	setenv("PCP_USER", "pcp", 1);
	setenv("KMMV_DEVICE_DIR", dir, 1);
	host.dispatch.comm.pmda_interface = PMDA_INTERFACE_LATEST;
	host.dispatch.domain = DOMAIN;
	kmmv_init(&host.dispatch);
	ck_assert_int_eq(host.dispatch.status, 0);
	host_client(CTX, "0");
	/* No verdict hangs on how fast the machine is. */
	agent_iddisk_patience = agent_iddisk_moment = HOST_PATIENCE;
}

static inline int host_rm(const char *path, const struct stat *st, int type,
			  struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static inline void host_fini(const char *dir)
{
	nftw(dir, host_rm, 8, FTW_DEPTH | FTW_PHYS);
	nftw(host.var, host_rm, 8, FTW_DEPTH | FTW_PHYS);
}

static inline pmID host_pmid(const char *name)
{
	pmID pmid;
	int rc = CALL(pmid, name, &pmid);

	ck_assert_msg(rc >= 0, "%s: %s", name, pmErrStr(rc));
	return pmid;
}

/*
 * From now on fetch only LISTED of a metric's domain (or, not WANTED, all
 * others).
 */
static inline void host_profile(pmInDom indom, int *ids, int count, bool wanted)
{
	host.only = (pmInDomProfile){
		.indom = indom,
		.state = wanted ? PM_PROFILE_EXCLUDE : PM_PROFILE_INCLUDE,
		.instances_len = count,
		.instances = ids,
	};
	host.profile = (pmProfile){
		.state = PM_PROFILE_INCLUDE,
		.profile_len = 1,
		.profile = &host.only,
	};
	host.dispatch.version.seven.ext->e_prof = &host.profile;
}

static inline void host_profile_all(void)
{
	host.dispatch.version.seven.ext->e_prof = NULL;
}

/* The result of one metric, for free(). */
static inline pmValueSet *host_fetch(const char *name)
{
	pmID pmid = host_pmid(name);
	pmdaResult *result;

	ck_assert_int_eq(CALL(fetch, 1, &pmid, &result), 0);
	ck_assert_int_eq(result->numpmid, 1);
	return result->vset[0];
}

static inline uint64_t host_u64(const pmValueSet *set, int i)
{
	uint64_t value;

	ck_assert_int_lt(i, set->numval);
	if (set->valfmt == PM_VAL_INSITU)
		return set->vlist[i].value.lval;
	memcpy(&value, set->vlist[i].value.pval->vbuf, sizeof(value));
	return value;
}

static inline const char *host_path(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", host.var, name);
	return path;
}

static inline int host_store(pmValueSet *set)
{
	char bytes[sizeof(pmdaResult) + sizeof(void *)];
	pmdaResult *result = (pmdaResult *)bytes;

	memset(bytes, 0, sizeof(bytes));
	result->numpmid = 1;
	result->vset[0] = set;
	return CALL(store, result);
}

static inline int host_store_u32(const char *name, uint32_t value)
{
	pmValueSet set = {
		.pmid = host_pmid(name),
		.numval = 1,
		.valfmt = PM_VAL_INSITU,
		.vlist = { { .inst = PM_IN_NULL, .value.lval = value } },
	};

	return host_store(&set);
}

static inline int host_store_text(const char *name, const char *text)
{
	size_t len = strlen(text) + 1;
	pmValueBlock *block = calloc(1, PM_VAL_HDR_SIZE + len);
	pmValueSet set = {
		.pmid = host_pmid(name),
		.numval = 1,
		.valfmt = PM_VAL_DPTR,
		.vlist = { { .inst = PM_IN_NULL, .value.pval = block } },
	};
	int rc;

	block->vtype = PM_TYPE_STRING;
	block->vlen = PM_VAL_HDR_SIZE + len;
	memcpy(block->vbuf, text, len);
	rc = host_store(&set);
	free(block);
	return rc;
}

/* The identifier of a name, or an error. */
static inline int host_id(pmInDom indom, const char *name)
{
	pmInResult *result;
	int id, rc;

	rc = CALL(instance, indom, PM_IN_NULL, (char *)name, &result);
	if (rc < 0)
		return rc;
	id = result->instlist[0];
	free(result->instlist);
	free(result);
	return id;
}

/* Whether an identifier has this name; an error if it has no name. */
static inline int host_named(pmInDom indom, int id, const char *name)
{
	pmInResult *result;
	int rc;

	rc = CALL(instance, indom, id, NULL, &result);
	if (rc < 0)
		return rc;
	rc = strcmp(result->namelist[0], name) == 0;
	free(result->namelist[0]);
	free(result->namelist);
	free(result);
	return rc;
}

/* The name of an identifier, or an error. */
static inline int host_name(pmInDom indom, int id, char *name, size_t size)
{
	pmInResult *result;
	int rc;

	rc = CALL(instance, indom, id, NULL, &result);
	if (rc < 0)
		return rc;
	snprintf(name, size, "%s", result->namelist[0]);
	free(result->namelist[0]);
	free(result->namelist);
	free(result);
	return 0;
}

/* Return: how many instances a domain lists; each has to have the name listed. */
static inline int host_listed(pmInDom indom)
{
	pmInResult *result;
	int i, count;

	ck_assert_int_eq(CALL(instance, indom, PM_IN_NULL, NULL, &result), 0);
	count = result->numinst;
	for (i = 0; i < count; i++) {
		ck_assert_uint_gt(strlen(result->namelist[i]), 0);
		ck_assert_int_eq(host_named(indom, result->instlist[i],
					    result->namelist[i]), 1);
		free(result->namelist[i]);
	}
	free(result->namelist);
	free(result->instlist);
	free(result);
	return count;
}

static inline pmInDom indom(int serial)
{
	return pmInDom_build(DOMAIN, serial);
}

/* An area with two instances, the ring "default", and the agent on them. */
void setup(void);
void teardown(void);
TCase *add_case(Suite *suite, const char *name, void (*begin)(void));

/*
 * The test's clock; a poll() that always finds a request, at once or as late as
 * the test says; and an end of requests. What time() and CLOCK_BOOTTIME return, in
 * seconds, if not 0.
 */
struct fake {
	bool on;
	time_t wall, boot;
	/* A stop that long comes once so many readings of both are over. */
	time_t stop;
	int stop_after;
	uint64_t ms, step, next;	/* next: when a request comes */
	int requests, quiet, woken;
};

extern struct fake fake;

/* Whether kmmv.control.error has this text. */
bool told_of(const char *text);

int records_of(int ctx);

/* As after another load of modules: these are the event types now. */
void reload_types(const char *types);
/* An event of type 17 with a byte 7. */
void seven_comes(void);
bool has_metric(const char *name);

#define EVT "kmmv.ring.event.v1.evt"
#define TYPE_FIELD(id, type, field) id " " type " " field " 0 0 1 none\n"

void add_asked(Suite *suite);
void add_changes(Suite *suite);
void add_copies(Suite *suite);
void add_disk(Suite *suite);
void add_gone(Suite *suite);
void add_instances(Suite *suite);
void add_lasting(Suite *suite);
void add_limits(Suite *suite);
void add_loop(Suite *suite);
/* One of so many allocations fails. */
void add_memory(Suite *suite, int one_of);
void add_pool(Suite *suite);
void add_profile(Suite *suite);
void add_purge(Suite *suite);
void add_reading(Suite *suite);
void add_families(Suite *suite);
void add_fields(Suite *suite);
void add_missed(Suite *suite);
void add_rings(Suite *suite);
void add_since(Suite *suite);
void add_who(Suite *suite);

#endif /* HOST_H */
