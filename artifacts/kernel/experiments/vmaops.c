// SPDX-License-Identifier: GPL-2.0
/*
 * vmaops BYTES REPEATS: counts the instructions of mmap, mprotect and munmap of a region (Table 5 of the Mitosis paper).
 *
 * Run it under QEMU's -icount. The program first checks the counter with a loop of known length. Prints CSV:
 * operation,bytes,repeat,instructions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "instructions.h"

static void die(const char *what)
{
	fprintf(stderr, "vmaops: %s: %s\n  what to do: use a smaller region or a guest with more memory\n", what,
		strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[1], NULL, 0) : 0;
	int repeats = argc > 2 ? atoi(argv[2]) : 0;

	if (!bytes || repeats <= 0) {
		fprintf(stderr, "usage: vmaops BYTES REPEATS\n");
		return 2;
	}
	printf("operation,bytes,repeat,instructions\ncalibration,0,0,%lu\n", calibrate());
	for (int repeat = 0; repeat < repeats; repeat++) {
		unsigned long start, mapped, protected, unmapped;
		char *memory;

		start = now();
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		mapped = now() - start;
		if (memory == MAP_FAILED)
			die("mmap");
		start = now();
		if (mprotect(memory, bytes, PROT_READ))
			die("mprotect");
		protected = now() - start;
		start = now();
		if (munmap(memory, bytes))
			die("munmap");
		unmapped = now() - start;
		printf("mmap,%zu,%d,%lu\nmprotect,%zu,%d,%lu\nmunmap,%zu,%d,%lu\n", bytes, repeat, mapped, bytes,
		       repeat, protected, bytes, repeat, unmapped);
	}
	return 0;
}
