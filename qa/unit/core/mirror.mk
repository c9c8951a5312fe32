# SPDX-License-Identifier: GPL-2.0-only
unit-programs += mirror
mirror-sources := kmod/core/mirror.c qa/unit/core/mirror.c
mirror-cflags := -Ikmod/core -Ikmod/include
mirror-variants := plain asan
