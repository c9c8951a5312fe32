/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library's memory model. Shared words are only accessed through these
 * functions; names of pointers to them begin with k.
 *
 * acquire	later accesses see what the writer stored before the release
 *		whose value this load returns
 * kmmv_rmb	orders earlier loads before later loads
 *
 * On 64-bit machines a load of 64 bits is one access. Otherwise, and with
 * KMMV_SPLIT64 for tests, the high, the low and again the high half are loaded
 * until both high halves are equal. That is correct if the high half does not
 * change and change back within three loads, see <linux/kmmv.h>.
 *
 * KMMV_BEFORE_LOAD is called before each access; tests define it.
 *
 * ThreadSanitizer supports ordered loads and stores but no fences. Under it
 * every load is an acquire and the barrier is empty: the order is the same.
 */
#ifndef KMMV_LIB_BARRIER_H
#define KMMV_LIB_BARRIER_H

#include <stdint.h>
#include <linux/types.h>

#ifdef __SANITIZE_THREAD__
#define KMMV_RELAXED __ATOMIC_ACQUIRE
#else
#define KMMV_RELAXED __ATOMIC_RELAXED
#endif

#if !defined(KMMV_SPLIT64) && __SIZEOF_POINTER__ < 8
#define KMMV_SPLIT64
#endif

#ifndef KMMV_BEFORE_LOAD
#define KMMV_BEFORE_LOAD() ((void)0)
#endif

/* The kernel and the C library name the type differently. */
static inline const uint64_t *kmmv_kword(const __u64 *kword)
{
	return (const uint64_t *)kword;
}

static inline uint32_t kmmv_load32(const uint32_t *kword)
{
	KMMV_BEFORE_LOAD();
	return __atomic_load_n(kword, KMMV_RELAXED);
}

static inline uint32_t kmmv_load32_acquire(const uint32_t *kword)
{
	KMMV_BEFORE_LOAD();
	return __atomic_load_n(kword, __ATOMIC_ACQUIRE);
}

#ifdef KMMV_SPLIT64
static inline uint64_t kmmv_load64_acquire(const uint64_t *kword)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint32_t *klow = (const uint32_t *)kword;
	const uint32_t *khigh = klow + 1;
#else
	const uint32_t *khigh = (const uint32_t *)kword;
	const uint32_t *klow = khigh + 1;
#endif
	uint32_t high, low, again;

	KMMV_BEFORE_LOAD();
	again = __atomic_load_n(khigh, __ATOMIC_ACQUIRE);
	do {
		high = again;
		KMMV_BEFORE_LOAD();
		low = __atomic_load_n(klow, __ATOMIC_ACQUIRE);
		KMMV_BEFORE_LOAD();
		again = __atomic_load_n(khigh, __ATOMIC_ACQUIRE);
	} while (high != again);
	return (uint64_t)high << 32 | low;
}

static inline uint64_t kmmv_load64(const uint64_t *kword)
{
	return kmmv_load64_acquire(kword);
}
#else
static inline uint64_t kmmv_load64_acquire(const uint64_t *kword)
{
	KMMV_BEFORE_LOAD();
	return __atomic_load_n(kword, __ATOMIC_ACQUIRE);
}

static inline uint64_t kmmv_load64(const uint64_t *kword)
{
	KMMV_BEFORE_LOAD();
	return __atomic_load_n(kword, KMMV_RELAXED);
}
#endif

static inline void kmmv_rmb(void)
{
#ifndef __SANITIZE_THREAD__
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
#endif
}

/*
 * Copies whole words that may change meanwhile; the copy is not used then. The
 * writer's stores are plain, which ThreadSanitizer would report as a race.
 */
#ifdef __SANITIZE_THREAD__
__attribute__((no_sanitize("thread")))
#endif
static inline void kmmv_copy_racy(void *to, const void *kfrom, uint32_t size)
{
	const volatile uint32_t *from = kfrom;
	uint32_t *words = to, i;

	for (i = 0; i < size / 4; i++)
		words[i] = from[i];
}

static inline void kmmv_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

#endif /* KMMV_LIB_BARRIER_H */
