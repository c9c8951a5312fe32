/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How many arguments the kernel's machine passes in registers. */
#ifndef KMMV_CTL_REGISTERS_H
#define KMMV_CTL_REGISTERS_H

#include <stdbool.h>

/*
 * ctl_registers - how many arguments kmmv_trace.ko can take
 * @of_function: of a function; else of a tracepoint
 *
 * Return: the number, 0 on a machine of which it takes none.
 */
unsigned int ctl_registers(bool of_function);

#endif /* KMMV_CTL_REGISTERS_H */
