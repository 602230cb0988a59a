// SPDX-License-Identifier: GPL-2.0
/*
 * Accessed and dirty bits that hardware sets in one replica count for all replicas;
 * tests what the kernel does with them: swap, lazy free, merging, migration.
 */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#define BYTES (4UL << 20)
#define MPOL_BIND 2
#define MPOL_MF_MOVE 2

static long referenced_kb(void)
{
	return read_number("/proc/self/smaps_rollup", "Referenced");
}

/* The kernel clears accessed bits without a flush; a translation in a TLB would set none. */
static void flush_tlbs(char *scratch)
{
	fill(scratch, BYTES, 1);
	require(!mprotect(scratch, BYTES, PROT_READ));
	require(!mprotect(scratch, BYTES, PROT_READ | PROT_WRITE));
}

static void accessed_bit(void)
{
	char *memory = map(BYTES), *scratch = map(BYTES);

	run_on_node(0);
	fill(memory, BYTES, 3);
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(0);
		flush_tlbs(scratch);
		require(!write_text("/proc/self/clear_refs", "1"));
		flush_tlbs(scratch);
		require(!madvise(scratch, BYTES, MADV_DONTNEED));
		require(referenced_kb() < (long)BYTES / 2048);
		run_on_node(node);
		check(memory, BYTES, 3);
		run_on_node(0);
		require(referenced_kb() >= (long)BYTES / 1024);
	}
}

static void need_swap(void)
{
	if (read_number("/proc/meminfo", "SwapTotal") <= 0)
		skip("the guest has no swap");
}

/*
 * Dirty in one node's replica only: the page must be written to swap before it is dropped. Pages of shared memory that
 * were only read are clean. Anonymous ones that come back from the guest's swap, which is in memory, are dirty at once.
 */
static void dirty_bit_and_swap(void)
{
	need_swap();
	for (int node = 0; node < nr_nodes(); node++) {
		int fd = memfd_create("selftest", 0);
		char *memory;

		require(fd >= 0 && !ftruncate(fd, BYTES));
		memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		require(memory != MAP_FAILED);
		run_on_node(0);
		for (size_t offset = 0; offset < BYTES; offset += PAGE)
			require(!*(volatile unsigned long *)(memory + offset));
		require(mapping_kb(memory, "Private_Dirty") == 0 && mapping_kb(memory, "Shared_Dirty") == 0);
		run_on_node(node);
		fill(memory, BYTES, 100 + node);
		run_on_node(0);
		require(!madvise(memory, BYTES, MADV_PAGEOUT));
		check_everywhere(memory, BYTES, 100 + node);
		require(!munmap(memory, BYTES) && !close(fd));
	}
}

static void lazy_free_then_write(void)
{
	char *memory = map(BYTES);

	need_swap();
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(0);
		fill(memory, BYTES, 1);
		require(!madvise(memory, BYTES, MADV_FREE));
		run_on_node(node);
		fill(memory, BYTES, 200 + node);
		run_on_node(0);
		require(!madvise(memory, BYTES, MADV_PAGEOUT));
		check_everywhere(memory, BYTES, 200 + node);
	}
}

/*
 * Dirty in one node's replica only, when the process forks: the child's page is no less dirty. Without the parent's
 * mapping nothing else says that the page was written after MADV_FREE.
 */
static void lazy_free_huge_then_fork(void)
{
	for (int round = 0; round < 20; round++) {
		int node = round % nr_nodes(), gone[2], pid;
		char *memory, byte;

		run_on_node(0);
		memory = map_huge(HUGE_PAGE, 1);
		require(!madvise(memory, HUGE_PAGE, MADV_FREE));
		run_on_node(node);
		fill(memory, HUGE_PAGE, 100 + round);
		require(!pipe(gone));
		pid = fork();
		if (!pid) {
			close(gone[1]);
			require(read(gone[0], &byte, 1) == 0);
			require(!madvise(memory, HUGE_PAGE, MADV_PAGEOUT));
			check(memory, HUGE_PAGE, 100 + round);
			_exit(0);
		}
		close(gone[0]);
		require(!munmap(memory, HUGE_PAGE));
		close(gone[1]);
		join(pid);
	}
}

/* What smaps says of a huge page that was read or written through any replica. */
static void bits_of_a_huge_page(void)
{
	char *memory = map_huge(HUGE_PAGE, 3), *scratch = map(BYTES);

	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(0);
		flush_tlbs(scratch);
		require(!write_text("/proc/self/clear_refs", "1"));
		flush_tlbs(scratch);
		require(mapping_kb(memory, "Referenced") == 0);
		run_on_node(node);
		check(memory + node * PAGE, PAGE, 3 + node);
		run_on_node(0);
		require(mapping_kb(memory, "Referenced") == (long)HUGE_PAGE / 1024);
	}
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(0);
		require(!madvise(memory, HUGE_PAGE, MADV_FREE));
		require(mapping_kb(memory, "Private_Dirty") == 0);
		run_on_node(node);
		fill(memory + node * PAGE, PAGE, node);
		run_on_node(0);
		require(mapping_kb(memory, "Private_Dirty") == (long)HUGE_PAGE / 1024);
	}
}

#define LRU_GEN "/sys/kernel/debug/lru_gen"

/* Pages of node 0 in the generations of one cgroup, as the kernel counts them. */
struct generations {
	unsigned int group;		/* number of the cgroup */
	unsigned long oldest, youngest;
	long pages[8];			/* anonymous pages of a generation, by its last three bits */
};

static void read_generations(const char *group, struct generations *found)
{
	FILE *file = fopen(LRU_GEN, "r");
	char line[256], path[128];
	bool inside = false;
	int node = -1;

	memset(found, 0, sizeof(*found));
	require(file);
	while (fgets(line, sizeof(line), file)) {
		unsigned long generation;
		unsigned int number;
		long pages;

		if (sscanf(line, "memcg %u %127s", &number, path) == 2) {
			inside = !strcmp(path, group);
			if (inside)
				found->group = number;
		} else if (sscanf(line, " node %d", &node) == 1) {
			continue;
		} else if (inside && node == 0 && sscanf(line, "%lu %*u %ld", &generation, &pages) == 2) {
			if (!found->youngest)
				found->oldest = generation;
			found->youngest = generation;
			found->pages[generation % 8] = pages;
		}
	}
	fclose(file);
	if (!found->youngest)
		fail("%s has no cgroup %s", LRU_GEN, group);
}

/* Start a new generation; pages that are marked accessed move to the one before it. `force`: look at each table. */
static void new_generation(const struct generations *at, int force)
{
	char command[80];

	/* There are at most four: the oldest one goes, and pages that nobody has read are swapped out. */
	if (at->youngest - at->oldest >= 3) {
		snprintf(command, sizeof(command), "- %u 0 %lu 200 100000", at->group, at->oldest);
		require(!write_text(LRU_GEN, command));
	}
	snprintf(command, sizeof(command), "+ %u 0 %lu 200 %d", at->group, at->youngest, force);
	require(!write_text(LRU_GEN, command));
}

/* Of this case alone: a group that is gone may be listed while a page of it is left. */
static char aging_group[40];

/*
 * The multigenerational LRU passes over a table of leaves whose entry above is not marked accessed. Pages that one
 * node's processors read must be young all the same.
 */
static void generations_in_child(void)
{
	char *memory, *scratch = map(BYTES);
	struct generations at;
	char procs[80];
	unsigned long now;

	snprintf(procs, sizeof(procs), "/mnt/cgroup%s/cgroup.procs", aging_group);
	require(!write_text(procs, "0"));
	run_on_node(0);
	memory = map_aligned(BYTES);
	fill(memory, BYTES, 1);
	read_generations(aging_group, &at);
	new_generation(&at, 1);
	for (int round = 0; round < 2 * nr_nodes(); round++) {
		int node = round % nr_nodes();

		run_on_node(0);
		flush_tlbs(scratch);
		require(!madvise(scratch, BYTES, MADV_DONTNEED));
		run_on_node(node);
		check(memory, BYTES, 1);
		/* Aging passes over an address space that no processor has switched to since the last time. */
		usleep(1000);
		read_generations(aging_group, &at);
		now = at.youngest;
		new_generation(&at, 0);
		read_generations(aging_group, &at);
		require(at.youngest == now + 1);
		if (at.pages[now % 8] < (long)(BYTES / PAGE) * 3 / 4) {
			for (unsigned long i = at.oldest; i <= at.youngest; i++)
				printf("# generation %lu: %ld pages\n", i, at.pages[i % 8]);
			fail("node %d read %lu pages, and %ld are young", node, BYTES / PAGE, at.pages[now % 8]);
		}
	}
}

static void generations(void)
{
	const char *folder;
	unsigned int enabled;
	FILE *file;
	int status;

	if (access(LRU_GEN, F_OK))
		skip("this kernel has no CONFIG_LRU_GEN");
	need_swap();
	snprintf(aging_group, sizeof(aging_group), "/aging-%d", getpid());
	folder = new_cgroup(aging_group + 1);
	file = fopen("/sys/kernel/mm/lru_gen/enabled", "r");
	require(file && fscanf(file, "%x", &enabled) == 1);
	fclose(file);
	require(!write_text("/sys/kernel/mm/lru_gen/enabled", "y"));
	status = in_child(generations_in_child);
	if (!enabled)
		write_text("/sys/kernel/mm/lru_gen/enabled", "n");
	rmdir(folder);
	require_exit(status);
}

static void migrate_data(void)
{
	char *memory = map(BYTES);

	run_on_node(0);
	fill(memory, BYTES, 5);
	for (int node = nr_nodes() - 1; node >= 0; node--) {
		unsigned long mask = 1UL << node;

		run_on_node(node);
		if (syscall(SYS_mbind, memory, BYTES, MPOL_BIND, &mask, MAX_NODES + 1, MPOL_MF_MOVE))
			fail("mbind to node %d", node);
		check_everywhere(memory, BYTES, 5);
	}
}

/* Hinting faults make entries PROT_NONE for a while; the data follow the thread. */
static void numa_balancing(void)
{
	char *memory = map(BYTES);

	if (write_text("/proc/sys/kernel/numa_balancing", "1"))
		skip("no automatic NUMA balancing");
	run_on_node(0);
	fill(memory, BYTES, 7);
	for (int round = 0; round < 200; round++) {
		run_on_node(round / 50 % nr_nodes());
		check(memory, BYTES, 7);
		usleep(5000);
	}
	check_everywhere(memory, BYTES, 7);
	write_text("/proc/sys/kernel/numa_balancing", "0");
}

static void same_page_merging(void)
{
	char *memory = map(BYTES);
	long shared = 0;

	if (write_text("/sys/kernel/mm/ksm/pages_to_scan", "5000") ||
	    write_text("/sys/kernel/mm/ksm/sleep_millisecs", "1") ||
	    write_text("/sys/kernel/mm/ksm/run", "1"))
		skip("no same-page merging");
	for (size_t offset = 0; offset < BYTES; offset += PAGE)
		memset(memory + offset, 0x5a, PAGE);
	require(!madvise(memory, BYTES, MADV_MERGEABLE));
	for (int round = 0; round < 500 && shared < 500; round++) {
		FILE *file = fopen("/sys/kernel/mm/ksm/pages_sharing", "r");

		require(file && fscanf(file, "%ld", &shared) == 1);
		fclose(file);
		usleep(10000);
	}
	if (shared < 500)
		skip("merging took too long: %ld pages", shared);
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		for (size_t offset = node * PAGE; offset < BYTES; offset += nr_nodes() * PAGE)
			*(volatile unsigned long *)(memory + offset) = 9 + offset / PAGE;
	}
	check_everywhere(memory, BYTES, 9);
	write_text("/sys/kernel/mm/ksm/run", "2");
}

static void *serve_faults(void *argument)
{
	int fd = *(int *)argument;
	char *page = map(PAGE);
	struct uffd_msg message;

	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		unsigned long address = message.arg.pagefault.address & ~(PAGE - 1);
		struct uffdio_copy copy = { .dst = address, .src = (unsigned long)page, .len = PAGE };

		if (message.arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WP) {
			struct uffdio_writeprotect done = { .range = { address, PAGE } };

			require(!ioctl(fd, UFFDIO_WRITEPROTECT, &done));
			continue;
		}
		*(unsigned long *)page = address;
		require(!ioctl(fd, UFFDIO_COPY, &copy) || errno == EEXIST);
	}
	return NULL;
}

static void user_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_register range;
	struct uffdio_writeprotect protect;
	char *memory = map(BYTES);
	pthread_t thread;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		skip("no userfaultfd with write protection");
	range = (struct uffdio_register){ { (unsigned long)memory, BYTES },
					  UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP, 0 };
	require(!ioctl(fd, UFFDIO_REGISTER, &range));
	require(!pthread_create(&thread, NULL, serve_faults, &fd));
	for (size_t offset = 0; offset < BYTES; offset += PAGE) {
		run_on_node(offset / PAGE % nr_nodes());
		require(*(volatile unsigned long *)(memory + offset) == (unsigned long)(memory + offset));
	}
	protect = (struct uffdio_writeprotect){ { (unsigned long)memory, BYTES }, UFFDIO_WRITEPROTECT_MODE_WP };
	require(!ioctl(fd, UFFDIO_WRITEPROTECT, &protect));
	run_on_node(nr_nodes() - 1);
	fill(memory, BYTES, 77);
	check_everywhere(memory, BYTES, 77);
}

const struct selftest aging_tests[] = {
	{ "accessed bit of every node", accessed_bit },
	{ "dirty bit of every node and swap", dirty_bit_and_swap },
	{ "lazy free, then a write", lazy_free_then_write },
	{ "lazy free of a huge page, a write, then a fork", lazy_free_huge_then_fork },
	{ "bits of a huge page", bits_of_a_huge_page },
	{ "generations of pages", generations },
	{ "migration of data", migrate_data },
	{ "automatic NUMA balancing", numa_balancing },
	{ "same-page merging", same_page_merging },
	{ "userfaultfd", user_faults },
	{ NULL },
};
