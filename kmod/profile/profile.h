/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmmv_profile.ko: where the CPUs' time goes, by samples.
 *
 *	event.c		what is sampled, on the kernel's perf events, or on a timer
 *			of the module's own
 *	sample.c	the handler: any context, NMI included. It counts, and
 *			writes a raw sample into its CPU's buffer, which cannot
 *			be mapped: raw samples have addresses
 *	drain.c		a worker takes raw samples out, has names found, counts
 *			by names, and writes events without addresses into the
 *			ring "profile"
 *	read.c		/dev/kmmv/profile: the same as entries, for read(2)
 *	symbol.c	names of kernel addresses
 *	image.c		files of user addresses
 *	domain.c	the families of names, the most frequent of which are shown
 *	self.c		the other families
 *	buffer.c	the CPUs' buffers of raw samples
 *	events.c	events on all CPUs: begins and ends them
 *	control.c	starts and stops, the ceiling, CPUs and modules that come and go
 *	config.c	/sys/kernel/config/kmmv/profile
 *
 * Every sample is accounted for, per CPU:
 *
 *	samples taken = idle and not kept + lost before the ring + refused by it
 *			+ delivered + in the CPU's buffer
 *
 * What the worker counts, it counts on the CPU of the sample.
 *
 * Locks, in this order:
 *
 *	kmmv_profile_lock	control: settings, events, whether it samples. Not
 *				with CPU hotplug kept out: perf's own functions
 *				take cpus_read_lock()
 *	kmmv_profile_drain_lock	one drain at a time; names and what is shown
 *	cpus_read_lock()	kmmv_store() needs it; held for one sample
 */
#ifndef KMMV_PROFILE_H
#define KMMV_PROFILE_H

#include <linux/configfs.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kmmv.h>
#include <linux/kmmv_ring.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <uapi/linux/kmmv_profile.h>

#include "ring.h"

struct pt_regs;

#define KMMV_PROFILE_DEPTH_MAX 32

/* The event that always exists. */
#define KMMV_PROFILE_DEFAULT "default"

enum kmmv_profile_source {
	KMMV_PROFILE_AUTO,
	KMMV_PROFILE_PMU,
	KMMV_PROFILE_CLOCK,
	KMMV_PROFILE_TIMER,
	KMMV_PROFILE_EVENT, /* another event of perf's, by its name */
};

/**
 * struct kmmv_profile_on - an event on a CPU
 * @perf: perf's event, or NULL; under kmmv_profile_lock
 * @timer: or the timer
 * @timed: the timer was started; under kmmv_profile_lock
 * @refused: it could not be begun when the CPU came; under kmmv_profile_lock
 * @lives: kmmv_profile_cpu.lives before it was begun
 * @last: when the last sample was due or taken, 0 for the first; of the handler
 * @cpu: which
 * @event: of which
 */
struct kmmv_profile_on {
	struct perf_event *perf;
	struct hrtimer timer;
	bool timed;
	bool refused;
	u32 lives;
	u64 last;
	int cpu;
	struct kmmv_profile_event *event;
};

/**
 * struct kmmv_profile_event - an event, a directory in configfs
 * @group: the directory
 * @list: among all events
 * @id: in raw samples
 * @name: of the directory
 * @what: as written: its name or code
 * @error: why it does not count, or empty
 * @count: configured period in events, 0 for @freq
 * @freq: configured samples per second and CPU
 * @unit_mask: as written
 * @kernel: sample the kernel
 * @user: sample programs
 * @enabled: sample at all
 * @source: what it is sampled by; AUTO while it is not begun
 * @refused: how many exclusions perf has refused, which are not asked for: of
 *	exclude_guest, then of exclude_hv
 * @is_clock: the period is in nanoseconds
 * @period: configured period in these units, 0 if perf finds it by @freq
 * @factor: how many times as long it is at present
 * @instance: of profile.period
 * @slot: likewise
 * @on: by CPU
 *
 * Under kmmv_profile_lock; handlers read @id, @kernel, @user, @freq, @is_clock,
 * @period and @factor, which do not change while the event is begun on any CPU.
 */
struct kmmv_profile_event {
	struct config_group group;
	struct list_head list;
	u32 id;
	char name[24];
	char what[64];
	char error[96];
	u64 count;
	u32 freq;
	u64 unit_mask;
	bool kernel;
	bool user;
	bool enabled;
	enum kmmv_profile_source source;
	u32 refused;
	bool is_clock;
	u64 period;
	u32 factor;
	int instance;
	struct kmmv_slot slot;
	struct kmmv_profile_on __percpu *on;
};

/**
 * struct kmmv_profile_cpu - a CPU
 * @rc: its buffer of raw samples; NULL if it never had one
 * @lives: grows when it comes or goes
 * @waiting: raw samples since the last drain
 * @work: has the worker run
 *
 * The buffer is made under kmmv_profile_lock, before the first event there.
 */
struct kmmv_profile_cpu {
	struct kmmv_ring_cpu *rc;
	u32 lives;
	u32 waiting;
	struct irq_work work;
};

/**
 * struct kmmv_profile_raw - a raw sample
 * @ip: sampled address
 * @start: when the thread was started, to know it again
 * @exec: how many programs it has begun, likewise
 * @mm: address of its mm_struct, which exec() changes before it changes @exec
 * @time: when the sample was taken
 * @period: what it stands for
 * @pid: the thread
 * @tgid: its process
 * @event: kmmv_profile_event.id
 * @mode: enum kmmv_profile_mode
 * @flags: of struct kmmv_profile_sample
 * @depth: of @stack
 * @command: the thread's name
 * @stack: addresses of callers, the sampled one first
 */
struct kmmv_profile_raw {
	u64 ip;
	u64 start;
	u64 exec;
	u64 mm;
	u64 time;
	u64 period;
	u32 pid;
	u32 tgid;
	u32 event;
	u8 mode;
	u8 flags;
	u16 depth;
	char command[16];
	unsigned long stack[];
};

enum kmmv_profile_self {
	KMMV_PROFILE_S_KERNEL, /* profile.samples, by mode */
	KMMV_PROFILE_S_USER,
	KMMV_PROFILE_S_IDLE,
	KMMV_PROFILE_L_OVERFLOW, /* profile.lost */
	KMMV_PROFILE_L_RING,
	KMMV_PROFILE_L_DISABLED,
	KMMV_PROFILE_M_BACKOFF, /* profile.missed */
	KMMV_PROFILE_M_THROTTLED,
	KMMV_PROFILE_M_LATE,
	KMMV_PROFILE_W_DELIVERED, /* profile.work */
	KMMV_PROFILE_W_IDLE,
	KMMV_PROFILE_W_NO_MM,
	KMMV_PROFILE_W_NO_MAPPING,
	KMMV_PROFILE_W_NO_SYMBOL,
	KMMV_PROFILE_W_BACKOFFS,
	KMMV_PROFILE_W_DRAINS,
	KMMV_PROFILE_W_FAILED,
	KMMV_PROFILE_O_HANDLER, /* profile.overhead */
	KMMV_PROFILE_O_WORKER,
	KMMV_PROFILE_V_SYMBOL, /* profile.error */
	KMMV_PROFILE_V_COMMAND,
	KMMV_PROFILE_V_IMAGE,
	KMMV_PROFILE_G_SYMBOL, /* profile.forgotten */
	KMMV_PROFILE_G_COMMAND,
	KMMV_PROFILE_G_IMAGE,
	KMMV_PROFILE_P_PMU, /* profile.source */
	KMMV_PROFILE_P_CLOCK,
	KMMV_PROFILE_P_TIMER,
	KMMV_PROFILE_SELVES,
};

extern struct mutex kmmv_profile_lock;
extern struct mutex kmmv_profile_drain_lock;
extern struct kmmv_profile_cpu __percpu *kmmv_profile_cpus;
extern struct kmmv_slot kmmv_profile_self[KMMV_PROFILE_SELVES];

/* Settings; once sampling can begin written with WRITE_ONCE(), read in any context. */
extern bool kmmv_profile_idle;
extern bool kmmv_profile_stacks;
extern u32 kmmv_profile_watershed;

/* self.c */
int kmmv_profile_self_init(void);
void kmmv_profile_self_exit(void);
int kmmv_profile_self_instance(enum kmmv_profile_self self);
u64 kmmv_profile_self_sum(enum kmmv_profile_self self);
void kmmv_profile_self_set(struct kmmv_slot slot, u64 value);
void kmmv_profile_self_add(struct kmmv_slot slot, int cpu);
int kmmv_profile_period_add(struct kmmv_profile_event *event);
void kmmv_profile_period_del(struct kmmv_profile_event *event);

/* event.c */
extern unsigned int kmmv_profile_max_freq;
int kmmv_profile_event_init(struct kmmv_profile_event *event, const char *name);
void kmmv_profile_event_free(struct kmmv_profile_event *event);
int kmmv_profile_event_choose(struct kmmv_profile_event *event);
int kmmv_profile_event_begin(struct kmmv_profile_event *event, int cpu);
void kmmv_profile_event_end(struct kmmv_profile_event *event, int cpu);
int kmmv_profile_event_check(struct kmmv_profile_event *event);
void kmmv_profile_event_explain(struct kmmv_profile_event *event, int err);
bool kmmv_profile_is_on(const struct kmmv_profile_on *on);
bool kmmv_profile_is_ended(const struct kmmv_profile_on *on);

/* sample.c */
struct kmmv_ring_cpu *kmmv_profile_buffer(const struct kmmv_profile_cpu *cpu);
void kmmv_profile_sample(struct kmmv_profile_on *on, struct pt_regs *regs,
			 u64 period, bool throttled);

/* drain.c */
extern struct list_head kmmv_profile_events;
int kmmv_profile_drain_init(void);
void kmmv_profile_drain_exit(void);
void kmmv_profile_drain(void);
void kmmv_profile_state_take(struct kmmv_profile_state *state);
void kmmv_profile_tell(struct kmmv_profile_state *state, const char *what,
		       const char *source);
u64 kmmv_profile_inside(int cpu);

/* symbol.c */
#define KMMV_PROFILE_NAME_MAX KMMV_NAME_MAX
bool kmmv_profile_symbol_print(unsigned long address, char *name);

/* image.c */
struct kmmv_profile_image {
	u64 inode;
	u64 offset;
	u32 major;
	u32 minor;
};
enum kmmv_profile_found
kmmv_profile_image_find(const struct kmmv_profile_raw *raw,
			struct kmmv_profile_image *image, char *name);

/* domain.c */
enum kmmv_profile_domain {
	KMMV_PROFILE_SYMBOLS,
	KMMV_PROFILE_COMMANDS,
	KMMV_PROFILE_IMAGES,
	KMMV_PROFILE_DOMAINS,
};

int kmmv_profile_domain_init(void);
void kmmv_profile_domain_exit(void);
struct kmmv_profile_name *kmmv_profile_name_get(enum kmmv_profile_domain domain,
						const char *name);
void kmmv_profile_name_count(enum kmmv_profile_domain domain,
			     struct kmmv_profile_name *name, int cpu);
int kmmv_profile_name_number(const struct kmmv_profile_name *name);
u64 kmmv_profile_domain_error(enum kmmv_profile_domain domain);
void kmmv_profile_domain_tick(u64 now);

/* read.c */
int kmmv_profile_read_init(void);
void kmmv_profile_read_exit(void);
void kmmv_profile_read_live(void);
void kmmv_profile_read_add(const struct kmmv_profile_sample *sample,
			   const char *name);
void kmmv_profile_read_wake(void);
void kmmv_profile_read_state(bool sampling);

/* buffer.c */
int kmmv_profile_buffer_make(int cpu);
void kmmv_profile_buffers_free(void);
void kmmv_profile_buffers_resize(u32 nr);
u32 kmmv_profile_get_buffer(void);

/* events.c */
extern bool kmmv_profile_running;
int kmmv_profile_events_begin(struct kmmv_profile_event *event, u32 factor);
void kmmv_profile_events_end(struct kmmv_profile_event *event);
void kmmv_profile_events_end_all(void);
void kmmv_profile_events_retry(u32 factor);
void kmmv_profile_events_begin_again(u32 factor);
bool kmmv_profile_events_ended(void);
bool kmmv_profile_events_sync(void);
void kmmv_profile_events_show(struct kmmv_profile_event *event);
void kmmv_profile_events_show_source(void);
void kmmv_profile_events_failed(void);
const char *kmmv_profile_source_name(void);
struct kmmv_profile_event *kmmv_profile_default(void);

/* control.c */
int kmmv_profile_control_init(void);
void kmmv_profile_control_exit(void);
int kmmv_profile_enable(bool enable);
bool kmmv_profile_enabled(void);
int kmmv_profile_set_buffer(u32 samples);
int kmmv_profile_event_add(struct kmmv_profile_event *event);
void kmmv_profile_event_remove(struct kmmv_profile_event *event);
int kmmv_profile_event_change(struct kmmv_profile_event *event,
			      void (*change)(struct kmmv_profile_event *event,
					     const void *value),
			      const void *value);
ssize_t kmmv_profile_errors(char *page);

/* config.c */
int kmmv_profile_config_init(void);
void kmmv_profile_config_exit(void);

#endif /* KMMV_PROFILE_H */
