# The simulated producer: build/qa/bench/kmmvsim.
bench-programs += kmmvsim
kmmvsim-sources := qa/sim/kmmvsim.c
kmmvsim-cflags := -D_GNU_SOURCE -Ikmod/include/uapi
# A simulated ring, with the encoder of the library's tests.
bench-programs += kmmvringsim
kmmvringsim-sources := qa/sim/kmmvringsim.c
kmmvringsim-cflags := -D_GNU_SOURCE -Ilib -Ikmod/include/uapi
kmmvringsim-libs = $(check-libs)
# A simulated ring of the profiler.
bench-programs += kmmvprofsim
kmmvprofsim-sources := qa/sim/kmmvprofsim.c
kmmvprofsim-cflags := -D_GNU_SOURCE -Ilib -Ikmod/include/uapi
kmmvprofsim-libs = $(check-libs)
# A simulated ring with the module's own core, and its device.
bench-programs += kmmvcoresim
kmmvcoresim-sources := qa/sim/kmmvcoresim.c qa/unit/lib/libringcore.c qa/shim/shim.c
kmmvcoresim-cflags = $(libringlive-cflags)
kmmvcoresim-libs = $(check-libs)

script-benches += kmmvsim kmmvringsim kmmvprofsim kmmvcoresim
