#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The version in the file VERSION is the only one.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
export PATH=$PATH:/sbin:/usr/sbin
KVER=${KVER:-$(qa/harness/kver)}
[ -n "$KVER" ] || bail "no kernel headers"
make -s lib pmda kmod >/dev/null || bail "does not build"
work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
version=$(cat VERSION)
root=$work/root

like "VERSION has three numbers" "$version" '^[0-9]+\.[0-9]+\.[0-9]+$'
make -s install DESTDIR="$root" PREFIX=/usr >/dev/null || bail "no make install"
for module in "$root"/lib/modules/*/extra/*.ko; do
	is "${module##*/} has the version" "$(modinfo -F version "$module")" "$version"
done
is "kmmvdump prints the version" \
	"$(LD_LIBRARY_PATH=$root/usr/lib "$root/usr/bin/kmmvdump" -V)" \
	"kmmvdump $version"
is "pkg-config prints the version" "$(PKG_CONFIG_PATH=$root/usr/lib/pkgconfig \
	pkg-config --modversion libkmmv)" "$version"
is "the library's file has the version" "$(cd "$root/usr/lib" && echo libkmmv.so.*.*)" \
	"libkmmv.so.$version"
if command -v mandoc >/dev/null; then
	is "the man pages' last lines have the version" \
		"$(find "$root" -path '*/man/*' -name '*.[1-8]' \
		-exec sh -c 'mandoc -T ascii "$1" | tail -n 1' sh {} \; |
		grep -cv "^kmmv $version ")" 0
else
	skip "the man pages' last lines have the version" "no mandoc"
fi
is "CHANGES begins with the version" "$(sed -n 's/^\([0-9.]*\) (.*)$/\1/p' CHANGES |
	head -n 1)" "$version"
is "debian/changelog begins with the version" \
	"$(sed -n '1s/^kmmv (\(.*\)) .*/\1/p' debian/changelog)" "$version"
if command -v rpm >/dev/null; then
	is "the spec takes the version from the file" "$(rpm --specfile rpm/kmmv.spec \
		--define "_sourcedir $PWD" -q --qf '%{version}\n' 2>"$work/said" |
		sort -u; cat "$work/said")" "$version"
else
	skip "the spec takes the version from the file" "no rpm"
fi
symbols=$(sed -n 's/^ \(kmmv_[a-z_]*\)@KMMV_1 [0-9.]*$/\1/p' debian/libkmmv1.symbols)
is "debian/libkmmv1.symbols has each function of the library" \
	"$symbols" "$(sed -n 's/^	\(kmmv_[a-z_]*\);$/\1/p' lib/libkmmv.map | LC_ALL=C sort)"
is "the version is in no other file" \
	"$(git grep -lIF "$version" -- ':!VERSION' ':!CHANGES' \
	':!debian/changelog' ':!qa' 2>/dev/null | xargs -r grep -lE \
	"(kmmv|KMMV|[Vv]ersion)[^0-9]{0,12}${version//./\\.}")" ""
finish
