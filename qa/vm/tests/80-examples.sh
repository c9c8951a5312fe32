#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# What README.md and libkmmv(3) show, run as it is printed: the module of ten lines, seen
# by pminfo and by programs that were started before kmmv was loaded. The tutorial goes
# on from there. Then the skeleton's own test. qa/examples has built them.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/agent.sh
. qa/vm/agent.sh
# shellcheck source=qa/harness/shown
. qa/harness/shown

# shellcheck disable=SC2317 # called by the trap
examples_end()
{
	cd "$TOP" || exit
	[ ! -e $dir/hello/pid ] || kill "$(cat $dir/hello/pid)"
	# shellcheck disable=SC2086 # a list
	[ -z "$programs" ] || kill $programs
	rmmod hello skeleton 2>/dev/null
	clean_up
}
trap examples_end EXIT

dir=build/examples
programs=
[ -e $dir/hello/hello.ko ] || bail "qa/examples has not run"
export LD_LIBRARY_PATH=$PWD/$dir/root/usr/local/lib
for n in 1 2; do
	stdbuf -oL $dir/page/$n >"$WORK/said.$n" 2>&1 &
	programs="$programs $!"
done
start_udev
ok "./Install succeeds" installs
ok "the agent reads the device" wait_for 20 has_values

ok "a program that was there before kmmv has values" wait_for 20 \
	grep -qE '^[1-9][0-9]*$' "$WORK/said.1"

# The commands after the build, and what the last one prints.
text=$(awk '/^    # insmod/ { on = 1 } on && /^[^ ]/ { exit } on { print }' README.md |
	sed 's/^    //')
commands=$(sed -n 's/^# //p' <<<"$text")
shown=$(sed '/^# /d; /^$/d' <<<"$text")
metric=kmmv.value.hello.pings
is "README.md has three commands" "$(wc -l <<<"$commands")" 3
cd $dir/hello || bail "no $dir/hello"
while read -r command; do
	[[ $command != pminfo* ]] || break
	ok "README.md: '$command' succeeds" eval "$command"
done <<<"$commands"
cd "$TOP" || exit
ok "pmcd has the metric, a moment later" \
	wait_for 10 sh -c "pminfo $metric >/dev/null 2>&1"
is "$command shows what README.md does" \
	"$(eval "$command" | sed '/^$/d')" "$shown"
like "the metric has its line of help" "$(pminfo -t $metric)" \
	"\[Pings, by the way they came\]"
for i in 2 3 4 5; do
	echo $i >/sys/module/hello/parameters/ping
done
is "further pings count" "$(value $metric parameter)" 5
number=$(kmmvdump -n -f hello.pings | sed -n 's/.* number \([0-9]*\)\..*/\1/p')
echo "$number" >/sys/kernel/config/kmmv/rings/default/trace
echo >/sys/module/hello/parameters/ping
ok "a program that was there before kmmv prints the event" wait_for 10 \
	grep -qx 'hit hello.pings parameter delta=1 lost=0' "$WORK/said.2" ||
	note "$(tail -n 5 "$WORK/said.2")"

# The tutorial, which ends by unloading it. Its files are what cat is shown to print;
# pmchart is shipped/pages'.
blocks help/tutorial.md >"$WORK/tutorial"
mapfile -t list < <(commands <"$WORK/tutorial" | grep -vxFf <(commands <"$WORK/tutorial" |
	on_archive))
ok "the tutorial has commands" test ${#list[@]} -ge 12

# long_enough: the archive has what is read of it below: a count that grows, from its
# fifth second to its fifteenth
long_enough()
{
	pmdumplog hello 2>/dev/null | awk -v metric="($metric):" '
		/^[0-9].* metric/ {
			split($1, t, ":")
			at = t[1] * 3600 + t[2] * 60 + t[3]
			if (begin == "")
				begin = at
			at = (at - begin + 86400) % 86400
		}
		/\(.*\):/ { on = index($0, metric) }
		on && / value [0-9]+$/ {
			if (first == "") {
				first = at
				was = $NF
			}
			last = at
			grown = $NF - was
		}
		END { exit !(grown && first < 4 && last > 16) }'
}

cd $dir/hello || bail "no $dir/hello"
for command in "${list[@]}"; do
	shown_by "$command" <"$WORK/tutorial" >"$WORK/shown"
	case $command in
	"cat "*)
		cp "$WORK/shown" "${command#cat }" ;;
	*" &"*)
		# In this shell, whose child it is.
		eval "$command"
		ok "the tutorial: '$command' writes the file pid" test -s pid
		continue ;;
	"kill "*)
		ok "the tutorial: '$command' succeeds" eval "$command"
		wait "$(cat pid)" 2>/dev/null
		rm pid
		continue ;;
	"rmmod hello")
		before=$(value $metric parameter) ;;
	esac
	eval "$command" >"$WORK/real" 2>&1
	# What begins late in its 20 seconds has less.
	[[ $command != pmlogger* ]] || for ((i = 0; i < 20; i++)); do
		! long_enough || break
		rm -f hello.{index,meta,[0-9]*}
		eval "$command" >"$WORK/real" 2>&1
	done
	is "the tutorial: '$command' prints what is shown" \
		"$(alike <"$WORK/real" | sed '/^$/d')" \
		"$(alike <"$WORK/shown" | sed '/^$/d')"
	note "$(cat "$WORK/real")"
done
cd "$TOP" || exit
ok "without the module the instance is gone" wait_for 10 sh -c \
	"! pminfo -f $metric | grep -q inst"
insmod $dir/hello/hello.ko
echo >/sys/module/hello/parameters/ping
ok "the count goes on when the module is loaded again" wait_for 10 sh -c \
	"pminfo -f $metric | grep -q 'value $((before + 1))$'"
rmmod hello

ok "the skeleton's own test succeeds" $dir/skeleton/check
ok "the skeleton's own test succeeds once more" $dir/skeleton/check
is "the skeleton's bytes are counted" "$(value kmmv.all.skeleton.sent)" 3000
# shellcheck disable=SC2086 # a list
kill $programs
# shellcheck disable=SC2086
wait $programs 2>/dev/null
programs=
like "the skeleton's metric has help" \
	"$(pminfo -T kmmv.value.skeleton.sent)" "given to the device"
finish
