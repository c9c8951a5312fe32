// SPDX-License-Identifier: GPL-2.0-only
/*
 * The native side of the portable core's dependencies.
 */
#include <stdarg.h>
#include <time.h>

#include <kmmv_deps.h>

u32 shim_nr_cpus = 4;
u64 shim_possible = 0xf;
__thread int shim_cpu;
__thread void (*shim_visit)(int cpu);
__thread int shim_raw_held;
__thread unsigned long shim_raw_visits;

void (*shim_nmi)(void);
__thread bool shim_in_nmi;
bool (*shim_fault)(unsigned long from, size_t size);

__attribute__((no_sanitize("address")))
int kmmv_copy_nofault(void *to, unsigned long from, size_t size)
{
	const volatile char *byte = (const volatile char *)from;
	char *copy = to;

	if (shim_fault && shim_fault(from, size))
		return -EFAULT;
	while (size--)
		*copy++ = *byte++;
	return 0;
}

void shim_nmi_window(void)
{
	void (*nmi)(void) = shim_nmi;

	if (!nmi)
		return;
	shim_nmi = NULL;
	shim_in_nmi = true;
	nmi();
	shim_in_nmi = false;
}

long shim_fail_in;
long shim_allocated;
__thread void (*shim_at_alloc)(void);
unsigned long shim_locked_allocs;
__thread int shim_locks_held;
__thread bool shim_interrupted;
__thread unsigned long shim_steps;
__thread unsigned long shim_hold_steps;
__thread unsigned long shim_hold_began;

static pthread_mutex_t irq_locks[SHIM_CPUS_MAX] = {
	[0 ... SHIM_CPUS_MAX - 1] = PTHREAD_MUTEX_INITIALIZER
};

void shim_irq_save(void)
{
	pthread_mutex_lock(&irq_locks[shim_cpu]);
}

void shim_irq_restore(void)
{
	pthread_mutex_unlock(&irq_locks[shim_cpu]);
}

static bool fails(void)
{
	return shim_fail_in && !--shim_fail_in;
}

unsigned long shim_locked_switches;

void shim_key_switch(struct static_key_false *key, bool on)
{
	if (shim_locks_held || shim_raw_held)
		__atomic_fetch_add(&shim_locked_switches, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&key->on, on, __ATOMIC_RELAXED);
}

void *shim_alloc(size_t alignment, size_t size, bool zero)
{
	void *memory;

	if (shim_at_alloc)
		shim_at_alloc();
	if (shim_locks_held || shim_raw_held)
		__atomic_fetch_add(&shim_locked_allocs, 1, __ATOMIC_RELAXED);
	if (fails() || posix_memalign(&memory, alignment, size ? size : 1))
		return NULL;
	memset(memory, zero ? 0 : 0xa5, size);
	__atomic_fetch_add(&shim_allocated, 1, __ATOMIC_RELAXED);
	return memory;
}

void shim_free(void *memory)
{
	if (memory)
		__atomic_fetch_sub(&shim_allocated, 1, __ATOMIC_RELAXED);
	free(memory);
}

void *shim_memdup(const void *memory, size_t size)
{
	void *copy = shim_alloc(16, size, false);

	return copy ? memcpy(copy, memory, size) : NULL;
}

char *shim_asprintf(const char *format, ...)
{
	va_list arguments;
	char *text;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments) + 1;
	va_end(arguments);
	text = shim_alloc(16, size, false);
	if (!text)
		return NULL;
	va_start(arguments, format);
	vsnprintf(text, size, format, arguments);
	va_end(arguments);
	return text;
}

u64 shim_now;
u64 shim_hash_mask = -1;

u64 shim_clock(void)
{
	struct timespec now;

	if (shim_now)
		return shim_now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

__attribute__((no_sanitize("thread")))
void shim_copy_racy(void *to, const void *from, size_t size)
{
	const volatile u32 *source = from;
	u32 *target = to;

	for (; size >= 4; size -= 4)
		*target++ = *source++;
}
