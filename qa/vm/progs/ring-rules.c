// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of a ring while others come and go: ring-rules WHAT
 *
 *	nested	as many nested writers as possible, and the records for which
 *		they leave no room; sizes; discards; times
 *	death	consumers that are killed with pages taken, one after another
 *	mapping	mappings that are split, inherited and unmapped in parts
 *	hits	the events of a followed counter
 *	comes	a ring that comes and goes while others use it
 *	modes	no event is lost by a change of mode that is refused
 *	late	a CPU that comes up for the first time, and goes
 *	hold	maps the default ring until standard input ends
 */
#include <string.h>

#include "rules.h"
#include "tap.h"

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} parts[] = {
		{ "nested", nested }, { "death", death },
		{ "mapping", mapping }, { "hits", hits },
		{ "comes", comes }, { "modes", modes },
		{ "late", late }, { "hold", hold },
	};
	unsigned int i;

	for (i = 0; argc > 1 && i < sizeof(parts) / sizeof(*parts); i++)
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run();
	bail("usage: ring-rules WHAT");
}
