/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profiler's settings. */
#ifndef KMMV_AGENT_PROFILE_H
#define KMMV_AGENT_PROFILE_H

#include <stdint.h>

enum agent_profile { AGENT_PROFILE_ENABLE, AGENT_PROFILE_FREQ };

/* 1 and a setting of the profiler's; 0 without it, or an error. */
int agent_profile_get(enum agent_profile setting, uint32_t *value);
/*
 * 0, PM_ERR_AGAIN without the profiler, PM_ERR_PERMISSION if the agent may not
 * write the file, PM_ERR_BADSTORE beyond the limit, or the error of the module.
 * The log says why.
 */
int agent_profile_set(enum agent_profile setting, uint32_t value);

#endif /* KMMV_AGENT_PROFILE_H */
