/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel as far as kmod/main.c, module.c, hit.c, source.c, ringtake.c and
 * ringblock.c need it, natively, beside what the core needs. Included in front of each
 * of their headers.
 *
 * custom and stub: as in kmmv_deps.h
 */
#ifndef KMOD_DEPS_H
#define KMOD_DEPS_H

#include <kmmv_deps.h>

#define CONFIG_MODULE_UNLOAD	1

/* stub: what has no part in it */
struct file_operations {
	int none;
};
struct config_group {
	int none;
};
struct irq_work {
	int none;
};
struct hrtimer {
	int none;
};
struct rcu_head {
	int none;
};
struct file {
	void *private_data;
};
struct vm_area_struct;
struct vm_operations_struct;
struct task_struct;
typedef unsigned int __poll_t;
#define EPOLLERR	0x8u
/* custom: of poll(): who waits, NULL if nobody does */
typedef struct {
	struct list_head *waiter;
} poll_table;
typedef struct { u32 val; } kuid_t;
typedef s64 ktime_t;

#define __init
#define __exit
#define MODULE_PARM_DESC(name, text)
#define MODULE_DESCRIPTION(text)
#define MODULE_VERSION(text)
#define MODULE_AUTHOR(text)
#define MODULE_LICENSE(text)
#define module_param(name, type, mode)
#define DEFINE_MUTEX(name)						\
	struct mutex name = { .mutex = PTHREAD_MUTEX_INITIALIZER }
#define pr_err(...)	((void)(0 && printf(__VA_ARGS__)))
#define pr_info(...)	pr_err(__VA_ARGS__)
/* custom: bytes that are there, not that were wanted; where there is room */
#define scnprintf(to, size, ...)					\
	({								\
		size_t size_ = (size);					\
		int n_ = snprintf(to, size_, __VA_ARGS__);		\
		(size_t)n_ < size_ ? n_ : (int)size_ - 1;		\
	})
#define cpus_read_lock()	((void)0)
#define cpus_read_unlock()	((void)0)

/* custom: a semaphore for many readers, as a lock; _GNU_SOURCE: one that prefers writers */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define SHIM_RWLOCK_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define SHIM_RWLOCK_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif
struct rw_semaphore {
	pthread_rwlock_t lock;
};
#define DECLARE_RWSEM(name) \
	struct rw_semaphore name = { SHIM_RWLOCK_INITIALIZER }
#define down_read_killable(s)						\
	(shim_interrupted ? -EINTR : pthread_rwlock_rdlock(&(s)->lock))
#define up_read(s)		((void)pthread_rwlock_unlock(&(s)->lock))
#define down_write(s)		((void)pthread_rwlock_wrlock(&(s)->lock))
#define up_write(s)		((void)pthread_rwlock_unlock(&(s)->lock))
#define mutex_lock_killable(m)	mutex_lock_interruptible(m)

/* custom: the clock is the test's */
u64 ktime_get_ns(void);

/* custom: the module is begun and ended by the test */
#define module_init(begin)	int shim_init(void) { return begin(); }
#define module_exit(end)	void shim_exit(void) { end(); }
int shim_init(void);
void shim_exit(void);

/* Of the kernel alone; system calls are restarted. */
#ifndef ERESTARTSYS
#define ERESTARTSYS	512
#endif

/* custom: who holds the module, and sleeping, are the test's */
struct module;
#define THIS_MODULE	((struct module *)NULL)
int module_refcount(struct module *module);
void msleep(unsigned int ms);

/* custom: so are what RCU sees, and its grace periods */
bool rcu_is_watching(void);
void synchronize_rcu(void);

/* custom: so are the states of CPUs; all that are possible are online */
enum cpuhp_state { CPUHP_BP_PREPARE_DYN = 10, CPUHP_AP_ONLINE_DYN = 20 };
int cpuhp_setup_state(enum cpuhp_state state, const char *name,
		      int (*startup)(unsigned int cpu),
		      int (*teardown)(unsigned int cpu));
void cpuhp_remove_state_nocalls(enum cpuhp_state state);

#define for_each_online_cpu(cpu)	for_each_shim_cpu(cpu)
#define for_each_shim_cpu(cpu)						\
	for ((cpu) = 0; (cpu) < shim_nr_cpus; (cpu)++)			\
		if (shim_possible >> (cpu) & 1)
#define cpu_possible(cpu)	((bool)(shim_possible >> (cpu) & 1))
#define num_possible_cpus()	((u32)__builtin_popcountll(shim_possible))
#define nr_cpu_ids		shim_nr_cpus
#define totalram_pages()	(1UL << 18)

/* custom: a list of waiters; each that a walk comes by is a step */
typedef struct {
	spinlock_t lock;
	struct list_head head;
} wait_queue_head_t;
#define poll_does_not_wait(wait)	(!(wait) || !(wait)->waiter)
static inline void poll_wait(struct file *file, wait_queue_head_t *queue,
			     poll_table *wait)
{
	(void)file;
	spin_lock(&queue->lock);
	list_add(wait->waiter, &queue->head);
	spin_unlock(&queue->lock);
}
#define spin_lock_irq(l)	spin_lock(l)
#define spin_unlock_irq(l)	spin_unlock(l)
#define list_for_each(at, head_)					\
	for ((at) = (head_)->next; (at) != (head_) && (shim_steps++, 1); \
	     (at) = (at)->next)

#define clamp(n, least, most)	min(max(n, least), most)
#define kvmalloc_array(n, size, gfp)	shim_alloc(16, (size_t)(n) * (size), false)

/* custom: what one read() may return at most is 2 GB in the kernel */
#define MAX_RW_COUNT	(16 * PAGE_SIZE)

/* custom: signals are the test's */
#define current	((struct task_struct *)NULL)
bool signal_pending(struct task_struct *task);

/*
 * custom: so are the memory of user space, and which access to it fails; a copy that
 * fails may have copied a part. Many words can be put where that was begun.
 */
#define __user
#define u64_to_user_ptr(n)	((void *)(uintptr_t)(n))
unsigned long copy_to_user(void *to, const void *from, unsigned long size);
unsigned long copy_from_user(void *to, const void *from, unsigned long size);
unsigned long clear_user(void *to, unsigned long size);
bool shim_user_put(void *to, const void *from, size_t size, bool many);
#define put_user(value, to)						\
	({								\
		__typeof__(*(to)) v_ = (value);				\
		shim_user_put(to, &v_, sizeof(v_), false) ? 0 : -EFAULT; \
	})
bool user_write_access_begin(void *to, size_t size);
void user_write_access_end(void);
#define unsafe_put_user(value, to, error)				\
	do {								\
		__typeof__(*(to)) v_ = (value);				\
		if (!shim_user_put(to, &v_, sizeof(v_), true))		\
			goto error;					\
	} while (0)

#endif /* KMOD_DEPS_H */
