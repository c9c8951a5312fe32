// SPDX-License-Identifier: LGPL-2.1-or-later
/* The system's directories that kmmvctl uses, below a root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "places.h"

static char *below(const char *root, const char *path)
{
	char *whole;

	return asprintf(&whole, "%s%s", root, path) < 0 ? NULL : whole;
}

int ctl_places_set(struct places *p, const char *root)
{
	p->btf = below(root, "/sys/kernel/btf");
	p->tracing = below(root, "/sys/kernel/tracing");
	p->config = below(root, "/sys/kernel/config");
	p->counters = below(root, "/sys/kernel/config/kmmv/trace");
	p->run = below(root, "/run/kmmvctl");
	p->etc = below(root, "/etc/kmmv");
	if (p->btf && p->tracing && p->config && p->counters && p->run &&
	    p->etc)
		return 0;
	ctl_places_free(p);
	return ctl_fault_memory();
}

void ctl_places_free(struct places *p)
{
	free(p->btf);
	free(p->tracing);
	free(p->config);
	free(p->counters);
	free(p->run);
	free(p->etc);
	memset(p, 0, sizeof(*p));
}
