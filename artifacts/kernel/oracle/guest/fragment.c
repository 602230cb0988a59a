// SPDX-License-Identifier: GPL-2.0-only
/*
 * fragment LEAVE RUN KEEP: leaves free memory in pieces, then waits for a signal.
 *
 * Touches the free memory but LEAVE kB in 4KB pages, then gives back runs of 1 to RUN pages and keeps the page behind each run. KEEP runs
 * of each 100 stay. Prints "ready" when this is done.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t page = 4096, leave = argc == 4 ? strtoul(argv[1], NULL, 10) / 4 : 0;
	size_t longest = argc == 4 ? strtoul(argv[2], NULL, 10) : 1, keep = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	size_t available = (size_t)sysconf(_SC_AVPHYS_PAGES), pages = leave < available ? available - leave : 0;
	uint64_t random = 1;
	char *memory = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (leave < 1 || pages < 1 || longest < 1 || memory == MAP_FAILED)
		return 2;
	madvise(memory, pages * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		memory[i * page] = 1;
	for (size_t i = 0, run; i < pages; i += run + 1) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		run = 1 + (random >> 33) % longest;
		if (i + run > pages)
			run = pages - i;
		if ((random >> 40) % 100 >= keep)
			madvise(memory + i * page, run * page, MADV_DONTNEED);
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
