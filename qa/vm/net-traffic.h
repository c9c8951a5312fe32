/* SPDX-License-Identifier: GPL-2.0-only */
/* Traffic for net-check. */
#ifndef QA_NET_TRAFFIC_H
#define QA_NET_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>

/* Frames of an unknown protocol. */
void send_frames(const char *device, int frames, size_t size);
/* From now on this process is on that CPU. */
void run_on(int cpu);
/*
 * Make each veth BASE<i>, FROM to below TO, send so many frames through it, and remove
 * it; if ALL, only once they were dropped.
 */
void churn(const char *base, unsigned int from, unsigned int to, int frames, bool all);

#endif /* QA_NET_TRAFFIC_H */
