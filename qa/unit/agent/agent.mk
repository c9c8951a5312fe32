# SPDX-License-Identifier: GPL-2.0-only
# The agent, from its sources, as a DSO; only where PCP's headers are.
# Simulated rings are linked before the library's.
ifneq ($(wildcard /usr/include/pcp/pmda.h),)
unit-programs += agent
agent-all = $(filter-out %/saving.c,$(wildcard qa/unit/agent/*.c)) qa/agent/ringsim.c \
	$(wildcard pmda/*.c) $(lib-sources)
agent-sources = $(filter-out %/every-memory.c,$(agent-all))
agent-cflags = $(lib-cflags) -Ipmda -Iqa/unit/lib -Dmain=agent_main
# Tests make allocations of the agent and of libkmmv fail, and its reading.
agent-libs = $(refuse-wrap),--wrap=fopen64,--wrap=fileno,-z,muldefs -lpcp_pmda -lpcp
agent-variants := plain asan

unit-programs += memory-agent
memory-agent-sources = $(filter-out %/agent/agent.c,$(agent-all))
memory-agent-cflags = $(agent-cflags)
memory-agent-libs = $(agent-libs)
memory-agent-variants := asan
memory-agent-seconds := 3000
memory-agent-tier := all

# What saves numbers has a thread.
unit-programs += saving
saving-sources := qa/unit/agent/saving.c $(patsubst %,pmda/%.c,\
	iddisk idfile idcopy idrecord idtable idlist idpool error name host)
saving-cflags = $(lib-cflags) -Ipmda
saving-libs := -lpcp_pmda -lpcp
endif
