// SPDX-License-Identifier: GPL-2.0
/*
 * pressure NODE TABLES: fills a node's memory, then asks for replicas of a process with TABLES tables of leaves.
 *
 * The node cannot hold all replicas. The process must go on, every node must see every value, and the count of missing
 * replicas must be correct. Prints "missing N"; then "again N": what is missing when the node has memory again and the
 * process repeats its request. Requirements: swap is off (else reclaim frees memory); vm.min_free_kbytes is at most
 * 4 MB per node and never boosted (vm.watermark_boost_factor=0); the processors' lists of free pages are short
 * (vm.percpu_pagelist_high_fraction).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../tools/replicas.h"

#define PAGE 4096UL
#define TABLE_SPAN (2UL << 20)
#define MPOL_BIND 2
#define NODES 4

static void die(const char *what)
{
	fprintf(stderr, "pressure: %s: %s\n", what, strerror(errno));
	exit(1);
}

static long number_in(const char *path, const char *key)
{
	char line[256], *at;
	long value = -1;
	FILE *file = fopen(path, "r");

	while (file && value < 0 && fgets(line, sizeof(line), file)) {
		at = strstr(line, key);
		if (at && sscanf(at + strlen(key), "%*[: \t]%ld", &value) != 1)
			value = -1;
	}
	if (file)
		fclose(file);
	return value;
}

static void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* What fills the node, to be given back. */
static struct {
	char *memory;
	size_t bytes;
} pieces[4096];
static int nr_pieces;

/* Take the node's memory in pieces until less than `until_kb` and one piece are free. */
static void fill_with(int node, size_t piece, long until_kb)
{
	unsigned long mask = 1UL << node;
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	while (number_in(path, "MemFree") > until_kb + (long)(piece >> 10)) {
		char *memory = mmap(NULL, 2 * piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED || nr_pieces == sizeof(pieces) / sizeof(*pieces))
			die("mmap");
		pieces[nr_pieces].memory = memory;
		pieces[nr_pieces++].bytes = 2 * piece;
		memory = (char *)(((unsigned long)memory + piece - 1) & -piece);
		if (syscall(SYS_mbind, memory, piece, MPOL_BIND, &mask, 64, 0))
			die("mbind");
		madvise(memory, piece, MADV_HUGEPAGE);
		memset(memory, 1, piece);
	}
}

/*
 * The processors' lists of free pages return pages above their limit, a part at each update of statistics. They may
 * hold tens of MB of the node, which counts of free memory do not include.
 */
static void empty_lists(void)
{
	for (int i = 0; i < 60; i++) {
		FILE *file = fopen("/proc/sys/vm/stat_refresh", "w");

		if (!file || fputs("1", file) < 0 || fclose(file))
			die("/proc/sys/vm/stat_refresh");
	}
}

/*
 * Take the node's memory but for 12 MB: less, and the OOM killer comes for us. The tables that follow need more. Huge
 * pages first: half a gigabyte of small ones is 130,000 faults, which takes a minute in an emulator.
 */
static void fill_node(int node)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	do {
		fill_with(node, TABLE_SPAN, 32000);
		fill_with(node, 16 * PAGE, 12000);
		empty_lists();
	} while (number_in(path, "MemFree") > 13000);
}

static void check_values(const char *memory, unsigned long tables)
{
	for (int cpu = 0; cpu < NODES; cpu++) {
		run_on(cpu);
		for (unsigned long i = 0; i < tables; i++)
			if (*(const volatile unsigned long *)(memory + i * TABLE_SPAN) != i + 1)
				die("a wrong value");
	}
}

int main(int argc, char **argv)
{
	int node = argc > 2 ? atoi(argv[1]) : -1;
	unsigned long tables = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	char *memory;

	if (node < 0 || node >= NODES || !tables) {
		fprintf(stderr, "usage: pressure NODE TABLES\n");
		return 2;
	}
	run_on(node ? 0 : 1);
	fill_node(node);
	if (numa_set_pgtable_replication_mask((1UL << NODES) - 1))
		die("prctl");
	memory = mmap(NULL, tables * TABLE_SPAN, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	madvise(memory, tables * TABLE_SPAN, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < tables; i++)
		*(volatile unsigned long *)(memory + i * TABLE_SPAN) = i + 1;
	check_values(memory, tables);
	printf("missing %ld\n", number_in("/proc/self/status", "PTEReplMissing"));
	run_on(node ? 0 : 1);
	for (int i = 0; i < nr_pieces; i++)
		munmap(pieces[i].memory, pieces[i].bytes);
	if (numa_set_pgtable_replication_mask((1UL << NODES) - 1))
		die("the second prctl");
	check_values(memory, tables);
	printf("again %ld\n", number_in("/proc/self/status", "PTEReplMissing"));
	return 0;
}
