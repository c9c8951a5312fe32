/* SPDX-License-Identifier: GPL-2.0-only */
/* Lasting numbers in tests: the file of them, and a device whose names change. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "host.h"

#define NUMBERS "config/pmda/389.numbers"
#define HEADER "kmmv numbers 1\n"

#define TABLE "family id=0 units=count semantics=counter name=counter\n" \
	      "family id=1 units=count semantics=counter since=boot name=boot\n"
#define INST(number, family, state, name) \
	"instance number=" #number " family=" #family \
	" incarnation=0 state=" state " name=" name "\n"

/* The next generation has these names. */
void put_names(const char *lines);
/* And the agent takes them over. */
void names_are(const char *lines);
/* A machine on which an agent finds the file NUMBERS. */
void begin_machine(const char *numbers);
/* Read it, as a process that may write it, or one that may not. */
void load_numbers(bool writer);
/* The agent as a daemon, once it has loaded its numbers, on a device with these names. */
void begin_attached(const char *lines);
/* All of it: the agent may write. */
void begin_lasting(const char *numbers);
void setup_lasting(void);
/* A file with far more garbage than names, of which a rewrite takes two steps. */
void setup_long(void);
/* The number of lines of the file that begin like this. */
int on_disk(const char *begin);
/* A new file is being written. */
bool is_rewritten(void);
/* The daemon's work between requests; returns when it is due again. */
int work(void);
/* At that time. */
void work_at(uint64_t seconds);
/* Wait for the disk, however long it takes. */
void wait_for_disk(void);

/* The disk of fdatasync() and, for directories, fsync(). */
extern struct disk {
	int syncs;		/* calls of fdatasync() that have ended */
	bool stalls;		/* they wait */
	int error;		/* what they fail with; 0: they do not */
	int fsyncs;		/* calls of fsync() */
	int fsync_error;	/* what they fail with */
	unsigned int delay;	/* of each fdatasync(), in microseconds */
	int write_error;	/* what write() to the file fails with */
	int copy_error;		/* and to the new file */
	int rename_error;	/* what keeps the new file from its place */
	bool unlink_stalls;	/* unlink() of the new file waits as well */
	int unsynced;		/* new files that were renamed before they were on disk */
} disk;

/* From now on calls wait, and requests do not wait long for them. */
void disk_stalls(void);
/* Returns when a call waits. */
void disk_is_waited_for(void);
/* Has the agent work until then. Whatever precedes the call may be late, too. */
void work_waits_for_disk(void);
/* They go on, and fail with ERROR. */
void disk_lets_go(int error);
/* What waits for the disk has ended, too. */
void disk_goes_on(int error);
struct family *family(const char *name);
/* The number of its instance, if the device has that, or -1. */
int number_of(const char *name, const char *inst);

#endif /* NUMBERS_H */
