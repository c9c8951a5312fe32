// SPDX-License-Identifier: GPL-2.0-only
/* The agent's allocations that fail, more of them than agent.c has time for. */
#include "host.h"

int main(void)
{
	Suite *suite = suite_create("memory-agent");

	add_memory(suite, getenv("KMMV_SOAK") ? 1 : 4);
	return run_all(suite);
}
