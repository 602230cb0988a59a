// SPDX-License-Identifier: GPL-2.0
/*
 * firsttouch MEGABYTES PATTERN SECONDS: touches memory by a pattern, which decides the nodes of its page tables
 * (section 3.1 of the Mitosis paper); then threads on all processors read it.
 *
 * PATTERN "one": a single thread writes everything, as OpenMP programs often do (observation 2);
 *         "blocks": each thread writes a contiguous block;
 *         "pages": threads write pages in turn, so the first writer decides the node of a table (observation 1).
 * Prints "ready" on standard output after all writes.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL

static char *memory;
static size_t pages;
static int threads;
static char pattern;
static pthread_barrier_t written;
static atomic_bool stop;

static void write_page(size_t page)
{
	*(volatile size_t *)(memory + page * PAGE) = page;
}

static void *run(void *argument)
{
	size_t number = (size_t)argument;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(number, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	if (pattern == 'o' && number == 0)
		for (size_t page = 0; page < pages; page++)
			write_page(page);
	if (pattern == 'b')
		for (size_t page = number * pages / threads; page < (number + 1) * pages / threads; page++)
			write_page(page);
	if (pattern == 'p')
		for (size_t page = number; page < pages; page += threads)
			write_page(page);
	pthread_barrier_wait(&written);
	while (!atomic_load(&stop))
		for (size_t page = 0; page < pages; page++)
			if (*(volatile size_t *)(memory + page * PAGE) != page)
				abort();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];

	pages = argc > 3 ? strtoul(argv[1], NULL, 0) << 8 : 0;
	if (!pages || (strcmp(argv[2], "one") && strcmp(argv[2], "blocks") && strcmp(argv[2], "pages"))) {
		fprintf(stderr, "usage: firsttouch MEGABYTES one|blocks|pages SECONDS\n");
		return 2;
	}
	pattern = argv[2][0];
	threads = sysconf(_SC_NPROCESSORS_ONLN) < 64 ? sysconf(_SC_NPROCESSORS_ONLN) : 64;
	memory = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	pthread_barrier_init(&written, NULL, threads + 1);
	for (size_t i = 0; i < (size_t)threads; i++)
		if (pthread_create(&thread[i], NULL, run, (void *)i))
			return 1;
	pthread_barrier_wait(&written);
	puts("ready");
	fflush(stdout);
	sleep(atoi(argv[3]));
	atomic_store(&stop, true);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
