/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why something could not be done, in words. */
#ifndef KMMV_CTL_FAULT_H
#define KMMV_CTL_FAULT_H

/*
 * ctl_fault_set - keep the reason of an error until it is reported
 * @err: negative error number, which is returned
 * @format: the reason, one line, with what to do about it if that is known
 *
 * A later call replaces the reason. The command has one thread.
 */
int ctl_fault_set(int err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ctl_fault_add - append to the reason, if there is room */
void ctl_fault_add(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* ctl_fault_text - the last reason; valid until the next call of the others */
const char *ctl_fault_text(void);

/* ctl_fault_memory - -ENOMEM, with its reason */
int ctl_fault_memory(void);

#endif /* KMMV_CTL_FAULT_H */
