#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# rpmbuild accepts the spec and builds its packages, with the files of `make install`;
# the SELinux policy compiles, and permits no more than it says.

# shellcheck source=qa/tap.sh
. qa/tap.sh
export PATH=$PATH:/sbin:/usr/sbin
for tool in git rpmbuild checkmodule semodule_package semodule_unpackage; do
	command -v $tool >/dev/null || skip_all "no $tool: qa/setup package"
done
mkdir -p build
work=$(mktemp -d "$PWD/build/spec.XXXXXX") || bail "no directory"
trap 'rm -rf "$work"' EXIT
version=$(cat VERSION)

mkdir -p "$work/rpm/SOURCES"
cp VERSION "$work/rpm/SOURCES"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
	[[ $file = qa/* || ! -e $file ]] || printf '%s\0' "$file"
done | tar -c --null -T - -z --transform "s,^,kmmv-$version/," \
	-f "$work/rpm/SOURCES/kmmv-$version.tar.gz"
# --nodeps: this machine's packages have other names. The flags are as Fedora's, for
# another compiler, which warns.
ok "rpmbuild builds the packages" rpmbuild -bb --nodeps --define "_topdir $work/rpm" \
	--define "build_cflags -O2 -g -Wpadded -Wp,-D_FORTIFY_SOURCE=3" \
	rpm/kmmv.spec || bail "it does not"

in_packages()
{
	find "$work/rpm/RPMS" -name '*.rpm' -exec rpm -qlpv {} \; 2>/dev/null |
		awk '!/^d/ { print $9 }' |
		grep -vE '^/usr/share/(doc|licenses|selinux)/|^/usr/src/|/\.build-id/' |
		sed 's,/usr/lib64/,/usr/lib/,' | sort
}
make -s install-user DESTDIR="$work/stage" PREFIX=/usr >/dev/null 2>&1
is "their files are those of make install" "$(diff <(in_packages) \
	<(cd "$work/stage" && find . ! -type d | sed 's,^\.,,' | sort))" ""
is "configuration is marked as such" "$(rpm -qcp "$work"/rpm/RPMS/*/pcp-pmda-kmmv-*.rpm \
	2>/dev/null | sort)" "$(cd "$work/stage" && find etc -type f | sed 's,^,/,' | sort)"
for script in post preun; do
	rpm -qp --qf "%{${script}in}\n" "$work"/rpm/RPMS/*/pcp-pmda-kmmv-*.rpm \
		>"$work/$script" 2>/dev/null
	ok "%$script is a shell script" sh -n "$work/$script"
done

# ---- SELinux

cp -r pmda/selinux "$work"
said=$(make -s -C "$work/selinux" 2>&1)
is "the policy compiles without a message" "$? $said" "0 "
semodule_unpackage "$work/selinux/kmmv.pp" "$work/pp" "$work/contexts"
is "its package has the contexts of files" "$(cat "$work/contexts")" \
	"$(cat pmda/selinux/kmmv.fc)"
is "which are the devices'" "$(sed -n 's/^\([^#\t]*\)\t.*/\1/p' pmda/selinux/kmmv.fc |
	while read -r pattern; do
		printf '%s\n' /dev/kmmv/counters /dev/kmmv/names /dev/kmmv/ring/default |
			grep -cxE "$pattern"
	done)" 3
is "pmcd may read and map them, and no more" "$(sed -n \
	's/^allow pcp_pmcd_t kmmv_device_t:chr_file { \(.*\) };/\1/p' \
	pmda/selinux/kmmv.te)" "getattr open read ioctl map"
is "nobody may write but to settings" "$(grep -E '^allow.*\<(write|append|create|setattr|module_load)\>' \
	pmda/selinux/kmmv.te)" \
	"allow pcp_pmcd_t configfs_t:file { getattr open read write };"
finish
