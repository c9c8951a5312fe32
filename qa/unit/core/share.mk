# SPDX-License-Identifier: GPL-2.0-only
unit-programs += share
share-sources := qa/unit/core/share.c
share-cflags := -Ikmod/core -Ikmod/include
share-variants := plain asan
