# SPDX-License-Identifier: GPL-2.0-only
ifeq ($(shell uname -m),x86_64)
bench-programs += update
endif
update-sources := qa/bench/update.c kmod/core/geom.c kmod/core/slots.c kmod/core/spare.c \
	kmod/core/pcpu_fixed.c qa/shim/shim.c
update-cflags := -Iqa/shim -Ikmod/core -Ikmod/include -Wno-sign-compare \
	-Wno-unused-parameter
