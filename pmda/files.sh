# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of pcp.env
#
# The manifest of files and directories that Install made with `make install`,
# so that Remove removes exactly these. Those that a package has by then are its own.

manifest=$PCP_PMDAS_DIR/kmmv/installed

# files_install TREE
files_install()
{
	stage=$(mktemp -d) || return 1
	if ! make -C "$1" install DESTDIR="$stage/root" >"$stage/log" 2>&1; then
		cat "$stage/log"
		rm -rf "$stage"
		return 1
	fi
	(cd "$stage/root" && find . ! -type d | sed 's,^\.,f ,
		s,^f /*,f /,') >"$stage/list"
	(cd "$stage/root" && find . -mindepth 1 -type d) | sed 's,^\.,,' |
	while read -r directory; do
		[ -d "$directory" ] || echo "d $directory"
	done >>"$stage/list"
	# Include what an earlier Install made.
	[ ! -f "$manifest" ] || cat "$manifest" >>"$stage/list"
	echo "f $manifest" >>"$stage/list"
	# Before the first file, for an Install that is interrupted.
	if ! mkdir -p "${manifest%/*}" || ! sort -u "$stage/list" >"$manifest.new" ||
			! mv "$manifest.new" "$manifest" ||
			! make -C "$1" install >"$stage/log" 2>&1; then
		cat "$stage/log"
		rm -rf "$stage"
		return 1
	fi
	rm -rf "$stage"
}

# files_unowned LIST: its lines whose file or directory no package has.
# Files of /usr/lib and /lib are taken for the same, as they mostly are: dpkg knows them
# by one of the two names. rpm is only asked if dpkg knows none: it makes a database where
# there is none.
files_unowned()
{
	sed 's,^. ,,' "$1" | sed 'p
		s,^/usr/lib/,/lib/,
		t
		s,^/lib/,/usr/lib/,' | tr '\n' '\0' >"$1.names"
	xargs -0 dpkg -S <"$1.names" 2>/dev/null | sed 's,^[^/]*: /,/,' >"$1.owned"
	[ -s "$1.owned" ] ||
		xargs -0 rpm -qf --qf '[%{FILENAMES}\n]' <"$1.names" >"$1.owned" 2>/dev/null
	awk 'function plain(path) { sub("^/usr/lib/", "/lib/", path); return path }
		FILENAME == ARGV[1] { owned[plain($0)]; next }
		!(plain(substr($0, 3)) in owned)' "$1.owned" "$1"
	rm -f "$1.names" "$1.owned"
}

files_remove()
{
	[ -f "$manifest" ] || return 0
	echo "Removing files ..."
	stage=$(mktemp -d) || return 1
	list=$stage/list
	cp "$manifest" "$stage/all"
	# Help was compiled here by pmdaproc.sh.
	printf 'f %s\n' "$PCP_PMDAS_DIR/kmmv/help.dir" "$PCP_PMDAS_DIR/kmmv/help.pag" \
		>>"$stage/all"
	files_unowned "$stage/all" >"$list"
	releases=$(sed -n 's,^f /lib/modules/\([^/]*\)/.*,\1,p' "$list" | sort -u)
	sed -n 's/^f //p' "$list" | while read -r file; do
		rm -f "$file"
	done
	cd /
	sed -n 's/^d //p' "$list" | sort -r | while read -r directory; do
		rmdir "$directory" 2>/dev/null
	done
	rm -rf "$stage"
	for release in $releases; do
		[ ! -d "/lib/modules/$release" ] || depmod "$release"
	done
}
