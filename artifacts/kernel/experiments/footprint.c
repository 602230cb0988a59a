// SPDX-License-Identifier: GPL-2.0
/*
 * footprint BYTES: measures the page tables of a compact region of this size in 4KB pages, from the kernel's counters
 * (Table 4 of the Mitosis paper).
 *
 * The region begins at 64 TB, so it shares no table but the root with the program itself. Prints one line of CSV:
 * bytes, kB of home tables, kB of replicas; both without the roots, which exist before the region.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "status.h"

#define START ((void *)(64UL << 40))

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	long home, replicas;

	if (!bytes) {
		fprintf(stderr, "usage: footprint BYTES\n");
		return 2;
	}
	/* Reads twice, so that the second reading needs no new tables. */
	for (int i = 0; i < 2; i++) {
		home = status_kb("VmPTE:");
		replicas = status_kb("VmPTERepl:");
	}
	if (mmap(START, bytes, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0) != START) {
		fprintf(stderr, "footprint: %zu bytes: %s\n  what to do: use a smaller region\n", bytes,
			strerror(errno));
		return 1;
	}
	printf("%zu,%ld,%ld\n", bytes, status_kb("VmPTE:") - home, status_kb("VmPTERepl:") - replicas);
	return 0;
}
