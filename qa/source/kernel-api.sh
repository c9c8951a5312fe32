#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The headers for kernel code document it: each function is described where it is
# declared, with its contexts and, if it returns a value, its errors. Each is there
# in every configuration; the client that is built without kmmv calls all of them.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
headers="kmmv.h statctr.h kmmv_ring.h"
shim="-std=gnu11 -Iqa/shim -Ikmod/core -Ikmod/include"

includes()
{
	echo '#include <kmmv_deps.h>'
	printf '#include <linux/%s>\n' $headers
}

# prototypes HEADER [FLAG...]
prototypes()
{
	# shellcheck disable=SC2086 # words
	includes | gcc -E -x c $shim "${@:2}" - |
		python3 qa/source/prototypes.py "kmod/include/linux/$1"
}

# description HEADER NAME: the comment of a function or a macro
description()
{
	awk -v name="$2" '
	/^\/\*\*$/ { text = ""; inside = 1; next }
	inside && /^ \*\/$/ { inside = 0; if (mine) { print text; exit } }
	inside {
		if (text == "")
			mine = index($0, " * " name "() - ") == 1
		text = text $0 "\n"
	}' "$1"
}

# lacks HEADER: what its descriptions omit
lacks()
{
	local file=kmod/include/linux/$1 name kind parameters text word

	while read -r name kind parameters; do
		text=$(description "$file" "$name")
		[ -n "$text" ] || { echo "$name: no description"; continue; }
		for word in $parameters; do
			grep -q "^ \* @$word: ." <<<"$text" ||
				echo "$name: nothing about @$word"
		done
		grep -q '^ \* Context: .' <<<"$text" ||
			echo "$name: no contexts"
		[ "$kind" = void ] || grep -q '^ \* Return: .' <<<"$text" ||
			echo "$name: nothing about what it returns"
	done < <(prototypes "$1")
}

for header in $headers; do
	prototypes "$header" >"$work/$header"
done
names=$(cut -d' ' -f1 "$work"/*.h)
count=$(wc -w <<<"$names")
ok "$count functions are declared" test "$count" -ge 37
for header in $headers; do
	is "$header describes each of its functions" "$(lacks "$header")" ""
done

# A function's description has the errors that it passes on.
# errors TEXT: the error codes in it
errors()
{
	grep -o '\-E[A-Z0-9]*' <<<"$1" | sort -u
}

# passes_on HEADER NAME [FILE:FUNCTION...]: errors of these that NAME omits
passes_on()
{
	local said other from

	said=$(description "kmod/include/linux/$1" "$2")
	for other in $(sed -n 's/.* as \([a-z_]*\)().*/\1/p' <<<"$said"); do
		said+=$(description "kmod/include/linux/$1" "$other")
	done
	for from in "${@:3}"; do
		other=$(description "kmod/${from%:*}" "${from#*:}")
		[ -n "$other" ] || echo "$from: no description"
		comm -13 <(errors "$said") <(errors "$other")
	done
}

while read -r header name from; do
	# shellcheck disable=SC2086 # words
	is "$name says what it passes on" "$(passes_on "$header" "$name" $from)" ""
done <<-'END'
	kmmv.h kmmv_add core/instance.c:kmmv_instance_add
	kmmv.h perf_forget core/instance.c:kmmv_instance_forget
	kmmv.h kmmv_register_family core/family.c:kmmv_family_add core/family.c:kmmv_family_check
	kmmv.h kmmv_set_label core/instance.c:kmmv_instance_label
	kmmv.h kmmv_get_slot core/instance.c:kmmv_instance_slot
	kmmv.h kmmv_read core/instance.c:kmmv_instance_slot
	kmmv.h kmmv_store area.c:kmmv_area_populate
	kmmv_ring.h kmmv_ring_get ringfs.c:directory_keep
	kmmv_ring.h kmmv_ring_register_type core/event_type.c:kmmv_event_type_add core/event_type.c:kmmv_event_type_check
	kmmv_ring.h kmmv_ring_trace core/follow.c:kmmv_follow_set
	statctr.h statctr_ninit core/table.c:kmmv_table_get_unnamed
END
like "the macro PCPU_CTR says what it returns" \
	"$(description kmod/include/linux/statctr.h PCPU_CTR)" \
	'Return: '

# A client that uses every function as a value, and the macro.
{
	includes
	echo 'const void *const all[] = {'
	# shellcheck disable=SC2086 # words
	printf '\t(const void *)&%s,\n' $names
	echo '};'
	echo 'unsigned long word(pcpu_ctr_t *ctr);'
	echo 'unsigned long word(pcpu_ctr_t *ctr) { return *PCPU_CTR(ctr, 0); }'
} >"$work/all.c"

# shellcheck disable=SC2317 # called by ok
compiles()
{
	# shellcheck disable=SC2086 # words
	gcc $shim -Wall -Wextra -Werror -Wno-unused-parameter \
		-Wno-sign-compare "$@" -c -o "$work/all.o" "$work/all.c"
}

for config in "" -DKMMV_SHIM_UP -DKMMV_SHIM_OFF \
	"-DKMMV_SHIM_UP -DKMMV_SHIM_OFF" -DCONFIG_KMMV_FLEXIBLE \
	"-DCONFIG_KMMV_FLEXIBLE -DKMMV_SHIM_OFF" -DKMMV_SHIM_PAIR \
	"-DKMMV_SHIM_PAIR -DCONFIG_KMMV_FLEXIBLE" -DKMMV_SHIM_NMI; do
	# shellcheck disable=SC2086 # words
	ok "all functions are there with ${config:-nothing else}" compiles $config
done

missing=
for name in $names PCPU_CTR; do
	grep -qw "$name" qa/client/noop.c || missing+=" $name"
done
is "the client without kmmv calls all functions" "$missing" ""

# A function that depends on the allocator has another name with the other one.
# asked [FLAG...]: the undefined symbols of a client that uses everything
asked()
{
	compiles "$@" && nm -u "$work/all.o" | awk '{ print $2 }' | sort
}
for word in '' -DKMMV_SHIM_PAIR -DKMMV_SHIM_NMI; do
	# shellcheck disable=SC2086 # no word
	asked $word >"$work/fixed"
	# shellcheck disable=SC2086 # no word
	asked $word -DCONFIG_KMMV_FLEXIBLE >"$work/flexible"
	like "statctr_init is asked for${word:+, $word}" "$(cat "$work/fixed")" \
		'^statctr_init$'
	is "no name of both allocators knows handles${word:+, $word}" \
		"$(comm -12 "$work/fixed" "$work/flexible" |
			grep -E 'slot|store|load|ctr')" ""
done
finish
