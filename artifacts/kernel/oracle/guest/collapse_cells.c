// SPDX-License-Identifier: GPL-2.0-only
/*
 * collapse_cells CELLS FIRST COUNT: lets khugepaged decide on ranges of 2MB, one for each cell.
 *
 * A line of the file CELLS is `rw|r RUN...`. The runs describe the 512 entries of a range, with ascending addresses: a letter and a count.
 * n none, z zero page, s swapped out, y present and young (accessed), o present and old. r makes the area read-only.
 * Prints a line for each cell: its number, entries present and swapped (from /proc/self/pagemap), and the kB of
 * huge pages after one full scan (from /proc/self/smaps).
 *
 * The script around it sets up swap, and khugepaged so that a write to scan_sleep_millisecs wakes it for one scan.
 * Source of the rules: Documentation/admin-guide/mm/transhuge.rst, pagemap.rst.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 512, RANGE = PAGE * PAGES, MOST_CELLS = 512 };

static const uintptr_t BASE = 0x100000000;
static const char *const KNOBS = "/sys/kernel/mm/transparent_hugepage/khugepaged";

struct cell {
	char kind[PAGES]; /* letter of each entry */
	int writable;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static volatile char *page_of(int index, int page)
{
	return (volatile char *)(BASE + (uintptr_t)index * 2 * RANGE + (uintptr_t)page * PAGE);
}

static void write_text(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		fail(path);
	close(file);
}

static long read_number(const char *name)
{
	char path[128], text[32] = "";
	int file;

	snprintf(path, sizeof(path), "%s/%s", KNOBS, name);
	file = open(path, O_RDONLY);
	if (file < 0 || read(file, text, sizeof(text) - 1) < 1)
		fail(path);
	close(file);
	return atol(text);
}

/* Advice for each run of entries of one kind. */
static void advise(int index, const struct cell *cell, char kind, int advice)
{
	for (int page = 0, end; page < PAGES; page = end) {
		for (end = page + 1; end < PAGES && cell->kind[end] == cell->kind[page]; end++)
			;
		if (cell->kind[page] == kind && madvise((char *)page_of(index, page), (size_t)(end - page) * PAGE, advice))
			fail("madvise");
	}
}

static void read_pages(int index, const struct cell *cell, char kind)
{
	for (int page = 0; page < PAGES; page++)
		if (cell->kind[page] == kind)
			(void)*page_of(index, page);
}

/* Every page present; then some are swapped out, dropped, or dropped and read. */
static void fill(int index, const struct cell *cell)
{
	char *start = (char *)page_of(index, 0);

	if (mmap(start, RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != start)
		fail("mmap");
	for (int page = 0; page < PAGES; page++)
		*page_of(index, page) = 1;
	advise(index, cell, 's', MADV_PAGEOUT);
	advise(index, cell, 'n', MADV_DONTNEED);
	advise(index, cell, 'z', MADV_DONTNEED);
	read_pages(index, cell, 'z');
	if (!cell->writable && mprotect(start, RANGE, PROT_READ))
		fail("mprotect");
}

/* Wakes khugepaged and waits until it has seen everything. */
static void scan(void)
{
	char knob[128];
	long scans = read_number("full_scans");

	snprintf(knob, sizeof(knob), "%s/scan_sleep_millisecs", KNOBS);
	write_text(knob, "100000000");
	while (read_number("full_scans") <= scans)
		usleep(10000);
}

/*
 * The first area of a process wakes khugepaged at once, before the cells are ready. So another area comes first, and its scan goes out
 * of the trace. Afterwards khugepaged sleeps until scan() wakes it.
 */
static void register_process(void)
{
	char *start = (char *)BASE - 2 * RANGE;
	int trace;

	if (mmap(start, RANGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != start)
		fail("mmap");
	*start = 1;
	if (madvise(start, RANGE, MADV_HUGEPAGE))
		fail("madvise hugepage");
	scan();
	if (munmap(start, RANGE))
		fail("munmap");
	trace = open("/sys/kernel/debug/tracing/trace", O_WRONLY | O_TRUNC);
	if (trace < 0)
		fail("trace");
	close(trace);
}

static void count_entries(int pagemap, int index, int *present, int *swapped)
{
	uint64_t entry[PAGES];
	off_t at = (off_t)((uintptr_t)page_of(index, 0) / PAGE * sizeof(*entry));

	if (pread(pagemap, entry, sizeof(entry), at) != sizeof(entry))
		fail("pagemap");
	*present = *swapped = 0;
	for (int page = 0; page < PAGES; page++) {
		*present += entry[page] >> 63 & 1;
		*swapped += entry[page] >> 62 & 1;
	}
}

/* kB of huge pages in the area of each cell. */
static void read_huge(int count, long *huge)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	char line[256];
	int index = -1;
	unsigned long start, end;
	long kb;

	if (!smaps)
		fail("smaps");
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			index = start < BASE ? -1 : (int)((start - BASE) / (2 * RANGE));
		if (index >= 0 && index < count && sscanf(line, "AnonHugePages: %ld kB", &kb) == 1)
			huge[index] = kb;
	}
	fclose(smaps);
}

static void parse(char *line, struct cell *cell)
{
	char *word = strtok(line, " \n");
	int at = 0, count;

	cell->writable = word && strcmp(word, "rw") == 0;
	while ((word = strtok(NULL, " \n"))) {
		count = atoi(word + 1);
		if (count < 1 || at + count > PAGES)
			break;
		memset(cell->kind + at, word[0], (size_t)count);
		at += count;
	}
	if (word || at != PAGES) {
		fprintf(stderr, "collapse_cells: a cell does not have 512 entries\n");
		exit(1);
	}
}

static int read_cells(const char *path, int first, int count, struct cell *cells)
{
	FILE *file = fopen(path, "r");
	char line[512];
	int found = 0;

	if (!file)
		fail(path);
	for (int at = 0; found < count && fgets(line, sizeof(line), file); at++)
		if (at >= first)
			parse(line, &cells[found++]);
	fclose(file);
	return found;
}

int main(int argc, char **argv)
{
	static struct cell cells[MOST_CELLS];
	static int present[MOST_CELLS], swapped[MOST_CELLS];
	static long huge[MOST_CELLS];
	int first = argc == 4 ? atoi(argv[2]) : -1, count = argc == 4 ? atoi(argv[3]) : 0, pagemap;

	if (first < 0 || count < 1 || count > MOST_CELLS)
		return 2;
	count = read_cells(argv[1], first, count, cells);
	register_process();
	for (int i = 0; i < count; i++)
		fill(i, &cells[i]);
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	for (int i = 0; i < count; i++)
		count_entries(pagemap, i, &present[i], &swapped[i]);
	/* Nothing is young now; then the young pages are read. */
	write_text("/proc/self/clear_refs", "1");
	for (int i = 0; i < count; i++)
		read_pages(i, &cells[i], 'y');
	for (int i = 0; i < count; i++)
		if (madvise((char *)page_of(i, 0), RANGE, MADV_HUGEPAGE))
			fail("madvise hugepage");
	scan();
	read_huge(count, huge);
	for (int i = 0; i < count; i++)
		printf("%d %d %d %ld\n", first + i, present[i], swapped[i], huge[i]);
	return 0;
}
