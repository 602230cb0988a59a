// SPDX-License-Identifier: GPL-2.0-only
/*
 * swaps EVENTS: swaps memory out and in, and prints which slots pages got, and which pages each access brought into memory.
 *
 * Events, in the format of tessera-vm: mmap ADDR LEN rw (one area), madvise ADDR LEN nohugepage|pageout, touch ADDR r|w [LEN],
 * fork N, process N, exit, pages ADDR LEN. A child N only waits, so that swap entries have two owners; `process N` and `exit` end it.
 * Prints
 *   for each touch without LEN a letter: p the page was mapped, c it was in the swap cache, s it was in swap only, n nothing was there;
 *     and the runs FIRST+COUNT of pages that are in memory now and were not before (mincore sees mapped pages and the swap cache), from
 *     WINDOW below to WINDOW above, counted from the start of the area;
 *   for `pages` the runs of swapped pages FIRST+COUNT=SLOT, slots ascending (/proc/self/pagemap), in one line.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MOST_PAGES = 65536, WINDOW = 64 };

static char *area;
static long area_pages;
static int pagemap;
static pid_t child;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t entry_of(long page)
{
	uint64_t entry;

	if (pread(pagemap, &entry, 8, (off_t)((uintptr_t)area / PAGE + page) * 8) != 8)
		fail("pagemap");
	return entry;
}

static void look(long first, long count, unsigned char *resident)
{
	if (mincore(area + first * PAGE, (size_t)count * PAGE, resident))
		fail("mincore");
}

static void access_pages(long page, long pages, int is_write)
{
	for (; pages > 0; page++, pages--)
		if (is_write)
			*(volatile char *)(area + page * PAGE) = (char)(page % 255 + 1); /* a page of zeros is not written to swap */
		else
			(void)*(volatile char *)(area + page * PAGE);
}

static void touch(long page, int is_write)
{
	static unsigned char before[2 * WINDOW + 1], after[2 * WINDOW + 1];
	long first = page > WINDOW ? page - WINDOW : 0, end = page + WINDOW < area_pages ? page + WINDOW : area_pages, next;
	uint64_t entry = entry_of(page);

	look(first, end - first, before);
	access_pages(page, 1, is_write);
	look(first, end - first, after);
	putchar(entry >> 63 ? 'p' : !(entry >> 62 & 1) ? 'n' : before[page - first] & 1 ? 'c' : 's');
	for (long i = 0; i < end - first; i = next) {
		int is_new = after[i] & 1 && !(before[i] & 1);

		for (next = i + 1; next < end - first && (after[next] & 1 && !(before[next] & 1)) == is_new; next++)
			;
		if (is_new)
			printf(" %ld+%ld", first + i, next - i);
	}
	putchar('\n');
}

/* Slot of a swapped page; 0 if it is not swapped. Slot 0 is the area's header. */
static uint64_t slot_of(long page)
{
	uint64_t entry = entry_of(page);

	return !(entry >> 63) && entry >> 62 & 1 ? entry >> 5 & ((1ull << 50) - 1) : 0;
}

static void print_slots(void)
{
	long count;

	for (long page = 0; page < area_pages; page += count) {
		uint64_t slot = slot_of(page);

		for (count = 1; slot && page + count < area_pages && slot_of(page + count) == slot + count; count++)
			;
		if (slot)
			printf("%ld+%ld=%llu ", page, count, (unsigned long long)slot);
	}
	putchar('\n');
}

static void start_child(void)
{
	child = fork();
	if (child < 0)
		fail("fork");
	while (!child)
		pause();
}

static void end_child(void)
{
	if (kill(child, SIGKILL) || waitpid(child, NULL, 0) != child)
		fail("child");
	child = 0;
}

static void advise(const char *start, size_t bytes, const char *word)
{
	int advice = strcmp(word, "pageout") == 0 ? MADV_PAGEOUT : strcmp(word, "nohugepage") == 0 ? MADV_NOHUGEPAGE : -1;

	if (madvise((char *)start, bytes, advice))
		fail(word);
}

static void map(char *start, size_t bytes)
{
	if (area || bytes > (size_t)MOST_PAGES * PAGE)
		fail("one area of at most 256 MB");
	area = mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (area != start)
		fail("mmap");
	area_pages = (long)(bytes / PAGE);
}

static int run(const char *line)
{
	char third[32] = "", fourth[32] = "";
	unsigned long start = 0;
	int words;

	if (strncmp(line, "fork", 4) == 0)
		start_child();
	else if (strncmp(line, "exit", 4) == 0)
		end_child();
	else if (strncmp(line, "pages", 5) == 0)
		print_slots();
	else if (sscanf(line, "mmap %lx %31s", &start, third) == 2)
		map((char *)start, strtoul(third, NULL, 0));
	else if (sscanf(line, "madvise %lx %31s %31s", &start, third, fourth) == 3)
		advise((char *)start, strtoul(third, NULL, 0), fourth);
	else if ((words = sscanf(line, "touch %lx %31s %31s", &start, third, fourth)) == 2)
		touch(((char *)start - area) / PAGE, third[0] == 'w');
	else if (words == 3)
		access_pages(((char *)start - area) / PAGE, (long)(strtoul(fourth, NULL, 0) / PAGE), third[0] == 'w');
	else if (strncmp(line, "process", 7) != 0)
		return 0;
	return 1;
}

int main(int argc, char **argv)
{
	char line[128];
	FILE *events = argc == 2 ? fopen(argv[1], "r") : NULL;

	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (!events || pagemap < 0)
		return 2;
	while (fgets(line, sizeof(line), events))
		if (!run(line)) {
			fprintf(stderr, "swaps: cannot read %s\n", line);
			return 1;
		}
	return 0;
}
