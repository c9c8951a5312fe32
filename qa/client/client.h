/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the test client share.
 */
#ifndef KMMV_CLIENT_H
#define KMMV_CLIENT_H

#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/kmmv.h>

enum client_context {
	CLIENT_TASK,
	CLIENT_SOFTIRQ,
	CLIENT_HARDIRQ,
	CLIENT_NMI,
	CLIENT_CONTEXTS,
};

extern const char *const client_context_names[CLIENT_CONTEXTS];

typedef void (*client_function)(void *argument);
typedef enum hrtimer_restart (*client_timer_function)(struct hrtimer *timer);

enum client_context client_context_now(void);
int client_context_of(const char *word);
int client_context_run(enum client_context context, int cpu,
		       client_function function, void *argument);
void client_timer_setup(struct hrtimer *timer, client_timer_function function);
bool client_nmi_here(client_function function, void *argument);
int client_context_init(void);
void client_context_exit(void);

/**
 * struct churn - a thread that adds, deletes and forgets, and what it has found
 * @family: of the names that it makes
 * @seed: of its names; each thread has another one
 * @turns: how often to add and retire
 * @done: turns done
 * @errors: how many faults it found
 * @first: the first of them
 */
struct churn {
	int		family;
	u32		seed;
	u64		turns;
	u64		done;
	u64		errors;
	char		first[160];
};

int client_churn(void *churn);

ssize_t client_storm(char *text, size_t size, u64 updates, u64 turns, bool nmi);
void client_storm_fini(void);

extern const struct file_operations client_totals_fops;

void client_latency(const char *text, char *answer, size_t size);

void client_ring(char *text, char *answer, size_t size);
void client_ring_init(void);
void client_ring_exit(void);

extern const struct file_operations client_ring_fops;

#endif /* KMMV_CLIENT_H */
