/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Percentages that add up. */
#ifndef KMMV_PROF_SHARE_H
#define KMMV_PROF_SHARE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Give 10000 hundredths of a percent out to N weights in proportion. They add
 * up to 10000, or are all 0 if the weights are; each differs by less than 1
 * from its exact share. The weights' sum must not exceed UINT64_MAX. -ENOMEM.
 */
int prof_share_split(const uint64_t *weights, size_t n, uint32_t *hundredths);

#endif /* KMMV_PROF_SHARE_H */
