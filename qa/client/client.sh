# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests in the guest: kmmv.ko and its test client.
#
#	load_core [PARAM=VALUE...]	insmod kmmv.ko
#	load_client			insmod the test client
#	unload				rmmod all of it
#	call COMMAND			the client's answer (qa/client/client.c);
#					$'...' for any bytes
#	errno NAME			its number, negative
#	program COMMAND			a program's results, as some of the test's
#	names				the whole names stream
#	instance FAMILY NAME		number, incarnation and state in the names

client_dir=/sys/kernel/debug/kmmv_client

load_core()
{
	insmod kmod/kmmv.ko "$@"
}

load_client()
{
	insmod qa/client/kmmv_client.ko
}

unload()
{
	local module

	for module in kmmv_profile kmmv_trace kmmv_block kmmv_net kmmv_stat kmmv_client kmmv_noop kmmv; do
		[ ! -d /sys/module/$module ] || rmmod $module || return
	done
}

# The client takes one write(2); bash writes by line, and 4096 bytes at most.
call()
{
	local answer

	if [[ $1 = *$'\n'* || ${#1} -ge 4096 ]]; then
		printf '%s' "$1" | dd of=$client_dir/call bs=8192 \
			iflag=fullblock status=none || return
	else
		printf '%s' "$1" >$client_dir/call || return
	fi
	read -r answer <$client_dir/call
	printf '%s\n' "$answer"
}

# shellcheck disable=SC2034 # finish of tap.sh uses tap_failed
program()
{
	local text status passed

	text=$("$@")
	status=$?
	printf '%s\n' "$text" | grep -v '^1\.\.' |
		awk -v n="$tap_count" '/^(not )?ok / { sub(/ok [0-9]*/, "ok " ++n) } { print }'
	passed=$(printf '%s\n' "$text" | grep -cE '^(not )?ok ')
	tap_count=$((tap_count + passed))
	tap_failed=$((tap_failed + $(printf '%s\n' "$text" | grep -c '^not ok ')))
	is "all of it was run" "$status $(printf '%s\n' "$text" | tail -n 1)" \
		"0 1..$passed"
}

errno()
{
	case $1 in
	EPERM)		echo -1 ;;
	ENOENT)		echo -2 ;;
	ENOMEM)		echo -12 ;;
	EBUSY)		echo -16 ;;
	EEXIST)		echo -17 ;;
	EINVAL)		echo -22 ;;
	ENFILE)		echo -23 ;;
	ENOSPC)		echo -28 ;;
	ENAMETOOLONG)	echo -36 ;;
	ENOTUNIQ)	echo -76 ;;
	EILSEQ)		echo -84 ;;
	EADDRINUSE)	echo -98 ;;
	*)		echo "errno: $1?" ;;
	esac
}

# A read returns a part; an empty one is the end.
names()
{
	printf '%s\n' "$(</dev/kmmv/names)"
}

# The name as the stream writes it, with its escapes.
instance()
{
	local line word

	while IFS= read -r line; do
		[[ $line = "instance number="*" family=$1 incarnation="* &&
			${line#* name=} = "$2" ]] || continue
		read -r _ word _ line <<<"${line%% name=*}"
		printf '%s %s\n' "$word" "$line"
	done </dev/kmmv/names
}
