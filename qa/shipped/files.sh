#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ./Remove removes what ./Install copied from a source tree, but no file that a package
# has by then: with databases of dpkg and rpm that have one package.

# shellcheck disable=SC2034 # for files.sh
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

work=$(mktemp -d) || bail "no directory"
trap 'rm -rf "$work"' EXIT
tree=$work/root
PCP_PMDAS_DIR=$tree/pmdas
# rpm looks for its database there.
export HOME=$work DPKG_ADMINDIR=$work/dpkg
echo "%_dbpath $work/rpm" >"$work/.rpmmacros"

# Those of the package, which does not have help.pag, and others.
packaged="$tree/conf/kmmv $tree/empty $tree/pmdas/kmmv/device.sh $tree/pmdas/kmmv/help.dir"
own="$tree/man/kmmv.1 $tree/own $tree/pmdas/kmmv/help.pag"

# As after ./Install, which made all of it.
install_files()
{
	mkdir -p "$tree/conf" "$tree/empty" "$tree/man" "$tree/own" "$tree/pmdas/kmmv"
	touch "$tree/conf/kmmv" "$tree/man/kmmv.1" \
		"$tree"/pmdas/kmmv/{device.sh,help.dir,help.pag,installed}
	(cd "$tree" && find . ! -type d | sed "s,^\.,f $tree,"
		find . -mindepth 1 -type d | sed "s,^\.,d $tree,") |
		sort >"$work/installed"
	mv "$work/installed" "$tree/pmdas/kmmv/installed"
}

# remove_files PATH: files.sh's, with commands of these folders first
remove_files()
{
	(
		PATH=$1:$PATH
		# shellcheck source=pmda/files.sh
		. pmda/files.sh
		files_remove
	) >"$work/said" 2>&1
}

left()
{
	find "$tree" -mindepth 1 2>/dev/null | sort | xargs
}

# dpkg: what a package has is a list of files.
mkdir -p "$work/dpkg/info" "$work/dpkg/updates"
cat >"$work/dpkg/status" <<'S'
Package: kmmv-a
Status: install ok installed
Maintainer: a test
Architecture: all
Version: 1
Description: a test

S
: >"$work/dpkg/info/kmmv-a.list"
mkdir "$work/none"
for command in dpkg rpm; do
	printf '#!/bin/sh\nexit 1\n' >"$work/none/$command"
	chmod 755 "$work/none/$command"
done
mkdir "$work/no_dpkg" "$work/no_rpm"
cp "$work/none/dpkg" "$work/no_dpkg"
cp "$work/none/rpm" "$work/no_rpm"

install_files
remove_files "$work/none"
is "all files are removed without dpkg and rpm" "$(left)" ""
install_files
remove_files "$work/no_rpm"
is "all files are removed where dpkg's package has none" "$(left)" ""
is "nothing is said of a package without files" "$(cat "$work/said")" "Removing files ..."

# shellcheck disable=SC2086 # a list
printf '%s\n' /. $packaged >"$work/dpkg/info/kmmv-a.list"
kept=$(printf '%s\n' "$tree/conf" "$tree/conf/kmmv" "$tree/empty" "$tree/pmdas" \
	"$tree/pmdas/kmmv" "$tree/pmdas/kmmv/device.sh" "$tree/pmdas/kmmv/help.dir" | xargs)
install_files
remove_files "$work/no_rpm"
is "no file of a package of dpkg's is removed" "$(left)" "$kept"
for path in $own; do
	not_ok "${path#"$tree/"} is removed beside a package of dpkg's" test -e "$path"
done
not_ok "the list is removed beside a package of dpkg's" \
	test -e "$tree/pmdas/kmmv/installed"
remove_files "$work/no_rpm"
is "nothing is removed without the list" "$(left)" "$kept"

# One folder by two names.
printf '%s\n' /. /lib/one /usr/lib/two >"$work/dpkg/info/kmmv-a.list"
printf 'f %s\n' /usr/lib/one /lib/two /usr/lib/three >"$work/list"
is "a file in /usr/lib may be /lib's for dpkg" "$(
	PATH=$work/no_rpm:$PATH
	. pmda/files.sh
	files_unowned "$work/list" 2>&1)" "f /usr/lib/three"

# rpm
rm -rf "$tree"
if ! command -v rpmbuild >/dev/null; then
	skip "no file of a package of rpm's is removed" "no rpmbuild: qa/setup package"
else
	cat >"$work/kmmv-a.spec" <<-S
	Name: kmmv-a
	Version: 1
	Release: 1
	Summary: a test
	License: none
	BuildArch: noarch
	%description
	A test.
	%install
	mkdir -p %{buildroot}$tree/conf %{buildroot}$tree/empty %{buildroot}$tree/pmdas/kmmv
	touch %{buildroot}$tree/conf/kmmv %{buildroot}$tree/pmdas/kmmv/device.sh
	touch %{buildroot}$tree/pmdas/kmmv/help.dir
	%files
	$(printf '%s\n' "$packaged" | tr ' ' '\n')
	S
	ok "an rpm builds" rpmbuild -bb --define "_topdir $work/build" "$work/kmmv-a.spec"
	ok "the rpm is in rpm's database" rpm --force-debian -i --justdb --nodeps \
		"$work"/build/RPMS/noarch/kmmv-a-1-1.noarch.rpm
	install_files
	remove_files "$work/no_dpkg"
	is "no file of a package of rpm's is removed" "$(left)" "$kept"
fi
finish
