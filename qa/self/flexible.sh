#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# beside: yes
# Modules with the other allocator are built, whatever was built of them before.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

mkdir -p build
dir=$(mktemp -d "$PWD/build/self.XXXXXX") || bail "no directory"
trap 'rm -rf "$dir"' EXIT
git ls-files -z kmod qa/client qa/harness/flexible qa/harness/kver VERSION |
	xargs -0 cp --parents -t "$dir" || bail "no copy"
# What modpost does not find there, it only warns of.
: >"$dir/kmod/Module.symvers"

built()
{
	(cd "$dir/build/flexible" && ls kmod/kmmv.ko qa/client/*.ko | wc -l)
}

ok "all modules build with the other allocator" "$dir/qa/harness/flexible"
all=$(built)
ok "more than two modules are built" test "$all" -gt 2
ok "modules that are to be refused build" "$dir/qa/harness/flexible" refused
ok "all modules build again" "$dir/qa/harness/flexible"
is "as many modules are built again" "$(built)" "$all"
finish
