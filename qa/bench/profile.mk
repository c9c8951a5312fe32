# SPDX-License-Identifier: GPL-2.0-only
bench-programs += profload
profload-sources := qa/bench/profload.c
