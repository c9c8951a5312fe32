# SPDX-License-Identifier: GPL-2.0-only
unit-programs += pace
pace-sources := kmod/pace.c qa/unit/pace.c
pace-cflags := -Ikmod -Ikmod/include
