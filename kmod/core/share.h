/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shares of the open files of a device. Their number is limited, which bounds
 * the cost of readers; some are for users with CAP_SYS_ADMIN alone. Of the
 * others, no user gets more than a share:
 *
 *	64	files of one user
 *	4	when 32 or fewer are left: some users with as many as they may
 *		have do not keep out one who comes later. The agent needs two
 *		files of a ring, and one of the names; twice as many while it
 *		is started again
 *
 * So at least eleven users are needed to exhaust the files of a ring, and nine
 * those of /dev/kmmv/profile, which has fewer.
 */
#ifndef KMMV_SHARE_H
#define KMMV_SHARE_H

#include <kmmv_deps.h>

#define KMMV_SHARE_MOST		64
#define KMMV_SHARE_LAST		32	/* files that are left */
#define KMMV_SHARE_FIRST	4	/* of one user, among these */

/**
 * kmmv_share() - how many files a user may have, the one to be opened included
 * @open: files of all users that are open
 * @max: how many users without CAP_SYS_ADMIN may open
 *
 * Context: any.
 * Return: the number; 0 if no file is left.
 */
static inline u32 kmmv_share(u32 open, u32 max)
{
	if (open >= max)
		return 0;
	return max - open > KMMV_SHARE_LAST ? KMMV_SHARE_MOST :
	       KMMV_SHARE_FIRST;
}

#endif /* KMMV_SHARE_H */
