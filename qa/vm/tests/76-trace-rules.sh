#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tier: all
#
# What kmmv_trace refuses, with which error, and what it says.

# shellcheck source=qa/harness/tap.sh
. qa/harness/tap.sh
# shellcheck source=qa/vm/trace.sh
. qa/vm/trace.sh

counts_values || skip_all "machine: of 32 bits, it counts hits alone"

trap unload EXIT
# What the shell says of errno.
invalid="Invalid argument" none="No such file or directory" exists="File exists"
busy="Device or resource busy" unsupported="Operation not supported"
big="Argument list too long" unique="Name not unique on network"
max=/sys/module/kmmv_trace/parameters/max_functions

load ring_pages=16 || bail "does not load"
insmod qa/client/kmmv_traced.ko || bail "nothing to count"

# ---- names

for name in 1st a..b a. 'a b' 'a-b'; do
	not_ok "mkdir of '$name' fails" mkdir "$trace/$name"
done
for name in stat stat.hits; do
	like "mkdir of $name says that the name is in use" \
		"$(mkdir $trace/$name 2>&1)" "Address already in use"
done
ok "a name with dots is accepted" mkdir $trace/a.b
ok "a name with dots and the first as its prefix is accepted" mkdir $trace/a.b.c
put a.b tracepoint kmmv_traced
put a.b.c tracepoint kmmv_traced
ok "a counter whose name has dots is enabled" put a.b enable 1
refused a.b.c enable 1 "$unique" 'prefix of another'
end a.b a.b.c

# ---- syntax

mkdir $trace/t
refused t enable 1 "$invalid" 'a tracepoint or a function'
refused t enable 2 "$invalid" '0 or 1'
for text in / a/ /a a/b/c 'a b' 'a*'; do
	refused t tracepoint "$text" "$invalid" 'SYSTEM/NAME'
done
for text in 'a b' '!vfs_read' 'a:mod:b' 'é' 123 '1*'; do
	refused t function "$text" "$invalid" 'not a function'
done
for text in x arg0:8 x=arg:8 x=arg0 x=arg0:3 x=arg0@:8 x=arg0@8:8z x=arg0:16t \
	x=arg0@0:8t x=arg0@0:8p 'x=arg0:8 y=arg1:8' x=arg0:4+30.4 x=arg0:4+3 \
	x=arg0:4+3.0 x=arg0@1@2@3@4@5@6@7@8@9:8 x=arg0@2147483648:8 log2x=arg0: \
	=arg0:8 'log2 log2 x=arg0:8' x=arg256:8 ' x=arg0:8' 'x=arg0:8 '; do
	refused t value "$text" "$invalid" 'argN'
done
for text in x=arg0@0:65t x=arg0:0p x=arg0:16t; do
	refused t key "$text" "$invalid" 'argN'
done
for text in default 'default ' 'default x' 'default a-b=arg0:8' "$(printf 'default'
	printf ' f%d=arg0:8' {0..16})"; do
	refused t event "$text" "$invalid" 'RING'
done
refused t units 'a b' "$invalid" 'units'
refused t oneline "$(printf '%0128d' 0)" "$invalid" '127'
refused t help "$(printf '%01024d' 0)" "$invalid" '1023'
for text in 0 1025 -1 x ''; do
	refused t max_keys "$text" "$invalid" '1 to 1024'
done
echo 100000000 >/sys/module/kmmv_trace/parameters/max_keys
refused t max_keys 100000000 "$invalid" '1 to 65536'
echo 1024 >/sys/module/kmmv_trace/parameters/max_keys
is "values that are refused are not stored" \
	"$(cat $trace/t/{tracepoint,function,value,key,event,units} |
	xargs) $(get t max_keys)" " 64"
ok "a value that is well spelt is accepted" put t value 'log2 a->b=arg0@0@8@16:4s+1.31'
is "a value that is well spelt clears the error" "$(get t error)" ""
is "a value that is well spelt is stored" \
	"$(get t value)" 'log2 a->b=arg0@0@8@16:4s+1.31'
put t value ''
is "an empty line removes a value" "$(get t value)" ""

# ---- what is not there

put t tracepoint no_such
refused t function vfs_read "$invalid" 'tracepoint or a function'
refused t enable 1 "$none" 'no tracepoint no_such'
put t tracepoint syscalls/sys_enter_read
refused t enable 1 "$none" 'raw_syscalls'
put t tracepoint some/no_such
put t value x=arg0:8
refused t enable 1 "$none" 'no tracepoint no_such'
put t tracepoint kmmv_traced
put t value x=arg5:8
refused t enable 1 "$unsupported" 'x is arg5: this machine passes 5'
put t value ''
put t event 'no_such x=arg0:8'
refused t enable 1 "$none" 'no ring no_such'
put t event ''
put t tracepoint ''
put t function no_such_function
refused t enable 1 "$none" 'no function no_such_function'
put t function 'no_such_*'
refused t enable 1 "$none" 'no_such_'
put t function 'kmmv_traced_*'
put t value x=arg0:8
refused t enable 1 "$invalid" '3 functions'
put t value ''
put t function 'kmmv_*'
ok "a glob with functions of kmmv_trace itself is enabled" put t enable 1
put t enable 0
echo 2 >$max
put t function 'kmmv_traced_*'
refused t enable 1 "$big" 'more than 2 functions.*max_functions'
put t function '*'
refused t enable 1 "$big" 'more than 2 functions'
end t
ok "as many functions as max_functions can be traced" \
	define few 'function=kmmv_traced_t*'
echo 256 >$max
is "no more functions than max_functions are traced" "$(handlers)" 2
put few enable 0

# ---- while it is enabled; other texts

put few function kmmv_traced_one
refused few enable 1 "$exists" 'registered with other'
end few
ok "a counter of the function by another name is enabled" \
	define u function=kmmv_traced_one value=last=arg5:8 \
	'oneline=What is last' help=Twice units=byte
for text in 'function x' 'tracepoint x' 'value x=arg0:8' 'key x=arg0:8' \
	'event default x=arg0:8' 'units count' 'oneline x' 'help x' 'max_keys 3'; do
	refused u "${text%% *}" "${text#* }" "$busy" 'write 0 to enable'
done
ok "enable takes 1 once more" put u enable 1
like "the family has the texts" "$(build/kmmvdump -f trace.u)" \
	'trace.u \(byte, counter\): What is last'
end u
for text in units=count oneline=x help=x 'value=log2 last=arg5:8'; do
	mkdir $trace/u
	for attribute in function=kmmv_traced_one value=last=arg5:8 \
		'oneline=What is last' help=Twice units=byte "$text"; do
		put u "${attribute%%=*}" "${attribute#*=}"
	done
	refused u enable 1 "$exists" 'registered with other units, texts or values'
	end u
done
ok "a counter with the same texts and values is enabled" \
	define u function=kmmv_traced_one value=last=arg5:8 \
	'oneline=What is last' help=Twice units=byte
ok "a counter with a key is enabled" define k tracepoint=kmmv_traced 'key=number=arg1:8'
hit tp 1 7
end k
ok "a counter of the same name with another key is enabled" \
	define k tracepoint=kmmv_traced 'key=small=arg3:1'
hit tp 1 8
is "a counter with another key has instances of its own" "$(values k | xargs)" "8 1"
end k
mkdir $trace/k
put k tracepoint kmmv_traced
refused k enable 1 "$exists" 'registered with other'
end k
ok "a counter with an event is enabled" \
	define e function=kmmv_traced_one 'event=default last=arg5:8'
is "the ring default with events cannot be removed" \
	"$(rmdir /sys/kernel/config/kmmv/rings/default 2>&1 |
	grep -c .)" 1
not_ok "kmmv_trace does not unload while there are counters" rmmod kmmv_trace
end u e
ok "a ring is made" mkdir /sys/kernel/config/kmmv/rings/r
ok "a counter with events in the new ring is enabled" \
	define f function=kmmv_traced_one 'event=r last=arg5:8'
not_ok "a ring with events of a counter cannot be removed" \
	rmdir /sys/kernel/config/kmmv/rings/r
put f enable 0
end f
ok "a ring can be removed when its counter is gone" \
	rmdir /sys/kernel/config/kmmv/rings/r
is "no function is traced" "$(handlers)" 0
ok "the modules unload" unload
finish
