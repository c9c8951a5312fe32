// SPDX-License-Identifier: GPL-2.0-only
/* In front of the agent's iddisk.o: see qa/agent/link. */
#include "idfile.h"

uint32_t agent_iddisk_patience = 600000;
