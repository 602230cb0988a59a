// SPDX-License-Identifier: GPL-2.0
/*
 * requests BYTES...: counts what it costs a running process of this size, in pages of 4KB, to ask for copies of its
 * page tables on four nodes and to give them back.
 *
 * "instructions" are those of the calling thread: its processor time, as a processor executes one instruction in each
 * nanosecond under QEMU's -icount. "elapsed" counts as vmaops does, so it has the time in which the caller waits, too.
 * Prints CSV: request,bytes,home_kb,replica_kb,instructions,elapsed; home_kb and replica_kb as the kernel counts them
 * after the request, home_kb without the root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "../tools/replicas.h"
#include "instructions.h"
#include "status.h"

#define START ((void *)(64UL << 40))

static void die(const char *what)
{
	fprintf(stderr, "requests: %s: %s\n  what to do: use a smaller size, and a guest whose processes may ask\n",
		what, strerror(errno));
	exit(1);
}

/* Of the calling thread. */
static unsigned long processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return time.tv_sec * 1000000000UL + time.tv_nsec;
}

static void request(const char *name, unsigned long nodes, size_t bytes)
{
	unsigned long used = processor_ns(), start = now(), elapsed;

	if (numa_set_pgtable_replication_mask(nodes))
		die(name);
	elapsed = now() - start;
	used = processor_ns() - used;
	printf("%s,%zu,%ld,%ld,%lu,%lu\n", name, bytes, status_kb("VmPTE:"), status_kb("VmPTERepl:"), used, elapsed);
}

int main(int argc, char **argv)
{
	unsigned long used, start;

	if (argc < 2) {
		fprintf(stderr, "usage: requests BYTES...\n");
		return 2;
	}
	printf("request,bytes,home_kb,replica_kb,instructions,elapsed\n");
	/* Both counters, over 200,000,000 instructions. */
	used = processor_ns();
	start = now();
	count_down(100000000);
	start = now() - start;
	printf("calibration,0,0,0,%lu,%lu\n", processor_ns() - used, start);
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("small pages only");
	for (int i = 1; i < argc; i++) {
		size_t bytes = strtoul(argv[i], NULL, 0);
		int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE;

		if (!bytes || mmap(START, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != START)
			die(argv[i]);
		request("add 4", 0xf, bytes);
		request("repeat", 0xf, bytes);
		request("remove 1", 0x7, bytes);
		request("add 1", 0xf, bytes);
		request("remove all", 0, bytes);
		munmap(START, bytes);
	}
	return 0;
}
