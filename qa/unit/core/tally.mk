# SPDX-License-Identifier: GPL-2.0-only
unit-programs += tally
tally-sources := $(addprefix kmod/core/,tally.c mirror.c label.c sweep.c) qa/unit/core/tally.c
tally-cflags := -Ikmod/core -Ikmod/include
tally-variants := plain asan
