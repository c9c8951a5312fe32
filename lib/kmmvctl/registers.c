// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How many arguments are in registers, by machine.
 *
 * The table is that of KMMV_TRACE_ARGS in kmod/trace/trace.h, and has to agree with it:
 * the module refuses what is not in a register only when the counter is enabled. The
 * kernel's machine decides, whichever one kmmvctl was built for: setarch(8) misleads it.
 */
#include <string.h>
#include <sys/utsname.h>

#include "registers.h"

static const struct {
	const char *name; /* as uname -m has it */
	unsigned int tracepoint, function;
} machines[] = {
	{ "x86_64", 5, 6 },
	{ "aarch64", 7, 8 },
	{ "aarch64_be", 7, 8 },
	{ "riscv64", 7, 8 },
	{ "loongarch64", 7, 8 },
};

unsigned int ctl_registers(bool of_function)
{
	struct utsname name;
	unsigned int i;

	if (uname(&name))
		return 0;
	for (i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strcmp(machines[i].name, name.machine))
			return of_function ? machines[i].function
					   : machines[i].tracepoint;
	return 0;
}
