// SPDX-License-Identifier: GPL-2.0-only
/*
 * The proofs of the ring's encoding by cbmc, on the shipped code: a reader
 * finds on a page what a writer put there, for all lengths, deltas and clocks.
 * Each function that begins with check_ is one proof.
 */
#include <assert.h>
#include <kmmv_deps.h>

#include "../../../kmod/core/ring_alloc.c"
#include "../../../kmod/core/ring_write.c"
#include "../../../kmod/core/ring_write.h"
#include "../../../kmod/core/ring_page.c"

#ifndef REACHED
#define REACHED		0
#endif
#ifndef SIZE_LIMIT
#define SIZE_LIMIT	(KMMV_RING_PAYLOAD_MAX + sizeof(struct kmmv_event))
#endif
#ifndef DELTA_LIMIT
#define DELTA_LIMIT	KMMV_DELTA_MAX
#endif

u64 nondet_u64(void);
u32 nondet_u32(void);

/* Never called in the proofs. */
void *shim_alloc(size_t alignment, size_t size, bool zero) { return 0; }
void shim_free(void *memory) { }
void shim_copy_racy(void *to, const void *from, size_t size) { }
u64 shim_clock(void) { return nondet_u64(); }

static u64 memory[4096 / 8];
static struct kmmv_ring_page *const on = (struct kmmv_ring_page *)memory;

static u32 any_size(void)
{
	u32 size = nondet_u32();

	__CPROVER_assume(size >= sizeof(struct kmmv_event));
	__CPROVER_assume(size <= SIZE_LIMIT);
	return size;
}

static u32 any_delta(void)
{
	u32 delta = nondet_u32();

	__CPROVER_assume(delta <= DELTA_LIMIT);
	return delta;
}

/* A reader finds an event's length and time in its header. */
void check_event(void)
{
	u32 size = any_size(), delta = any_delta(), bytes, *event, *payload;
	u64 time = nondet_u64();

	bytes = kmmv_event_bytes(size);
	event = (u32 *)on->data;
	payload = kmmv_ring_put_header(event, size, delta);
	assert(bytes <= KMMV_RING_PAGE_ROOM);
	assert(kmmv_ring_item_size(event, KMMV_RING_PAGE_ROOM) == bytes);
	assert(kmmv_ring_item_size(event, bytes) == bytes);
	assert(kmmv_ring_item_size(event, bytes - 4) == 0);
	assert(kmmv_ring_item_type(event) <= KMMV_RING_TYPE_LEN_MAX);
	assert(item_time(on, 0, time) == time + delta);
	assert((u8 *)payload + size <= on->data + bytes);
	assert(bytes - ((u8 *)payload - on->data) - size < 4);
	assert(!REACHED);
}

/* A discarded event that stays has the same length and time. */
void check_discard(void)
{
	static struct kmmv_buffer_page page;
	static struct kmmv_ring_writer writer;
	static struct kmmv_ring_cpu rc;
	struct kmmv_ring_entry entry = { 0 };
	u32 size = any_size(), delta = any_delta(), bytes;
	u64 time = nondet_u64();

	page.data = on;
	rc.writer = &writer;
	rc.depth = 2;
	entry.page = &page;
	entry.event = (u32 *)on->data;
	bytes = kmmv_event_bytes(size);
	/* Another writer was faster: it cannot be given back. */
	entry.after = bytes;
	page.word.value = bytes + 8;
	kmmv_ring_put_header(entry.event, size, delta);
	kmmv_ring_cpu_discard(&rc, &entry);
	assert(kmmv_ring_item_type(entry.event) == KMMV_RING_PADDING);
	assert(kmmv_ring_item_size(entry.event, KMMV_RING_PAGE_ROOM) == bytes);
	assert(item_time(on, 0, time) == time + delta);
	assert(page.padding.value == bytes);
	assert(!REACHED);
}

/* A time in front of an event, relative or whole. */
void check_time(void)
{
	static struct kmmv_buffer_page page;
	static struct kmmv_ring_writer writer;
	static struct kmmv_ring_cpu rc;
	struct plan plan = { 0 };
	u64 last = nondet_u64();
	u32 *event;

	page.data = on;
	rc.writer = &writer;
	plan.now = nondet_u64();
	__CPROVER_assume(plan.now >= last);
	plan.kind = nondet_u32() & 1 ? EXTEND : STAMP;
	if (plan.kind == EXTEND) {
		plan.delta = plan.now - last;
		__CPROVER_assume(plan.delta < KMMV_ELAPSED_MAX);
	} else {
		plan.delta = plan.now;
		__CPROVER_assume(plan.now - last < 1ULL << 59);
	}
	event = put_odd(&rc, &page, 8, &plan);
	assert(event == (u32 *)(on->data + 8) + 2);
	assert(kmmv_ring_item_size((u32 *)(on->data + 8), 8) == 8);
	assert(item_time(on, 8, last) == plan.now);
	assert(!REACHED);
}

/* The size by the ABI of an item that begins with these words, or 0. */
static u32 size_by_abi(u32 header, u32 length, u32 room)
{
	switch (header & 31) {
	case KMMV_RING_TIME_EXTEND:
	case KMMV_RING_TIME_STAMP:
		return room >= 8 ? 8 : 0;
	case KMMV_RING_PADDING:
		if (header == KMMV_RING_PADDING)
			return room >= 4 ? room : 0;
		break;
	case 0:
		break;
	default:
		length = 4 * (header & 31);
		return room >= 4 + length ? 4 + length : 0;
	}
	return room >= 8 && length >= 4 && !(length & 3) && length <= room - 4 ?
		       4 + length :
		       0;
}

/* Whatever is on a page, a reader goes on by the ABI's size, or stops. */
void check_nonsense(void)
{
	u32 room = nondet_u32(), *item = (u32 *)on->data, size;

	__CPROVER_assume(room <= KMMV_RING_PAGE_ROOM);
	item[0] = nondet_u32();
	item[1] = nondet_u32();
	size = kmmv_ring_item_size(item, room);
	assert(size == size_by_abi(item[0], item[1], room));
	assert(size <= room);
	assert(!REACHED);
}
