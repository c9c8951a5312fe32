// SPDX-License-Identifier: GPL-2.0-or-later
/* Names in the form that PCP accepts, and their hash. */
#include <ctype.h>
#include <string.h>
#include "agent.h"

uint64_t agent_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ULL;
	return hash;
}

/* Length of the valid UTF-8 sequence at P, or 0. */
static int utf8_length(const unsigned char *p)
{
	uint32_t c, least;
	int i, n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] < 0xe0)
		n = 2, c = p[0] & 0x1f, least = 0x80;
	else if (p[0] >= 0xe0 && p[0] < 0xf0)
		n = 3, c = p[0] & 0x0f, least = 0x800;
	else if (p[0] >= 0xf0 && p[0] < 0xf5)
		n = 4, c = p[0] & 0x07, least = 0x10000;
	else
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return n;
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
		int n = utf8_length(p);

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
		int n = utf8_length(p);

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
