# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2154 # variables of pcp.env
#
# The manifest of files and directories that Install made with `make install`,
# so that Remove removes exactly these.

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
	if ! make -C "$1" install >"$stage/log" 2>&1; then
		cat "$stage/log"
		rm -rf "$stage"
		return 1
	fi
	echo "f $manifest" >>"$stage/list"
	sort -u "$stage/list" >"$manifest"
	rm -rf "$stage"
}

files_remove()
{
	[ -f "$manifest" ] || return 0
	echo "Removing files ..."
	list=$(mktemp) || return 1
	cp "$manifest" "$list"
	releases=$(sed -n 's,^f /lib/modules/\([^/]*\)/.*,\1,p' "$list" | sort -u)
	sed -n 's/^f //p' "$list" | while read -r file; do
		rm -f "$file"
	done
	# Help was compiled here by pmdaproc.sh.
	rm -f "$PCP_PMDAS_DIR/kmmv/help.dir" "$PCP_PMDAS_DIR/kmmv/help.pag"
	cd /
	sed -n 's/^d //p' "$list" | sort -r | while read -r directory; do
		rmdir "$directory" 2>/dev/null
	done
	rm -f "$list"
	for release in $releases; do
		[ ! -d "/lib/modules/$release" ] || depmod "$release"
	done
}
