// SPDX-License-Identifier: GPL-2.0-or-later
/* What the process is to libpcp_pmda; pmda.c sets it. */
#include "agent.h"

int agent_domain;
pmdaExt *agent_ext;
