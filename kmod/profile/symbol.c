// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of kernel addresses. No address ever leaves this module: it would tell
 * where the kernel is (KASLR). sprint_symbol() gives names whatever kptr_restrict
 * says.
 *
 * Another module may soon have a module's addresses: control.c has samples
 * named before that. Nothing is cached: look-ups take about a microsecond,
 * which the ceiling of CPU time includes.
 */
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "profile.h"

/* In front of a number: what sprint_symbol() prints without a name. */
#define NUMBER "0x"

/**
 * kmmv_profile_symbol_print() - name a kernel address
 * @address: the address
 * @name: result, KMMV_NAME_MAX + 1 bytes
 *
 * Context: task.
 * Return: false if there is no name; @name is "[unknown]" then.
 */
bool kmmv_profile_symbol_print(unsigned long address, char *name)
{
	char text[KSYM_SYMBOL_LEN];

	sprint_symbol_no_offset(text, address);
	if (!*text || !strncmp(text, NUMBER, strlen(NUMBER))) {
		strscpy(name, "[unknown]", KMMV_NAME_MAX + 1);
		return false;
	}
	strscpy(name, text, KMMV_NAME_MAX + 1);
	return true;
}
