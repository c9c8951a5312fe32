/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Trace events in tracefs: users know them better than tracepoints. */
#ifndef KMMV_CTL_EVENT_H
#define KMMV_CTL_EVENT_H

/*
 * ctl_event_check - is the system of SYSTEM/NAME the right one?
 * @tracing: /sys/kernel/tracing
 *
 * Return: 0, also if tracefs cannot tell: it is not there, or has no such event, as
 * for a tracepoint without one, or of a module that is not loaded; -ENOENT if events
 * of that name are in other systems, or it is the event of a system call, which has no
 * tracepoint of its own.
 */
int ctl_event_check(const char *tracing, const char *name);

/*
 * ctl_event_explain - append to the reason that @field is one of the trace event,
 * if it is one; these fields are made of the arguments, and are not there yet
 */
void ctl_event_explain(const char *tracing, const char *name,
		       const char *field);

#endif /* KMMV_CTL_EVENT_H */
