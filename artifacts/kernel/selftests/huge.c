// SPDX-License-Identifier: GPL-2.0
/* Large pages: transparent ones made, split and collapsed, and hugetlbfs. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#define BYTES (4 * HUGE_PAGE)

static long huge_kb(void)
{
	return read_number("/proc/self/smaps_rollup", "AnonHugePages");
}

static char *transparent(unsigned long seed)
{
	return map_huge(BYTES, seed);
}

static void thp_map(void)
{
	char *memory = transparent(3);

	check_everywhere(memory, BYTES, 3);
	require(!munmap(memory, BYTES));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory, false));
	}
}

static void thp_split_by_protect(void)
{
	char *memory = transparent(5);
	long before = huge_kb();

	require(!mprotect(memory + 5 * PAGE, PAGE, PROT_READ));
	require(huge_kb() < before);
	check_everywhere(memory, BYTES, 5);
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory + 5 * PAGE, true));
		require(!faults(memory + 6 * PAGE, true));
	}
}

static void thp_split_by_dontneed(void)
{
	char *memory = transparent(7);

	require(!madvise(memory + HUGE_PAGE + PAGE, PAGE, MADV_DONTNEED));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(!*(volatile unsigned long *)(memory + HUGE_PAGE + PAGE));
		require(*(volatile unsigned long *)(memory + HUGE_PAGE) == 7 + 512);
	}
}

static void thp_whole_protect(void)
{
	char *memory = transparent(9);

	require(!mprotect(memory, BYTES, PROT_READ));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory + HUGE_PAGE, true));
	}
	check_everywhere(memory, BYTES, 9);
}

static void thp_move(void)
{
	char *memory = transparent(11), *target = map_aligned(BYTES), *moved;

	moved = mremap(memory, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, target);
	require(moved == target);
	check_everywhere(moved, BYTES, 11);
}

static void thp_fork(void)
{
	char *memory = transparent(13);
	int pid = fork();

	if (!pid) {
		run_on_node(nr_nodes() - 1);
		fill(memory, BYTES, 14);
		check_everywhere(memory, BYTES, 14);
		_exit(0);
	}
	join(pid);
	check_everywhere(memory, BYTES, 13);
	fill(memory, BYTES, 15);
	check_everywhere(memory, BYTES, 15);
}

static void collapse(void)
{
	char *memory = map_aligned(BYTES);

	fill(memory, BYTES, 17);
	if (madvise(memory, BYTES, MADV_COLLAPSE))
		skip("MADV_COLLAPSE found no huge page");
	require(huge_kb() >= (long)HUGE_PAGE / 1024);
	check_everywhere(memory, BYTES, 17);
	require(!madvise(memory + PAGE, PAGE, MADV_DONTNEED));
	check_everywhere(memory + HUGE_PAGE, BYTES - HUGE_PAGE, 17 + 512);
}

/* khugepaged retracts tables of a file's leaves with the page-table locks alone. */
static void collapse_file(void)
{
	int fd = memfd_create("selftest", 0);
	char *memory = map_aligned(BYTES);

	require(fd >= 0 && !ftruncate(fd, BYTES));
	memory = mmap(memory, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	require(memory != MAP_FAILED);
	fill(memory, BYTES, 19);
	if (madvise(memory, BYTES, MADV_COLLAPSE))
		skip("MADV_COLLAPSE of shared memory found no huge page");
	check_everywhere(memory, BYTES, 19);
	fill(memory, BYTES, 21);
	check_everywhere(memory, BYTES, 21);
}

static void hugetlb(void)
{
	char *memory;
	int pid;

	if (write_text("/proc/sys/vm/nr_hugepages", "16"))
		skip("huge pages can't be reserved");
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (memory == MAP_FAILED)
		skip("no huge page could be reserved");
	fill(memory, BYTES, 23);
	check_everywhere(memory, BYTES, 23);
	pid = fork();
	if (!pid) {
		run_on_node(nr_nodes() - 1);
		fill(memory, HUGE_PAGE, 24);
		check_everywhere(memory, HUGE_PAGE, 24);
		_exit(0);
	}
	join(pid);
	check_everywhere(memory, BYTES, 23);
	require(!mprotect(memory, HUGE_PAGE, PROT_READ));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory, true));
	}
	require(!munmap(memory, BYTES));
	write_text("/proc/sys/vm/nr_hugepages", "0");
}

/*
 * A huge page has a table in store for the day when it is split. It has copies as any other, from when the process asks
 * for them, and loses them with the nodes.
 */
static void deposited_tables(void)
{
	long without, missing;
	char *memory, *later;

	require(!numa_set_pgtable_replication_mask(all_nodes()));
	without = replica_kb();
	require(!numa_set_pgtable_replication_mask(0));
	memory = transparent(25);
	require(!numa_set_pgtable_replication_mask(all_nodes()));
	require(replica_kb() >= without + 4 * 4 * nr_nodes());
	missing = read_number("/proc/self/status", "PTEReplMissing");
	require(missing == 0);
	/* Split: the table leaves the store, with its copies. */
	without = replica_kb();
	require(!mprotect(memory + 5 * PAGE, PAGE, PROT_READ));
	require(replica_kb() == without);
	check_everywhere(memory, BYTES, 25);
	later = transparent(26);
	require(replica_kb() >= without + 4 * 4 * (nr_nodes() - 1));
	for (int nodes = nr_nodes() - 1; nodes >= 0; nodes--) {
		require(!numa_set_pgtable_replication_mask((1UL << nodes) - 1));
		check_everywhere(memory, BYTES, 25);
		check_everywhere(later, BYTES, 26);
	}
	require(replica_kb() == 0);
}

const struct selftest huge_tests[] = {
	{ "transparent huge pages", thp_map },
	{ "huge page split by mprotect", thp_split_by_protect },
	{ "huge page split by dontneed", thp_split_by_dontneed },
	{ "huge page protected whole", thp_whole_protect },
	{ "huge page moved", thp_move },
	{ "huge page forked", thp_fork },
	{ "collapse", collapse },
	{ "collapse of shared memory", collapse_file },
	{ "hugetlbfs", hugetlb },
	{ "tables deposited under huge pages", deposited_tables, true },
	{ NULL },
};
