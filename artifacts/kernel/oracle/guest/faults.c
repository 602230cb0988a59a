// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults EVENTS: runs memory calls and accesses of a file, in the format of tessera-vm.
 *
 * Known events: mmap ADDR LEN rw, munmap ADDR LEN, touch ADDR r|w [LEN], madvise ADDR LEN hugepage|nohugepage|dontneed.
 * `# look NAME` asks the host to read the guest's memory, through descriptor 9 (the second serial port). Other lines that start with
 * # are comments. All events are parsed first, so that nothing but the events allocates memory between two looks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum kind { MAP, UNMAP, READ, WRITE, ADVISE, LOOK };

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

/* 1 if the line is an event. */
static int parse(const char *line, struct event *event)
{
	char word[32] = "", third[32] = "", fourth[32] = "";
	unsigned long start = 0;

	if (sscanf(line, "# look %31s", event->name) == 1) {
		event->kind = LOOK;
		return 1;
	}
	if (line[0] == '#')
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
		event->kind = MAP;
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

static void run(const struct event *event)
{
	switch (event->kind) {
	case MAP:
		if (mmap(event->start, event->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
		    event->start)
			fail("mmap");
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
		for (size_t at = 0; at < event->bytes; at += PAGE)
			(void)*(volatile char *)(event->start + at);
		break;
	case WRITE:
		for (size_t at = 0; at < event->bytes; at += PAGE)
			*(volatile char *)(event->start + at) = 1;
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
