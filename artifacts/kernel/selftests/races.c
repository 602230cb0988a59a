// SPDX-License-Identifier: GPL-2.0
/*
 * What happens at the same time as a request for replicas, or in the middle of one: other requests, the policy, the
 * process's end; and the policy that changes before RCU has freed the last tables.
 */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* So many tables of leaves that it takes some tenths of a second to copy them for four nodes. */
#define TABLES 5000

/* What a parent and its child tell each other without system calls. */
struct progress {
	atomic_bool asking;	/* the child is about to ask for replicas */
	atomic_bool done;	/* its system call has returned */
};

/* A child on node 1 that asks for replicas of its tables, and then sleeps. */
static int ask_in_child(struct progress *progress, size_t tables)
{
	char *memory;
	int pid;

	atomic_store(&progress->asking, false);
	atomic_store(&progress->done, false);
	pid = fork();
	if (pid)
		return pid;
	require(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	run_on_node(1 % nr_nodes());
	memory = mmap(NULL, tables * HUGE_PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	require(memory != MAP_FAILED && !madvise(memory, tables * HUGE_PAGE, MADV_NOHUGEPAGE));
	for (size_t i = 0; i < tables; i++)
		*(volatile char *)(memory + i * HUGE_PAGE) = 1;
	atomic_store(&progress->asking, true);
	require(!numa_set_pgtable_replication_mask(all_nodes()));
	atomic_store(&progress->done, true);
	for (;;)
		pause();
}

/* Wait until a child has come so far; fails if it ends first. */
static void await(atomic_bool *point, int pid)
{
	while (!atomic_load(point)) {
		int status;

		if (waitpid(pid, &status, WNOHANG) == pid)
			require_exit(status);
		usleep(200);
	}
}

/* Kill a child; the seconds until it is gone. */
static double end_child(int pid)
{
	double begin = now();
	int status;

	require(!kill(pid, SIGKILL));
	require(waitpid(pid, &status, 0) == pid);
	require(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return now() - begin;
}

/*
 * A process that is killed when an eighth of its tables are copied does not copy the rest: it is gone sooner than a
 * quarter of the copying and the end of a process with all copies take together.
 */
static void killed_while_asking(void)
{
	struct progress *progress = map_shared(sizeof(*progress));
	double copying = 1e9;

	write_text(CHECK_FILE, "0");	/* it looks at all tables once more */
	run_on_node(0);
	for (int tries = 0; tries < 4; tries++) {
		double begin, ending, killed;
		bool late;
		int pid = ask_in_child(progress, 2 * TABLES);

		await(&progress->asking, pid);
		begin = now();
		await(&progress->done, pid);
		/* The shortest of all tries: a busy host makes one seem longer than the next. */
		if (now() - begin < copying)
			copying = now() - begin;
		ending = end_child(pid);
		if (!tries)
			continue;
		pid = ask_in_child(progress, 2 * TABLES);
		await(&progress->asking, pid);
		usleep(copying / 8 * 1e6);
		late = atomic_load(&progress->done);
		killed = end_child(pid);
		printf("# copying %.2f s, end %.2f s; killed early in the copying: %.2f s\n", copying, ending, killed);
		if (!late && killed < copying / 4 + ending)
			return;
	}
	fail("the copying went on");
}

/* How often `quick` returns while another process waits for its replicas; the best of some tries. */
static int returns_meanwhile(void (*quick)(void), int wanted)
{
	struct progress *progress = map_shared(sizeof(*progress));
	int best = 0;

	write_text(CHECK_FILE, "0");
	run_on_node(0);
	for (int tries = 0; tries < 3 && best < wanted; tries++) {
		int pid = ask_in_child(progress, TABLES), returns = 0;

		await(&progress->asking, pid);
		for (;;) {
			quick();
			if (atomic_load(&progress->done))
				break;
			returns++;
		}
		end_child(pid);
		if (returns > best)
			best = returns;
	}
	return best;
}

static void ask_for_little(void)
{
	static int round;

	require(!numa_set_pgtable_replication_mask(round++ % 2 ? 1 : all_nodes()));
}

static void two_requests(void)
{
	int returns = returns_meanwhile(ask_for_little, 3);

	printf("# %d requests of another process were served meanwhile\n", returns);
	require(returns >= 3);
}

static void read_policy(void)
{
	require(read_value(POLICY_FILE) == 1);
}

static void policy_read_meanwhile(void)
{
	int returns = returns_meanwhile(read_policy, 10);

	printf("# the policy was read %d times meanwhile\n", returns);
	require(returns >= 10);
}

static void *ask_forever(void *argument)
{
	unsigned int random = (unsigned long)argument;

	run_on_node(random % nr_nodes());
	for (;;)
		numa_set_pgtable_replication_mask(rand_r(&random) & all_nodes());
	return NULL;
}

/* The process exits, is killed or becomes another program while its threads ask for replicas. */
static void end_while_asking(void)
{
	static const char *const ends[] = { "exit", "kill", "exec" };
	long before = replica_pages();

	for (int round = 0; round < 30; round++) {
		int kind = round % 3, pid = fork(), status;

		if (!pid) {
			pthread_t thread;

			fill(map(4 * HUGE_PAGE), 4 * HUGE_PAGE, round);
			for (long i = 0; i < 3; i++)
				require(!pthread_create(&thread, NULL, ask_forever, (void *)(3 * round + i)));
			usleep(500 + 1500 * (round / 3));
			if (kind == 0)
				_exit(0);
			if (kind == 1)
				kill(getpid(), SIGKILL);
			execl("/bin/busybox", "true", NULL);
			_exit(9);
		}
		require(waitpid(pid, &status, 0) == pid);
		if (kind == 1 ? !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL : status != 0)
			fail("round %d, %s: the child ended with status %x", round, ends[kind], status);
	}
	if (!replicas_fall_to(before))
		fail("%ld pages of replicas are left, of processes that ended", replica_pages() - before);
	require(set_policy(0));
}

/*
 * RCU frees tables that a collapse took out of the address space after this has ended. Switching replication off must
 * wait for it: without hooks a table would be freed alone, and its replicas never.
 */
static void off_before_rcu(void)
{
	long before;

	run_on_node(0);
	require(set_policy(0));
	before = replica_pages();
	require(set_policy(1));
	for (int round = 0; round < 60; round++) {
		int pid = fork();

		if (!pid) {
			int fd = memfd_create("selftest", 0);
			char *memory[4];

			require(fd >= 0 && !ftruncate(fd, HUGE_PAGE));
			require(!numa_set_pgtable_replication_mask(all_nodes()));
			for (int i = 0; i < 4; i++) {
				memory[i] = mmap(map_aligned(HUGE_PAGE), HUGE_PAGE, PROT_READ | PROT_WRITE,
						 MAP_SHARED | MAP_FIXED, fd, 0);
				require(memory[i] != MAP_FAILED);
				*(volatile char *)memory[i] = 1;
			}
			if (madvise(memory[0], HUGE_PAGE, MADV_COLLAPSE))
				skip("MADV_COLLAPSE of shared memory found no huge page");
			_exit(0);
		}
		join(pid);
		require(set_policy(0));
		usleep(20000);	/* a grace period without hooks, if the kernel didn't wait for it */
		require(set_policy(1));
	}
	if (!replicas_fall_to(before))
		fail("%ld pages of replicas are left", replica_pages() - before);
}

const struct selftest race_tests[] = {
	{ "killed while asking", killed_while_asking, true },
	{ "requests of two processes at once", two_requests, true },
	{ "policy is read during a request", policy_read_meanwhile, true },
	{ "end of a process that asks", end_while_asking, true },
	{ "switched off before RCU freed tables", off_before_rcu, true },
	{ NULL },
};
