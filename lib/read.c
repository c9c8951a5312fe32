// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading values.
 *
 * Memory ordering; the writer's side is in kmod/core/slots.[ch] and
 * kmod/stat/self.c:
 *
 *	read_status:A  values before the incarnation - slots:C
 *	    a value of another instance is read with another incarnation.
 *	read_status:A  the time before later values  - self:A
 *	    values read after their time are of that time or later.
 *	read_pair:A  done before the halves, acquire - slots:E
 *	read_pair:B  the halves before begun         - slots:D
 *	    with equal counts, both halves are of one value.
 */
#include <errno.h>
#include <string.h>

#include "handle.h"
#include "barrier.h"

/* So many sums stay in the first-level cache while counters stream by. */
enum { BLOCK = 512, PAIR_TRIES = 10000 };

static bool is_atomic(const struct kmmv *k)
{
	return k->header.features_compat & KMMV_F_ATOMIC64;
}

/*
 * Four CPUs at a time: a sum is loaded and stored once for four values. Each
 * load is of one aligned word, and so never torn.
 */
static void add_areas(const struct kmmv *k, uint32_t first, size_t n,
		      uint64_t *sums)
{
	const struct kmmv_area *a = k->areas, *end = a + k->nr_areas;
	size_t i;

	switch (k->nr_areas % 4) {
	case 0:
		if (a == end) {
			memset(sums, 0, n * sizeof(*sums));
			return;
		}
		for (i = 0; i < n; i++)
			sums[i] = kmmv_load64(&a[0].kvalues[first + i]) +
				  kmmv_load64(&a[1].kvalues[first + i]) +
				  kmmv_load64(&a[2].kvalues[first + i]) +
				  kmmv_load64(&a[3].kvalues[first + i]);
		a += 4;
		break;
	case 1:
		for (i = 0; i < n; i++)
			sums[i] = kmmv_load64(&a[0].kvalues[first + i]);
		break;
	case 2:
		for (i = 0; i < n; i++)
			sums[i] = kmmv_load64(&a[0].kvalues[first + i]) +
				  kmmv_load64(&a[1].kvalues[first + i]);
		break;
	case 3:
		for (i = 0; i < n; i++)
			sums[i] = kmmv_load64(&a[0].kvalues[first + i]) +
				  kmmv_load64(&a[1].kvalues[first + i]) +
				  kmmv_load64(&a[2].kvalues[first + i]);
		break;
	}
	for (a += k->nr_areas % 4; a < end; a += 4) {
		const uint64_t *k0 = a[0].kvalues + first;
		const uint64_t *k1 = a[1].kvalues + first;
		const uint64_t *k2 = a[2].kvalues + first;
		const uint64_t *k3 = a[3].kvalues + first;

		for (i = 0; i < n; i++)
			sums[i] += kmmv_load64(&k0[i]) + kmmv_load64(&k1[i]) +
				   kmmv_load64(&k2[i]) + kmmv_load64(&k3[i]);
	}
}

/* Read one value under its CPU's pair. */
static int read_pair(struct kmmv *k, const struct kmmv_area *a, uint32_t number,
		     uint64_t *value)
{
	unsigned int tries;
	uint32_t done;

	for (tries = 0; tries < PAIR_TRIES; tries++) {
		/* read_pair:A pairs with slots:E. */
		done = kmmv_load32_acquire(&a->kpair->done);
		*value = kmmv_load64(&a->kvalues[number]);
		/* read_pair:B pairs with slots:D. */
		kmmv_rmb();
		if (kmmv_load32(&a->kpair->begun) == done)
			return 0;
		k->retries++;
		kmmv_relax();
	}
	return -EAGAIN;
}

static int read_one(struct kmmv *k, const struct kmmv_area *a, uint32_t number,
		    uint64_t *value)
{
	if (a->kpair)
		return read_pair(k, a, number, value);
	*value = kmmv_load64(&a->kvalues[number]);
	return 0;
}

static int sum_one(struct kmmv *k, uint32_t number, uint64_t *sum)
{
	uint64_t value;
	uint32_t i;
	int err;

	*sum = 0;
	for (i = 0; i < k->nr_areas; i++) {
		err = read_one(k, &k->areas[i], number, &value);
		if (err)
			return err;
		*sum += value;
	}
	return 0;
}

/* Sum numbers first..first+n-1, all of them below nr_instances. */
static void sum_block(struct kmmv *k, uint32_t first, size_t n, uint64_t *sums,
		      int *status)
{
	size_t i;

	if (is_atomic(k)) {
		memset(status, 0, n * sizeof(*status));
		add_areas(k, first, n, sums);
		return;
	}
	for (i = 0; i < n; i++)
		status[i] = sum_one(k, first + (uint32_t)i, &sums[i]);
}

/*
 * Whether the number still is what the table says; called after its values were
 * read.
 */
static int owner_status(const struct kmmv *k, uint32_t number)
{
	const struct kmmv_table *t = &k->table;

	if (number >= t->nr || !t->readable[number])
		return -ENOENT;
	if (kmmv_load32(&k->kincarnations[number]) != t->incarnations[number])
		return -ESTALE;
	return 0;
}

/* Whether all numbers are as the table says, the common case. */
static bool block_valid(const struct kmmv *k, uint32_t first, size_t n)
{
	const uint32_t *kinc, *inc;
	uint64_t bad = 0, two;
	size_t i = 0;

	/* An empty table has no arrays, and so no addresses in them. */
	if (!k->table.nr || n > k->table.nr || first > k->table.nr - n ||
	    memchr(k->table.readable + first, 0, n))
		return false;
	kinc = k->kincarnations + first;
	inc = k->table.incarnations + first;
	if (first % 2) {
		bad = kmmv_load32(kinc) ^ *inc;
		i = 1;
	}
	for (; i + 1 < n; i += 2) {
		memcpy(&two, &inc[i], sizeof(two));
		bad |= kmmv_load64((const uint64_t *)&kinc[i]) ^ two;
	}
	if (i < n)
		bad |= kmmv_load32(&kinc[i]) ^ inc[i];
	return !bad;
}

static size_t block_status(const struct kmmv *k, uint32_t first, size_t n,
			   uint64_t *sums, int *status)
{
	size_t i, valid = 0;

	/* read_status:A pairs with slots:C. */
	kmmv_rmb();
	if (is_atomic(k) && block_valid(k, first, n))
		return n;
	for (i = 0; i < n; i++) {
		int err = owner_status(k, first + (uint32_t)i);

		if (err)
			status[i] = err;
		if (status[i])
			sums[i] = 0;
		else
			valid++;
	}
	return valid;
}

/* The length of a run of consecutive numbers, which are read as a block. */
static size_t run_of(const uint32_t *numbers, size_t count)
{
	size_t n = 1, most = count < BLOCK ? count : BLOCK;
	uint32_t first = numbers[0];

	while (n < most && numbers[n] == first + n)
		n++;
	return n;
}

int kmmv_read_sums(struct kmmv *k, const uint32_t *numbers, size_t count,
		   uint64_t *sums, int *status)
{
	int own[BLOCK], *s;
	size_t n, valid = 0;

	for (; count; count -= n, numbers += n, sums += n) {
		n = run_of(numbers, count);
		s = status ? status : own;
		if (numbers[0] >= k->nr_instances) {
			n = 1;
			*sums = 0;
			*s = -ENOENT;
		} else {
			if (n > k->nr_instances - numbers[0])
				n = k->nr_instances - numbers[0];
			sum_block(k, numbers[0], n, sums, s);
			valid += block_status(k, numbers[0], n, sums, s);
		}
		if (status)
			status += n;
	}
	return (int)valid;
}

int kmmv_read_all(struct kmmv *k, uint64_t *sums, int *status, size_t count)
{
	int own[BLOCK], *s;
	size_t first, n, valid = 0;

	for (first = 0; first < count; first += n) {
		n = count - first < BLOCK ? count - first : BLOCK;
		s = status ? status + first : own;
		if (first >= k->nr_instances) {
			n = 1;
			sums[first] = 0;
			*s = -ENOENT;
			continue;
		}
		if (n > k->nr_instances - first)
			n = k->nr_instances - first;
		sum_block(k, (uint32_t)first, n, sums + first, s);
		valid += block_status(k, (uint32_t)first, n, sums + first, s);
	}
	return (int)valid;
}

/* Values per step: one cache line of each CPU's counters, fetched once. */
enum { LINE = 8 };

static void copy_line(const struct kmmv *k, uint32_t first, size_t n,
		      uint64_t *values)
{
	uint32_t nr_cpus = k->header.nr_cpus, c;
	size_t i;

	if (k->nr_areas < nr_cpus)
		memset(values, 0, n * nr_cpus * sizeof(*values));
	for (c = 0; c < k->nr_areas; c++) {
		const uint64_t *kvalues = k->areas[c].kvalues + first;
		uint64_t *to = values + k->areas[c].cpu;

		for (i = 0; i < n; i++)
			to[i * nr_cpus] = kmmv_load64(&kvalues[i]);
	}
}

static int percpu_one(struct kmmv *k, uint32_t number, uint64_t *values)
{
	uint32_t i;
	int err;

	memset(values, 0, k->header.nr_cpus * sizeof(*values));
	for (i = 0; i < k->nr_areas; i++) {
		err = read_one(k, &k->areas[i], number,
			       &values[k->areas[i].cpu]);
		if (err)
			return err;
	}
	return 0;
}

int kmmv_read_percpu(struct kmmv *k, const uint32_t *numbers, size_t count,
		     uint64_t *values, int *status)
{
	uint32_t nr_cpus = k->header.nr_cpus;
	size_t n, i, valid = 0;
	int err;

	for (; count; count -= n, numbers += n, values += n * nr_cpus) {
		int got[LINE] = { 0 };

		n = run_of(numbers, count < LINE ? count : LINE);
		if (numbers[0] >= k->nr_instances) {
			n = 1;
			got[0] = -ENOENT;
		} else {
			if (n > k->nr_instances - numbers[0])
				n = k->nr_instances - numbers[0];
			if (is_atomic(k))
				copy_line(k, numbers[0], n, values);
			else
				for (i = 0; i < n; i++)
					got[i] = percpu_one(k, numbers[i],
							    values + i * nr_cpus);
		}
		/* read_status:A pairs with slots:C. */
		kmmv_rmb();
		for (i = 0; i < n; i++) {
			err = got[i] ? got[i] : owner_status(k, numbers[i]);
			if (err)
				memset(values + i * nr_cpus, 0,
				       nr_cpus * sizeof(*values));
			else
				valid++;
			if (status)
				status[i] = err;
		}
		if (status)
			status += n;
	}
	return (int)valid;
}
