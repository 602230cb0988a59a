// SPDX-License-Identifier: GPL-2.0
/*
 * balanced MEGABYTES FROM TO SECONDS: fills memory on processor FROM, moves to processor TO of another node, and reads
 * its memory there until automatic NUMA balancing has moved 99% of the pages after it (section 3.1 of the Mitosis paper).
 * Then it asks for page tables on the new node, which is the paper's migration of page tables (section 5.5).
 *
 * Stops itself (SIGSTOP) at three moments, so that its page tables can be looked at; continue it with SIGCONT:
 *   before    all data written on the first node;
 *   balanced  the data moved, and balancing is off again;
 *   replicas  the kernel keeps page tables on the new node.
 * Before each it prints: MOMENT, its node, its data pages, those of them on its node, seconds since the start.
 * Balancing is off at each moment, and all pages were read since: no entry is a hinting entry, which is not present.
 * Exit status: 0; 1 something failed, among them SECONDS passed before the data had moved; 2 wrong use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../tools/replicas.h"

#define PAGE 4096UL

static const char balancing[] = "/proc/sys/kernel/numa_balancing";
static char *memory;
static size_t pages;
static struct timespec start;

static _Noreturn void die(const char *what, const char *why, const char *remedy, int status)
{
	fprintf(stderr, "balanced: %s: %s\n  what to do: %s\n", what, why, remedy);
	exit(status);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - start.tv_sec + (now.tv_nsec - start.tv_nsec) / 1e9;
}

/* Runs on this processor from now on; returns its node. */
static unsigned int run_on(const char *processor)
{
	unsigned int node;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(strtoul(processor, NULL, 0), &set);
	if (sched_setaffinity(0, sizeof(set), &set) || syscall(SYS_getcpu, NULL, &node, NULL))
		die(processor, strerror(errno), "name a processor of this machine", 2);
	return node;
}

static void switch_balancing(const char *value)
{
	FILE *file = fopen(balancing, "w");

	if (!file || fputs(value, file) < 0 || fclose(file))
		die(balancing, strerror(errno), "run as root, on a kernel with CONFIG_NUMA_BALANCING", 1);
}

static void read_all(void)
{
	for (size_t page = 0; page < pages; page++)
		if (*(volatile size_t *)(memory + page * PAGE) != page)
			die("the data", "a page has another value than was written", "report a fault of this kernel", 1);
}

/* Only asks: with no nodes given, move_pages moves nothing. */
static size_t pages_on(unsigned int node)
{
	static void **address;
	static int *where;
	size_t found = 0;

	if (!address) {
		address = malloc(pages * sizeof(*address));
		where = malloc(pages * sizeof(*where));
		if (!address || !where)
			die("memory for the query", strerror(errno), "give less megabytes", 1);
		for (size_t page = 0; page < pages; page++)
			address[page] = memory + page * PAGE;
	}
	if (syscall(SYS_move_pages, 0, pages, address, NULL, where, 0))
		die("move_pages", strerror(errno), "run on a kernel with CONFIG_MIGRATION", 1);
	for (size_t page = 0; page < pages; page++)
		found += where[page] == (int)node;
	return found;
}

static void stop(const char *moment, unsigned int node)
{
	read_all();
	printf("%s %u %zu %zu %.3f\n", moment, node, pages, pages_on(node), seconds());
	fflush(stdout);
	raise(SIGSTOP);
}

int main(int argc, char **argv)
{
	unsigned int first, node;
	double limit;
	char said[160];

	pages = argc == 5 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	limit = argc == 5 ? strtod(argv[4], NULL) : 0;
	if (!pages || limit <= 0)
		die("arguments", "not numbers, or too few or too many", "balanced MEGABYTES FROM TO SECONDS", 2);
	clock_gettime(CLOCK_MONOTONIC, &start);
	switch_balancing("0");
	first = run_on(argv[2]);
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die(argv[1], strerror(errno), "give less megabytes", 1);
	for (size_t page = 0; page < pages; page++)
		*(volatile size_t *)(memory + page * PAGE) = page;
	stop("before", first);

	node = run_on(argv[3]);
	if (node == first)
		die(argv[3], "it is a processor of the first node, too", "name a processor of another node", 2);
	limit += seconds();
	switch_balancing("1");
	do {
		read_all();
		if (seconds() > limit) {
			snprintf(said, sizeof(said), "%zu of %zu pages moved in %s s", pages_on(node), pages, argv[4]);
			switch_balancing("0");
			die("automatic NUMA balancing", said, "give more seconds, or see numa_hint_faults in /proc/vmstat", 1);
		}
	} while (pages_on(node) * 100 < pages * 99);
	switch_balancing("0");
	stop("balanced", node);

	if (numa_set_pgtable_replication_mask(1UL << node))
		die("page tables on the new node", strerror(errno), "as root: sysctl vm.pgtable_replication=1", 1);
	stop("replicas", node);
	return 0;
}
