# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# For tests in the guest: kmmv.ko and its test client.
#
#	load_core [PARAM=VALUE...]	insmod kmmv.ko
#	load_client			insmod the test client
#	unload				rmmod all of it
#	call COMMAND			the client's answer (qa/client/client.c);
#					$'...' for whatever bytes
#	errno NAME			its number, negative
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

	for module in kmmv_stat kmmv_client kmmv_noop kmmv; do
		[ ! -d /sys/module/$module ] || rmmod $module || return
	done
}

call()
{
	printf '%s' "$1" >$client_dir/call && cat $client_dir/call
}

errno()
{
	case $1 in
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

# A read gives a part; nothing more to give ends it.
names()
{
	cat /dev/kmmv/names
}

# The name as the stream writes it, with its escapes.
instance()
{
	names | grep -a "^instance number=[0-9]* family=$1 " |
		grep -aF -- " name=$2" | while read -r line; do
		[ "${line#* name=}" != "$2" ] ||
			echo "$line" | cut -d ' ' -f 2,4,5
	done
}
