/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile in a file: a line of JSON for the accounts, one for each row and
 * each note, and one that says how many there were. Functions are in it, so that
 * it can be read on another machine.
 */
#ifndef KMMV_PROF_RECORDING_H
#define KMMV_PROF_RECORDING_H

#include "profile.h"

/*
 * Write PROFILE, whose table has all parts, to PATH, which is replaced once the
 * file is whole. -1 after a message.
 */
int prof_recording_write(const struct prof_profile *profile, const char *path);
/* Whether PATH is, or will be, a file that a whole new one replaces. */
bool prof_recording_is_file(const char *path);

/*
 * Read PATH, and add its rows to PROFILE, whose table may keep fewer parts, and
 * those of the modes and the process, if not NULL, that are wanted. -1 after a
 * message.
 */
int prof_recording_read(const char *path, unsigned int modes,
			const char *process, struct prof_profile *profile);

#endif /* KMMV_PROF_RECORDING_H */
