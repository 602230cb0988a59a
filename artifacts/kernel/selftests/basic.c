// SPDX-License-Identifier: GPL-2.0
/* Small pages: map, unmap, protect, move, advise, fork, threads, on every node. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (8UL << 20)

static void map_unmap(void)
{
	for (int round = 0; round < 3; round++) {
		char *memory = map(BYTES);

		run_on_node(round % nr_nodes());
		fill(memory, BYTES, round);
		check_everywhere(memory, BYTES, round);
		require(!munmap(memory + BYTES / 2, BYTES / 4));
		for (int node = 0; node < nr_nodes(); node++) {
			run_on_node(node);
			require(faults(memory + BYTES / 2, false));
			require(faults(memory + BYTES / 2 + BYTES / 4 - 1, false));
			require(!faults(memory + BYTES / 2 - 1, false));
		}
		require(!munmap(memory, BYTES));
	}
}

static void protect(void)
{
	char *memory = map(BYTES);

	fill(memory, BYTES, 7);
	require(!mprotect(memory, BYTES, PROT_READ));
	check_everywhere(memory, BYTES, 7);
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory + BYTES - PAGE, true));
	}
	require(!mprotect(memory, BYTES, PROT_NONE));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory, false));
	}
	require(!mprotect(memory, BYTES, PROT_READ | PROT_WRITE));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		check(memory, BYTES, 7 + node * 1000);
		fill(memory, BYTES, 7 + (node + 1) * 1000);
	}
}

static void move(void)
{
	char *memory = map(BYTES), *hole = map(2 * BYTES), *moved;

	fill(memory, BYTES, 11);
	/* Not aligned to a table, so that entries move one by one; then whole tables. */
	moved = mremap(memory, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, hole + 3 * PAGE);
	require(moved == hole + 3 * PAGE);
	check_everywhere(moved, BYTES, 11);
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(memory, false));
	}
	memory = map(2 * BYTES);
	memory = (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	moved = mremap(moved, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, memory);
	require(moved == memory);
	check_everywhere(moved, BYTES, 11);
	hole = mremap(moved, BYTES / 2, BYTES / 2, MREMAP_MAYMOVE | MREMAP_FIXED, memory + BYTES);
	require(hole == memory + BYTES);
	check_everywhere(hole, BYTES / 2, 11);
}

static void dontneed(void)
{
	char *memory = map(BYTES);

	fill(memory, BYTES, 13);
	require(!madvise(memory, BYTES, MADV_DONTNEED));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		for (size_t offset = 0; offset < BYTES; offset += PAGE)
			require(!memory[offset]);
	}
	fill(memory, BYTES, 14);
	check_everywhere(memory, BYTES, 14);
}

static void fork_copies_on_write(void)
{
	char *memory = map(BYTES);
	int pid;

	fill(memory, BYTES, 17);
	pid = fork();
	if (!pid) {
		run_on_node(nr_nodes() - 1);
		check(memory, BYTES, 17);
		fill(memory, BYTES / 2, 18);
		check_everywhere(memory, BYTES / 2, 18);
		_exit(0);
	}
	/* The parent's copy is write-protected on all nodes until it writes. */
	check_everywhere(memory, BYTES, 17);
	join(pid);
	check_everywhere(memory, BYTES, 17);
	run_on_node(1 % nr_nodes());
	fill(memory, BYTES, 19);
	check_everywhere(memory, BYTES, 19);
}

static void fork_many(void)
{
	char *memory = map(BYTES);
	int pids[8];

	fill(memory, BYTES, 23);
	for (int i = 0; i < 8; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			run_on_node(i % nr_nodes());
			fill(memory, BYTES, 100 * i);
			if (i % 2 == 0) {
				int pid = fork();

				if (!pid) {
					fill(memory, BYTES, 1);
					_exit(0);
				}
				join(pid);
			}
			check_everywhere(memory, BYTES, 100 * i);
			_exit(0);
		}
	}
	for (int i = 0; i < 8; i++)
		join(pids[i]);
	check_everywhere(memory, BYTES, 23);
}

static void shared_file(void)
{
	int fd = memfd_create("selftest", 0), pid;
	char *one, *two;

	require(fd >= 0 && !ftruncate(fd, BYTES));
	one = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	two = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	require(one != MAP_FAILED && two != MAP_FAILED);
	fill(one, BYTES, 29);
	check_everywhere(two, BYTES, 29);
	pid = fork();
	if (!pid) {
		run_on_node(1 % nr_nodes());
		fill(two, BYTES, 31);
		_exit(0);
	}
	join(pid);
	check_everywhere(one, BYTES, 31);
	/* Truncation unmaps through rmap, without mmap_lock. */
	require(!ftruncate(fd, BYTES / 2));
	for (int node = 0; node < nr_nodes(); node++) {
		run_on_node(node);
		require(faults(one + BYTES / 2, false));
		require(!faults(two + BYTES / 2 - 1, false));
	}
}

struct race {
	char *memory;
	int node;
	atomic_bool *stop;
};

#define RACE_BYTES (2UL << 20)

static void *touch_forever(void *argument)
{
	struct race *race = argument;

	run_on_node(race->node);
	while (!atomic_load(race->stop))
		for (size_t offset = 0; offset < RACE_BYTES; offset += PAGE)
			*(volatile char *)(race->memory + offset) += 1;
	return NULL;
}

static void threads_against_changes(void)
{
	atomic_bool stop = false;
	pthread_t threads[MAX_NODES];
	struct race races[MAX_NODES];
	char *memory = map(RACE_BYTES);

	for (int node = 0; node < nr_nodes(); node++) {
		races[node] = (struct race){ memory, node, &stop };
		require(!pthread_create(&threads[node], NULL, touch_forever, &races[node]));
	}
	for (int round = 0; round < 8; round++) {
		char *other = map(RACE_BYTES);

		fill(other, RACE_BYTES, round);
		require(!madvise(memory + (round % 8) * (RACE_BYTES / 8), RACE_BYTES / 8, MADV_DONTNEED));
		require(!mprotect(other, RACE_BYTES, PROT_READ));
		check(other, RACE_BYTES, round);
		require(!munmap(other, RACE_BYTES));
	}
	atomic_store(&stop, true);
	for (int node = 0; node < nr_nodes(); node++)
		pthread_join(threads[node], NULL);
}

const struct selftest basic_tests[] = {
	{ "map and unmap", map_unmap },
	{ "mprotect", protect },
	{ "mremap", move },
	{ "madvise dontneed", dontneed },
	{ "fork copies on write", fork_copies_on_write },
	{ "shared file and truncation", shared_file },
	{ "threads against changes", threads_against_changes },
	{ "fork of forks", fork_many },
	{ NULL },
};
