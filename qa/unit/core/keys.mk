# SPDX-License-Identifier: GPL-2.0-only
unit-programs += keys
keys-sources := qa/unit/core/keys.c kmod/core/keys.c qa/shim/shim.c
keys-cflags := $(core-cflags)
