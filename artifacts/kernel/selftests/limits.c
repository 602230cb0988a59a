// SPDX-License-Identifier: GPL-2.0
/* Limits: a memory cgroup, the reserve, the OOM killer's choice, nodes without memory or processors. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODE_MEMINFO "/sys/devices/system/node/node%d/meminfo"

static long node_number(int node, const char *key)
{
	char path[80];

	snprintf(path, sizeof(path), NODE_MEMINFO, node);
	return read_number(path, key);
}

static char *map_tables(unsigned long tables)
{
	char *memory = mmap(NULL, tables * HUGE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	require(memory != MAP_FAILED && !madvise(memory, tables * HUGE_PAGE, MADV_NOHUGEPAGE));
	for (unsigned long i = 0; i < tables; i++)
		*(volatile unsigned long *)(memory + i * HUGE_PAGE) = i + 1;
	return memory;
}

static void check_tables(const char *memory, unsigned long tables)
{
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		for (unsigned long i = 0; i < tables; i++)
			require(*(const volatile unsigned long *)(memory + i * HUGE_PAGE) == i + 1);
	}
}

#define GROUP_TABLES 500UL
#define GROUP_ROOM (1UL << 20)		/* for an eighth of the replicas on four nodes */
#define GROUP_SPARE (1UL << 20)		/* charged in advance: 64 pages for each of four processors */

enum stage { STARTED, POPULATED, LIMITED, ASKED, UNLIMITED };

/* The child allocates no memory while it is at its limit: that could end in the OOM killer, which replicas must not. */
static _Noreturn void live_in_group(atomic_int *stage)
{
	char *memory;

	require(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	require(!write_text("/mnt/cgroup/limit/cgroup.procs", "0"));
	memory = map_tables(GROUP_TABLES);
	atomic_store(stage, POPULATED);
	while (atomic_load(stage) != LIMITED)
		usleep(1000);
	require(!numa_set_pgtable_replication_mask(all_nodes()));
	atomic_store(stage, ASKED);
	while (atomic_load(stage) != UNLIMITED)
		usleep(1000);
	check_tables(memory, GROUP_TABLES);
	_exit(0);
}

static void await(atomic_int *stage, int wanted, int pid)
{
	int status;

	while (atomic_load(stage) != wanted) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			require_exit(status);
		usleep(1000);
	}
}

/* Replicas that a memory cgroup has no room for are missing: not charged to nobody, and no reason to kill. */
static void at_the_limit(void)
{
	atomic_int *stage = map_shared(sizeof(*stage));
	long most = (GROUP_ROOM + GROUP_SPARE) / PAGE, replicas_kb, missing, all_kb, charged_kb = 0;
	char text[40], status[40];
	int pid = fork();

	if (!pid)
		live_in_group(stage);
	await(stage, POPULATED, pid);
	require(!write_text("/mnt/cgroup/limit/memory.swap.max", "0"));
	snprintf(text, sizeof(text), "%ld", read_value("/mnt/cgroup/limit/memory.current") + (long)GROUP_ROOM);
	require(!write_text("/mnt/cgroup/limit/memory.max", text));
	atomic_store(stage, LIMITED);
	await(stage, ASKED, pid);
	snprintf(status, sizeof(status), "/proc/%d/status", pid);
	replicas_kb = read_number(status, "VmPTERepl");
	missing = read_number(status, "PTEReplMissing");
	require(read_value("/mnt/cgroup/limit/memory.current") <= atol(text));
	require(read_number("/mnt/cgroup/limit/memory.events", "oom") == 0);
	require(read_number("/mnt/cgroup/limit/memory.events", "oom_kill") == 0);
	if (replicas_kb <= 0 || replicas_kb > 4 * most || missing < (long)GROUP_TABLES * nr_nodes() - most)
		fail("%ld kB of replicas and %ld missing, with room for %ld kB", replicas_kb, missing, 4 * most);
	/* But for the tables that it was born with, before it belonged to the cgroup: fewer than 64. */
	all_kb = replicas_kb + read_number(status, "VmPTE") - 4 * 64;
	for (int tries = 0; tries < 60 && charged_kb < all_kb; tries++) {
		usleep(100000);	/* the cgroup's counters are brought up to date every two seconds */
		charged_kb = read_number("/mnt/cgroup/limit/memory.stat", "pagetables") / 1024;
	}
	if (charged_kb < all_kb)
		fail("the cgroup is charged %ld kB of tables, and the process has %ld kB", charged_kb, all_kb);
	require(!write_text("/mnt/cgroup/limit/memory.max", "max"));
	atomic_store(stage, UNLIMITED);
	join(pid);
}

/* With a reserve, too: a page of it counts like any other. */
static void memory_cgroup(void)
{
	int status;

	new_cgroup("limit");
	if (access("/mnt/cgroup/limit/memory.max", F_OK))
		skip("no memory controller");
	require(!write_text(RESERVE_FILE, "256"));
	status = in_child(at_the_limit);
	write_text(RESERVE_FILE, "0");
	rmdir("/mnt/cgroup/limit");
	require_exit(status);
}

/* Of all zones of a node: the kernel sets aside at most a quarter of them. */
static long present_pages(int wanted)
{
	FILE *file = fopen("/proc/zoneinfo", "r");
	long sum = 0, pages;
	char line[256];
	int node = -1;

	require(file);
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Node %d, zone", &node);
		if (node == wanted && sscanf(line, " present %ld", &pages) == 1)
			sum += pages;
	}
	fclose(file);
	return sum;
}

/* The largest reserve is set aside on each node, and a page more on none. */
static void largest_reserve(void)
{
	unsigned long with_memory = node_list("/sys/devices/system/node/has_memory");
	long largest = -1;
	char text[40];

	for (int node = 0; node < MAX_NODES; node++)
		if (with_memory >> node & 1 && (largest < 0 || present_pages(node) / 4 < largest))
			largest = present_pages(node) / 4;
	require(largest > 512);
	snprintf(text, sizeof(text), "%ld", largest + 1);
	require(write_text(RESERVE_FILE, text) == -1 && errno == EINVAL);
	require(read_value(RESERVE_FILE) == 0);
	snprintf(text, sizeof(text), "%ld", largest);
	require(!write_text(RESERVE_FILE, text));
	for (int node = 0; node < MAX_NODES; node++)
		if (with_memory >> node & 1)
			require(node_number(node, "PageTableReplRsv") == 4 * largest);
	snprintf(text, sizeof(text), "%ld", largest + 1);
	require(write_text(RESERVE_FILE, text) == -1 && errno == EINVAL);
	require(read_value(RESERVE_FILE) == largest);
	require(!write_text(RESERVE_FILE, "0"));
}

static void reserve_in_child(void)
{
	long smallest = -1;
	char text[40];

	for (int node = 0; node < nr_nodes(); node++) {
		long pages = node_number(node, "MemTotal") / 4;

		if (smallest < 0 || pages < smallest)
			smallest = pages;
	}
	require(!write_text(RESERVE_FILE, "512"));
	for (int node = 0; node < nr_nodes(); node++)
		require(node_number(node, "PageTableReplRsv") == 4 * 512);
	/* Half of what a node has left for us, all of it, and more than a number has room for: nothing changes. */
	snprintf(text, sizeof(text), "%ld", smallest / 2);
	require(write_text(RESERVE_FILE, text) == -1 && errno == EINVAL);
	snprintf(text, sizeof(text), "%ld", smallest);
	require(write_text(RESERVE_FILE, text) == -1 && errno == EINVAL);
	require(write_text(RESERVE_FILE, "4294967295") == -1 && errno == EINVAL);
	require(write_text(RESERVE_FILE, "4294967296") == -1 && errno == EINVAL);
	require(write_text(RESERVE_FILE, "-1") == -1 && errno == EINVAL);
	require(read_value(RESERVE_FILE) == 512);
	for (int node = 0; node < nr_nodes(); node++)
		require(node_number(node, "PageTableReplRsv") == 4 * 512);
	require(!write_text(RESERVE_FILE, "0"));
	for (int node = 0; node < nr_nodes(); node++)
		require(node_number(node, "PageTableReplRsv") == 0);
	largest_reserve();
}

static void reserve(void)
{
	int status = in_child(reserve_in_child);

	write_text(RESERVE_FILE, "0");
	require_exit(status);
}

/* oom_score is (1000 + thousandths of all memory and swap) * 2 / 3. */
static void oom_score(void)
{
	long all_kb = read_number("/proc/meminfo", "MemTotal") + read_number("/proc/meminfo", "SwapTotal");
	char *memory = map_tables(5000);
	long before = read_value("/proc/self/oom_score"), after, more;

	write_text(CHECK_FILE, "0");
	require(!numa_set_pgtable_replication_mask(all_nodes()));
	more = replica_kb() * 1000 / all_kb * 2 / 3;
	after = read_value("/proc/self/oom_score");
	require(more >= 4);
	if (after < before + more - 2 || after > before + more + 2)
		fail("with %ld kB of replicas the score is %ld, before %ld", replica_kb(), after, before);
	check_tables(memory, 5000);
	require(!numa_set_pgtable_replication_mask(0));
	require(read_value("/proc/self/oom_score") <= before + 1);
}

/* Nobody would walk replicas on a node that has no processor; a node without memory has no place for them. */
static void unfit_node(void)
{
	unsigned long nodes = all_nodes(), online = node_list("/sys/devices/system/node/online"), got = 0;
	int pid;

	if (online == nodes)
		skip("all nodes have memory and processors");
	for (int node = 0; node < MAX_NODES; node++) {
		unsigned long one = 1UL << node;

		if (!(online & ~nodes & one))
			continue;
		require(numa_set_pgtable_replication_mask(one) == -1 && errno == ENODEV);
		require(numa_set_pgtable_replication_mask(nodes | one) == -1 && errno == ENODEV);
		/* A node that does not exist is the greater mistake. */
		require(numa_set_pgtable_replication_mask(one | 1UL << 63) == -1 && errno == EINVAL);
	}
	require(!numa_get_pgtable_replication_mask(&got) && got == 0);
	require(!numa_set_pgtable_replication_mask(nodes));
	require(!numa_set_pgtable_replication_mask(0));
	require(set_policy(3));
	pid = fork();
	if (!pid) {
		require(!numa_get_pgtable_replication_mask(&got) && got == nodes);
		_exit(0);
	}
	join(pid);
	require(set_policy(1));
}

const struct selftest limit_tests[] = {
	{ "memory cgroup at its limit", memory_cgroup, true },
	{ "reserve", reserve, true },
	{ "score of the OOM killer", oom_score, true },
	{ "node without memory or processors", unfit_node, true },
	{ NULL },
};
