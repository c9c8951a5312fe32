# SPDX-License-Identifier: GPL-2.0-only
unit-programs += backoff
backoff-sources := kmod/core/backoff.c qa/unit/core/backoff.c
backoff-cflags := -Ikmod/core -Ikmod/include
backoff-variants := plain asan
