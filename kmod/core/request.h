/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a completion of a block request counts for.
 *
 * The block layer reports each completion of a part of a request, and where the
 * kernel has an event for it, the end of one that it accounts. A request is one
 * operation, however many parts it has, and what /proc/diskstats counts of it:
 *
 *	its bytes	as they are completed, failed ones too
 *	its operation	once, with its last part. That of a request in a flush
 *			sequence is reported twice: when its data is written, and
 *			once more, with no bytes, at the end of the sequence,
 *			where it counts. A driver that completes all parts of a
 *			request, and then the request (device mapper's, with
 *			requests), has its end reported twice: the first counts
 *	a flush		the request that the block layer sends to the disk for
 *			the requests of a sequence; it has no data, and counts
 *			only as a flush
 *
 * A request that the block layer does not account (the disk's iostats are 0)
 * counts in the same way, but has no time. One that passes through (SCSI
 * commands of user space and of drivers) is only counted, unless the kernel
 * accounts it.
 */
#ifndef KMMV_REQUEST_H
#define KMMV_REQUEST_H

#include <kmmv_deps.h>

/**
 * struct kmmv_request - a completion of a request, or of a part of it
 * @accounted: the block layer accounts the request
 * @ends_apart: the end of an accounted request is reported by another event
 * @passthrough: the request passes through
 * @flush: its operation is a flush
 * @sequence: it is the flush of a sequence, or a step of one
 * @data: it has data, or had some when it began
 * @ended: its last part was reported before
 * @failed: this part failed
 * @completed: bytes of this part
 * @left: bytes of the request that were left before this part
 */
struct kmmv_request {
	bool		accounted;
	bool		ends_apart;
	bool		passthrough;
	bool		flush;
	bool		sequence;
	bool		data;
	bool		ended;
	bool		failed;
	unsigned int	completed;
	unsigned int	left;
};

/* What it counts for. */
#define KMMV_REQUEST_BYTES		(1U << 0)
#define KMMV_REQUEST_OPERATION		(1U << 1)
#define KMMV_REQUEST_TIME		(1U << 2)
#define KMMV_REQUEST_FLUSH		(1U << 3)
#define KMMV_REQUEST_PASSTHROUGH	(1U << 4)
#define KMMV_REQUEST_ERROR		(1U << 5)

unsigned int kmmv_request_counts(const struct kmmv_request *request);

#endif /* KMMV_REQUEST_H */
