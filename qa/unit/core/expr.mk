# SPDX-License-Identifier: GPL-2.0-only
unit-programs += expr
expr-sources := qa/unit/core/expr.c kmod/core/expr.c qa/shim/shim.c
expr-cflags := $(core-cflags)
expr-variants := plain asan
