#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# timeout: 14400
#
# rpmbuild accepts the spec and builds its packages, with the files of `make install`;
# inrpm installs, upgrades and removes them in a clean root; the SELinux policy compiles,
# and permits no more than it says.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/shipped/inroot
. qa/shipped/inroot
export PATH=$PATH:/sbin:/usr/sbin
for tool in git rpmbuild checkmodule semodule_package semodule_unpackage; do
	command -v $tool >/dev/null || skip_all "no $tool: qa/setup package"
done
mkdir -p build
work=$(mktemp -d "$PWD/build/spec.XXXXXX") || bail "no directory"
trap 'rm -rf --one-file-system "$work"' EXIT
version=$(cat VERSION)
next=${version%.*}.$((${version##*.} + 1))

mkdir -p "$work/rpm/SOURCES"
cp VERSION "$work/rpm/SOURCES"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
	[[ $file = qa/* || ! -e $file ]] || printf '%s\0' "$file"
done | tar -c --null -T - -z --transform "s,^,kmmv-$version/," \
	-f "$work/rpm/SOURCES/kmmv-$version.tar.gz"
# build OPTION...: --nodeps, as this machine's packages have other names. Python's folder
# is in a macro of Fedora's python3-devel. The flags are as Fedora's, for another compiler.
build()
{
	rpmbuild -bb --nodeps --noclean --define "_topdir $work/rpm" \
		--define "python3_sitelib /usr/lib/python3/dist-packages" \
		--define "build_cflags -O2 -g -Wpadded -Wp,-D_FORTIFY_SOURCE=3" "$@" \
		rpm/kmmv.spec
}

ok "rpmbuild builds the packages" build || bail "it does not"

in_packages()
{
	find "$work/rpm/RPMS" -name '*.rpm' -exec rpm -qlpv {} \; 2>/dev/null |
		awk '!/^d/ { print $9 }' |
		grep -vE '^/usr/share/(doc|licenses|selinux)/|^/usr/src/|/\.build-id/' |
		sed 's,/usr/lib64/,/usr/lib/,' | sort
}
make -s install-user DESTDIR="$work/stage" PREFIX=/usr >/dev/null 2>&1
is "the packages' files are those of make install" "$(diff <(in_packages) \
	<(cd "$work/stage" && find . ! -type d | sed 's,^\.,,' | sort))" ""
is "files of the configuration are marked as such" \
	"$(rpm -qcp "$work"/rpm/RPMS/*/pcp-pmda-kmmv-*.rpm \
	2>/dev/null | sort)" "$(cd "$work/stage" && find etc -type f | sed 's,^,/,' | sort)"
for script in post preun; do
	rpm -qp --qf "%{${script}in}\n" "$work"/rpm/RPMS/*/pcp-pmda-kmmv-*.rpm \
		>"$work/$script" 2>/dev/null
	ok "%$script is a shell script" sh -n "$work/$script"
done

# ---- their life in a clean root

# keep N: the package kmmv-dkms
keep()
{
	local file

	for file in "$work"/rpm/RPMS/noarch/kmmv-dkms-*.rpm; do
		mv "$file" "$work/packages/rpm/$(basename "$file" .rpm)-$1.rpm"
	done
}

mkdir -p "$work/packages/rpm"
echo "$next" >"$work/packages/next"
cp "$work"/rpm/RPMS/*/pcp-pmda-kmmv-*.rpm "$work/packages/rpm"
keep 1
ok "another release builds" build --noprep --define "dist .1"
keep 2
mv "$work/rpm/BUILD/kmmv-$version" "$work/rpm/BUILD/kmmv-$next"
echo "$next" | tee "$work/rpm/SOURCES/VERSION" >"$work/rpm/BUILD/kmmv-$next/VERSION"
ok "the next version builds" build --noprep
keep 3
if [ "$(id -u)" -ne 0 ]; then
	skip "the packages live in a clean root" "machine: a root of its own needs root"
elif ! command -v mmdebstrap >/dev/null; then
	skip "the packages live in a clean root" "no mmdebstrap: qa/setup package"
else
	cp qa/shipped/inrpm "$work/packages"
	in_root inrpm
fi

# ---- SELinux

like "kmmv-selinux gives nodes that are there their contexts" \
	"$(rpm -qp --qf '%{postin}\n' "$work"/rpm/RPMS/*/kmmv-selinux-*.rpm)" \
	'^[[:blank:]]*restorecon -R /dev/kmmv'
like "kmmv-selinux requires the targeted policy" \
	"$(rpm -qpR "$work"/rpm/RPMS/*/kmmv-selinux-*.rpm)" \
	"^selinux-policy-targeted$"
cp -r pmda/selinux "$work"
said=$(make -s -C "$work/selinux" 2>&1)
is "the policy compiles without a message" "$? $said" "0 "
semodule_unpackage "$work/selinux/kmmv.pp" "$work/pp" "$work/contexts"
is "the policy's package has the contexts of files" "$(cat "$work/contexts")" \
	"$(cat pmda/selinux/kmmv.fc)"
is "the contexts are the devices'" \
	"$(sed -n 's/^\([^#\t]*\)\t.*/\1/p' pmda/selinux/kmmv.fc |
	while read -r pattern; do
		printf '%s\n' /dev/kmmv/counters /dev/kmmv/names /dev/kmmv/ring/default |
			grep -cxE "$pattern"
	done)" 3
is "pmcd may read and map the devices, and no more" "$(sed -n \
	's/^allow pcp_pmcd_t kmmv_device_t:chr_file { \(.*\) };/\1/p' \
	pmda/selinux/kmmv.te)" "getattr open read ioctl map"
is "nobody may write but to settings" "$(grep -E '^allow.*\<(write|append|create|setattr|module_load)\>' \
	pmda/selinux/kmmv.te)" \
	"allow pcp_pmcd_t configfs_t:file { getattr open read write };"
finish
