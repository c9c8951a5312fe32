# SPDX-License-Identifier: GPL-2.0-only
unit-programs += pace
pace-sources := kmod/core/pace.c qa/unit/core/pace.c
pace-cflags := -Ikmod/core -Ikmod/include
pace-variants := plain asan
