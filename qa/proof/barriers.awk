# SPDX-License-Identifier: GPL-2.0-only
#
# The checks of qa/proof/barriers.sh, whose head has the rules. Reads C sources,
# then litmus tests; prints a line for each fault, then a line of sums that begins
# with '#'.

function unit_of(name)
{
	sub(/.*\//, "", name)
	sub(/\.[a-z]+$/, "", name)
	return name
}

# The file of a label: FILE:A or FILE_WHAT:A.
function file_of(label)
{
	sub(/:.*/, "", label)
	while (!(label in units) && sub(/_[a-z0-9]+$/, "", label))
		;
	return label
}

function wrong(where, what)
{
	print where ": " what
	problems++
}

# The labels in a text, as " a:A b:B ".
function labels_in(text,    list)
{
	list = " "
	while (match(text, /[a-z][a-z0-9_]*:[A-Z]/)) {
		if (substr(text, RSTART + RLENGTH, 1) !~ /[A-Za-z0-9_]/)
			list = list substr(text, RSTART, RLENGTH) " "
		text = substr(text, RSTART + RLENGTH)
	}
	return list
}

# The name in litmus tests of a primitive of any file.
function kernel_name(primitive)
{
	if (primitive ~ /^kmmv_load.*_acquire$/)
		return "smp_load_acquire"
	if (primitive ~ /^kmmv_store.*_release$/)
		return "smp_store_release"
	if (primitive == "kmmv_rmb")
		return "smp_rmb"
	if (primitive == "rcu_read_lock_sched_notrace")
		return "rcu_read_lock"
	if (primitive ~ /^call_rcu(_hurry)?$/)
		return "synchronize_rcu"
	if (primitive == "atomic64_read_acquire")
		return "smp_load_acquire"
	if (primitive == "atomic64_cmpxchg_release")
		return "cmpxchg_release"
	return primitive
}

# The first ordered access in a line of code, or "".
function ordered(code)
{
	if (match(code, /[a-z0-9_]+_(acquire|release|relaxed)[ ]*\(/) ||
	    match(code, /(smp_|dma_|io_|kmmv_|virt_)?(mb|rmb|wmb)[ ]*\(/) ||
	    match(code, /smp_mb__[a-z_]+[ ]*\(/) ||
	    match(code, /smp_store_mb[ ]*\(/) ||
	    match(code, /rcu_read_lock_sched_notrace[ ]*\(/) ||
	    match(code, /call_rcu(_hurry)?[ ]*\(/) ||
	    (litmus && match(code, /(rcu_read_lock|synchronize_rcu)[ ]*\(/)) ||
	    match(code, /__ATOMIC_[A-Z_]+/)) {
		if (RSTART > 1 && substr(code, RSTART - 1, 1) ~ /[a-z0-9_]/)
			return ""
		code = substr(code, RSTART, RLENGTH)
		sub(/[ ]*\($/, "", code)
		# Pages and events have functions of that name, too.
		return code ~ /^(kmmv_ring_cpu|page)_release$/ ? "" : code
	}
	return ""
}

# Split a line of C into code and comment.
function take_apart(line,    i)
{
	code = ""
	comment = ""
	if (!inside)
		gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	while (line != "") {
		if (inside) {
			i = index(line, "*/")
			if (!i) {
				comment = comment line
				return
			}
			comment = comment substr(line, 1, i - 1) " "
			line = substr(line, i + 2)
			inside = 0
		} else {
			i = match(line, /\/[*\/]/)
			if (!i) {
				code = code line
				return
			}
			code = code substr(line, 1, i - 1)
			if (substr(line, i, 2) == "//") {
				comment = comment substr(line, i + 2)
				return
			}
			line = substr(line, i + 2)
			inside = 1
		}
	}
}

# "a:A, a:B  fact - b:A, b:B  fact": A with A, B with B.
function table_line(text,    i, n, m, left, right)
{
	i = index(text, " - ")
	if (!i || text !~ /^[* \t]*[a-z][a-z0-9_]*:[A-Z][, \t]/)
		return
	n = split(labels_in(substr(text, 1, i)), left, " ")
	m = split(labels_in(substr(text, i)), right, " ")
	if (n != m && n != 1 && m != 1) {
		wrong(where, "as many labels on both sides, or one on one")
		return
	}
	if (!m) {
		wrong(where, left[1] " has nothing on the other side")
		return
	}
	for (i = 1; i <= n || i <= m; i++)
		pair(left[n == 1 ? 1 : i], right[m == 1 ? 1 : i])
}

function pair(left, right,    i)
{
	if (file_of(left) != unit && file_of(right) != unit)
		wrong(where, left " and " right " are both of other files")
	if (left > right) {
		i = left
		left = right
		right = i
	}
	if ((left, right, unit) in tabled)
		wrong(where, left " - " right " is in the table twice")
	tabled[left, right, unit] = where
	if (!((left, right) in pairs))
		pairs[left, right] = where
	in_table[left, unit] = 1
	in_table[right, unit] = 1
	if (!(unit in table_of))
		table_of[unit] = FILENAME
	else if (table_of[unit] != FILENAME)
		wrong(where, unit " has another table in " table_of[unit])
}

# The label of this file with which a comment begins, or "".
function claims(text)
{
	sub(/^[* \t]*/, "", text)
	if (!match(text, /^[a-z][a-z0-9_]*:[A-Z]/) ||
	    substr(text, RLENGTH + 1, 1) ~ /[A-Za-z0-9_]/)
		return ""
	text = substr(text, 1, RLENGTH)
	return file_of(text) == unit ? text : ""
}

function note_mentions(text,    i, n, list)
{
	n = split(labels_in(text), list, " ")
	for (i = 1; i <= n; i++)
		mentioned[list[i]] = where
}

function access(primitive, text,    i, j, n, m, own, with, rest)
{
	accesses++
	if (claims(text) == "") {
		wrong(where, primitive " without a label")
		return
	}
	m = 0
	if (match(text, /pairs with [a-z][a-z0-9_]*:[A-Z]((,| and) [a-z][a-z0-9_]*:[A-Z])*/)) {
		rest = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
		m = split(labels_in(substr(text, RSTART, RLENGTH)), with, " ")
		text = rest
	}
	n = split(labels_in(text), own, " ")
	for (i = 1; i <= n; i++) {
		if (file_of(own[i]) != unit)
			continue
		if (own[i] in at && primitives[own[i]] != kernel_name(primitive))
			wrong(where, own[i] " is " kernel_name(primitive) \
			      " here, " primitives[own[i]] " at " at[own[i]])
		at[own[i]] = where
		primitives[own[i]] = kernel_name(primitive)
		for (j = 1; j <= m; j++)
			said[own[i], with[j]] = where
	}
}

function end_of_statement()
{
	if (pending_where != "" && claims(pending) != "")
		wrong(pending_where, claims(pending) " is at no ordered access")
	pending = ""
	pending_where = ""
}

BEGIN {
	for (i = 1; i < ARGC; i++)
		if (ARGV[i] !~ /\.litmus$/)
			units[unit_of(ARGV[i])] = 1
}

FNR == 1 {
	end_of_statement()
	unit = unit_of(FILENAME)
	inside = 0
	top = 1
	code = ""
	litmus = FILENAME ~ /\.litmus$/
	# The files that define the library's primitives, and the core's.
	defines = FILENAME ~ /(^|\/)(lib\/barrier|kmod\/core\/kmmv_deps)\.h$/
	if (!litmus && !defines)
		files++
}

{ where = FILENAME ":" FNR }

litmus {
	if (FNR == 1) {
		tests[unit] = FILENAME
		if ($1 != "C" || $2 != unit)
			wrong(where, "is not \"C " unit "\"")
	}
	if (/\(\* Expected: (Never|Sometimes) \*\)/)
		expected[unit] = 1
	take_apart($0)
	n = split(labels_in(comment), list, " ")
	for (i = 1; code ~ /\(/ && i <= n; i++) {
		label = list[i]
		tested[unit, label] = 1
		used[++uses] = where SUBSEP label SUBSEP ordered(code)
	}
	next
}

defines { next }

{
	take_apart($0)
	if (code ~ /[^ \t]/)
		top = 0
	if (top) {
		table_line(comment)
		next
	}
	if (comment != "") {
		note_mentions(comment)
		if (pending == "") {
			pending = comment
			pending_where = where
		} else {
			pending = pending " " comment
		}
	}
	if (code !~ /[^ \t]/)
		next
	primitive = ordered(code)
	# Skip declarations and definitions.
	if (primitive != "" && code !~ /^[a-z]/) {
		access(primitive, pending)
		pending_where = ""
	}
	if (code ~ /[;{}:][ \t]*$/)
		end_of_statement()
}

END {
	end_of_statement()
	for (label in at) {
		labels++
		unit = file_of(label)
		if (!((label, unit) in in_table))
			wrong(at[label], label " is in no table of " unit)
	}
	for (key in tabled) {
		split(key, part, SUBSEP)
		for (i = 1; i <= 2; i++) {
			unit = file_of(part[i])
			if (!(part[i] in at))
				wrong(tabled[key], part[i] " is nowhere in the code")
			else if (!((part[1], part[2], unit) in tabled))
				wrong(tabled[key], part[1] " - " part[2] \
				      " is not in the table of " unit)
		}
	}
	for (key in pairs) {
		nr_pairs++
		split(key, part, SUBSEP)
		name = part[1] "+" part[2]
		back = part[2] "+" part[1]
		gsub(/:/, "-", name)
		gsub(/:/, "-", back)
		found = 0
		for (test in tests)
			if (index(test "-", name "-") == 1 ||
			    index(test "-", back "-") == 1) {
				found = 1
				of_pair[test] = 1
				for (i = 1; i <= 2; i++)
					if (!((test, part[i]) in tested))
						wrong(tests[test], "no line is " part[i])
			}
		if (!found)
			wrong(pairs[key], "no qa/proof/litmus/" name ".litmus")
	}
	for (key in said) {
		split(key, part, SUBSEP)
		if (!((part[1], part[2]) in pairs) &&
		    !((part[2], part[1]) in pairs))
			wrong(said[key], part[1] " and " part[2] \
			      " are no pair of any table")
	}
	for (label in mentioned)
		if (!(label in at))
			wrong(mentioned[label], label " is nowhere in the code")
	for (i = 1; i <= uses; i++) {
		split(used[i], part, SUBSEP)
		if (!(part[2] in at))
			wrong(part[1], part[2] " is nowhere in the code")
		else if (part[3] != primitives[part[2]])
			wrong(part[1], part[2] " is " part[3] " here, " \
			      primitives[part[2]] " at " at[part[2]])
	}
	for (test in tests) {
		nr_tests++
		if (!(test in of_pair))
			wrong(tests[test], "tests no pair of any table")
		if (!(test in expected))
			wrong(tests[test], "expects no verdict")
	}
	if (!accesses || !labels || !nr_pairs || !nr_tests)
		wrong("here", "no accesses, labels, pairs or tests")
	printf "# %d ordered accesses in %d files, %d labels, %d pairs, %d litmus tests\n",
		accesses, files, labels, nr_pairs, nr_tests
	exit problems > 0
}
