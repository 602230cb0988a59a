// SPDX-License-Identifier: GPL-2.0
/*
 * fragment NODE INDEX FREE_MB: hold memory of a node so that FREE_MB are free there, and more than the share INDEX of
 * them lies in blocks below 2MB (order 9). This share is the unusable index: 1 - sum of 2^i k_i over i >= 9, divided by
 * all free pages, for k_i free blocks of 2^i pages (/proc/buddyinfo, all zones of the node).
 *
 * It fills the node with 4KB pages until what is left cannot lift the index below INDEX. Then it frees single pages in
 * an order that looks random, so that few of them are neighbours. Where that leaves too many large blocks, it takes some as
 * 2MB pages. A process in the background keeps the others; they are anonymous, so the kernel may move them (compaction).
 * Prints "index I, free F MB, in blocks of 2MB L MB, held H MB".
 * Exit status: 0; 1 the node cannot be brought there; 2 wrong use.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MPOL_BIND 2
#define PAGE 4096UL
#define LARGE_ORDER 9
#define SPARE 64UL /* pages of 2MB that it takes at most, if single pages do not suffice */
#define LARGE (PAGE << LARGE_ORDER)
#define STEP 256 /* pages between two looks at the free memory: 1 MB */

static _Noreturn void die(const char *what, const char *why, const char *remedy, int status)
{
	fprintf(stderr, "fragment: %s: %s\n  what to do: %s\n", what, why, remedy);
	exit(status);
}

struct blocks {
	unsigned long free, large; /* pages; those in blocks of order 9 and more */
};

static struct blocks look(int node)
{
	struct blocks found = { 0, 0 };
	char line[512];
	int zones = 0;
	FILE *file = fopen("/proc/buddyinfo", "r");

	while (file && fgets(line, sizeof(line), file)) {
		int of, at = 0, used;
		unsigned long count;

		if (sscanf(line, "Node %d, zone %*s%n", &of, &at) != 1 || !at || of != node)
			continue;
		zones++;
		for (int order = 0; sscanf(line + at, "%lu%n", &count, &used) == 1; order++, at += used) {
			found.free += count << order;
			if (order >= LARGE_ORDER)
				found.large += count << order;
		}
	}
	if (file)
		fclose(file);
	if (!zones)
		die("node", "/proc/buddyinfo does not have it", "name a node with memory", 2);
	return found;
}

static double index_of(struct blocks at)
{
	return at.free ? 1 - (double)at.large / at.free : 0;
}

/* A permutation of 0..count-1 by a fixed seed. */
static unsigned *shuffled(unsigned long count)
{
	unsigned *order = malloc(count * sizeof(*order));
	unsigned long long state = 1;

	for (unsigned long i = 0; order && i < count; i++)
		order[i] = i;
	for (unsigned long i = count; order && i > 1; i--) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		unsigned long j = (state >> 33) % i;
		unsigned kept = order[i - 1];

		order[i - 1] = order[j];
		order[j] = kept;
	}
	return order;
}

/* An area whose pages are 2MB, if huge pages are on: each takes one of the node's large blocks. */
static char *large_pages(int node)
{
	unsigned long mask = 1UL << node;
	char *area = mmap(NULL, (SPARE + 1) * LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);

	if (area == MAP_FAILED)
		die("memory of the node", strerror(errno), "give the guest more memory", 1);
	area = (char *)(((unsigned long)area + LARGE - 1) & ~(LARGE - 1));
	if (madvise(area, SPARE * LARGE, MADV_HUGEPAGE) || syscall(SYS_mbind, area, SPARE * LARGE, MPOL_BIND, &mask, 64, 0))
		die("2MB pages of the node", strerror(errno), "use a kernel with transparent huge pages", 2);
	return area;
}

/* Runs in the process that stays: writes one line to the pipe and waits for ever. */
static void hold(int node, double wanted, unsigned long free_pages, int answer)
{
	unsigned long mask = 1UL << node, most = look(node).free, filled = 0, freed = 0;
	/* A tenth of the way from `wanted` to 1 above it, because blocks may become whole again later. */
	double aim = wanted + (1 - wanted) / 10;
	unsigned long rest = (unsigned long)((1 - aim) * free_pages), spare = 0;
	char *large = large_pages(node);
	char *memory = mmap(NULL, most * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct blocks now;
	unsigned *order;

	if (memory == MAP_FAILED || madvise(memory, most * PAGE, MADV_NOHUGEPAGE) ||
	    syscall(SYS_mbind, memory, most * PAGE, MPOL_BIND, &mask, 64, 0))
		die("memory of the node", strerror(errno), "name a node with memory", 2);
	for (now = look(node); now.large >= rest && filled < most; filled++) {
		if (now.free < free_pages / 20)
			die("index", "the node is full and has large blocks still", "ask for more free memory", 1);
		memory[filled * PAGE] = 1;
		if (filled % STEP == 0)
			now = look(node);
	}
	order = shuffled(filled);
	now = look(node);
	while (order && (now.free < free_pages || index_of(now) <= aim)) {
		if (now.free < free_pages && freed == filled)
			die("free memory", "the node has less than that", "ask for less, or give the guest more memory", 1);
		if (now.free < free_pages) {
			for (int i = 0; i < STEP && freed < filled; i++, freed++)
				if (madvise(memory + order[freed] * PAGE, PAGE, MADV_DONTNEED))
					die("free a page", strerror(errno), "see the kernel's log", 1);
		} else {
			if (spare == SPARE)
				die("index", "it stays below", "ask for a smaller index", 1);
			large[spare++ * LARGE] = 1;
		}
		now = look(node);
	}
	if (!order)
		die("order of the pages", strerror(errno), "give the guest more memory", 1);
	dprintf(answer, "index %.4f, free %lu MB, in blocks of 2MB %lu MB, held %lu MB\n", index_of(now),
		now.free * PAGE >> 20, now.large * PAGE >> 20, ((filled - freed) * PAGE + spare * LARGE) >> 20);
	close(answer);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	char line[256] = "";
	double wanted;
	int ends[2], node;
	long megabytes;
	FILE *answer;

	if (argc != 4 || (node = atoi(argv[1])) < 0 || node > 62 || (wanted = atof(argv[2])) <= 0 || wanted >= 1 ||
	    (megabytes = atol(argv[3])) < 1)
		die("arguments", "three numbers are needed", "fragment NODE INDEX FREE_MB, as in: fragment 0 0.9 256", 2);
	if (pipe(ends))
		die("pipe", strerror(errno), "see the kernel's log", 1);
	if (fork() == 0) {
		close(ends[0]);
		setsid();
		hold(node, wanted, ((unsigned long)megabytes << 20) / PAGE, ends[1]);
	}
	close(ends[1]);
	answer = fdopen(ends[0], "r");
	if (!answer || !fgets(line, sizeof(line), answer))
		die("index", "the process that holds the memory has ended", "see its message, or the kernel's log", 1);
	fputs(line, stdout);
	return 0;
}
