// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's domain and libpcp_pmda's state; set by pmda.c. */
#include "agent.h"

int agent_domain;
pmdaExt *agent_ext;
