// SPDX-License-Identifier: GPL-2.0
/*
 * stress SECONDS [SEED]: random operations on memory by threads on all nodes and by
 * forked children, each region checked against what was written to it.
 *
 * Every thread owns regions and knows the seed of the last write to each page, so
 * a wrong translation on any node gives a wrong value. All threads share one
 * address space, so their faults, unmaps and protections race for the same tables.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tools/replicas.h"

#define PAGE 4096UL
#define PAGES 1024		/* of a region: two tables of leaves and a bit more */
#define REGIONS 6
#define THREADS_MAX 32
#define NR_OPERATIONS 11

struct region {
	char *memory;
	unsigned long seed[PAGES];	/* 0: never written, reads as zero */
};

struct worker {
	pthread_t thread;
	int number;
	unsigned int random;
	struct region regions[REGIONS];
	unsigned long operations[NR_OPERATIONS];
};

static atomic_bool stop;
static int nr_cpus;
static unsigned long may_replicate;	/* nodes whose replicas may come and go */

#define die(...) do { fprintf(stderr, "stress: " __VA_ARGS__); fprintf(stderr, ": %s\n", strerror(errno)); \
		_exit(1); } while (0)

static void move_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % nr_cpus, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cpu %d", cpu);
}

static void open_region(struct region *region, bool huge)
{
	/* With 2 MB to spare a region starts anywhere between two tables. */
	region->memory = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region->memory == MAP_FAILED)
		die("mmap");
	if (huge)
		madvise(region->memory, PAGES * PAGE, MADV_HUGEPAGE);
	memset(region->seed, 0, sizeof(region->seed));
}

static void write_pages(struct worker *w, struct region *region, int first, int count)
{
	for (int i = first; i < first + count; i++) {
		region->seed[i] = (unsigned long)rand_r(&w->random) << 20 | (unsigned long)i | 1UL << 60;
		*(volatile unsigned long *)(region->memory + i * PAGE) = region->seed[i];
	}
}

static void check_pages(const struct region *region, int first, int count, const char *when)
{
	for (int i = first; i < first + count; i++) {
		unsigned long found = *(const volatile unsigned long *)(region->memory + i * PAGE);

		if (found != region->seed[i]) {
			fprintf(stderr, "stress: %s: page %d at %p holds %lx, not %lx\n", when, i,
				(void *)(region->memory + i * PAGE), found, region->seed[i]);
			_exit(1);
		}
	}
}

static void remap(struct region *region)
{
	char *target = mmap(NULL, 2 * PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *moved;

	if (target == MAP_FAILED)
		die("mmap of a target");
	moved = mremap(region->memory, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       target + (PAGES / 3) * PAGE);
	if (moved == MAP_FAILED)
		die("mremap");
	munmap(target, (PAGES / 3) * PAGE);
	munmap(moved + PAGES * PAGE, (2 * PAGES - PAGES / 3 - PAGES) * PAGE);
	region->memory = moved;
}

static void fork_and_check(struct worker *w)
{
	int status, pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		for (int i = 0; i < REGIONS; i++) {
			move_to(rand_r(&w->random));
			check_pages(&w->regions[i], 0, PAGES, "in a child");
			write_pages(w, &w->regions[i], 0, PAGES / 2);
			check_pages(&w->regions[i], 0, PAGES, "in a child, written");
		}
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die("a child ended with %x", status);
}

static void one_operation(struct worker *w)
{
	struct region *region = &w->regions[rand_r(&w->random) % REGIONS];
	int first = rand_r(&w->random) % PAGES;
	int count = 1 + rand_r(&w->random) % (PAGES - first);
	int operation = rand_r(&w->random) % 64;
	char *from = region->memory + first * PAGE;

	move_to(rand_r(&w->random));
	if (operation < 24) {
		write_pages(w, region, first, count);
		w->operations[0]++;
	} else if (operation < 40) {
		check_pages(region, first, count, "read");
		w->operations[1]++;
	} else if (operation < 46) {
		if (madvise(from, count * PAGE, MADV_DONTNEED))
			die("madvise");
		memset(region->seed + first, 0, count * sizeof(*region->seed));
		w->operations[2]++;
	} else if (operation < 52) {
		if (mprotect(from, count * PAGE, PROT_READ))
			die("mprotect");
		check_pages(region, first, count, "protected");
		if (mprotect(from, count * PAGE, PROT_READ | PROT_WRITE))
			die("mprotect back");
		w->operations[3]++;
	} else if (operation < 55) {
		remap(region);
		w->operations[4]++;
	} else if (operation < 58) {
		munmap(region->memory, PAGES * PAGE);
		open_region(region, operation == 57);
		w->operations[5]++;
	} else if (operation == 58) {
		/* The pages are clean for a moment; what is written then, from another processor, must stay. */
		if (madvise(from, count * PAGE, MADV_FREE))
			die("madvise free");
		move_to(rand_r(&w->random));
		write_pages(w, region, first, count);
		madvise(from, count * PAGE, 21 /* MADV_PAGEOUT */);
		check_pages(region, first, count, "freed lazily and written");
		w->operations[10]++;
	} else if (operation < 60) {
		madvise(from, count * PAGE, 21 /* MADV_PAGEOUT */);
		check_pages(region, first, count, "paged out");
		w->operations[6]++;
	} else if (operation < 61) {
		madvise(region->memory, PAGES * PAGE, 25 /* MADV_COLLAPSE */);
		w->operations[7]++;
	} else if (operation < 62 && w->number == 0) {
		/* Changes the replicas while all threads run; an empty set of nodes is valid too. */
		unsigned long nodes = (rand_r(&w->random) | rand_r(&w->random)) & may_replicate;

		if (may_replicate && numa_set_pgtable_replication_mask(nodes))
			die("prctl of nodes %lx", nodes);
		w->operations[8]++;
	} else {
		fork_and_check(w);
		w->operations[9]++;
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;

	for (int i = 0; i < REGIONS; i++)
		open_region(&w->regions[i], i % 2);
	while (!atomic_load(&stop))
		one_operation(w);
	for (int i = 0; i < REGIONS; i++)
		check_pages(&w->regions[i], 0, PAGES, "at the end");
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const names[NR_OPERATIONS] = { "write", "read", "dontneed", "protect", "move", "renew",
							  "pageout", "collapse", "nodes", "fork", "free" };
	static struct worker workers[THREADS_MAX];
	int seconds = argc > 1 ? atoi(argv[1]) : 0;
	unsigned int seed = argc > 2 ? (unsigned int)atoi(argv[2]) : 1;
	int threads;

	if (seconds <= 0) {
		fprintf(stderr, "usage: stress SECONDS [SEED]   (STRESS_NODES=<mask>: also change replicas)\n");
		return 2;
	}
	if (getenv("STRESS_NODES"))
		may_replicate = strtoul(getenv("STRESS_NODES"), NULL, 0);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	threads = nr_cpus < THREADS_MAX ? nr_cpus : THREADS_MAX;
	for (int i = 0; i < threads; i++) {
		workers[i].number = i;
		workers[i].random = seed * 1000 + i;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			die("pthread_create");
	}
	sleep(seconds);
	atomic_store(&stop, true);
	for (int i = 0; i < threads; i++)
		pthread_join(workers[i].thread, NULL);
	for (int k = 0; k < NR_OPERATIONS; k++) {
		unsigned long sum = 0;

		for (int i = 0; i < threads; i++)
			sum += workers[i].operations[k];
		printf("%s %lu\n", names[k], sum);
	}
	return 0;
}
