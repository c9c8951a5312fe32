# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of another Debian suite than this machine's: `. qa/harness/suite.sh`, then
#
#	suite_site			prints the mirror of Debian that apt knows
#	suite_begin DIR SUITE		an apt with SUITE's lists, in DIR/apt alone
#	suite_fetch DIR PACKAGE...	download packages to the current directory
#	suite_unpack DIR WHAT...	unpack what matches of the packages in the
#					current directory, below DIR; tar's patterns

# The mirrors that apt knows; filters by origin work after an apt-get update.
suite_uris()
{
	# shellcheck disable=SC2016 # apt's variables
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
		"$@" 2>/dev/null | grep -v security | sort -u
}

suite_site()
{
	local site

	site=$(suite_uris 'Origin: Debian' | head -n 1)
	[ -n "$site" ] || site=$(suite_uris | grep -E '/debian/?$' | head -n 1)
	[ -n "$site" ] && echo "$site"
}

suite_apt()
{
	local dir=$1

	shift
	timeout 3000 env APT_CONFIG="$dir/apt/apt.conf" apt-get -q "$@"
}

suite_begin()
{
	local apt=$1/apt site key

	command -v apt-get dpkg-deb >/dev/null || return
	site=$(suite_site) || return
	for key in /usr/share/keyrings/debian-archive-keyring.*; do
		[ -e "$key" ] && break
	done
	rm -rf "$apt"
	mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
	: >"$apt/status"
	echo "deb [signed-by=$key] $site $2 main" >"$apt/sources.list"
	cat >"$apt/apt.conf" <<-EOF
		Dir::State "$apt";
		Dir::State::lists "$apt/lists";
		Dir::State::status "$apt/status";
		Dir::Cache "$apt/cache";
		Dir::Etc::sourcelist "$apt/sources.list";
		Dir::Etc::sourceparts "-";
		Acquire::Languages "none";
		Acquire::Retries "2";
		APT::Sandbox::User "root";
	EOF
	suite_apt "$1" update
}

suite_fetch()
{
	local dir=$1

	shift
	suite_apt "$dir" download "$@"
}

suite_unpack()
{
	local dir=$1 deb

	shift
	mkdir -p "$dir"
	for deb in *.deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$dir" \
			--wildcards --exclude='*/gconv/*' "$@" 2>/dev/null
	done
}
