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

ok "make install succeeds" make -s install DESTDIR="$stage" PREFIX=/usr
ok "make install takes a DESTDIR relative to this folder" make -s install \
	DESTDIR="$(realpath --relative-to=. "$work")/other" PREFIX=/usr
is "make install puts the same files into both DESTDIRs" \
	"$(list "$stage")" "$(list "$work/other")"
not_ok "make kmod fails without kernel headers" make -s kmod KVER= KDIR="$work/none"
like "make kmod says where it looks for kernel headers" \
	"$tap_text" "no kernel headers in $work/none: "
mkdir "$work/headers"
echo 'modules: ; @echo "for $(M)"' >"$work/headers/Makefile"
ok "make kmod needs no more than KDIR" make -s kmod KVER= KDIR="$work/headers"
like "make kmod builds by KDIR" "$tap_text" "for .*/kmod$"
mkdir "$work/two words"
cp GNUmakefile "$work/two words"
not_ok "make kmod fails in a folder of two words" make -C "$work/two words" kmod
like "make kmod says that the folder's path has blanks" \
	"$tap_text" "builds nothing in a folder whose path has blanks"
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
like "a module depends on kmmv" "$(PATH=$PATH:/sbin:/usr/sbin \
	modinfo -F depends "$work/driver/driver.ko")" "^kmmv$"

ok "make install succeeds with a umask" sh -c \
	"umask 077; make -s install DESTDIR=$work/masked PREFIX=/usr"
is "what it installs does not depend on the umask" \
	"$(find "$work/masked" -mindepth 1 \( -type d ! -perm -055 -o \
		-type f ! -perm -044 \))" ""
touch "$stage/usr/lib/libkmmv.so.1.99.0"
ok "make install succeeds over a newer library" make -s install DESTDIR="$stage" PREFIX=/usr
not_ok "a newer library, which ldconfig would take, is not left" \
	test -e "$stage/usr/lib/libkmmv.so.1.99.0"
not_ok "make install refuses a folder of two words" \
	make -s install DESTDIR="$work/two words" PREFIX=/usr
like "make install says why it refuses a folder of two words" "$tap_text" \
	"nothing is installed in a folder whose path has blanks"

# As if they had been installed for another kernel, too.
cp -r "$stage/lib/modules/$KVER" "$stage/lib/modules/another"
# Of an earlier version.
touch "$stage/usr/lib/libkmmv.so.1.0.0-1.2"
ok "make uninstall succeeds" make -s uninstall DESTDIR="$stage" PREFIX=/usr
is "make uninstall leaves no file" "$(list "$stage")" ""
is "make uninstall leaves no directory of kmmv's" "$(find "$stage" -name '*kmmv*')" ""
cd "$here" && finish
