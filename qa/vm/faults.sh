# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Each call of a module to what kmmv_fault probes fails, and all memory is freed:
# `. qa/vm/faults.sh`, after tap.sh. By kmmv_fault (qa/client/fault.c), on any kernel.

fault=/sys/module/kmmv_fault/parameters
sites=$WORK/sites
: >"$sites"

# load_fault MODULE: kmmv.ko, unless it is MODULE, and then kmmv_fault for MODULE, which is
# loaded later
load_fault()
{
	[ "$1" = kmmv ] || insmod kmod/kmmv.ko || bail "no kmmv"
	insmod qa/client/kmmv_fault.ko module="$1" || bail "no kmmv_fault"
	note "probed: $(xargs <$fault/probed)"
	target=$1
}

# faults_end: for the trap
faults_end()
{
	[ ! -e /sys/module/kmmv_fault ] || rmmod kmmv_fault
}

# fail_times N: from now on N calls in a row fail
fail_times()
{
	echo "$1" >$fault/times
}

# kept: how many pieces of memory the module has
kept()
{
	cut -d' ' -f1 $fault/kept
}

# fail_nth: in OPERATION, call $nth fails. "left" is 0 and "where" its place if there was
# one. What is not as fail_each() says is added to "wrong".
fail_nth()
{
	local text status

	try=$((try + 1))
	echo "$nth" >$fault/nth
	text=$($operation 2>&1)
	status=$?
	left=$(cat $fault/nth)
	where=$(cat $fault/site)
	echo 0 >$fault/nth
	[ "$left" -ne 0 ] || echo "$where" >>"$sites"
	if [ $status -eq 0 ]; then
		without=$((without + 1))
		# What failed may have been all that it keeps.
		[ "$left" -eq 0 ] || [ ! -e "/sys/module/$target" ] ||
			[ "$(kept)" != 0 ] || wrong="$wrong; no memory is seen"
		$undo || wrong="$wrong; $where: cannot be undone"
	elif [ "$left" -ne 0 ]; then
		wrong="$wrong; refused without a fault: $text"
	elif [ "$rule" = never ] || [[ $text != *"Cannot allocate memory"* ]]; then
		wrong="$wrong; $where: $text"
	else
		refused=$((refused + 1))
	fi
	[ -e "/sys/module/$target" ] || [ "$(kept)" = 0 ] ||
		wrong="$wrong; $where: memory is kept: $(cat $fault/kept)"
}

# fail_each NAME OPERATION [UNDO [RULE [MOST]]]: the first call in OPERATION fails, then
# the second, and so on, until OPERATION has no more. It has to fail with ENOMEM, or to
# succeed, and is undone if it did; with the RULE "never" it may not fail, and "none"
# says that it may have no such calls. These are functions without arguments; $try is
# another number each time. Where the module is not loaded afterwards, all of its memory
# is free. At MOST so many calls fail. Of many calls in a row from one place, the first
# four and the last ones fail, and each fourth. A call from elsewhere between those that
# are left out may be left out, too: all_failed sees it.
fail_each()
{
	local name=$1 operation=$2 undo=${3:-:} rule=${4-} nth left where
	local wrong='' refused=0 without=0 last='' same=0 skipped=0 try=0

	for ((nth = 1; nth <= ${5:-1000}; nth++)); do
		fail_nth
		if [ $skipped -gt 0 ] && [ "$left $where" != "0 $last" ]; then
			# Another place, or the end: what was skipped is made up for.
			nth=$((nth - skipped - 1)) same=-$skipped skipped=0
			continue
		fi
		[ "$left" -eq 0 ] || break
		[ "$where" = "$last" ] && same=$((same + 1)) || same=0
		last=$where skipped=0
		[ $same -lt 3 ] || skipped=3
		nth=$((nth + skipped))
	done
	is "$name: tries fail with ENOMEM ($refused) or succeed ($without)" \
		"$wrong" ""
	[ $# -ge 5 ] || ok "$name: fewer than 1000 calls can fail" test $nth -lt 1000
	[ "$rule" = none ] || ok "$name: at least one call fails" test $nth -gt 1
}

# fail_some NAME OPERATION [UNDO [RULE]]: as fail_each(), for OPERATIONs with hundreds of
# calls from few places: of those from one place, the first four, each 13th and the last
# one fail.
fail_some()
{
	local name=$1 operation=$2 undo=${3:-:} rule=${4-} nth left where
	local wrong='' refused=0 without=0 try=1 struck=0

	echo 0 >$fault/nth
	ok "$name: the operation succeeds without faults" $operation
	tr ' ' '\n' <$fault/calls | awk 'NF {
			nr[$1]++
			last[$1] = NR
			if (nr[$1] <= 4 || nr[$1] % 13 == 0)
				print NR
		}
		END {
			for (place in last)
				print last[place]
		}' | sort -nu >"$WORK/some"
	ok "$name: the operation can be undone" $undo
	for nth in $(<"$WORK/some"); do
		fail_nth
		[ "$left" -ne 0 ] || struck=$((struck + 1))
	done
	is "$name: tries fail with ENOMEM ($refused) or succeed ($without)" \
		"$wrong" ""
	# A run may have a few calls less than the first one.
	ok "$name: $struck of $(wc -l <"$WORK/some") chosen calls fail" \
		test $struck -gt 0 -a $((struck + 3)) -ge "$(wc -l <"$WORK/some")"
	ok "$name: the last call that fails is below number 800" test "$nth" -lt 800
}

# calls FILE.ko: FUNCTION CALLER+OFFSET of each call in it of what is probed. A call at a
# function's end may be a jump, which is not listed: it returns to the caller's caller,
# and fails as a call from there if that is in the module.
calls()
{
	objdump -dr --no-show-raw-insn "$1" | awk -v probed="$(xargs <$fault/probed)" '
		BEGIN {
			n = split(probed, list, " ")
			for (i = 1; i <= n; i++)
				is_probed[list[i]] = 1
		}
		/^[0-9a-f]+ <.*>:$/ {
			start = strtonum("0x" $1)
			caller = substr($2, 2, length($2) - 3)
		}
		/^ *[0-9a-f]+:\t/ && !/\tR_/ { is_call = /\t(callq?|bl) / }
		/: R_[A-Z0-9_]*\t/ && is_call {
			sub(/:$/, "", $1)
			name = $3
			sub(/[-+]0x[0-9a-f]*$/, "", name)
			if (name in is_probed)
				printf "%s %s+0x%x\n", name, caller,
					strtonum("0x" $1) + 4 - start
		}'
}

# one_name FILE.ko: its init function has two names, of which this leaves one
one_name()
{
	local name

	name=$(objdump -t "$1" | awk '
		$4 == ".init.text" && $3 == "F" { at[$NF] = $1 }
		END {
			for (name in at)
				if (name != "init_module" && at[name] == at["init_module"])
					print name
		}')
	sed "s/ ${name:-init_module}+/ init_module+/"
}

# source_of FILE.ko CALLER+OFFSET: the line of a call, with those of the functions that its
# function is inlined in; nothing if the file does not have it, or two functions of the name
source_of()
{
	local section start chain

	read -r section start < <(objdump -t "$1" | awk -v caller="${2%+*}" '
		$NF == caller && / F / { n++; place = $4 " " $1 }
		END { if (n == 1) print place }')
	[ -n "$section" ] || return
	# The offset is of the next instruction.
	chain=$(addr2line -i -e "$1" -j "$section" \
		"$(printf '%x' $((0x$start + ${2#*+} - 1)))" |
		sed 's/ (discriminator [0-9]*)$//' | xargs)
	[[ $chain = *\?* ]] || echo "$chain"
}

# copies FILE.ko MISSED FAILED: the calls of MISSED that a compiler has made of one that is
# in FAILED: both are the same call of the source
copies()
{
	local name place source other

	while read -r name place; do
		source=$(source_of "$1" "$place")
		[ -n "$source" ] || continue
		while read -r other; do
			[ "$(source_of "$1" "$other")" != "$source" ] || {
				echo "$name $place"
				break
			}
		done < <(sed -n "s/^$name //p" "$3")
	done <"$2"
}

# all_failed EXCEPT...: each call in the module's file has failed, but for those from
# these functions, and for copies(); all memory is free. The module is unloaded.
all_failed()
{
	local but="^$" name

	for name; do
		but="$but| $name\\+"
	done
	calls "kmod/$target.ko" | one_name "kmod/$target.ko" | sort >"$WORK/calls"
	is "all memory of the module is free" "$(kept)" 0
	ok "calls in the module's file that can fail: $(wc -l <"$WORK/calls")" \
		test -s "$WORK/calls"
	sed 's,/.*,,' "$sites" | one_name "kmod/$target.ko" | sort -u >"$WORK/failed"
	comm -23 "$WORK/calls" "$WORK/failed" | grep -vE "$but" >"$WORK/missed"
	is "each call in the module's file has failed, or is excepted" \
		"$(comm -23 "$WORK/missed" \
			<(copies "kmod/$target.ko" "$WORK/missed" "$WORK/failed"))" ""
}
