/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The operations of /dev/kmmv/ring/NAME, by which ringdev.c serves its files.
 *
 * Copies to user space are made without any lock that another file, or poll()
 * of the same one, needs: their page faults may take any time. A task that has
 * to wait for them, for kmmv_ring_file.turn, can be interrupted.
 */
#ifndef KMMV_RINGDEV_H
#define KMMV_RINGDEV_H

#include <linux/poll.h>

#include "rings.h"

/* ringtake.c */
int kmmv_ringtake_cpu(struct kmmv_ring *ring, u32 cpu,
		      struct kmmv_ring_range *ranges, u32 room);
long kmmv_ringtake_ioctl(struct kmmv_ring_file *rf, unsigned int command,
			 void __user *argument);
long kmmv_ringtake_claim(struct kmmv_ring_file *rf);
void kmmv_ringtake_leave(struct kmmv_ring_file *rf);

/* ringblock.c */
ssize_t kmmv_ringblock_read(struct file *file, char __user *to, size_t size,
			    loff_t *offset);

/* ringpoll.c */
long kmmv_ringpoll_watermark(struct kmmv_ring_file *rf, u32 __user *argument);
__poll_t kmmv_ringpoll_poll(struct file *file, poll_table *wait);

#endif /* KMMV_RINGDEV_H */
