# SPDX-License-Identifier: GPL-2.0-only
bench-programs += agentfetch
agentfetch-sources := qa/bench/agentfetch.c
agentfetch-libs := -lpcp

# The agent from its sources, only where PCP's headers are.
ifneq ($(wildcard /usr/include/pcp/pmda.h),)
bench-programs += agentchange
agentchange-sources = qa/bench/agentchange.c $(wildcard pmda/*.c) $(lib-sources)
agentchange-cflags = $(lib-cflags) -Ipmda -Dmain=agent_main
agentchange-libs := -lpcp_pmda -lpcp
endif

bench-programs += pmcdfetch
pmcdfetch-sources := qa/bench/pmcdfetch.c
pmcdfetch-libs := -lpcp
