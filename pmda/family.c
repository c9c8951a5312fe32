// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Families and their lasting numbers. A family's number is bound to its name
 * by a pmdaCache on disk; cluster and instance domains follow from it, so that
 * archives of different days agree whatever order families register in.
 *
 * A family that this process has seen keeps its metrics while the device is
 * away. They answer with an error then.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

struct kid {
	uint32_t id;		/* the kernel's, of this epoch */
	struct family *family;
};

static struct family *families[MAX_FAMILIES];
static bool known[MAX_FAMILIES];	/* in the cache */
static int limit;
static struct kid *kids;
static uint32_t nr_kids;
static int present;
static int save_status;

static pmInDom cache(void)
{
	return pmInDom_build(agent_domain, SERIAL_FAMILIES);
}

/*
 * Only active entries can be walked, and the library drops a cache file that
 * it cannot read; what it could read counts.
 */
void agent_family_load(void)
{
	int fid;

	pmdaCacheOp(cache(), PMDA_CACHE_LOAD);
	pmdaCacheOp(cache(), PMDA_CACHE_ACTIVE);
	pmdaCacheOp(cache(), PMDA_CACHE_WALK_REWIND);
	while ((fid = pmdaCacheOp(cache(), PMDA_CACHE_WALK_NEXT)) >= 0) {
		if (fid >= MAX_FAMILIES)
			continue;
		known[fid] = true;
		limit = fid + 1;
	}
}

static bool reserved(const char *name)
{
	static const char *const words[] = { "control", "percpu", "all",
					     "ring", "profile" };
	size_t len = strcspn(name, ".");
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i]) == len &&
		    strncmp(name, words[i], len) == 0)
			return true;
	}
	return false;
}

/* Components of letters, digits and underscores that start with a letter. */
static bool valid_name(const char *name)
{
	bool start = true;

	if (reserved(name))
		return false;
	for (; *name; name++) {
		unsigned char c = *name;

		if (c >= 0x80)
			return false;
		if (start ? !isalpha(c) : !isalnum(c) && c != '_' && c != '.')
			return false;
		start = c == '.';
	}
	return !start;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A name cannot be both a metric and a branch of the name space. */
static bool has_prefix(const char *name, const char **names, uint32_t count)
{
	char prefix[256];
	const char *key = prefix;
	const char *dot;

	for (dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
		size_t len = dot - name;

		if (len >= sizeof(prefix))
			return true;
		memcpy(prefix, name, len);
		prefix[len] = '\0';
		if (bsearch(&key, names, count, sizeof(*names), compare_names))
			return true;
	}
	return false;
}

static struct family *make(const char *name, int fid)
{
	struct family *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fid = fid;
	f->name = strdup(name);
	f->units_text = strdup("");
	f->oneline = strdup("");
	f->help = strdup("");
	if (!f->name || !f->units_text || !f->oneline || !f->help) {
		free(f->name);
		free(f->units_text);
		free(f->oneline);
		free(f->help);
		free(f);
		return NULL;
	}
	families[fid] = f;
	known[fid] = true;
	if (fid >= limit)
		limit = fid + 1;
	return f;
}

static void parse_units(struct family *f, const char *text)
{
	char *message = NULL;
	double scale = 1;

	memset(&f->units, 0, sizeof(f->units));
	if (!*text)
		return;
	if (pmParseUnitsStr(text, &f->units, &scale, &message) < 0 ||
	    scale != 1) {
		agent_error("family %s: units \"%s\" are not PCP's", f->name,
			    text);
		memset(&f->units, 0, sizeof(f->units));
	}
	free(message);
}

static void replace(char **text, const char *new)
{
	char *copy;

	if (strcmp(*text, new) == 0)
		return;
	copy = strdup(new);
	if (!copy)
		return;
	free(*text);
	*text = copy;
}

static void describe(struct family *f, const struct kmmv_family_info *info)
{
	f->sem = info->semantics;
	if (!f->loaded || strcmp(f->units_text, info->units) != 0) {
		replace(&f->units_text, info->units);
		parse_units(f, info->units);
	}
	replace(&f->oneline, info->oneline);
	replace(&f->help, info->help);
}

static struct family *take(const struct kmmv_family_info *info, bool *new)
{
	struct family *f;
	int fid;

	fid = pmdaCacheStore(cache(), PMDA_CACHE_ADD, info->name, NULL);
	if (fid < 0 || fid >= MAX_FAMILIES) {
		agent_error("family %s: no number left for it", info->name);
		return NULL;
	}
	f = families[fid];
	if (!f) {
		f = make(info->name, fid);
		if (!f)
			return NULL;
		*new = true;
		if (pmDebugOptions.appl0)
			pmNotifyErr(LOG_DEBUG, "family %s: number %d",
				    f->name, fid);
	}
	describe(f, info);
	if (!f->loaded) {
		agent_instance_load(f);
		f->loaded = true;
	}
	f->present = true;
	return f;
}

static int compare_kids(const void *a, const void *b)
{
	const struct kid *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void save(void)
{
	int rc = pmdaCacheOp(cache(), PMDA_CACHE_SAVE);

	if (rc < 0 && rc != save_status)
		agent_error("numbers of families cannot be saved: %s",
			    pmErrStr(rc));
	save_status = rc;
}

void agent_family_sync(struct kmmv *handle)
{
	const struct kmmv_family_info *info;
	struct kmmv_info table;
	const char **names;
	struct kid *list;
	bool new = false;
	uint32_t i, n;

	kmmv_get_info(handle, &table);
	n = table.nr_families;
	names = calloc(n + 1, sizeof(*names));
	list = calloc(n + 1, sizeof(*list));
	if (!names || !list) {
		agent_error("no memory for %u families", n);
		free(names);
		free(list);
		return;
	}
	for (i = 0; i < n; i++)
		names[i] = kmmv_family(handle, i)->name;
	qsort(names, n, sizeof(*names), compare_names);

	free(kids);
	kids = list;
	nr_kids = 0;
	agent_family_absent_all();
	for (i = 0; i < n; i++) {
		struct family *f;

		info = kmmv_family(handle, i);
		if (!valid_name(info->name) ||
		    has_prefix(info->name, names, n)) {
			agent_error("family %s: cannot be a metric's name",
				    info->name);
			continue;
		}
		f = take(info, &new);
		if (!f)
			continue;
		kids[nr_kids].id = info->id;
		kids[nr_kids++].family = f;
		present++;
	}
	free(names);
	qsort(kids, nr_kids, sizeof(*kids), compare_kids);
	if (!new)
		return;
	save();
	agent_pmns_rebuild();
	pmdaExtSetFlags(agent_ext,
			PMDA_EXT_NAMES_CHANGE | PMDA_EXT_LABEL_CHANGE);
}

void agent_family_absent_all(void)
{
	int i;

	for (i = 0; i < limit; i++) {
		if (families[i])
			families[i]->present = false;
	}
	present = 0;
}

struct family *agent_family(int fid)
{
	return fid >= 0 && fid < limit ? families[fid] : NULL;
}

struct family *agent_family_by_name(const char *name)
{
	int fid;

	if (pmdaCacheLookupName(cache(), name, &fid, NULL) < 0)
		return NULL;
	return agent_family(fid);
}

struct family *agent_family_by_kid(uint32_t id)
{
	struct kid key = { .id = id };
	struct kid *kid;

	kid = bsearch(&key, kids, nr_kids, sizeof(*kids), compare_kids);
	return kid ? kid->family : NULL;
}

int agent_family_limit(void)
{
	return limit;
}

bool agent_family_known(int fid)
{
	return fid >= 0 && fid < limit && known[fid];
}

int agent_family_present(void)
{
	return present;
}

struct family *agent_family_of_indom(pmInDom indom, bool *percpu, int *fid)
{
	int serial = (int)pmInDom_serial(indom) - FIRST_SERIAL;

	*fid = -1;
	if (pmInDom_domain(indom) != (unsigned int)agent_domain || serial < 0)
		return NULL;
	*percpu = serial % 2;
	*fid = serial / 2;
	return agent_family(*fid);
}
