// SPDX-License-Identifier: GPL-2.0-or-later
/* Names in the form that PCP accepts, and their hash. */
#include <ctype.h>
#include <string.h>
#include "agent.h"
#include "utf8.h"

uint64_t agent_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash;
}

/*
 * PCP compares names up to the first white space only, a leading '[' reads as a
 * key in the cache file, and clients written in Python raise on invalid UTF-8.
 */
void agent_instance_sanitise(const char *raw, char *name, size_t size)
{
	const unsigned char *p = (const unsigned char *)raw;
	size_t at = 0;

	while (*p && at + 5 < size) {
		size_t n = kmmv_utf8_size(p);

		if (n == 0 || *p <= ' ' || *p == 0x7f || (*p == '[' && !at)) {
			name[at++] = '_';
			p++;
			continue;
		}
		while (n--)
			name[at++] = *p++;
	}
	if (at == 0)
		name[at++] = '_';
	name[at] = '\0';
}

void agent_clean_text(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		size_t n = kmmv_utf8_size(p);

		if (n == 0 || *p == 0x7f)
			*p = '?';
		else if (*p < ' ')
			*p = ' ';
		p += n ? n : 1;
	}
}

bool agent_name_valid(const char *name)
{
	bool start = true;

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

bool agent_name_below(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(name, prefix, len) == 0 && name[len] == '.';
}
