// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels: the device and agent, the family, and for each instance the raw
 * name, the CPU and what the kernel says of it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "agent.h"

#define JSON_SIZE 4096

/* TEXT as a JSON string without its quotes; invalid UTF-8 becomes U+FFFD. */
static void escape(const char *from, char *json, size_t size)
{
	char clean[AGENT_NAME_SIZE * 2];
	size_t at = 0;

	for (; *from && at + 8 < size; from++) {
		unsigned char c = *from;

		if (c == '"' || c == '\\') {
			json[at++] = '\\';
			json[at++] = c;
		} else if (c < 0x20 || c == 0x7f) {
			at += pmsprintf(json + at, size - at, "\\u%04x", c);
		} else if (c < 0x80) {
			json[at++] = c;
		} else {
			char one[5] = { 0 };
			size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;

			strncpy(one, from, n);
			agent_instance_sanitise(one, clean, sizeof(clean));
			if (strcmp(one, clean) != 0) {
				at += pmsprintf(json + at, size - at,
						"\\ufffd");
				continue;
			}
			memcpy(json + at, one, n);
			at += n;
			from += n - 1;
		}
	}
	json[at] = '\0';
}

/* PCP's label names; our own come first. */
static bool valid_key(const char *key)
{
	if (strcmp(key, "name") == 0 || strcmp(key, "cpu") == 0 ||
	    strcmp(key, "family") == 0)
		return false;
	if (!isalpha((unsigned char)*key))
		return false;
	for (; *key; key++) {
		if (!isalnum((unsigned char)*key) && *key != '_')
			return false;
	}
	return true;
}

static int add_instance(struct family *f, const struct inst *inst, int cpu,
			pmLabelSet *set)
{
	const struct kmmv_instance_info *info;
	char json[JSON_SIZE], text[JSON_SIZE / 4];
	size_t at;
	int rc;

	(void)f;
	escape(agent_inst_raw(inst), text, sizeof(text));
	at = pmsprintf(json, sizeof(json), "{\"name\":\"%s\"", text);
	if (cpu >= 0)
		at += pmsprintf(json + at, sizeof(json) - at, ",\"cpu\":%d",
				cpu);
	info = kmmv_instance(agent_attach_handle(), inst->key.number);
	if (info && info->label_key && valid_key(info->label_key)) {
		escape(info->label, text, sizeof(text));
		at += pmsprintf(json + at, sizeof(json) - at,
				",\"%s\":\"%s\"", info->label_key, text);
	}
	pmsprintf(json + at, sizeof(json) - at, "}");
	rc = pmdaAddLabels(&set, "%s", json);
	if (rc < 0)
		return rc;
	set->nlabels = rc;
	pmdaAddLabelFlags(set, PM_LABEL_INSTANCES);
	return 0;
}

static int instance_labels(struct family *f, pmLabelSet **sets,
			   const pmProfile *profile)
{
	const struct members *m;
	uint32_t i;
	int rc;

	rc = agent_indom_select(f, profile, &m);
	if (rc < 0 || m->count == 0)
		return rc;
	*sets = calloc(m->count, sizeof(**sets));
	if (!*sets)
		return -ENOMEM;
	for (i = 0; i < m->count; i++) {
		const struct inst *inst = &f->insts[m->pos[i]];

		add_instance(f, inst, -1, &(*sets)[i]);
		(*sets)[i].inst = inst->id;
	}
	return m->count;
}

static int cell_labels(struct family *f, pmLabelSet **sets,
		       const pmProfile *profile)
{
	const struct cells *cells;
	uint32_t i;
	int rc;

	rc = agent_percpu_select(f, profile, &cells);
	if (rc < 0 || cells->count == 0)
		return rc;
	*sets = calloc(cells->count, sizeof(**sets));
	if (!*sets)
		return -ENOMEM;
	for (i = 0; i < cells->count; i++) {
		const struct cell *cell = &cells->cell[i];
		const struct inst *inst = &f->insts[cell->pos];

		add_instance(f, inst, cell->cpu, &(*sets)[i]);
		(*sets)[i].inst = agent_percpu_id(inst, cell->cpu);
	}
	return cells->count;
}

static int domain_labels(pmLabelSet **sets)
{
	char text[JSON_SIZE / 2];

	escape(agent_attach_device(), text, sizeof(text));
	return pmdaAddLabels(sets, "{\"agent\":\"kmmv\",\"device\":\"%s\"}",
			     text);
}

int agent_label(int ident, int type, pmLabelSet **sets, pmdaExt *ext)
{
	struct family *f;
	bool percpu;
	int fid;

	agent_attach_sync();
	switch (type & ~(PM_LABEL_COMPOUND | PM_LABEL_OPTIONAL)) {
	case PM_LABEL_DOMAIN:
		domain_labels(sets);
		break;
	case PM_LABEL_CLUSTER:
		f = agent_family((int)pmID_cluster(ident) - FIRST_CLUSTER);
		if (f)
			pmdaAddLabels(sets, "{\"family\":\"%s\"}", f->name);
		break;
	case PM_LABEL_INDOM:
		if (agent_ring_is_indom(ident, &percpu)) {
			pmdaAddLabels(sets, "{\"indom_name\":\"%s\"}",
				      percpu ? "per ring and cpu" :
					       "per ring");
			break;
		}
		f = agent_family_of_indom(ident, &percpu, &fid);
		if (f)
			pmdaAddLabels(sets, "{\"indom_name\":\"%s\"}",
				      percpu ? "per cpu" : "per instance");
		break;
	case PM_LABEL_INSTANCES:
		if (agent_ring_is_indom(ident, &percpu))
			return agent_ring_labels(ident, sets, ext->e_prof);
		f = agent_family_of_indom(ident, &percpu, &fid);
		if (!f || !agent_attach_handle())
			return 0;
		return percpu ? cell_labels(f, sets, ext->e_prof) :
				instance_labels(f, sets, ext->e_prof);
	}
	return pmdaLabel(ident, type, sets, ext);
}
