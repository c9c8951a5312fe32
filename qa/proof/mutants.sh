#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
# partial: yes
# timeout: 12000
#
# Mutants: the shipped code with one ordering or check removed, which a test has to
# detect. qa/proof/mutants.sh [PATTERN] for those whose name contains PATTERN.
#
# qa/proof/mutants/* list them, as paragraphs:
#
#	mutant: the fault
#	file: kmod/core/slots.c
#	kill: plain/table asan/table
#	-	the lines to replace, which the file has once
#	+	the lines that replace them
#
# kill names unit tests, tried in that order until one fails: it says "not ok",
# after which it is stopped, ends badly, or a sanitizer reports it. A test that
# takes ten times the CPU time of the unmutated run has detected the mutant, too,
# which is shown; real time does not matter. Tests whose result depends on threads
# or signals get three tries, and have to pass three times unmutated. Threads meet
# rarely where one CPU runs them all: if no test has detected the mutant by then, these
# go on up to thirty tries. `litmus LABEL PRIMITIVE` is for an ordering that no native
# run can miss: qa/proof/barriers.sh must find that the mutated code differs from the
# litmus test of LABEL, and qa/proof/litmus.sh that with PRIMITIVE in its place (nothing,
# WRITE_ONCE, ...) the forbidden outcome is seen. Without herd7 these are skipped.
#
# With a time limit (KMMV_UNTIL) the order depends on the last commit, so that each
# has its turn.
#
# The tree is copied below build/, where each test first has to pass unmutated.

cd "$(dirname "$0")/../.." || exit 2
export LC_ALL=C
# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Check's own limit catches tests that wait without computing.
export CK_DEFAULT_TIMEOUT=60 CK_TIMEOUT_MULTIPLIER=5
export CK_VERBOSITY=silent CK_TAP_LOG_FILE_NAME=- TSAN_OPTIONS=halt_on_error=1
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1
pattern=${1-}
top=$PWD
commit=$(git rev-parse HEAD 2>/dev/null || date +%j)
mkdir -p build
tree=$(mktemp -d "$top/build/mutants.XXXXXX") || exit 2
pristine=$tree.pristine
trap 'rm -rf "$tree" "$tree".*' EXIT

# ---- the list

names=() files=() kills=() olds=() news=()

read_mutants()
{
	local line name='' file='' kill='' old='' new='' list

	for list in qa/proof/mutants/*; do
		while IFS= read -r line || [ -n "$line" ]; do
			case $line in
			mutant:\ *) name=${line#mutant: } ;;
			file:\ *) file=${line#file: } ;;
			kill:\ *) kill=${line#kill: } ;;
			-*) old+=${line#-}$'\n' ;;
			+*) new+=${line#+}$'\n' ;;
			'') add_mutant ;;
			'#'*) ;;
			*) bail "$list: what is this: $line" ;;
			esac
		done < <(cat "$list"; echo)
	done
}

add_mutant()
{
	[ -n "$name" ] || return
	if [ -z "$file" ] || [ -z "$kill" ] || [ -z "$old" ]; then
		bail "$list: $name: not complete"
	fi
	if [[ $name = *"$pattern"* ]]; then
		names+=("$name") files+=("$file") kills+=("$kill")
		olds+=("$old") news+=("$new")
	fi
	name='' file='' kill='' old='' new=''
}

# ---- building and running in the copy

fixed=()
setarch -R true 2>/dev/null && fixed=(setarch -R)
declare -A limits=()

build()
{
	rm -f "build/qa/$1"
	timeout 3600 make -s -f qa/GNUmakefile CFLAGS=-Wno-error "build/qa/$1" \
		>"$tree/build.log" 2>&1 </dev/null
}

# run TEST: 0: it passes; 1: it fails, and is stopped at the first "not ok"; 2: it
# does not end.
run()
{
	local line pid status seconds=${limits[$1]:-3000}

	exec 3< <(exec timeout -k 2 $((seconds * 6 + 600)) \
			prlimit --cpu="$seconds:$((seconds + 10))" \
			"${fixed[@]}" "build/qa/$1" 2>&1 </dev/null)
	pid=$!
	: >"$tree/run.log"
	while IFS= read -r line <&3; do
		printf '%s\n' "$line" >>"$tree/run.log"
		case $line in
		"not ok "*)
			kill "$pid" 2>/dev/null
			exec 3<&-
			wait "$pid" 2>/dev/null
			[[ $line = *"CPU time limit exceeded"* ||
				$line = *"Test timeout expired"* ]] && return 2
			return 1 ;;
		esac
	done
	exec 3<&-
	wait "$pid"
	status=$?
	case $status in
	0)		return 0 ;;
	124|137|152)	return 2 ;; # timeout; SIGXCPU
	*)		return 1 ;;
	esac
}

# The CPU time of this shell's ended children, in seconds, rounded down.
cpu_time()
{
	times >"$tree.times"
	awk 'NR == 2 { gsub(/[ms]/, " "); print int($1 * 60 + $2 + $3 * 60 + $4) }' \
		"$tree.times"
}

late()
{
	[ -n "${KMMV_UNTIL-}" ] && [ "$(date +%s)" -ge "$KMMV_UNTIL" ]
}

# control TEST: unmutated, it passes as often as a mutant is tried; its CPU time
# decides when a mutant hangs.
control()
{
	local begin status=0 try

	if late; then
		echo "$1" >>"$tree.not_run"
		return
	fi
	if ! build "$1"; then
		fail "unmutated, $1 builds" "$(tail -n 20 "$tree/build.log")"
		return
	fi
	begin=$(cpu_time)
	for ((try = $(tries "$1"); try && !status; try--)); do
		run "$1"
		status=$?
	done
	if [ $status -eq 0 ]; then
		pass "unmutated, $1 passes"
	else
		fail "unmutated, $1 passes" "status $status:" \
			"$(tail -n 20 "$tree/run.log")"
	fi
	echo "$1 $((($(cpu_time) - begin + 2) * 10))" >>"$tree.limits"
}

# apply FILE OLD NEW: replace the lines OLD, which FILE has exactly once
apply()
{
	local text rest old=$'\n'$2

	text=$(echo; cat "$1"; echo x)
	text=${text%x}
	rest=${text#*"$old"}
	[ "$rest" != "$text" ] || { why="$1 has no such lines"; return 1; }
	[ "${rest#*"$old"}" = "$rest" ] ||
		{ why="$1 has such lines more than once"; return 1; }
	text=${text%%"$old"*}$'\n'$3$rest
	printf '%s' "${text#$'\n'}" >"$1"
}

# ---- killing

# Whether threads meet at the fault depends on the machine.
tries()
{
	case $1 in
	tsan/*|*live*|*-pair)	echo 3 ;;
	*)			echo 1 ;;
	esac
}

# detects TEST: once; then it is the $killer
detects()
{
	run "$1"
	case $? in
	1)	killer=$1 ;;
	2)	killer="$1, which does not end" ;;
	*)	return 1 ;;
	esac
}

by_tests()
{
	local test try

	for test in $1; do
		if ! build "$test"; then
			why="does not build: $(tail -n 5 "$tree/build.log")"
			return 1
		fi
		for ((try = $(tries "$test"); try; try--)); do
			! detects "$test" || return 0
		done
	done
	for test in $1; do
		try=$(tries "$test")
		while [ "$try" -gt 1 ] && [ $((try++)) -lt 30 ]; do
			! detects "$test" || return 0
		done
	done
	why="survives $1"
	return 1
}

by_litmus()
{
	local label=$1 primitive=$2 tests

	if "$top/qa/proof/barriers.sh" -c "$tree" >"$tree/run.log"; then
		why="qa/proof/barriers.sh sees nothing"
		return 1
	fi
	if ! grep -q -F "$label" "$tree/run.log"; then
		why="qa/proof/barriers.sh says nothing of $label"
		return 1
	fi
	if ! tests=$("$top/qa/proof/litmus.sh" -w "$label" "$primitive"); then
		why="no litmus test of $label minds $primitive"
		return 1
	fi
	killer=${tests//$'\n'/, }
}

mutate()
{
	local i=$1 file=${files[$1]} name="${names[$1]} (${files[$1]##*/})"
	local why='' killer='' litmus=

	if late; then
		echo "$name" >>"$tree.not_run"
		return
	fi
	[ "${kills[i]#litmus }" = "${kills[i]}" ] || litmus=${kills[i]#litmus }
	if [ -n "$litmus" ] && [ -n "$no_herd" ]; then
		skip "$name" "$no_herd"
		return
	fi
	if ! apply "$file" "${olds[i]}" "${news[i]}"; then
		fail "$name" "stale: $why"
		return
	fi
	# shellcheck disable=SC2086 # words
	if [ -n "$litmus" ]; then
		by_litmus $litmus
	else
		by_tests "${kills[i]}"
	fi
	cp "$pristine/$file" "$file" || exit 2
	if [ -n "$killer" ]; then
		pass "$name: killed by $killer"
	else
		fail "$name" "$why"
	fi
}

# ---- the run

read_mutants
[ ${#names[@]} -gt 0 ] || bail "no mutant matches"
no_herd=
printf '%s\n' "${kills[@]}" | grep -q ^litmus &&
	{ no_herd=$(qa/proof/litmus/herd -a 2>&1) || no_herd=${no_herd##*$'\n'}; }

mkdir -p "$tree/qa/proof"
cp -r VERSION kmod lib pmda "$tree"
cp -r qa/GNUmakefile qa/shim qa/unit qa/agent "$tree/qa"
cp -r qa/proof/litmus "$tree/qa/proof"
rm -f "$tree"/kmod/*.o "$tree"/kmod/*/*.o "$tree"/kmod/*.ko
cp -r "$tree" "$pristine"

# The run may be over before one that does not compile has its turn.
if [ -z "$pattern" ]; then
	said=$(python3 qa/proof/stale.py -c) || bail "the lists cannot be read"
	total=${said##*$'\n'}
	is "each of $total mutants compiles" "${said%"$total"}" ""
fi
compiled=$tap_count

# half FUNCTION ODD WHAT...: every second of these, in a tree of its own
half()
{
	local function=$1 i

	for ((i = $2 + 3; i <= $#; i += 2)); do
		"$function" "${!i}"
	done
}

# both FUNCTION WHAT...: two at a time; the odd ones' results come at the end
both()
{
	local function=$1 other line

	shift
	(
		trap - EXIT
		cd "$tree.odd" || exit
		tree=$tree.odd half "$function" 1 "$@"
	) >"$tree.tap" &
	other=$!
	half "$function" 0 "$@"
	wait "$other" || fail "the other half comes to its end" "status $?"
	while IFS= read -r line; do
		case $line in
		"ok "*\ "# SKIP "*)
			line=${line#ok * - }
			skip "${line%% # SKIP *}" "${line#* # SKIP }" ;;
		"ok "*)		pass "${line#ok * - }" ;;
		"not ok "*)	fail "${line#not ok * - }" ;;
		*)		printf '%s\n' "$line" ;;
		esac
	done <"$tree.tap"
}

cp -r "$tree" "$tree.odd"
cd "$tree" || exit 2

tests=$(printf '%s\n' "${kills[@]}" | grep -v ^litmus | tr ' ' '\n' | sort -u)
# shellcheck disable=SC2086 # words
both control $tests
while read -r test seconds; do
	limits[$test]=$seconds
done < <(cat "$tree.limits" "$tree.odd.limits" 2>/dev/null)
order=("${!names[@]}")
[ -z "${KMMV_UNTIL-}" ] || mapfile -t order < <(printf '%s\n' "${order[@]}" |
	shuf --random-source=<(yes "$commit"))
both mutate "${order[@]}"
not_run=$(cat "$tree.not_run" "$tree.odd.not_run" 2>/dev/null | wc -l)
all=$(($(wc -w <<<"$tests") + ${#names[@]}))
[ "$not_run" = 0 ] ||
	note "not run: $not_run of $all mutants and controls, the time was over"
results=$((tap_count - compiled))
[ $((results + not_run)) -eq $all ] ||
	fail "each mutant and control has its result" \
		"$all, and $results results, $not_run not run"
finish
