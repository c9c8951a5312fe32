/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kinds of metrics, each a provider: what control.c, ringview.c, param.c and
 * view.c have to say to a client's questions.
 *
 * A client asks of a metric or of an instance domain. The one has a cluster, the
 * other a serial, and by these the table in provider.c finds who answers.
 * dispatch.c asks the table, the provider answers for all that is its own, and
 * nobody else tells one kind of metric from another. What nobody provides is
 * answered in dispatch.c, too. A new kind is a file, and a line in that table.
 *
 * A provider calls what lies below: the mapping, numbers, values. It calls neither
 * the table nor those who ask, so that files do not call each other in a circle.
 *
 * Those that take a metric, but .desc and .label, are asked of one that .desc knows.
 *
 * An operation that is NULL has the answer that is said with it. Operations of
 * domains are there for each provider that has any.
 */
#ifndef KMMV_AGENT_PROVIDER_H
#define KMMV_AGENT_PROVIDER_H

#include "agent.h"

/* One fetch. */
struct request {
	uint64_t number;	/* one more with each */
	const pmID *pmids;
	int count;
	int ctx;
	const pmProfile *profile;
};

/* A metric's name is kmmv.PREFIXNAME. */
typedef void add_name_fn(pmID pmid, const char *prefix, const char *name);

struct provider {
	/* What the device has now; true if names of metrics changed. NULL: nothing. */
	bool (*sync)(struct kmmv *handle);
	/* The mapping is about to go. NULL: nothing to do. */
	void (*forget)(void);
	/* A client's context is no more. NULL: nothing to do. */
	void (*end)(int ctx);
	/* All there are, the last one first. */
	void (*names)(add_name_fn *add);
	/* All of *DESC but the pmid. */
	int (*desc)(pmID pmid, pmDesc *desc);
	/* Before a fetch that asks for any of its metrics. NULL: nothing to do. */
	void (*prepare)(const struct request *req);
	/* NULL where no memory is left. No operation: there are no values. */
	pmValueSet *(*fetch)(pmID pmid, const struct request *req);
	/* NULL: the help file has it. */
	int (*text)(pmID pmid, bool oneline, char *text, size_t size);
	/* Of the metric's cluster. NULL: none. */
	void (*label)(pmID pmid, pmLabelSet **sets);
	/* Whether CTX may. NULL: as everywhere, see access.c. */
	bool (*may_store)(int ctx, pmID pmid);
	/* NULL: nobody can. */
	int (*store)(int ctx, const pmValueSet *set);

	/* As agent_instance(), which libpcp_pmda calls. */
	int (*instance)(pmInDom indom, int ctx, int inst, const char *name,
			pmInResult **result);
	int (*indom_text)(pmInDom indom, bool oneline, char *text, size_t size);
	void (*indom_label)(pmInDom indom, pmLabelSet **sets);
	/* Of the instances that PROFILE asks for: how many, or an error. */
	int (*instance_labels)(pmInDom indom, pmLabelSet **sets,
			       const pmProfile *profile);
};

extern const struct provider agent_control_provider;
extern const struct provider agent_ring_provider;
extern const struct provider agent_event_provider;
extern const struct provider agent_field_provider;
extern const struct provider agent_view_provider;

/* NULL: nobody's. */
const struct provider *agent_provider_of_pmid(pmID pmid);
const struct provider *agent_provider_of_indom(pmInDom indom);
/* From the table's last to its first; whether names changed. */
bool agent_provider_sync(struct kmmv *handle);
/* From the table's first to its last. */
void agent_provider_forget(void);
/* Likewise. */
void agent_provider_end(int ctx);
/* From the table's last to its first. */
void agent_provider_names(add_name_fn *add);
/* Have those prepare that REQ asks, from the table's first to its last. */
void agent_provider_prepare(const struct request *req);

/* ---- reading.c ---- */

extern uint64_t agent_reading_max_age;	/* nanoseconds */

/* Read all of F that is bound, for a request; others read no more of it then. */
void agent_reading_all(struct family *f, uint64_t request);
/* Everything that F ever counted; false if there is nothing to read. */
bool agent_reading_total(struct family *f, uint64_t request, uint64_t *total);
pmValueSet *agent_reading_sums(struct family *f, pmID pmid,
			       const struct request *req);
/* Those of each CPU. */
pmValueSet *agent_reading_cells(struct family *f, pmID pmid,
				const struct request *req);

#endif /* KMMV_AGENT_PROVIDER_H */
