// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels with text from outside the agent: an instance's raw name, if it is not the
 * external one, CPU and the label that the kernel gives it.
 */
#include <string.h>
#include <linux/kmmv.h>
#include "agent.h"

/* A byte of a name or a label becomes six at most; escape() leaves eight free. */
#define TEXT_SIZE (6 * KMMV_NAME_MAX + 9)
#define JSON_SIZE (2 * TEXT_SIZE + 128)

_Static_assert(KMMV_NAME_MAX >= KMMV_LABEL_MAX, "no room for a label's text");

/* FROM as a JSON string without quotes; invalid UTF-8 becomes U+FFFD. */
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

/*
 * libkmmv takes keys of a-z, digits and underscores alone, all of which PCP takes, too.
 * But none may say where a value is from: an instance's label hides that of the host,
 * whose series it would leave.
 */
static bool valid_key(const char *key)
{
	static const char *const taken[] = {
		"agent", "cpu", "domainname", "family", "groupid", "hostname",
		"indom_name", "instid", "instname", "machineid", "name",
		"userid",
	};
	size_t i;

	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (strcmp(key, taken[i]) == 0)
			return false;
	}
	return true;
}

bool agent_label_instance(const struct inst *inst, int cpu, pmLabelSet *set)
{
	const struct kmmv_instance_info *info;
	char json[JSON_SIZE], text[TEXT_SIZE];
	size_t at = 0;
	int rc;

	/* Each label is kept for each series: none repeats the external name. */
	if (cpu >= 0 || strcmp(agent_inst_raw(inst), agent_inst_name(inst))) {
		escape(agent_inst_raw(inst), text, sizeof(text));
		at += pmsprintf(json, sizeof(json), ",\"name\":\"%s\"", text);
	}
	if (cpu >= 0)
		at += pmsprintf(json + at, sizeof(json) - at, ",\"cpu\":%d",
				cpu);
	/* After half an update, the number may be the next instance's. */
	info = kmmv_instance(agent_attach_handle(), inst->key.number);
	if (info && info->incarnation == inst->key.incarnation &&
	    info->label_key && valid_key(info->label_key)) {
		escape(info->label, text, sizeof(text));
		at += pmsprintf(json + at, sizeof(json) - at,
				",\"%s\":\"%s\"", info->label_key, text);
	}
	if (at == 0)
		return false;
	rc = pmdaAddLabels(&set, "{%s}", json + 1);
	if (rc < 0)
		return false;
	set->nlabels = rc;
	pmdaAddLabelFlags(set, PM_LABEL_INSTANCES);
	return true;
}

/* The device is in kmmv.control.device: as a label, every series would have it. */
void agent_label_domain(pmLabelSet **sets)
{
	pmdaAddLabels(sets, "{\"agent\":\"kmmv\"}");
}
