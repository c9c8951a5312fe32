#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 14400
#
# The Debian packages: built in a copy, looked at by lintian, compared with `make
# install`, and installed, upgraded and removed in a clean root by inpackage.

# shellcheck disable=SC2317 # ok calls functions
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/inroot
. qa/shipped/inroot
export PATH=$PATH:/sbin:/usr/sbin
[ "$(id -u)" -eq 0 ] || skip_all "machine: a root of its own needs root"
for tool in dpkg-buildpackage dh_dkms lintian mmdebstrap; do
	command -v $tool >/dev/null || skip_all "no $tool: qa/setup package"
done
mkdir -p build
work=$(mktemp -d "$PWD/build/package.XXXXXX") || bail "no directory"
trap 'rm -rf --one-file-system "$work"' EXIT
KVER=${KVER:-$(qa/harness/kver)}
version=$(cat VERSION)
next=${version%.*}.$((${version##*.} + 1))

# build NAME VERSION [-A | -B]: the packages of the files here, in $work/NAME; those for
# all machines, or for this one, only
build()
{
	local tree=$work/$1/kmmv

	mkdir -p "$tree"
	# What git has or would have: no product of a build.
	git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' file; do
			[ ! -e "$file" ] || printf '%s\0' "$file"
		done |
		tar -c --null -T - --exclude=./qa | tar -x -C "$tree"
	rm -rf "$tree/qa"
	if [ "$2" != "$version" ]; then
		echo "$2" >"$tree/VERSION"
		sed -i "1s/($version)/($2)/" "$tree/debian/changelog"
	fi
	# Another compiler warns, and another distribution has another level.
	(cd "$tree" && DEB_CFLAGS_APPEND=-Wpadded DEB_CPPFLAGS_APPEND=-D_FORTIFY_SOURCE=3 \
		DEB_CPPFLAGS_STRIP=-D_FORTIFY_SOURCE=2 \
		dpkg-buildpackage -us -uc "${3:--b}") >"$work/$1/log" 2>&1 || return
	echo "$2" >"$work/$1/version"
}

show_log()
{
	tail -n 30 "$work/$1/log"
	return 1
}

# As machines that build packages for Debian do.
for only in -A -B; do
	ok "packages build with $only" build part "$version" $only || show_log part
	rm -rf "$work/part"
done

for name in old new; do
	what=$version
	[ $name = old ] || what=$next
	ok "the packages of $what build" build $name "$what" ||
		bail "$(show_log $name)"
done

# ---- what is in them

is "lintian has nothing to say" \
	"$(lintian --allow-root --fail-on none -I "$work"/old/*.changes 2>&1)" ""

# The packages' files without what only a package has, and man pages as they were.
in_packages()
{
	local deb

	for deb in "$work"/old/*.deb; do
		[[ $deb = *-dbgsym_* ]] || dpkg-deb --fsys-tarfile "$deb" | tar -t
	done | sed 's,^\.,,' | grep -vE '/$|/usr/share/(doc|lintian)/|^/usr/src/' |
		sed 's,/x86_64-linux-gnu,,; s,/[a-z0-9_]*-linux-gnu[a-z0-9]*,,; s/\.gz$//
			s,^/lib/systemd,/usr&,' |
		sort
}
make -s install-user DESTDIR="$work/stage" PREFIX=/usr >/dev/null 2>&1
is "the packages' files are those of make install" "$(diff <(in_packages) \
	<(cd "$work/stage" && find . ! -type d | sed 's,^\.,,' | sort))" ""
is "no file is in two packages" "$(in_packages | uniq -d)" ""
make -s install-source DESTDIR="$work/stage" >/dev/null 2>&1
is "kmmv-dkms has the modules' source" "$(diff \
	<(dpkg-deb --fsys-tarfile "$work"/old/kmmv-dkms_*.deb | tar -t |
		sed -n 's,^\./usr/src/\(.*[^/]\)$,\1,p' | sort) \
	<(cd "$work/stage/usr/src" && find . -type f ! -name COPYING |
		sed 's,^\./,,' | sort))" ""
is "make install has the modules' source as it is here" "$(diff -r "$work/old/kmmv/kmod" \
	"$work/stage/usr/src/kmmv-$version/kmod" | grep -v ': dkms.conf.in$')" ""
symbols=$(sed -n 's/^	\(kmmv_[a-z_]*\);$/\1/p' lib/libkmmv.map | wc -l)
is "libkmmv1 exports what the map lists" "$(
	dpkg-deb -x "$work"/old/libkmmv1_*.deb "$work/library" &&
	nm -D "$work"/library/usr/lib/*/libkmmv.so.1 | grep -c ' T .*@@KMMV_1')" \
	"$symbols"

like "python3-kmmv wants the library of its version" \
	"$(dpkg-deb -f "$work"/old/python3-kmmv_*.deb Depends)" \
	"libkmmv1 \(>= ${version//./\\.}\)"

# ---- their life in a clean root

mkdir -p "$work/packages"
for name in old new; do
	mkdir "$work/packages/$name"
	cp "$work/$name"/*.deb "$work/$name/version" "$work/packages/$name"
done
rm -f "$work"/packages/*/*-dbgsym_*
cp qa/shipped/inpackage debian/tests/smoke "$work/packages"
sed -n 's/^#define KMMV //p' pmda/domain.h >"$work/packages/domain"
# There is no device in it, but names and numbers of a simulated one.
make_programs bench/kmmvsim
cp build/qa/bench/kmmvsim "$work/packages"
echo "-f /packages/area" >"$work/packages/options"
in_root inpackage

# ---- the kernels for which DKMS built there

# shellcheck source=qa/shipped/boot
. qa/shipped/boot
for image in "$(qa/shipped/root)"/images/*.deb; do
	if [ ! -e "$image" ]; then
		skip "a kernel that was installed later boots with DKMS's modules" \
			"no images of others"
	else
		boots "$image"
	fi
done
finish
