// SPDX-License-Identifier: GPL-2.0-only
/*
 * copies EVENTS: a process and its child write pages that they share, and prints which writes got another frame.
 *
 * Events, in the format of tessera-vm: mmap ADDR LEN rw, madvise ADDR LEN nohugepage, touch ADDR r|w [LEN], fork N, process N, exit.
 * The first process is 0. From `fork N` to `exit` there is a child N; after `process N` events run in that process, and the other one
 * waits. `exit` ends the child.
 * Prints a letter for each touch of one page: n no frame before (or the zero page), s the same frame, o another frame
 * (/proc/self/pagemap).
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, MOST = 100000 };

struct event {
	char kind; /* m(map) a(dvise) r(ead) w(rite) f(ork) p(rocess) e(xit) */
	int process;
	char *start;
	size_t bytes;
};

static struct event events[MOST];
static int count, pagemap, is_child;
static int turn[2][2]; /* pipes to the parent and to the child: the index of the event that the other one goes on with */
static char *letters;  /* of each event; both processes write it */

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int parse(const char *line, struct event *event)
{
	char word[32] = "", second[32] = "", third[32] = "", fourth[32] = "";
	int words = sscanf(line, "%31s %31s %31s %31s", word, second, third, fourth);

	event->kind = strcmp(word, "madvise") ? word[0] : 'a';
	event->start = (char *)strtoul(second, NULL, 0);
	event->process = atoi(second);
	event->bytes = strtoul(third, NULL, 0);
	if (event->kind == 't') {
		event->kind = third[0];
		event->bytes = fourth[0] ? strtoul(fourth, NULL, 0) : PAGE;
	}
	return words >= 1;
}

static void open_pagemap(void)
{
	pagemap = open("/proc/self/pagemap", O_RDONLY);
	if (pagemap < 0)
		fail("pagemap");
}

static uint64_t frame_of(const char *page)
{
	uint64_t entry;

	if (pread(pagemap, &entry, 8, (off_t)((uintptr_t)page / PAGE * 8)) != 8)
		fail("pagemap");
	return entry >> 63 ? entry & ((1ull << 55) - 1) : 0;
}

static void touch(const struct event *event, int index)
{
	uint64_t before = frame_of(event->start), after;

	for (size_t at = 0; at < event->bytes; at += PAGE)
		if (event->kind == 'w')
			*(volatile char *)(event->start + at) = (char)index;
		else
			(void)*(volatile char *)(event->start + at);
	after = frame_of(event->start);
	if (event->bytes == PAGE)
		letters[index] = !before ? 'n' : before == after ? 's' : 'o';
}

static int wait_for_turn(void)
{
	int index;

	if (read(turn[is_child][0], &index, sizeof(index)) != sizeof(index))
		fail("turn");
	return index;
}

/* The other process goes on with event `index`; returns the event that this one goes on with, later. */
static int hand_over(int index)
{
	if (write(turn[!is_child][1], &index, sizeof(index)) != sizeof(index))
		fail("turn");
	if (is_child && events[index - 1].kind == 'e')
		_exit(0);
	index = wait_for_turn();
	if (events[index - 1].kind == 'e') /* the child's memory is free only then */
		wait(NULL);
	return index;
}

/* Runs an event; returns the index of the next one of this process. */
static int run(const struct event *event, int index)
{
	switch (event->kind) {
	case 'm':
		if (mmap(event->start, event->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
		    event->start)
			fail("mmap");
		return index + 1;
	case 'a':
		if (madvise(event->start, event->bytes, MADV_NOHUGEPAGE))
			fail("madvise");
		return index + 1;
	case 'r':
	case 'w':
		touch(event, index);
		return index + 1;
	case 'f':
		switch (fork()) {
		case -1:
			fail("fork");
			break;
		case 0:
			is_child = 1;
			close(pagemap);
			open_pagemap();
			return wait_for_turn();
		}
		return index + 1;
	case 'p':
		return (event->process > 0) == is_child ? index + 1 : hand_over(index + 1);
	case 'e':
		return hand_over(index + 1);
	}
	fprintf(stderr, "copies: unknown event %c\n", event->kind);
	exit(1);
}

int main(int argc, char **argv)
{
	char line[128];
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!file)
		return 2;
	while (count < MOST && fgets(line, sizeof(line), file))
		count += parse(line, &events[count]);
	fclose(file);
	letters = mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (letters == MAP_FAILED || pipe(turn[0]) || pipe(turn[1]))
		fail("setup");
	open_pagemap();
	for (int i = 0; i < count;)
		i = run(&events[i], i);
	for (int i = 0; i < count; i++)
		if (letters[i])
			putchar(letters[i]);
	putchar('\n');
	return 0;
}
