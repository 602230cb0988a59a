// SPDX-License-Identifier: GPL-2.0
/*
 * leafops leaves|tables REPEATS ENTRIES...: counts the instructions of system calls that update so many page-table
 * entries, by the accessed and dirty bits of these.
 *
 * "leaves" are entries of pages of 4KB:
 *   dirty     written anonymous pages: accessed and dirty
 *   clean     the same after MADV_FREE: neither
 *   accessed  the same, read after that: accessed only
 *   file      pages of a memfd, mapped in by reading: accessed only
 * "tables" are entries that point to tables of leaves: mremap() moves a whole table at once where both addresses allow
 * it. Each of these tables has one page.
 *
 * Pages on both sides of a region keep the tables that it shares, so a region of at most 490 leaves needs no table of
 * its own: the difference of two such counts is that of their leaves. Counts as vmaops does; prints CSV:
 * operation,pages,entries,repeat,instructions.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instructions.h"

#define PAGE 4096UL
#define TABLE (512 * PAGE)
#define GB (1UL << 30)
/* Each at the start of a GB, which has one table of tables. */
#define SOURCE (64UL << 40)
#define TARGET (SOURCE + 4 * GB)
/* At different places in their tables, so that mremap() moves leaf by leaf. */
#define SOURCE_LEAVES (SOURCE + PAGE)
#define TARGET_LEAVES (TARGET + 11 * PAGE)

static int file;

static void die(const char *what)
{
	fprintf(stderr, "leafops: %s: %s\n  what to do: use fewer entries or a guest with more memory\n", what,
		strerror(errno));
	exit(1);
}

static void *map(unsigned long address, size_t bytes, int flags, int fd)
{
	void *memory = mmap((void *)address, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE, fd, 0);

	if (memory != (void *)address)
		die("mmap");
	return memory;
}

/* A page that no other area merges with. */
static void keep_table_of(unsigned long address)
{
	map(address, PAGE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1);
}

static void *map_anonymous(size_t bytes)
{
	return map(SOURCE_LEAVES, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1);
}

static void *map_file(size_t bytes)
{
	return map(SOURCE_LEAVES, bytes, MAP_SHARED | MAP_POPULATE, file);
}

static void stay(char *memory, size_t bytes)
{
}

/* Twice: the second call makes the kernel finish the list of the first. */
static void make_clean(char *memory, size_t bytes)
{
	for (int i = 0; i < 2; i++)
		if (madvise(memory, bytes, MADV_FREE))
			die("madvise");
}

static void make_accessed(char *memory, size_t bytes)
{
	make_clean(memory, bytes);
	for (size_t at = 0; at < bytes; at += PAGE)
		(void)*(volatile char *)(memory + at);
}

/* Lines of /proc/self/smaps that say in how many pages of a region the kernel finds these bits. */
struct kind {
	const char *name;
	void *(*create)(size_t bytes);
	void (*prepare)(char *memory, size_t bytes);
	const char *all, *none;
};

static const struct kind kinds[] = {
	{ "dirty", map_anonymous, stay, "Private_Dirty:", "LazyFree:" },
	{ "accessed", map_anonymous, make_accessed, "Referenced:", "Private_Dirty:" },
	{ "clean", map_anonymous, make_clean, "LazyFree:", "Referenced:" },
	{ "file", map_file, stay, "Referenced:", "Anonymous:" },
};

/* Of the area that begins at @memory, in kB. */
static long smaps_kb(char *memory, const char *key)
{
	char line[256];
	long kb = -1;
	int here = 0;
	FILE *smaps = fopen("/proc/self/smaps", "r");

	while (smaps && fgets(line, sizeof(line), smaps)) {
		unsigned long first, last;

		if (sscanf(line, "%lx-%lx ", &first, &last) == 2)
			here = first == (unsigned long)memory;
		else if (here && !strncmp(line, key, strlen(key)))
			kb = atol(line + strlen(key));
	}
	if (smaps)
		fclose(smaps);
	return kb;
}

static void check(const struct kind *kind, char *memory, size_t bytes)
{
	long all = smaps_kb(memory, kind->all), none = smaps_kb(memory, kind->none);

	if (all == (long)(bytes >> 10) && none == 0)
		return;
	fprintf(stderr, "leafops: %s pages of %zu kB: smaps has %s %ld kB, %s %ld kB\n", kind->name, bytes >> 10,
		kind->all, all, kind->none, none);
	fprintf(stderr, "  what to do: use a guest without large pages and with free memory\n");
	exit(1);
}

static unsigned long start;

/* What is between begin() and end() is counted; each end() needs a print(). */
static inline void begin(void)
{
	REFERENCES_BEGIN();
	start = now();
}

static inline unsigned long end(void)
{
	unsigned long counted = now() - start;

	REFERENCES_END();
	return counted;
}

static void print(const char *operation, const char *pages, size_t entries, int repeat, unsigned long counted)
{
	printf("%s,%s,%zu,%d,%lu\n", operation, pages, entries, repeat, counted);
}

/* The child gets the processor when its parent waits, so that all of the count is the parent's. */
static unsigned long count_fork(void)
{
	unsigned long counted;
	long pid;

	fflush(stdout);
	begin();
	pid = syscall(SYS_fork);
	if (!pid)
		_exit(0);
	counted = end();
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("fork");
	return counted;
}

static void move(char *memory, size_t bytes, unsigned long target)
{
	if (mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != (void *)target)
		die("mremap");
}

static void leaves(const struct kind *kind, size_t entries, int repeat)
{
	size_t bytes = entries * PAGE;
	char *memory;

	if (kind->prepare == stay) {
		begin();
		memory = kind->create(bytes);
		print("mmap", kind->name, entries, repeat, end());
	} else {
		memory = kind->create(bytes);
	}
	if (kind->prepare == make_clean) {
		begin();
		if (madvise(memory, bytes, MADV_FREE))
			die("madvise");
		print("madvise", "dirty", entries, repeat, end());
	}
	kind->prepare(memory, bytes);
	if (!repeat)
		check(kind, memory, bytes);

	begin();
	if (mprotect(memory, bytes, PROT_READ))
		die("mprotect");
	print("mprotect", kind->name, entries, repeat, end());
	if (mprotect(memory, bytes, PROT_READ | PROT_WRITE))
		die("mprotect");
	begin();
	move(memory, bytes, TARGET_LEAVES);
	print("mremap", kind->name, entries, repeat, end());
	memory = (char *)TARGET_LEAVES;
	begin();
	if (munmap(memory, bytes))
		die("munmap");
	print("munmap", kind->name, entries, repeat, end());

	/* fork() leaves the pages of a shared file to faults of the child. */
	if (kind->create != map_anonymous)
		return;
	memory = map_anonymous(bytes);
	kind->prepare(memory, bytes);
	print("fork", kind->name, entries, repeat, count_fork());
	munmap(memory, bytes);
}

static void tables(size_t entries, int repeat)
{
	size_t bytes = entries * TABLE;
	char *memory = map(SOURCE, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	for (size_t at = 0; at < bytes; at += TABLE)
		memory[at] = 1;
	begin();
	move(memory, bytes, TARGET);
	print("mremap", "tables", entries, repeat, end());
	munmap((void *)TARGET, bytes);
}

/* Pages at both ends of the tables that hold the longest region, and of its source's and target's GB. */
static void keep_tables(size_t bytes, int of_leaves)
{
	unsigned long source = (SOURCE_LEAVES + bytes + TABLE) & -TABLE;
	unsigned long target = (TARGET_LEAVES + bytes + TABLE) & -TABLE;

	if (of_leaves) {
		keep_table_of(SOURCE);
		keep_table_of(source - PAGE);
		keep_table_of(TARGET);
		keep_table_of(target - PAGE);
	} else {
		keep_table_of(SOURCE + GB - PAGE);
		keep_table_of(TARGET + GB - PAGE);
	}
}

int main(int argc, char **argv)
{
	struct sched_param first = { .sched_priority = 1 };
	int of_leaves = argc > 1 && !strcmp(argv[1], "leaves"), repeats = argc > 2 ? atoi(argv[2]) : 0;
	size_t most = of_leaves ? GB / 2 / PAGE : 500, longest = 0;

	if (argc < 4 || (!of_leaves && strcmp(argv[1], "tables")) || repeats <= 0) {
		fprintf(stderr, "usage: leafops leaves|tables REPEATS ENTRIES...\n");
		return 2;
	}
	for (int i = 3; i < argc; i++) {
		size_t entries = strtoul(argv[i], NULL, 0);

		if (!entries || entries > most) {
			fprintf(stderr, "leafops: %s %s: it must be a number of 1 to %zu\n  what to do: give one\n",
				argv[i], argv[1], most);
			return 2;
		}
		longest = entries > longest ? entries : longest;
	}
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("small pages only");
	/* Before all others, and its children after it; without this right, counts have their instructions, too. */
	(void)sched_setscheduler(0, SCHED_FIFO, &first);
	if (of_leaves) {
		file = memfd_create("leafops", 0);
		if (file < 0 || fallocate(file, 0, 0, longest * PAGE))
			die("a file");
	}
	keep_tables(longest * PAGE, of_leaves);
	printf("operation,pages,entries,repeat,instructions\ncalibration,,0,0,%lu\n", calibrate());
	for (int i = 3; i < argc; i++)
		for (int repeat = 0; repeat < repeats; repeat++) {
			if (!of_leaves)
				tables(strtoul(argv[i], NULL, 0), repeat);
			for (int kind = 0; of_leaves && kind < 4; kind++)
				leaves(&kinds[kind], strtoul(argv[i], NULL, 0), repeat);
		}
	return 0;
}
