// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lasting numbers on a disk that takes long: requests are answered meanwhile, without
 * the names whose numbers are not on it.
 */
#include <pthread.h>
#include "clock.h"
#include "numbers.h"

#define LATE "the disk is slow"

#define ZERO INST(0, 0, "active", "zero")
#define ONE  INST(1, 0, "active", "one")

/* What the next request sees, after what the loop does between requests. */
static void next_request(void)
{
	work();
	ck_assert(agent_attach_sync());
}

/* A name is shown once it is on disk, with the number that it has there. */
START_TEST(names_wait_for_the_disk)
{
	disk_stalls();
	names_are(ZERO);
	ck_assert_int_eq(number_of("counter", "zero"), -1);
	ck_assert_int_eq(host_listed(indom(agent_scope_of(family("counter")))),
			 0);
	ck_assert(told_of(LATE));
	/* What comes now waits as well, also without a lasting number. */
	agent_id_lasting(false);
	ck_assert_ptr_null(agent_id_add(NULL, 16, -1, "zero", ""));
	agent_id_lasting(true);
	names_are(ZERO ONE);
	ck_assert_int_eq(number_of("counter", "one"), -1);
	ck_assert_int_eq(agent_id_work(), AGENT_ID_POLL_MS);
	ck_assert_int_eq(disk.syncs, 0);

	disk_goes_on(0);
	next_request();
	ck_assert_int_eq(number_of("counter", "zero"), 0);
	ck_assert_int_eq(number_of("counter", "one"), 1);
	ck_assert(!told_of(LATE));
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	ck_assert_int_eq(on_disk("+ 16 "), 2);
	/* It is in use on disk, too. */
	ck_assert_int_eq(agent_id_find(16, "zero")->state, ID_USED);
	ck_assert_int_eq(on_disk("* "), 0);
}
END_TEST

/* A request waits for a disk that takes a while. */
START_TEST(slow_disks_are_waited_for)
{
	disk.delay = 50000;
	agent_iddisk_moment = 10;
	names_are(ZERO);
	ck_assert_int_eq(number_of("counter", "zero"), 0);
	ck_assert(!told_of(LATE));
}
END_TEST

/* Families that are new are metrics after that. */
START_TEST(families_wait_for_the_disk)
{
	int rounds = 0;

	begin_machine(NULL);
	load_numbers(true);
	disk_stalls();
	begin_attached(ZERO);
	ck_assert_ptr_null(agent_family_by_name("counter"));
	ck_assert(told_of(LATE));
	disk_goes_on(0);
	/* The file is begun; now its end, and the families' numbers. */
	fake.ms = agent_now_ms();
	fake.on = true;
	while (!agent_family_by_name("counter")) {
		ck_assert_int_lt(rounds++, 8);
		disk_stalls();
		fake.ms += 2000;
		ck_assert(agent_attach_sync());
		ck_assert_ptr_null(agent_family_by_name("counter"));
		disk_goes_on(0);
		next_request();
	}
	fake.on = false;
	ck_assert_int_ge(rounds, 2);
	ck_assert_ptr_nonnull(agent_family_by_name("counter"));
	ck_assert_ptr_nonnull(agent_family_by_name("boot"));
	ck_assert_int_eq(number_of("counter", "zero"), 0);
}
END_TEST

/* A number that did not come on disk is the next one's. */
START_TEST(late_failures_take_numbers_back)
{
	disk_stalls();
	names_are(ZERO ONE);
	disk_goes_on(EIO);
	ck_assert(told_of("cannot be saved: Input/output error"));
	ck_assert_int_eq(agent_id_limit(16), 0);
	ck_assert_int_eq(on_disk("+ 16 "), 0);

	disk.error = 0;
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	ck_assert(agent_attach_sync());
	fake.on = false;
	ck_assert_int_eq(number_of("counter", "zero"), 0);
	ck_assert_int_eq(number_of("counter", "one"), 1);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
	ck_assert_int_eq(on_disk("+ 16 1 one\n"), 1);
	ck_assert(!told_of("cannot be saved"));
}
END_TEST

/* What has a number is there meanwhile, when it comes back. */
START_TEST(known_names_do_not_wait)
{
	names_are(ZERO);
	names_are(INST(0, 0, "free", "zero"));
	disk_stalls();
	names_are(ONE);
	ck_assert(told_of(LATE));
	names_are(INST(2, 0, "active", "zero") ONE);
	ck_assert_int_eq(agent_id_find(16, "zero")->state, ID_USED);
	ck_assert_int_eq(number_of("counter", "one"), -1);
	disk_goes_on(0);
}
END_TEST

/* A rest that could not be written is written with the next records, at the latest. */
START_TEST(rests_that_were_not_written_are)
{
	ck_assert_ptr_nonnull(agent_id_add(NULL, SERIAL_FIELDS, -1, "other", ""));
	ck_assert(agent_id_commit());
	ck_assert(agent_id_describe(agent_id_find(SERIAL_FIELDS, "other"),
				    "rest"));
	disk.write_error = ENOSPC;
	names_are(ZERO);
	ck_assert_int_eq(number_of("counter", "zero"), -1);
	disk.write_error = 0;
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	next_request();
	fake.on = false;
	ck_assert_int_eq(number_of("counter", "zero"), 0);
	ck_assert_int_eq(on_disk("+ 1 0 other rest\n"), 1);
}
END_TEST

/* A name that goes while it waits is a name that is away. */
START_TEST(names_that_go_meanwhile_keep_their_numbers)
{
	disk_stalls();
	names_are(ZERO);
	names_are(INST(0, 0, "free", "zero"));
	disk_goes_on(0);
	next_request();
	ck_assert_int_eq(agent_id_find(16, "zero")->state, ID_AWAY);
	names_are(ONE);
	ck_assert_int_eq(number_of("counter", "one"), 1);
	names_are(ZERO ONE);
	ck_assert_int_eq(number_of("counter", "zero"), 0);
}
END_TEST

/* Numbers of its CPUs are not on disk when the name is purged. */
START_TEST(blocks_may_go_with_their_instance)
{
	struct cell cell;

	names_are(ZERO);
	disk_stalls();
	ck_assert_int_eq(agent_percpu_by_name(family("counter"), "zero::cpu0",
					      &cell),
			 PM_ERR_INST);
	agent_id_names = 0;
	names_are(
		"instance number=0 family=0 incarnation=0 state=free name=zero\n");
	ck_assert_ptr_null(agent_id_find(16, "zero"));
	disk_goes_on(0);
	next_request();
	work_at(1000000);
	ck_assert_int_eq(agent_id_limit(17), 1);
	ck_assert_ptr_null(agent_id_by_number(17, 0));
	ck_assert_int_eq(on_disk("+ 17 0 0.0\n"), 1);
	ck_assert_int_eq(on_disk("x 16 0\n"), 1);
}
END_TEST

/* States go to the disk behind the names that wait for it, and are not lost. */
START_TEST(states_wait_for_the_disk)
{
	names_are(ZERO);
	disk_stalls();
	names_are(ZERO ONE);
	names_are(INST(0, 0, "free", "zero") ONE);
	fake.on = true;
	fake.ms = 1000000;
	ck_assert_int_eq(agent_id_work(), AGENT_ID_POLL_MS);
	fake.on = false;
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	disk_goes_on(0);
	next_request();
	work_at(2000000);
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
	ck_assert_int_eq(number_of("counter", "one"), 1);
}
END_TEST

/* However long each look whether the file is there takes. */
START_TEST(states_are_written_after_a_late_look)
{
	int i;

	names_are(ZERO ONE);
	names_are(INST(0, 0, "free", "zero") ONE);
	agent_iddisk_moment = 0;
	fake.on = true;
	fake.ms = 1000000;
	for (i = 0; agent_id_work() == AGENT_ID_POLL_MS; i++) {
		ck_assert_int_lt(i, 8);
		wait_for_disk();
	}
	fake.on = false;
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
}
END_TEST

/* Nor if that fails: the file is written anew. */
START_TEST(states_that_were_late_in_vain_are_written)
{
	names_are(ZERO);
	/* Its record is written with that of the next new name. */
	names_are(INST(0, 0, "free", "zero"));
	disk_stalls();
	names_are(INST(0, 0, "free", "zero") ONE);
	disk_goes_on(EIO);
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	disk.error = 0;
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	next_request();
	fake.on = false;
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
}
END_TEST

static void *let_go(void *unused)
{
	usleep(50000);
	disk_lets_go(0);
	return unused;
}

/* The agent ends: what waits is written, if the disk lets it. */
START_TEST(the_end_waits_for_the_disk)
{
	pthread_t other;

	disk_stalls();
	names_are(ZERO);
	agent_id_close();
	ck_assert_int_eq(disk.syncs, 0);
	/* It is late already, and is waited for once more. */
	agent_iddisk_patience = HOST_PATIENCE;
	ck_assert_int_eq(pthread_create(&other, NULL, let_go, NULL), 0);
	agent_id_close();
	ck_assert_int_eq(disk.syncs, 1);
	ck_assert_int_eq(pthread_join(other, NULL), 0);
	ck_assert_int_eq(on_disk("+ 16 0 zero\n"), 1);
}
END_TEST

/* Also if each step takes longer than the work between requests waits. */
START_TEST(the_end_waits_for_a_new_file)
{
	names_are(ZERO);
	names_are(INST(0, 0, "free", "zero"));
	disk_stalls();
	names_are(INST(0, 0, "free", "zero") ONE);
	disk_goes_on(EIO);
	ck_assert_int_eq(on_disk("! 16 0 "), 0);
	disk.error = 0;
	disk.delay = 50000;
	agent_iddisk_moment = 10;
	agent_id_close();
	ck_assert_int_eq(on_disk("! 16 0 "), 1);
	ck_assert(!is_rewritten());
}
END_TEST

/* A damaged file, which is written anew before a name gets a number. */
START_TEST(a_new_file_waits_for_the_disk)
{
	begin_machine(HEADER "+ 0 250 counter:counter:0,0,1,0,0,0\n"
			     "+ 0 251 boot:counter:0,0,1,0,0,0 since=boot\n"
			     "+ 516 0 zero\n% no record\n");
	load_numbers(true);
	begin_attached("");
	disk_stalls();
	names_are(ZERO ONE);
	ck_assert_int_eq(number_of("counter", "zero"), 0);
	ck_assert_int_eq(number_of("counter", "one"), -1);
	ck_assert(told_of(LATE));
	disk_is_waited_for();
	ck_assert(is_rewritten());
	disk_goes_on(0);
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	next_request();
	fake.on = false;
	ck_assert_int_ge(number_of("counter", "one"), 0);
	ck_assert(!is_rewritten());
	ck_assert_int_eq(on_disk("+ 516 0 zero\n"), 1);
	ck_assert_int_eq(on_disk("% "), 0);
	ck_assert(!told_of(LATE));
}
END_TEST

/* A crash may bring the old file back until the directory is on disk. */
START_TEST(a_new_file_is_on_disk_with_its_name)
{
	begin_machine(HEADER "% no record\n");
	load_numbers(true);
	disk.fsync_error = EIO;
	begin_attached(ZERO);
	ck_assert_int_eq(disk.fsyncs, 1);
	ck_assert(told_of("cannot be saved: Input/output error"));
	ck_assert_ptr_null(agent_family_by_name("counter"));
	disk.fsync_error = 0;
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	next_request();
	fake.on = false;
	ck_assert_int_eq(disk.fsyncs, 2);
	ck_assert_ptr_nonnull(agent_family_by_name("counter"));
	ck_assert(!told_of("cannot be saved"));
}
END_TEST

/* Between requests nothing waits for it; a new name waits for a step at most. */
START_TEST(a_rewrite_waits_for_the_disk)
{
	int i;

	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	names_are(INST(0, 0, "active", "n0"));
	for (i = 0; i < 2; i++) {
		fake.ms += 2000;
		disk_stalls();
		work_waits_for_disk();
		ck_assert(is_rewritten());
		names_are(INST(0, 0, "active", "n0")
				  INST(1, 0, "active", "late"));
		ck_assert_int_eq(number_of("counter", "n0"), 0);
		ck_assert_int_eq(number_of("counter", "late"), i ? 6000 : -1);
		/* What is late is waited for once. */
		agent_iddisk_patience = HOST_PATIENCE;
		fake.ms += 2000;
		ck_assert(agent_attach_sync());
		disk_goes_on(0);
		fake.ms += 2000;
		next_request();
		ck_assert_int_eq(number_of("counter", "late"), 6000);
		ck_assert(is_rewritten());
	}
	for (; is_rewritten(); i++) {
		ck_assert_int_lt(i, 8);
		work();
	}
	fake.on = false;
	ck_assert_int_eq(on_disk("* 16 0\n"), 0);
	/* Put while the new file was written, and perhaps in its place, too. */
	ck_assert_int_ge(on_disk("+ 16 6000 late\n"), 1);
	ck_assert_int_eq(on_disk("+ 16 ") - on_disk("+ 16 6000 "), 6000);
}
END_TEST

/* Names that came before the last step are on the disk of the new file, too. */
START_TEST(a_new_file_is_on_disk_before_it_is_the_file)
{
	char names[160];
	int i = 0;

	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	names_are(INST(0, 0, "active", "n0"));
	do {
		fake.ms += 2000;
		work();
		snprintf(names, sizeof(names),
			 INST(0, 0, "active", "n0")
			 "instance number=1 family=0 incarnation=%d state=active name=x%d\n",
			 i, i);
		names_are(names);
		ck_assert_int_lt(i++, 16);
	} while (is_rewritten());
	fake.on = false;
	ck_assert_int_gt(i, 2);
	ck_assert_int_eq(disk.unsynced, 0);
}
END_TEST

/* The new file has no room, and goes: names that are on the disk of the old one stay. */
START_TEST(a_new_file_goes_while_names_come)
{
	fake.ms = agent_now_ms() + 100000;
	fake.on = true;
	names_are(INST(0, 0, "active", "n0"));
	fake.ms += 2000;
	ck_assert_int_eq(work(), 0);
	ck_assert(is_rewritten());
	disk.copy_error = ENOSPC;
	disk.unlink_stalls = true;
	/* Enough for the name's record, but not for the end of the new file. */
	agent_iddisk_patience = 1000;
	names_are(INST(0, 0, "active", "n0") INST(1, 0, "active", "late"));
	disk_is_waited_for();
	disk.copy_error = 0;
	disk_goes_on(0);
	fake.ms += 2000;
	next_request();
	fake.on = false;
	ck_assert_int_eq(number_of("counter", "late"), 6000);
	ck_assert_int_eq(on_disk("+ 16 6000 late\n"), 1);
}
END_TEST

/* A step that fails late is told of, and the old file stays. */
START_TEST(a_rewrite_that_fails_late_is_begun_again)
{
	int i;

	disk_stalls();
	fake.on = true;
	fake.ms = 1000000;
	ck_assert_int_eq(agent_id_work(), AGENT_ID_POLL_MS);
	fake.on = false;
	disk_goes_on(EIO);
	work_at(1001);
	ck_assert(told_of("cannot be rewritten: Input/output error"));
	ck_assert(!is_rewritten());
	ck_assert_int_eq(on_disk("* 16 0\n"), 3 * 6000);
	disk.error = 0;
	for (i = 0; i < 8; i++)
		work_at(2000 + i);
	ck_assert_int_eq(on_disk("* 16 0\n"), 0);
	ck_assert_int_eq(on_disk("+ 16 "), 6000);
	ck_assert(!told_of("cannot be rewritten"));
}
END_TEST

/* So does a new file that is whole, but cannot take the old one's place. */
START_TEST(a_new_file_that_has_no_place_goes)
{
	int i;

	disk.rename_error = EIO;
	for (i = 0; i < 8; i++)
		work_at(1000 + i);
	ck_assert(told_of("cannot be rewritten: Input/output error"));
	ck_assert(!is_rewritten());
	ck_assert_int_eq(on_disk("* 16 0\n"), 3 * 6000);
	/* The old one takes names. */
	names_are(INST(0, 0, "active", "late"));
	ck_assert_int_eq(number_of("counter", "late"), 6000);
	ck_assert_int_eq(on_disk("+ 16 6000 late\n"), 1);
	disk.rename_error = 0;
	for (i = 0; i < 8; i++)
		work_at(2000 + i);
	ck_assert_int_eq(on_disk("* 16 0\n"), 0);
	ck_assert_int_eq(on_disk("+ 16 "), 6001);
	ck_assert(!told_of("cannot be rewritten"));
}
END_TEST

/* A damaged file that cannot be kept is told of, and replaced all the same. */
START_TEST(a_damaged_file_that_cannot_be_kept)
{
	begin_machine(HEADER "+ 16 4 zero\n% no record\n");
	ck_assert_int_eq(mkdir(host_path(NUMBERS ".damaged"), 0755), 0);
	load_numbers(true);
	begin_attached(ZERO);
	ck_assert(told_of("cannot be kept: File exists"));
	ck_assert_int_eq(number_of("counter", "zero"), 4);
	ck_assert_int_eq(on_disk("+ 16 4 zero\n"), 1);
	ck_assert_int_eq(on_disk("% "), 0);
}
END_TEST

void add_disk(Suite *suite)
{
	TCase *tcase;

	tcase = add_case(suite, "disk", setup_lasting);
	tcase_add_test(tcase, names_wait_for_the_disk);
	tcase_add_test(tcase, slow_disks_are_waited_for);
	tcase_add_test(tcase, late_failures_take_numbers_back);
	tcase_add_test(tcase, known_names_do_not_wait);
	tcase_add_test(tcase, rests_that_were_not_written_are);
	tcase_add_test(tcase, names_that_go_meanwhile_keep_their_numbers);
	tcase_add_test(tcase, blocks_may_go_with_their_instance);
	tcase_add_test(tcase, states_wait_for_the_disk);
	tcase_add_test(tcase, states_are_written_after_a_late_look);
	tcase_add_test(tcase, states_that_were_late_in_vain_are_written);
	tcase_add_test(tcase, the_end_waits_for_the_disk);
	tcase_add_test(tcase, the_end_waits_for_a_new_file);

	tcase = add_case(suite, "disk: new files", NULL);
	tcase_add_test(tcase, families_wait_for_the_disk);
	tcase_add_test(tcase, a_new_file_waits_for_the_disk);
	tcase_add_test(tcase, a_new_file_is_on_disk_with_its_name);
	tcase_add_test(tcase, a_damaged_file_that_cannot_be_kept);

	tcase = add_case(suite, "disk: rewrites", setup_long);
	tcase_add_test(tcase, a_rewrite_waits_for_the_disk);
	tcase_add_test(tcase, a_rewrite_that_fails_late_is_begun_again);
	tcase_add_test(tcase, a_new_file_that_has_no_place_goes);
	tcase_add_test(tcase, a_new_file_is_on_disk_before_it_is_the_file);
	tcase_add_test(tcase, a_new_file_goes_while_names_come);
}
