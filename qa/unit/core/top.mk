# SPDX-License-Identifier: GPL-2.0-only
unit-programs += top
top-sources := kmod/core/top.c qa/shim/shim.c qa/unit/core/top.c
top-cflags := -Ikmod/core -Ikmod/include -Wno-unused-parameter
top-variants := plain asan
