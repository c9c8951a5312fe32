# SPDX-License-Identifier: GPL-2.0-only
unit-programs += spread
spread-sources := kmod/core/spread.c kmod/core/mirror.c qa/unit/core/spread.c
spread-cflags := -Ikmod/core -Ikmod/include
spread-variants := plain asan
