// SPDX-License-Identifier: GPL-2.0-only
/*
 * files EVENTS FOLDER: reads files and faults on their mappings, and prints what each event brought into the page cache.
 *
 * Events, in the format of tessera-vm: file N SIZE (FOLDER/N, opened), read N OFFSET LEN, mmap ADDR LEN r file=N (from its start),
 * touch ADDR r. Prints a line for each read and touch: the runs of pages FIRST+COUNT that are in the page cache now and were not
 * before (mincore), and for a touch `mapped=COUNT`: entries that became present (/proc/self/pagemap).
 * Pages are looked for from WINDOW below to 2 WINDOW above the event's.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 64, WINDOW = 512, LARGEST = 1 << 20 };

struct file {
	int open;
	long pages;
	char *view;    /* a mapping that is never touched, for mincore */
	char *mapping; /* of the event mmap */
};

static struct file files[MOST];
static int pagemap;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static struct file *file_at(long number)
{
	if (number < 0 || number >= MOST)
		fail("file number");
	return &files[number];
}

static void open_file(const char *folder, long number)
{
	struct file *file = file_at(number);
	char path[256];
	off_t bytes;

	snprintf(path, sizeof(path), "%s/%ld", folder, number);
	file->open = open(path, O_RDONLY);
	bytes = file->open < 0 ? 0 : lseek(file->open, 0, SEEK_END);
	if (bytes <= 0)
		fail(path);
	file->pages = (bytes + PAGE - 1) / PAGE;
	file->view = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file->open, 0);
	if (file->view == MAP_FAILED)
		fail("mmap");
}

static void look(const struct file *file, long first, long count, unsigned char *cached)
{
	if (mincore(file->view + first * PAGE, (size_t)count * PAGE, cached))
		fail("mincore");
}

static long present(const char *start, long count)
{
	static uint64_t entries[4 * WINDOW];
	long found = 0;

	if (pread(pagemap, entries, (size_t)count * 8, (off_t)((uintptr_t)start / PAGE * 8)) != count * 8)
		fail("pagemap");
	for (long i = 0; i < count; i++)
		found += entries[i] >> 63 & 1;
	return found;
}

/* A read (pages > 0 bytes) or an access to the mapping (bytes 0). */
static void run(struct file *file, long offset, long bytes)
{
	static unsigned char before[4 * WINDOW], after[4 * WINDOW];
	static char buffer[LARGEST];
	long page = offset / PAGE, last = (offset + (bytes ? bytes : 1) - 1) / PAGE, mapped = 0;
	long first = page > WINDOW ? page - WINDOW : 0, end = last + 2 * WINDOW < file->pages ? last + 2 * WINDOW : file->pages;
	long count = end - first;

	if (bytes > LARGEST || count > 4 * WINDOW)
		fail("an event of this size");
	look(file, first, count, before);
	if (bytes) {
		if (pread(file->open, buffer, (size_t)bytes, offset) < 0)
			fail("read");
	} else {
		mapped = -present(file->mapping + first * PAGE, count);
		(void)*(volatile char *)(file->mapping + offset);
		mapped += present(file->mapping + first * PAGE, count);
	}
	look(file, first, count, after);
	for (long i = 0, next; i < count; i = next) {
		int is_new = after[i] & 1 && !(before[i] & 1);

		for (next = i + 1; next < count && (after[next] & 1 && !(before[next] & 1)) == is_new; next++)
			;
		if (is_new)
			printf("%ld+%ld ", first + i, next - i);
	}
	if (!bytes)
		printf("mapped=%ld", mapped);
	putchar('\n');
}

int main(int argc, char **argv)
{
	char line[128];
	FILE *events = argc == 3 ? fopen(argv[1], "r") : NULL;
	struct file *mapped = NULL;
	long number, offset, bytes;
	unsigned long address, base = 0;

	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (!events || pagemap < 0)
		return 2;
	while (fgets(line, sizeof(line), events)) {
		if (sscanf(line, "file %ld", &number) == 1) {
			open_file(argv[2], number);
		} else if (sscanf(line, "read %ld %ld %ld", &number, &offset, &bytes) == 3) {
			run(file_at(number), offset, bytes);
		} else if (sscanf(line, "mmap %lx %li r file=%ld", &address, &bytes, &number) == 3) {
			mapped = file_at(number);
			base = address;
			mapped->mapping = mmap((void *)address, (size_t)bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED_NOREPLACE, mapped->open, 0);
			if (mapped->mapping != (char *)address)
				fail("mmap");
		} else if (sscanf(line, "touch %lx r", &address) == 1 && mapped) {
			run(mapped, (long)(address - base), 0);
		} else {
			fprintf(stderr, "files: cannot read %s\n", line);
			return 1;
		}
	}
	return 0;
}
