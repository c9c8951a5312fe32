# SPDX-License-Identifier: GPL-2.0-only
unit-programs += request
request-sources := kmod/core/request.c kmod/core/latency.c qa/unit/core/request.c
request-cflags := -Ikmod/core -Ikmod/include
request-variants := plain asan
