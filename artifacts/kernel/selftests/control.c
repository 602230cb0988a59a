// SPDX-License-Identifier: GPL-2.0
/* Asking for replicas: system call, inheritance, policy, accounting, bad input. */
#include "harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (16UL << 20)

static void set_and_get(void)
{
	unsigned long nodes = ~0UL;

	require(!numa_get_pgtable_replication_mask(&nodes) && nodes == 0);
	require(!numa_set_pgtable_replication_mask(all_nodes()));
	require(!numa_get_pgtable_replication_mask(&nodes) && nodes == all_nodes());
	require(!numa_set_pgtable_replication_mask(1));
	require(!numa_get_pgtable_replication_mask(&nodes) && nodes == 1);
	require(!numa_set_pgtable_replication_mask(0));
	require(!numa_get_pgtable_replication_mask(&nodes) && nodes == 0);
	require(replica_kb() == 0);
}

static void bad_input(void)
{
	unsigned long nodes = 1UL << 63;

	require(prctl(PR_SET_PGTABLE_REPLICAS, &nodes, 64, 0, 0) == -1 && errno == EINVAL);
	require(prctl(PR_SET_PGTABLE_REPLICAS, &nodes, 64, 1, 0) == -1 && errno == EINVAL);
	require(prctl(PR_SET_PGTABLE_REPLICAS, &nodes, 1UL << 40, 0, 0) == -1 && errno == EINVAL);
	require(prctl(PR_SET_PGTABLE_REPLICAS, 8, 64, 0, 0) == -1 && errno == EFAULT);
	require(prctl(PR_GET_PGTABLE_REPLICAS, &nodes, 0, 0, 0) == -1 && errno == EINVAL);
	require(prctl(PR_GET_PGTABLE_REPLICAS, 8, 64, 0, 0) == -1 && errno == EFAULT);
	require(write_text("/proc/sys/vm/pgtable_replication", "4") == -1 && errno == EINVAL);
	require(write_text("/proc/sys/vm/pgtable_node", "9") == -1 && errno == ENODEV);
}

/* Masks of any length and place in memory; a refused one changes nothing. */
static void odd_masks(void)
{
	unsigned long all = all_nodes(), nodes[65] = { all_nodes() }, got[64] = { 0 };
	char *pages = map(2 * PAGE), *at = pages + PAGE - sizeof(all);

	require(!prctl(PR_SET_PGTABLE_REPLICAS, nodes, 64 * 64, 0, 0));
	memset(got, 0xff, sizeof(got));
	require(!prctl(PR_GET_PGTABLE_REPLICAS, got, 64 * 64, 0, 0) && !memcmp(got, nodes, sizeof(got)));
	/* A node far beyond those that the kernel supports. */
	nodes[63] = 1UL << 63;
	require(prctl(PR_SET_PGTABLE_REPLICAS, nodes, 64 * 64, 0, 0) == -1 && errno == EINVAL);
	require(prctl(PR_SET_PGTABLE_REPLICAS, nodes, PAGE * 8 + 1, 0, 0) == -1 && errno == EINVAL);
	require(prctl(PR_SET_PGTABLE_REPLICAS, nodes, ~0UL, 0, 0) == -1 && errno == EINVAL);
	/* Ends where mapped memory ends, and goes on behind. */
	require(!munmap(pages + PAGE, PAGE));
	memcpy(at, &all, sizeof(all));
	require(!prctl(PR_SET_PGTABLE_REPLICAS, at, 64, 0, 0));
	require(prctl(PR_SET_PGTABLE_REPLICAS, at, 128, 0, 0) == -1 && errno == EFAULT);
	require(prctl(PR_GET_PGTABLE_REPLICAS, at, 128, 0, 0) == -1 && errno == EFAULT);
	memcpy(at, &all, sizeof(all));
	memmove(at - 3, at, sizeof(all));
	require(!prctl(PR_SET_PGTABLE_REPLICAS, at - 3, 64, 0, 0));
	/* Memory of the kernel, no address at all, memory that may only be read. */
	require(prctl(PR_SET_PGTABLE_REPLICAS, 0xffff888000001000UL, 64, 0, 0) == -1 && errno == EFAULT);
	require(prctl(PR_SET_PGTABLE_REPLICAS, 1UL << 63, 64, 0, 0) == -1 && errno == EFAULT);
	require(!mprotect(pages, PAGE, PROT_READ));
	require(prctl(PR_GET_PGTABLE_REPLICAS, pages, 64, 0, 0) == -1 && errno == EFAULT);
	require(!numa_get_pgtable_replication_mask(&got[0]) && got[0] == all);
	/* Bits behind the last one don't count. */
	nodes[0] = ~0UL;
	require(!prctl(PR_SET_PGTABLE_REPLICAS, nodes, 1, 0, 0));
	require(!numa_get_pgtable_replication_mask(&got[0]) && got[0] == 1);
	/* A mask without bits, wherever it is. */
	require(!prctl(PR_SET_PGTABLE_REPLICAS, 8, 0, 0, 0));
	require(!numa_get_pgtable_replication_mask(&got[0]) && got[0] == 0);
}

/* A process that gave all replicas back, or never had any, does not hold the policy. */
static void all_given_back(void)
{
	char *memory = map(BYTES);
	unsigned long nodes = 1;

	fill(memory, BYTES, 3);
	require(!numa_set_pgtable_replication_mask(0));
	require(set_policy(0));
	require(numa_set_pgtable_replication_mask(all_nodes()) == -1 && errno == EOPNOTSUPP);
	for (int round = 0; round < 3; round++) {
		require(set_policy(1));
		require(!numa_set_pgtable_replication_mask(all_nodes()));
		require(replica_kb() >= 4 * 8 * nr_nodes());
		require(write_text(POLICY_FILE, "0") == -1 && errno == EBUSY);
		check_everywhere(memory, BYTES, 3 + round);
		fill(memory, BYTES, 4 + round);
		require(!numa_set_pgtable_replication_mask(0));
		require(replica_kb() == 0);
		require(!numa_get_pgtable_replication_mask(&nodes) && nodes == 0);
		require(set_policy(0));
		check_everywhere(memory, BYTES, 4 + round);
		/* Without the hooks: what they left must be an ordinary page table. */
		require(!mprotect(memory, BYTES / 2, PROT_READ));
		require(!munmap(memory + BYTES / 2, PAGE));
		require(faults(memory, true) && faults(memory + BYTES / 2, false));
		require(!mprotect(memory, BYTES / 2, PROT_READ | PROT_WRITE));
		require(mmap(memory + BYTES / 2, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == memory + BYTES / 2);
		fill(memory, BYTES, 4 + round);
	}
}

/* Only root may write the policy; any process may ask for its own replicas. */
static void no_permission(void)
{
	require(!setgid(65534) && !setuid(65534));
	require(write_text("/proc/sys/vm/pgtable_replication", "2") == -1 && errno == EACCES);
	require(write_text("/proc/sys/vm/pgtable_node", "1") == -1 && errno == EACCES);
	require(write_text("/sys/kernel/debug/pgtable_replication/check", "0") == -1 && errno == EACCES);
	require(!numa_set_pgtable_replication_mask(all_nodes()));
	require(replica_kb() > 0);
}

static void busy_policy(void)
{
	require(write_text("/proc/sys/vm/pgtable_replication", "0") == -1 && errno == EBUSY);
	require(read_number("/proc/self/status", "VmPTERepl") > 0);
}

/* A process that has lived for a while gets replicas, and gives them back. */
static void live(void)
{
	char *memory = map(BYTES);

	run_on_node(0);
	fill(memory, BYTES, 3);
	for (int round = 0; round < 5; round++) {
		require(!numa_set_pgtable_replication_mask(all_nodes()));
		/* Tables of 16 MB: 8 of leaves at least, on each other node. */
		require(replica_kb() >= 4 * 8 * (nr_nodes() - 1));
		require(read_number("/proc/self/status", "PTEReplMissing") == 0);
		check_everywhere(memory, BYTES, 3 + round);
		/* Written from the last node: its dirty bits must survive the end of its replica. */
		fill(memory, BYTES, 4 + round);
		require(!numa_set_pgtable_replication_mask(0));
		require(replica_kb() == 0);
		check_everywhere(memory, BYTES, 4 + round);
		if (read_number("/proc/meminfo", "SwapTotal") > 0)
			require(!madvise(memory, BYTES, 21 /* MADV_PAGEOUT */));
		check_everywhere(memory, BYTES, 4 + round);
	}
}

struct writer {
	char *memory;
	int node;
	atomic_bool *stop;
	unsigned long rounds;
};

static void *write_on(void *argument)
{
	struct writer *writer = argument;

	run_on_node(writer->node);
	while (!atomic_load(writer->stop)) {
		fill(writer->memory, BYTES, writer->rounds);
		check(writer->memory, BYTES, writer->rounds);
		writer->rounds++;
	}
	return NULL;
}

/* Nodes come and go while threads on all nodes fault and write. */
static void live_with_threads(void)
{
	atomic_bool stop = false;
	struct writer writers[MAX_NODES];
	pthread_t threads[MAX_NODES];

	for (int node = 0; node < nr_nodes(); node++) {
		writers[node] = (struct writer){ map(BYTES), node, &stop, 0 };
		require(!pthread_create(&threads[node], NULL, write_on, &writers[node]));
	}
	for (int round = 0; round < 30; round++) {
		require(!numa_set_pgtable_replication_mask((round * 5 + 3) & all_nodes()));
		require(!madvise(writers[round % nr_nodes()].memory, PAGE, MADV_WILLNEED));
		usleep(20000);
	}
	atomic_store(&stop, true);
	for (int node = 0; node < nr_nodes(); node++) {
		pthread_join(threads[node], NULL);
		require(writers[node].rounds > 0);
	}
}

static void exec_inherits(void)
{
	int pid = fork();

	if (!pid) {
		execl("/bin/busybox", "grep", "-q", "VmPTERepl", "/proc/self/status", NULL);
		_exit(9);
	}
	join(pid);
}

/* A child starts on a node that must have no copy: its home tables are on a node of the mask, and there is no extra copy. */
static void born_elsewhere(void)
{
	unsigned long nodes = all_nodes() & ~1UL;
	int pid;

	if (nr_nodes() < 3)
		skip("three nodes with memory are needed");
	require(!numa_set_pgtable_replication_mask(nodes));
	run_on_node(0);
	pid = fork();
	if (!pid) {
		long before = replica_kb(), more;
		char *memory = map(BYTES);

		fill(memory, BYTES, 7);
		more = replica_kb() - before;
		/* 8 tables of leaves at least: a copy on all of its nodes but one. */
		require(more >= 4 * 8 * (nr_nodes() - 2) && more < 4 * 8 * (nr_nodes() - 1));
		check_everywhere(memory, BYTES, 7);
		_exit(0);
	}
	join(pid);
}

static void migration(void)
{
	char *memory = map(BYTES);
	long kb;

	run_on_node(0);
	fill(memory, BYTES, 5);
	kb = replica_kb();
	require(kb == 0 || kb == -1);
	/* Move to the last node: its copy is made, and no other. */
	run_on_node(nr_nodes() - 1);
	require(!numa_set_pgtable_replication_mask(1UL << (nr_nodes() - 1)));
	kb = replica_kb();
	require(kb >= 4 * 8);
	check(memory, BYTES, 5);
	/* And back: the home tables were kept up to date. */
	fill(memory, BYTES, 6);
	run_on_node(0);
	require(!numa_set_pgtable_replication_mask(1));
	check_everywhere(memory, BYTES, 6);
}

static void accounting(void)
{
	char *memory = map(BYTES);
	long before = replica_kb(), filled;
	int nodes = 0;

	fill(memory, BYTES, 1);
	filled = replica_kb();
	require(filled >= before + 4 * 8 * (nr_nodes() - 1));
	require(!munmap(memory, BYTES));
	require(replica_kb() < filled);
	require(!write_text("/proc/sys/vm/stat_refresh", "1"));
	for (int node = 0; node < nr_nodes(); node++) {
		char path[80];

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
		nodes += read_number(path, "PageTableRepl") > 0;
	}
	/* The node of all home tables may be left out of the mask. */
	require(nodes >= nr_nodes() - 1);
}

const struct selftest control_tests[] = {
	{ "set and get", set_and_get, true },
	{ "bad input", bad_input, true },
	{ "odd masks", odd_masks, true },
	{ "all replicas given back", all_given_back, true },
	{ "no permission", no_permission, true },
	{ "policy is busy while replicas exist", busy_policy },
	{ "replicas of a living process", live, true },
	{ "replicas come and go under threads", live_with_threads, true },
	{ "exec inherits", exec_inherits },
	{ "born outside its nodes", born_elsewhere, true },
	{ "migration by replication", migration, true },
	{ "accounting", accounting },
	{ NULL },
};
