#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The files of `make install`, used without this tree, as a user does.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

KVER=${KVER:-$(qa/harness/kver)}
[ -n "$KVER" ] || bail "no kernel headers"
make -s lib pmda kmod >/dev/null || bail "does not build"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
stage=$work/stage
here=$PWD

list()
{
	(cd "$1" && find . ! -type d | sort)
}

ok "install" make -s install DESTDIR="$stage" PREFIX=/usr
ok "a relative DESTDIR is this folder's" make -s install \
	DESTDIR="$(realpath --relative-to=. "$work")/other" PREFIX=/usr
is "it is the same" "$(list "$stage")" "$(list "$work/other")"
not_ok "there have to be kernel headers" make -s kmod KVER= KDIR="$work/none"
like "it says where it looks" "$tap_text" "no kernel headers in $work/none: "
mkdir "$work/headers"
echo 'modules: ; @echo "for $(M)"' >"$work/headers/Makefile"
ok "of which KDIR alone may say where" make -s kmod KVER= KDIR="$work/headers"
like "it is what builds" "$tap_text" "for .*/kmod$"
mkdir "$work/two words"
cp GNUmakefile "$work/two words"
not_ok "kbuild does not work in a folder of two words" make -C "$work/two words" kmod
like "it says so" "$tap_text" "builds nothing in a folder whose path has blanks"
ok "modules go to the kernel that they were built for" \
	test -s "$stage/lib/modules/$KVER/extra/kmmv.ko"
ok "help is compiled" test -s "$stage/var/lib/pcp/pmdas/kmmv/help.pag"

# A module, built from README.md's lines, the headers and Module.symvers.
mkdir "$work/driver"
cat >"$work/driver/Kbuild" <<E
ccflags-y := -DCONFIG_KMMV_MODULE -I$stage/usr/include/kmmv/kernel
obj-m := driver.o
E
cat >"$work/driver/driver.c" <<'E'
#include <linux/module.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/statctr.h>

static int id;

static int __init driver_init(void)
{
	id = perf_add("my_driver:resets");
	perf_adjust(id, 1);
	return id < 0 ? id : 0;
}

static void __exit driver_exit(void)
{
	perf_del(id);
}

module_init(driver_init);
module_exit(driver_exit);
MODULE_LICENSE("GPL");
E
make -s -C "/lib/modules/$KVER/build" M="$work/driver" \
	KBUILD_EXTRA_SYMBOLS="$stage/lib/modules/$KVER/extra/kmmv.symvers" \
	CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$work/out" 2>&1
is "a module builds without a message" "$? $(cat "$work/out")" "0 "
like "it depends on kmmv" "$(PATH=$PATH:/sbin:/usr/sbin \
	modinfo -F depends "$work/driver/driver.ko")" "^kmmv$"

# As if they had been installed for another kernel, too.
cp -r "$stage/lib/modules/$KVER" "$stage/lib/modules/another"
ok "uninstall" make -s uninstall DESTDIR="$stage" PREFIX=/usr
is "nothing is left" "$(list "$stage")" ""
is "except directories that others use, too" "$(find "$stage" -name '*kmmv*')" ""
cd "$here" && finish
