// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clients of kmmv.ring.records, any number in one process: ringclient [HOST];
 * without HOST they have local contexts, with $KMMV_DSO. Each line is a command,
 * which is answered by lines and "done":
 *
 *	open NAME
 *	fetch NAME [RING]	NAME RING event PARAMETER=VALUE...
 *				NAME RING missed COUNT
 *	filter NAME TEXT
 *	bytes NAME COUNT	kmmv.ring.queue.limit
 *	value NAME METRIC	NAME INSTANCE VALUE
 *	close NAME
 *
 * An error is a line "NAME error TEXT".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* Event records with timeval, which all versions of PCP can unpack. */
#define PMAPI_VERSION 2
#include <pcp/pmapi.h>

#define CLIENTS 64
#define METRIC	"kmmv.ring.records"

static struct client {
	char name[32];
	int ctx;
} clients[CLIENTS];

static const char *host;

static void error(const char *name, int rc)
{
	printf("%s error %s\n", name, pmErrStr(rc));
}

static struct client *find(const char *name)
{
	int i;

	for (i = 0; i < CLIENTS; i++) {
		if (strcmp(clients[i].name, name) == 0)
			return &clients[i];
	}
	return NULL;
}

static void open_client(const char *name)
{
	struct client *c = find("");

	c->ctx = host ? pmNewContext(PM_CONTEXT_HOST, host)
		      : pmNewContext(PM_CONTEXT_LOCAL, NULL);
	if (c->ctx < 0)
		error(name, c->ctx);
	else
		snprintf(c->name, sizeof(c->name), "%s", name);
}

/* Cached: asking the agent each time would take most of the time. */
static const char *param_name(pmID pmid)
{
	static struct {
		pmID pmid;
		char *name;
	} known[64];
	char *name;
	int i;

	for (i = 0; i < 64 && known[i].name; i++) {
		if (known[i].pmid == pmid)
			return known[i].name;
	}
	if (i == 64 || pmNameID(pmid, &name) < 0)
		return "?";
	known[i].pmid = pmid;
	known[i].name = strdup(
		strncmp(name, "kmmv.ring.event.", 16) ? name : name + 16);
	free(name);
	return known[i].name;
}

static void print_record(const char *prefix, const pmResult *record)
{
	int i;

	if (record->numpmid == 2 &&
	    strcmp(param_name(record->vset[1]->pmid), "event.missed") == 0) {
		printf("%s missed %d\n", prefix,
		       record->vset[1]->vlist[0].value.lval);
		return;
	}
	printf("%s event", prefix);
	for (i = 0; i < record->numpmid; i++) {
		const pmValueSet *set = record->vset[i];
		const char *name = param_name(set->pmid);
		pmDesc desc;

		if (strcmp(name, "event.flags") == 0)
			continue;
		printf(" %s=", name);
		if (set->valfmt == PM_VAL_INSITU)
			desc.type = PM_TYPE_U32;
		else
			desc.type = set->vlist[0].value.pval->vtype;
		fflush(stdout);
		pmPrintValue(stdout, set->valfmt, desc.type, &set->vlist[0], 1);
	}
	printf(" at=%lld.%06d\n", (long long)record->timestamp.tv_sec,
	       (int)record->timestamp.tv_usec);
}

static void print_instance(const char *name, pmValueSet *set, int i,
			   pmInDom indom)
{
	pmResult **records;
	char prefix[128], *ring;
	int n, rc;

	rc = pmNameInDom(indom, set->vlist[i].inst, &ring);
	if (rc < 0) {
		error(name, rc);
		return;
	}
	snprintf(prefix, sizeof(prefix), "%s %s", name, ring);
	free(ring);
	rc = pmUnpackEventRecords(set, i, &records);
	if (rc < 0) {
		error(name, rc);
		return;
	}
	for (n = 0; n < rc; n++)
		print_record(prefix, records[n]);
	pmFreeEventResult(records);
}

static int look_up(const char *metric, pmID *pmid, pmDesc *desc)
{
	int rc = pmLookupName(1, &metric, pmid);

	return rc < 0 ? rc : pmLookupDesc(*pmid, desc);
}

static int fetch(const char *name, const char *ring)
{
	pmResult *result;
	pmDesc desc;
	pmID pmid;
	int i, id, rc;

	rc = look_up(METRIC, &pmid, &desc);
	if (rc < 0)
		return rc;
	if (ring) {
		id = pmLookupInDom(desc.indom, ring);
		if (id < 0)
			return id;
		pmDelProfile(desc.indom, 0, NULL);
		pmAddProfile(desc.indom, 1, &id);
	} else {
		pmAddProfile(desc.indom, 0, NULL);
	}
	rc = pmFetch(1, &pmid, &result);
	if (rc < 0)
		return rc;
	for (i = 0; i < result->vset[0]->numval; i++)
		print_instance(name, result->vset[0], i, desc.indom);
	rc = result->vset[0]->numval;
	pmFreeResult(result);
	return rc;
}

static int value(const char *name, const char *metric)
{
	pmResult *result;
	pmDesc desc;
	pmID pmid;
	int i, rc;

	rc = look_up(metric, &pmid, &desc);
	if (rc < 0)
		return rc;
	if (desc.indom != PM_INDOM_NULL)
		pmAddProfile(desc.indom, 0, NULL);
	rc = pmFetch(1, &pmid, &result);
	if (rc < 0)
		return rc;
	for (i = 0; i < result->vset[0]->numval; i++) {
		pmValue *v = &result->vset[0]->vlist[i];
		char *instance = NULL;

		if (desc.indom != PM_INDOM_NULL)
			pmNameInDom(desc.indom, v->inst, &instance);
		printf("%s %s ", name, instance ? instance : "-");
		pmPrintValue(stdout, result->vset[0]->valfmt, desc.type, v, 1);
		printf("\n");
		free(instance);
	}
	rc = result->vset[0]->numval;
	pmFreeResult(result);
	return rc;
}

/* TEXT, or its number for a metric that is a number. */
static int store(const char *metric, const char *text)
{
	size_t len = strlen(text) + 1;
	uint64_t number;
	pmValueBlock *block;
	pmValueSet set = { .numval = 1, .valfmt = PM_VAL_DPTR };
	pmResult result = { .numpmid = 1 };
	pmDesc desc;
	int rc;

	rc = look_up(metric, &set.pmid, &desc);
	if (rc < 0)
		return rc;
	block = calloc(1, PM_VAL_HDR_SIZE + len + 8);
	block->vtype = PM_TYPE_STRING;
	block->vlen = PM_VAL_HDR_SIZE + len;
	memcpy(block->vbuf, text, len);
	if (desc.type == PM_TYPE_U64) {
		number = strtoull(text, NULL, 10);
		block->vtype = PM_TYPE_U64;
		block->vlen = PM_VAL_HDR_SIZE + sizeof(number);
		memcpy(block->vbuf, &number, sizeof(number));
	}
	set.vlist[0].inst = PM_IN_NULL;
	set.vlist[0].value.pval = block;
	result.vset[0] = &set;
	rc = pmStore(&result);
	free(block);
	return rc;
}

static void command(char *line)
{
	char *verb = strtok(line, " "), *name = strtok(NULL, " ");
	char *rest = strtok(NULL, "");
	struct client *c;
	int rc = 0;

	if (!verb || !name)
		return;
	if (strcmp(verb, "open") == 0) {
		open_client(name);
		return;
	}
	c = find(name);
	if (!c) {
		error(name, PM_ERR_NOCONTEXT);
		return;
	}
	pmUseContext(c->ctx);
	if (strcmp(verb, "fetch") == 0)
		rc = fetch(name, rest);
	else if (strcmp(verb, "filter") == 0)
		rc = store(METRIC, rest ? rest : "");
	else if (strcmp(verb, "bytes") == 0)
		rc = store("kmmv.ring.queue.limit", rest ? rest : "");
	else if (strcmp(verb, "value") == 0)
		rc = value(name, rest);
	else if (strcmp(verb, "close") == 0) {
		rc = pmDestroyContext(c->ctx);
		c->name[0] = '\0';
	}
	if (rc < 0)
		error(name, rc);
}

int main(int argc, char **argv)
{
	char line[65536], spec[4096], *message;

	host = argc > 1 ? argv[1] : NULL;
	if (!host) {
		snprintf(spec, sizeof(spec), "add,%s,%s,kmmv_init",
			 getenv("KMMV_DOMAIN"), getenv("KMMV_DSO"));
		message = pmSpecLocalPMDA("clear");
		if (!message)
			message = pmSpecLocalPMDA(spec);
		if (message) {
			fprintf(stderr, "%s\n", message);
			return 1;
		}
	}
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		command(line);
		printf("done\n");
		fflush(stdout);
	}
	return 0;
}
