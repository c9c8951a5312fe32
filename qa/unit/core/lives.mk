# SPDX-License-Identifier: GPL-2.0-only
unit-programs += lives
lives-sources := kmod/core/lives.c qa/shim/rbtree.c qa/shim/shim.c qa/unit/core/lives.c
lives-cflags := -Ikmod/core -Ikmod/include
lives-variants := plain asan
