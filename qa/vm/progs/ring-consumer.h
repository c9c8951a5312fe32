/* SPDX-License-Identifier: GPL-2.0-only */
/* The consumer of ring-device; the ring's header is known. */
#ifndef QA_VM_RING_CONSUMER_H
#define QA_VM_RING_CONSUMER_H

/* Makes the one consumer of the rest of the test, fd. */
int consumer(void);
/* After 3 hits on CPU 0 and 2 on CPU 1. Return: the next consumer. */
int takes(int fd);
/* A failed take gives back what it took, and nothing else. */
void takes_in_vain(int fd);
/* More events than the ring holds: the number of lost ones is exact. */
void loses(int fd);
void reads(int fd);
void polls(int fd);

#endif /* QA_VM_RING_CONSUMER_H */
