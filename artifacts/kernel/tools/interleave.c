// SPDX-License-Identifier: GPL-2.0
/* interleave PROGRAM [ARGUMENT...]: run a program whose memory comes from all nodes in turn (MPOL_INTERLEAVE). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MPOL_INTERLEAVE 3

int main(int argc, char **argv)
{
	int first = 0, last = 0;
	unsigned long mask;
	FILE *file = fopen("/sys/devices/system/node/has_memory", "r");

	if (argc < 2) {
		fprintf(stderr, "usage: interleave PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	/* The guest's nodes with memory are consecutive. */
	if (!file || fscanf(file, "%d-%d", &first, &last) < 1)
		return 1;
	fclose(file);
	mask = (2UL << (last > first ? last : first)) - (1UL << first);
	if (syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, &mask, 64)) {
		fprintf(stderr, "interleave: nodes %d-%d: %s\n  what to do: use a kernel with CONFIG_NUMA\n", first, last,
			strerror(errno));
		return 1;
	}
	execvp(argv[1], argv + 1);
	fprintf(stderr, "interleave: %s: %s\n  what to do: check the program's name\n", argv[1], strerror(errno));
	return 2;
}
