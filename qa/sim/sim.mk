# The simulated producer: build/qa/bench/kmmvsim.
bench-programs += kmmvsim
kmmvsim-sources := qa/sim/kmmvsim.c
kmmvsim-cflags := -D_GNU_SOURCE -Ikmod/include/uapi
