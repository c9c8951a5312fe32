/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Providers. Each answers for some of the metrics and instance domains:
 * control.c, ringview.c, param.c, field.c and view.c have them.
 *
 * A request names a metric, which has a cluster, or an instance domain, which
 * has a serial. dispatch.c looks up the provider by cluster or serial in the
 * table in provider.c, and answers itself if there is none. Only the provider
 * knows its kinds of metrics. A new provider is a file, a line in the table and one here.
 *
 * A provider calls the layers below: the mapping, numbers, values. It calls
 * neither the table nor dispatch.c, so that calls between files have no cycles.
 *
 * Operations on a metric other than .desc and .label are only called for one
 * that .desc knows.
 *
 * An operation may be NULL if its comment says so. A provider that has instance
 * domains has all operations on them.
 */
#ifndef KMMV_AGENT_PROVIDER_H
#define KMMV_AGENT_PROVIDER_H

#include "agent.h"

/* One fetch. */
struct request {
	uint64_t number;	/* incremented by each fetch */
	const pmID *pmids;
	int count;
	int ctx;
	const pmProfile *profile;
};

/* A metric's name is kmmv.PREFIXNAME. */
typedef void add_name_fn(pmID pmid, const char *prefix, const char *name);

struct provider {
	/* The numbers have been read, perhaps again. NULL: nothing to do. */
	void (*load)(void);
	/*
	 * Take over what has changed in the device's tables; true if the name
	 * space changed. NULL: none.
	 */
	bool (*sync)(struct kmmv *handle, const struct changes *changes);
	/*
	 * Drop what depends on the mapping, which is about to be closed. NULL:
	 * none.
	 */
	void (*forget)(void);
	/* A client's context has ended. NULL: nothing to do. */
	void (*end)(int ctx);
	/* Add all names, the last one first. */
	void (*names)(add_name_fn *add);
	/* Fill in *DESC except for the pmid. */
	int (*desc)(pmID pmid, pmDesc *desc);
	/* Called before a fetch of any of its metrics. NULL: nothing to do. */
	void (*prepare)(const struct request *req);
	/* Returns NULL if there is no memory. NULL: metrics have no values. */
	pmValueSet *(*fetch)(pmID pmid, const struct request *req);
	/*
	 * Called at the end of each fetch, with the answer, a set for each of the
	 * request's metrics; SETS is NULL if the client gets none. NULL: nothing to do.
	 */
	void (*settle)(const struct request *req, pmValueSet *const *sets);
	/* NULL: the help file has the text. */
	int (*text)(pmID pmid, bool oneline, char *text, size_t size);
	/* Labels of the metric's cluster. NULL: none. */
	void (*label)(pmID pmid, pmLabelSet **sets);
	/* Whether CTX may store. NULL: as agent_access_store() says. */
	bool (*may_store)(int ctx, pmID pmid);
	/* NULL: nothing can be stored. */
	int (*store)(int ctx, const pmValueSet *set);

	/* As agent_instance(). */
	int (*instance)(pmInDom indom, int ctx, int inst, const char *name,
			pmInResult **result);
	int (*indom_text)(pmInDom indom, bool oneline, char *text, size_t size);
	void (*indom_label)(pmInDom indom, pmLabelSet **sets);
	/*
	 * Labels of the instances that PROFILE selects: their number, or an
	 * error.
	 */
	int (*instance_labels)(pmInDom indom, pmLabelSet **sets,
			       const pmProfile *profile);
};

extern const struct provider agent_control_provider;
extern const struct provider agent_ring_provider;
extern const struct provider agent_event_provider;
extern const struct provider agent_field_provider;
extern const struct provider agent_view_provider;

/* NULL if there is no provider. */
const struct provider *agent_provider_of_pmid(pmID pmid);
const struct provider *agent_provider_of_indom(pmInDom indom);
/* Calls .load from the table's last to its first. */
void agent_provider_load(void);
/* Calls .sync from the table's last to its first; true if names changed. */
bool agent_provider_sync(struct kmmv *handle, const struct changes *changes);
/* Calls .forget from the table's first to its last. */
void agent_provider_forget(void);
/* Calls .end from the table's first to its last. */
void agent_provider_end(int ctx);
/* Calls .names from the table's last to its first. */
void agent_provider_names(add_name_fn *add);
/* Calls .prepare of the providers that REQ needs, from first to last. */
void agent_provider_prepare(const struct request *req);
/* Calls .settle of all providers. */
void agent_provider_settle(const struct request *req, pmValueSet *const *sets);

#endif /* KMMV_AGENT_PROVIDER_H */
