# SPDX-License-Identifier: GPL-2.0-only
unit-programs += mirror
mirror-sources := kmod/mirror.c qa/unit/mirror.c
mirror-cflags := -Ikmod -Ikmod/include
mirror-variants := plain asan
