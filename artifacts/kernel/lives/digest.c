// SPDX-License-Identifier: GPL-2.0
/*
 * What the kernel says of the regions, as lines that two lives of one seed must share.
 *
 * Left out, because they are no function of the sequence: frame numbers and nodes, inodes,
 * Pss (a rounded quotient), the kind of swap entry; Referenced of mappings of files (it includes a flag
 * of the page that batches of each processor set late); the counters of /proc/PID/status that
 * the kernel keeps per processor and sums inexactly.
 */
#include "lives.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FNV_START 0xcbf29ce484222325ULL

static uint64_t hash(uint64_t sum, const void *data, size_t bytes)
{
	for (const unsigned char *at = data; bytes--; at++)
		sum = (sum ^ *at) * 0x100000001b3ULL;
	return sum;
}

/* pagemap: present 63, swapped 62, file or shared 61, mapped once 56, soft-dirty 55. */
static void print_pagemap(int fd, const struct region *region)
{
	static uint64_t entries[REGION_PAGES];
	static const int bits[] = { 63, 62, 61, 56, 55 };
	unsigned int sums[5] = { 0 };
	uint64_t sum = FNV_START;
	off_t at = (unsigned long)address_of(region, 0) / PAGE * sizeof(*entries);
	ssize_t bytes = region->pages * sizeof(*entries);

	if (pread(fd, entries, bytes, at) != bytes)
		die("pagemap");
	for (unsigned int i = 0; i < region->pages; i++) {
		unsigned char kept = 0;

		for (int k = 0; k < 5; k++) {
			kept |= (entries[i] >> bits[k] & 1) << k;
			sums[k] += entries[i] >> bits[k] & 1;
		}
		sum = hash(sum, &kept, 1);
		if (life.verbose && kept)
			say("  pagemap %u %02x\n", i, kept);
	}
	say("pagemap %d present=%u swapped=%u file=%u exclusive=%u soft=%u %016lx\n", (int)(region - regions),
	    sums[0], sums[1], sums[2], sums[3], sums[4], sum);
}

/* One line for each mapping inside the slots. */
static void print_smaps(void)
{
	static const char *const keys[] = {
		"Rss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty", "Referenced", "Anonymous",
		"LazyFree", "AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb",
		"Swap", "Locked", NULL,
	};
	char line[512], made[1024] = "";
	unsigned long first, last, offset;
	char rights[8], name[32];
	bool inside = false, file = false;
	long number;
	FILE *smaps = fopen("/proc/self/smaps", "r");

	if (!smaps)
		die("smaps");
	while (fgets(line, sizeof(line), smaps)) {
		if (sscanf(line, "%lx-%lx %7s %lx", &first, &last, rights, &offset) == 4) {
			inside = first >= (unsigned long)slot_base(0) &&
				 last <= (unsigned long)slot_base(SLOTS - 1) + SLOT_PAGES * PAGE;
			file = strchr(line, '/') != NULL;
			snprintf(made, sizeof(made), "vma %lx-%lx %s %lx", first, last, rights, file ? offset : 0);
		} else if (!inside || sscanf(line, "%31[^:]: %ld", name, &number) < 1) {
			continue;
		} else if (!strcmp(name, "VmFlags")) {
			say("%s %s", made, line);
		} else {
			for (int i = 0; keys[i]; i++)
				if (!strcmp(name, keys[i]) && number &&
				    (strcmp(name, "Referenced") || !(file || life.loose)))
					snprintf(made + strlen(made), sizeof(made) - strlen(made), " %s=%ld", name, number);
		}
	}
	fclose(smaps);
}

/*
 * Lines of the kernel's bits file: address, size, present or prot, w, a, d of all copies together;
 * what follows ("home:...", "node0:...") differs between a life with and one without replicas.
 */
static void print_bits(const struct region *region)
{
	char path[] = "/sys/kernel/debug/pgtable_replication/bits", asked[80], line[1024];
	unsigned int leaves = 0, huge = 0, written = 0, accessed = 0, dirty = 0;
	uint64_t sum = FNV_START;
	FILE *file = fopen(path, "r+");
	char *copies;
	int length;

	if (!file)
		return;
	length = snprintf(asked, sizeof(asked), "%d %lx %lx", getpid(), (unsigned long)address_of(region, 0),
			  (unsigned long)address_of(region, region->pages));
	if (write(fileno(file), asked, length) != length)
		die("write '%s' to %s", asked, path);
	while (fgets(line, sizeof(line), file)) {
		unsigned long address, kilobytes;
		char present[16], w[8], a[8], d[8];

		if (sscanf(line, "%lx %lu %15s %7s %7s %7s", &address, &kilobytes, present, w, a, d) != 6)
			die("%s: line '%s'", path, line);
		leaves++;
		huge += kilobytes > 4;
		written += *w == 'w';
		accessed += *a == 'a';
		dirty += *d == 'd';
		if (life.verbose)
			say("  bits %s", line);
		copies = strstr(line, " home:");
		if (copies)
			*copies = '\0';
		sum = hash(sum, line, strlen(line));
	}
	fclose(file);
	say("bits %d leaves=%u huge=%u writable=%u accessed=%u dirty=%u %016lx\n", (int)(region - regions), leaves,
	    huge, written, accessed, dirty, sum);
}

static void print_contents(struct region *region)
{
	uint64_t sum = FNV_START;
	unsigned int mapped = 0, either = 0;

	for (unsigned int i = 0; i < region->pages; i++) {
		if (!(region->page[i].state & MAPPED))
			continue;
		mapped++;
		either += !!(region->page[i].state & EITHER);
		sum = hash(sum, value_of(region, i), sizeof(uint32_t));
		sum = hash(sum, &region->page[i].state, 1);
	}
	say("model %d mapped=%u either=%u %016lx\n", (int)(region - regions), mapped, either, sum);
}

/* Page tables of the whole process in kB; replicas are counted apart. */
static void print_counters(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "VmPTE:", 6))
			say("counters %s", line);
	if (file)
		fclose(file);
}

void print_digest(const char *when)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0)
		die("pagemap");
	say("digest %s of process %u after %u\n", when, life.process, life.done);
	print_smaps();
	for (int i = 0; i < SLOTS; i++) {
		if (!regions[i].used)
			continue;
		print_contents(&regions[i]);
		print_pagemap(fd, &regions[i]);
		if (!life.loose)
			print_bits(&regions[i]);
	}
	close(fd);
	print_counters();
}
