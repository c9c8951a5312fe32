# SPDX-License-Identifier: GPL-2.0-only
bench-programs += agentfetch
agentfetch-sources := qa/bench/agentfetch.c
agentfetch-libs := -lpcp
