// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults EVENTS: runs memory calls and accesses of a file, in the format of tessera-vm.
 *
 * Known events: mmap ADDR LEN rw [hugetlb=2MB], munmap ADDR LEN, touch ADDR r|w [LEN], compact, reclaim LEN, hugetlb 2MB N,
 * idle kswapd, madvise ADDR LEN hugepage|nohugepage|dontneed. `pages` is for the imitation only.
 * `# drain` sends every processor's batches of new pages to the LRU lists (a write to drop_caches does so first).
 * `# alone` locks this program's pages, and swaps out those of its parents, so that the evictable LRU lists are empty.
 *   The process with the number in KSWAPD, kswapd, gets a real-time priority: it works as soon as an access that woke it ends.
 * `# first` gives this program a real-time priority: no worker of the kernel runs before the next look.
 * `idle kswapd`: from then on, this program sleeps after each access that kswapd interrupted, for longer than kswapd waits before it
 *   looks once more and sleeps, too. Before it: `# first`, so that nothing but kswapd interrupts this program.
 * `# look NAME` asks the host to read the guest's memory, through descriptor 9 (the second serial port). Other lines that start with
 * # are comments. All events are parsed first, so that nothing but the events allocates memory between two looks.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { MAP, MAP_HUGE, UNMAP, READ, WRITE, ADVISE, COMPACT, POOL, DRAIN, ALONE, FIRST, IDLE, RECLAIM, LOOK };

struct event {
	enum kind kind;
	int advice;
	char *start;
	size_t bytes;
	char name[32];
};

enum { PAGE = 4096, MOST = 200000 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int advice_of(const char *word)
{
	if (strcmp(word, "hugepage") == 0)
		return MADV_HUGEPAGE;
	if (strcmp(word, "nohugepage") == 0)
		return MADV_NOHUGEPAGE;
	if (strcmp(word, "dontneed") == 0)
		return MADV_DONTNEED;
	fprintf(stderr, "faults: unknown advice %s\n", word);
	exit(1);
}

static void write_number(const char *path, size_t number)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%zu", number), file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, (size_t)length) != length)
		fail(path);
	close(file);
}

/* Events of the whole machine; 1 if the line is one. */
static int parse_own(const char *line, struct event *event)
{
	static const struct {
		const char *word;
		enum kind kind;
	} words[] = { { "# drain", DRAIN }, { "# alone", ALONE }, { "# first", FIRST }, { "idle kswapd", IDLE },
		      { "compact", COMPACT }, { "reclaim", RECLAIM }, { "hugetlb 2MB", POOL } };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strncmp(line, words[i].word, strlen(words[i].word)) == 0) {
			event->kind = words[i].kind;
			event->bytes = strtoul(line + strlen(words[i].word), NULL, 0);
			return 1;
		}
	return 0;
}

/* 1 if the line is an event. */
static int parse(const char *line, struct event *event)
{
	char word[32] = "", third[32] = "", fourth[32] = "";
	unsigned long start = 0;

	if (sscanf(line, "# look %31s", event->name) == 1) {
		event->kind = LOOK;
		return 1;
	}
	if (parse_own(line, event))
		return 1;
	if (line[0] == '#' || strncmp(line, "pages ", 6) == 0)
		return 0;
	if (sscanf(line, "%31s %lx %31s %31s", word, &start, third, fourth) < 3) {
		fprintf(stderr, "faults: cannot read %s\n", line);
		exit(1);
	}
	event->start = (char *)start;
	event->bytes = strtoul(third, NULL, 0);
	if (strcmp(word, "touch") == 0) {
		event->kind = third[0] == 'w' ? WRITE : READ;
		event->bytes = fourth[0] ? strtoul(fourth, NULL, 0) : PAGE;
	} else if (strcmp(word, "mmap") == 0) {
		event->kind = strstr(line, "hugetlb=2MB") ? MAP_HUGE : MAP;
	} else if (strcmp(word, "munmap") == 0) {
		event->kind = UNMAP;
	} else if (strcmp(word, "madvise") == 0) {
		event->kind = ADVISE;
		event->advice = advice_of(fourth);
	} else {
		fprintf(stderr, "faults: unknown event %s\n", word);
		exit(1);
	}
	return 1;
}

static void look(const char *name)
{
	char text[64], answer[8];
	int length = snprintf(text, sizeof(text), "@walk %s\n", name), got = 0;

	if (write(9, text, (size_t)length) != length)
		fail("look");
	do {
		if (read(9, answer, 1) != 1)
			fail("look");
		got++;
	} while (answer[0] != '\n' && got < 64);
}

/* Swaps out a writable private area of another process. */
static void page_out(int process, unsigned long start, unsigned long end)
{
	struct iovec range = { (void *)start, end - start };

	syscall(SYS_process_madvise, process, &range, 1ul, MADV_PAGEOUT, 0u);
}

static void page_out_process(pid_t pid)
{
	char path[64], line[256], rights[8];
	unsigned long start, end;
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "r");
	if (!maps || process < 0)
		fail(path);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && start < 1ul << 47)
			page_out(process, start, end);
	fclose(maps);
	close(process);
}

static void be_first(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		fail("real-time priority");
}

static long interrupted = -1; /* times that another program took the processor; -1: it does not matter */

static long interruptions(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		fail("getrusage");
	return usage.ru_nivcsw;
}

static void sleep_after_kswapd(void)
{
	const struct timespec half = { .tv_nsec = 500000000 };

	if (interrupted < 0 || interruptions() == interrupted)
		return;
	nanosleep(&half, NULL);
	interrupted = interruptions();
}

static void stay_alone(void)
{
	const struct sched_param first = { .sched_priority = 50 };
	const char *kswapd = getenv("KSWAPD");

	if (kswapd && sched_setscheduler(atoi(kswapd), SCHED_FIFO, &first))
		fail("kswapd");
	if (mlockall(MCL_CURRENT))
		fail("mlockall");
	page_out_process(1);
	page_out_process(getppid());
	if (mlockall(MCL_CURRENT)) /* what the calls above touched */
		fail("mlockall");
}

static void map(const struct event *event, int flags)
{
	flags |= MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	if (mmap(event->start, event->bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != event->start)
		fail("mmap");
}

static void run(const struct event *event)
{
	switch (event->kind) {
	case MAP:
		map(event, 0);
		break;
	case MAP_HUGE:
		map(event, MAP_HUGETLB);
		break;
	case COMPACT:
		write_number("/proc/sys/vm/compact_memory", 1);
		break;
	case ALONE:
		stay_alone();
		break;
	case FIRST:
		be_first();
		break;
	case IDLE:
		interrupted = interruptions();
		break;
	case RECLAIM:
		write_number("/sys/fs/cgroup/memory.reclaim", event->bytes);
		break;
	case DRAIN:
		write_number("/proc/sys/vm/drop_caches", 1);
		break;
	case POOL:
		write_number("/proc/sys/vm/nr_hugepages", event->bytes);
		break;
	case UNMAP:
		if (munmap(event->start, event->bytes))
			fail("munmap");
		break;
	case ADVISE:
		if (madvise(event->start, event->bytes, event->advice))
			fail("madvise");
		break;
	case READ:
		for (size_t at = 0; at < event->bytes; at += PAGE) {
			(void)*(volatile char *)(event->start + at);
			sleep_after_kswapd();
		}
		break;
	case WRITE:
		for (size_t at = 0; at < event->bytes; at += PAGE) {
			*(volatile char *)(event->start + at) = 1;
			sleep_after_kswapd();
		}
		break;
	case LOOK:
		look(event->name);
	}
}

int main(int argc, char **argv)
{
	static struct event events[MOST];
	char line[128];
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	int count = 0;

	if (!file)
		return 2;
	while (count < MOST && fgets(line, sizeof(line), file))
		count += parse(line, &events[count]);
	fclose(file);
	/* The path of a look, once: its tty buffers and this program's pages are there afterwards. */
	look("ready");
	for (int i = 0; i < count; i++)
		run(&events[i]);
	return 0;
}
