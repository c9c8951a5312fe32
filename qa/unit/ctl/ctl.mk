# SPDX-License-Identifier: GPL-2.0-only
# kmmvctl, from its sources but for main(); types made by libbpf.
ctl-parts := $(filter-out %/kmmvctl.c,$(wildcard lib/kmmvctl/*.c)) qa/unit/ctl/ctlbtf.c
ctl-libs-all := -lbpf -linih -ljansson

unit-programs += ctl
ctl-sources := $(patsubst %,qa/unit/ctl/%.c,ctl paths files texts) $(ctl-parts)
ctl-cflags := -D_GNU_SOURCE -Ilib -Ilib/kmmvctl -Ikmod/include/uapi
ctl-libs := $(ctl-libs-all)
ctl-variants := plain asan

bench-programs += kmmvbtf
script-benches += kmmvbtf
kmmvbtf-sources := qa/unit/ctl/kmmvbtf.c qa/unit/ctl/ctlbtf.c
kmmvbtf-cflags := -D_GNU_SOURCE
kmmvbtf-libs := -lbpf
