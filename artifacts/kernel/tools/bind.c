// SPDX-License-Identifier: GPL-2.0
/*
 * bind [-c NODE] [-m NODE] PROGRAM [ARGUMENT...]: run a program on the processors of one node (-c), with memory from
 * one node only (-m, MPOL_BIND). Both are inherited. The policy also holds for page tables, unless
 * vm.pgtable_replication is 2.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MPOL_BIND 2

static int use_processors_of(int node)
{
	char path[64];
	int first, last;
	cpu_set_t set;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(path, "r");
	if (!file)
		return -1;
	/* The guest's processors of a node are consecutive. */
	switch (fscanf(file, "%d-%d", &first, &last)) {
	case 2:
		break;
	case 1:
		last = first;
		break;
	default:
		errno = ENODEV;
		return -1;
	}
	fclose(file);
	CPU_ZERO(&set);
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

static int refused(const char *what, int node)
{
	fprintf(stderr, "bind: %s of node %d: %s\n  what to do: name a node of this machine\n", what, node,
		strerror(errno));
	return 2;
}

int main(int argc, char **argv)
{
	int option, node;
	unsigned long mask;

	while ((option = getopt(argc, argv, "+c:m:")) != -1) {
		node = option == '?' ? -1 : atoi(optarg);
		if (option == 'c' && use_processors_of(node))
			return refused("processors", node);
		mask = node >= 0 && node < 63 ? 1UL << node : 0;
		if (option == 'm' && syscall(SYS_set_mempolicy, MPOL_BIND, &mask, 64))
			return refused("memory", node);
		if (option == '?')
			return 2;
	}
	if (optind == argc) {
		fprintf(stderr, "usage: bind [-c NODE] [-m NODE] PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	execvp(argv[optind], argv + optind);
	fprintf(stderr, "bind: %s: %s\n  what to do: check the program's name\n", argv[optind], strerror(errno));
	return 2;
}
