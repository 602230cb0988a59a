// SPDX-License-Identifier: GPL-2.0
/*
 * Operations on regions. Each prints one line with its range and result; which one comes, and
 * its range, depend on the dice and on the model only, never on what the kernel answered.
 */
#include "lives.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#define POOLS 2			/* regions of huge pages of the pool */
#define SCRATCH_PAGES 64	/* more than the kernel flushes one by one */
#define MOVE_PAGES 512u		/* in one call of move_pages */

static const char *const kind_names[] = { "anon", "shared", "private", "pool", "pool-shared" };

struct range {
	struct region *region;
	unsigned int from, count;
};

static bool in_pool(const struct region *region)
{
	return region->kind == POOL || region->kind == POOL_SHARED;
}

static void *start_of(const struct range *range)
{
	return address_of(range->region, range->from);
}

static size_t bytes_of(const struct range *range)
{
	return range->count * PAGE;
}

static int number_of(const struct region *region)
{
	return region - regions;
}

static void report(const char *what, const struct range *range, long result)
{
	say("op %u.%u %s region %d pages %u+%u = %ld\n", life.process, life.done, what, number_of(range->region),
	    range->from, range->count, result ? (long)-errno : 0);
}

/*
 * Pages wait in lists of each processor before they join the kernel's LRU lists, and are not
 * paged out or lazily freed meanwhile: move_pages() of nothing empties these lists.
 */
static void drain_lists(void)
{
	void *page = NULL;
	int node = 0, status = 0;

	syscall(SYS_move_pages, 0, 0UL, &page, &node, &status, MPOL_MF_MOVE);
}

/* The kernel may clear accessed bits and flush later; a translation in a TLB would set none. */
static void flush_tlbs(void)
{
	static char *scratch;

	if (!scratch) {
		scratch = mmap(NULL, SCRATCH_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (scratch == MAP_FAILED)
			die("mmap of a scratch region");
	}
	for (int i = 0; i < SCRATCH_PAGES; i++)
		*(volatile char *)(scratch + i * PAGE) = 1;
	if (mprotect(scratch, SCRATCH_PAGES * PAGE, PROT_READ) ||
	    mprotect(scratch, SCRATCH_PAGES * PAGE, PROT_READ | PROT_WRITE))
		die("mprotect of the scratch region");
}

void open_files(void)
{
	for (int i = 0; i < FILES; i++) {
		life.files[i] = -1;
		if (i == POOL_FILE && !life.pool)
			continue;
		life.files[i] = memfd_create("lives", i == POOL_FILE ? MFD_HUGETLB : 0);
		if (life.files[i] < 0 ||
		    ftruncate(life.files[i], PAGE * (i == POOL_FILE ? POOL_FILE_PAGES : REGION_PAGES)))
			die("memfd %d", i);
	}
}

/* A used region is the one of the last operation half of the time: chains of operations on one are rare otherwise. */
static struct region *pick_region(struct dice *dice, bool used)
{
	static int last;
	int first = roll(dice, SLOTS), stay = roll(dice, 2);

	if (used && stay && regions[last].used)
		return &regions[last];
	for (int i = 0; i < SLOTS; i++)
		if (regions[(first + i) % SLOTS].used == used) {
			last = (first + i) % SLOTS;
			return &regions[last];
		}
	return NULL;
}

/* Half of the time all of a region, else whole huge pages of it, or any pages. */
static struct range pick_range(struct dice *dice)
{
	struct range range = { .region = pick_region(dice, true) };
	unsigned int form = roll(dice, 4), first = roll(dice, REGION_PAGES), length = roll(dice, REGION_PAGES), end;
	struct region *region = range.region;

	if (!region)
		return range;
	range.count = region->pages;
	if (form < 2)
		return range;
	range.from = first % region->pages;
	range.count = 1 + length % (region->pages - range.from);
	if (form == 2 || in_pool(region)) {
		/* Borders of huge pages are those of addresses. */
		unsigned int skew = region->start % HUGE_PAGES;

		first = (range.from + skew) / HUGE_PAGES * HUGE_PAGES;
		end = (range.from + range.count + skew + HUGE_PAGES - 1) / HUGE_PAGES * HUGE_PAGES;
		range.from = first > skew ? first - skew : 0;
		range.count = (end - skew < region->pages ? end - skew : region->pages) - range.from;
	}
	return range;
}

/* Cut the range where the first unmapped page is; whether anything is left. */
static bool cut_at_hole(struct range *range)
{
	const struct page *page = range->region->page + range->from;
	unsigned int count = 0;

	while (count < range->count && page[count].state & MAPPED)
		count++;
	range->count = count;
	return count > 0;
}

static void drop_if_empty(struct region *region)
{
	for (unsigned int i = 0; i < region->pages; i++)
		if (region->page[i].state & MAPPED)
			return;
	region->used = false;
}

static void advise_range(const char *name, const struct range *range, int advice)
{
	drain_lists();
	report(name, range, madvise(start_of(range), bytes_of(range), advice));
	drain_lists();
	flush_tlbs();
}

static void advise(struct dice *dice, const char *name, int advice)
{
	struct range range = pick_range(dice);

	if (range.region && !in_pool(range.region))
		advise_range(name, &range, advice);
}

/*
 * Linux marks a page lazily freed although another process maps it, if neither the page nor its entry is
 * dirty: a page that was read from swap, before a fork. The other process may lose it then. So a process
 * with relatives frees only what it has just written.
 */
static void free_range(const char *name, const struct range *range)
{
	bool alone = !life.process;

	for (int i = 0; i < CHILDREN; i++)
		alone = alone && !life.children[i].pid;
	for (unsigned int i = range->from; !alone && i < range->from + range->count; i++)
		if (!(range->region->page[i].state & WRITABLE))
			return;
	if (!alone)
		write_pages(range->region, range->from, range->count);
	advise_range(name, range, MADV_FREE);
	for (unsigned int i = range->from; i < range->from + range->count; i++)
		if (range->region->page[i].state & MAPPED && range->region->page[i].value)
			range->region->page[i].state |= EITHER;
}

static void do_map(struct dice *dice)
{
	static const enum kind kinds[] = { ANON, ANON, ANON, ANON, ANON, SHARED, SHARED, PRIVATE, POOL, POOL_SHARED };
	struct region *region = pick_region(dice, false);
	enum kind kind = kinds[roll(dice, sizeof(kinds) / sizeof(*kinds))];
	unsigned int pages = 1 + roll(dice, REGION_PAGES), start = roll(dice, 2 * REGION_PAGES);
	unsigned int aligned = roll(dice, 2), huge = roll(dice, 3), file = roll(dice, 2), offset = roll(dice, REGION_PAGES);
	int flags = MAP_FIXED_NOREPLACE | MAP_NORESERVE, pools = 0;
	struct range range;

	if (!region)
		return;
	for (int i = 0; i < SLOTS; i++)
		pools += regions[i].used && in_pool(&regions[i]);
	if ((kind == POOL || kind == POOL_SHARED) && (!life.pool || pools == POOLS))
		kind = ANON;
	if (kind == POOL || kind == POOL_SHARED) {
		pages = (1 + pages % 2) * HUGE_PAGES;
		start = start / HUGE_PAGES * HUGE_PAGES;
		offset = offset / HUGE_PAGES % 2 * HUGE_PAGES;
		file = POOL_FILE;
		flags = MAP_FIXED_NOREPLACE | MAP_HUGETLB;
	} else if (aligned) {
		start = start / HUGE_PAGES * HUGE_PAGES;
		pages = (pages + HUGE_PAGES - 1) / HUGE_PAGES * HUGE_PAGES;
		offset = offset / HUGE_PAGES * HUGE_PAGES;
	}
	if ((kind == SHARED || kind == PRIVATE) && offset + pages > REGION_PAGES)
		pages = REGION_PAGES - offset;
	memset(region, 0, sizeof(*region));
	region->used = true;
	region->kind = kind;
	region->file = file;
	region->start = start;
	region->pages = pages;
	region->offset = kind == ANON || kind == POOL ? 0 : offset;
	for (unsigned int i = 0; i < pages; i++)
		region->page[i].state = MAPPED | READABLE | WRITABLE;
	flags |= kind == SHARED || kind == POOL_SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (kind == ANON || kind == POOL)
		flags |= MAP_ANONYMOUS;
	if (kind == POOL_SHARED)
		flags &= ~MAP_HUGETLB;
	range = (struct range){ region, 0, pages };
	if (mmap(start_of(&range), bytes_of(&range), PROT_READ | PROT_WRITE, flags,
		 flags & MAP_ANONYMOUS ? -1 : life.files[file], region->offset * PAGE) != start_of(&range))
		die("mmap of region %d, %s, %u pages", number_of(region), kind_names[kind], pages);
	if (kind == ANON && life.huge && huge)
		madvise(start_of(&range), bytes_of(&range), MADV_HUGEPAGE);
	say("op %u.%u map %s%s at %u file %d offset %u\n", life.process, life.done, kind_names[kind],
	    kind == ANON && life.huge && huge ? " huge" : "", start, file, region->offset);
	report("map", &range, 0);
}

static void do_unmap(struct dice *dice)
{
	struct range range = pick_range(dice);

	if (!range.region)
		return;
	report("unmap", &range, munmap(start_of(&range), bytes_of(&range)));
	for (int cpu = 0; cpu < life.nr_cpus; cpu++) {
		run_on(cpu);
		if (!faults(start_of(&range), false))
			die("processor %d still reads region %d", cpu, number_of(range.region));
	}
	memset(range.region->page + range.from, 0, range.count * sizeof(struct page));
	drop_if_empty(range.region);
}

/* Read or write in up to three parts, each on another processor. */
static void touch(struct dice *dice, const char *name, void (*with)(struct region *, unsigned int, unsigned int))
{
	struct range range = pick_range(dice);
	unsigned int parts = 1 + roll(dice, 3), from, length;

	if (!range.region)
		return;
	report(name, &range, 0);
	length = (range.count + parts - 1) / parts;
	for (from = 0; from < range.count; from += length) {
		run_on(roll(dice, CPUS));
		with(range.region, range.from + from, range.count - from < length ? range.count - from : length);
	}
}

static void do_write(struct dice *dice)
{
	touch(dice, "write", write_pages);
}

static void do_read(struct dice *dice)
{
	touch(dice, "read", check_pages);
}

/* An access without the right must fault, on every processor. */
static void must_fault(const struct region *region, unsigned int page)
{
	bool write = region->page[page].state & READABLE;

	for (int cpu = 0; cpu < life.nr_cpus; cpu++) {
		run_on(cpu);
		if (!faults(address_of(region, page), write))
			die("page %u of region %d: no fault of a %s on processor %d", page, number_of(region),
			    write ? "write" : "read", cpu);
	}
}

static void do_trespass(struct dice *dice)
{
	struct range range = pick_range(dice);
	unsigned int first = roll(dice, REGION_PAGES);

	if (!range.region)
		return;
	report("trespass", &range, 0);
	for (unsigned int i = 0; i < range.region->pages; i++) {
		unsigned int page = (first + i) % range.region->pages;

		if (range.region->page[page].state & WRITABLE)
			continue;
		must_fault(range.region, page);
		return;
	}
}

static void do_protect(struct dice *dice)
{
	static const int rights[] = { PROT_READ, PROT_READ, PROT_NONE, PROT_READ | PROT_WRITE,
				      PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE };
	struct range range = pick_range(dice);
	int right = rights[roll(dice, 6)];

	if (!range.region || !cut_at_hole(&range))
		return;
	if (mprotect(start_of(&range), bytes_of(&range), right))
		die("mprotect of region %d", number_of(range.region));
	report(right == PROT_NONE ? "protect none" : right == PROT_READ ? "protect read" : "protect write", &range, 0);
	for (unsigned int i = range.from; i < range.from + range.count; i++) {
		uint8_t *state = &range.region->page[i].state;

		*state &= ~(READABLE | WRITABLE);
		*state |= (right & PROT_READ ? READABLE : 0) | (right & PROT_WRITE ? WRITABLE : 0);
	}
	if (!(right & PROT_WRITE))
		must_fault(range.region, range.from + range.count / 2);
}

/* To another slot; with `keep`, the old place stays mapped and empty. */
static void do_move(struct dice *dice)
{
	struct range range = pick_range(dice);
	struct region *source = range.region, *target = pick_region(dice, false);
	unsigned int skew = roll(dice, 2), start = roll(dice, 2 * REGION_PAGES), keep = !roll(dice, 4);
	int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
	long moved;

	if (!source || !target || !cut_at_hole(&range))
		return;
	if (!skew || in_pool(source))	/* at the same place of its tables: whole tables may move */
		start = start / HUGE_PAGES * HUGE_PAGES + (source->start + range.from) % HUGE_PAGES;
	keep = keep && source->kind == ANON;
	if (keep)
		flags |= MREMAP_DONTUNMAP;
	moved = mremap(start_of(&range), bytes_of(&range), bytes_of(&range), flags,
		       slot_base(target - regions) + start * PAGE) == MAP_FAILED;
	report(keep ? "move and keep" : "move", &range, moved);
	if (moved)
		return;
	*target = (struct region){ .used = true, .kind = source->kind, .file = source->file, .start = start,
				   .pages = range.count, .offset = source->offset + range.from };
	memcpy(target->page, source->page + range.from, range.count * sizeof(struct page));
	for (unsigned int i = range.from; i < range.from + range.count; i++) {
		source->page[i].value = 0;
		source->page[i].state &= keep ? MAPPED | READABLE | WRITABLE : 0;
	}
	drop_if_empty(source);
}

static void do_resize(struct dice *dice)
{
	struct region *region = pick_region(dice, true);
	unsigned int pages = 1 + roll(dice, REGION_PAGES);
	struct range range;

	if (!region || in_pool(region))
		return;
	if (region->kind != ANON && region->offset + pages > REGION_PAGES)
		pages = REGION_PAGES - region->offset;
	range = (struct range){ region, 0, region->pages };
	if (!cut_at_hole(&range) || range.count != region->pages)
		return;
	if (mremap(start_of(&range), bytes_of(&range), pages * PAGE, 0) == MAP_FAILED) {
		report("resize", &range, 1);
		return;
	}
	for (unsigned int i = region->pages; i < pages; i++) {
		region->page[i].value = 0;
		region->page[i].state = region->page[0].state & (MAPPED | READABLE | WRITABLE);
	}
	if (pages < region->pages)
		memset(region->page + pages, 0, (region->pages - pages) * sizeof(struct page));
	region->pages = pages;
	range.count = pages;
	report("resize", &range, 0);
}

static void do_dontneed(struct dice *dice)
{
	struct range range = pick_range(dice);

	if (!range.region)
		return;
	report("dontneed", &range, madvise(start_of(&range), bytes_of(&range), MADV_DONTNEED));
	for (unsigned int i = range.from; i < range.from + range.count; i++) {
		range.region->page[i].value = 0;
		range.region->page[i].state &= MAPPED | READABLE | WRITABLE;
	}
}

/* A hole in the file: all its mappings lose the pages, copies of private ones stay. */
static void do_punch(struct dice *dice)
{
	struct range range = pick_range(dice);

	if (!range.region || range.region->kind != SHARED || !cut_at_hole(&range))
		return;
	if (madvise(start_of(&range), bytes_of(&range), MADV_REMOVE))
		die("MADV_REMOVE in region %d", number_of(range.region));
	report("punch", &range, 0);
	memset(&files->value[range.region->file][range.region->offset + range.from], 0,
	       range.count * sizeof(uint32_t));
}

static void do_huge(struct dice *dice)
{
	bool on = roll(dice, 3);

	if (life.huge)
		advise(dice, on ? "hugepage" : "nohugepage", on ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

static void do_free(struct dice *dice)
{
	struct range range = pick_range(dice);

	if (range.region && range.region->kind == ANON)
		free_range("free", &range);
}

static void do_pageout(struct dice *dice)
{
	advise(dice, "pageout", MADV_PAGEOUT);
}

/* As an allocator: memory is written, lazily freed, and written again, from one processor each. */
void reuse(struct dice *dice)
{
	struct range range = pick_range(dice);
	int first = roll(dice, CPUS), second = roll(dice, CPUS);

	if (!range.region || range.region->kind != ANON)
		return;
	run_on(first);
	write_pages(range.region, range.from, range.count);
	free_range("reuse", &range);
	run_on(second);
	write_pages(range.region, range.from, range.count);
}

void drop(struct dice *dice)
{
	do_dontneed(dice);
}

void page_out_all(void)
{
	drain_lists();
	for (int i = 0; i < SLOTS; i++)
		if (regions[i].used && !in_pool(&regions[i]))
			madvise(address_of(&regions[i], 0), regions[i].pages * PAGE, MADV_PAGEOUT);
	drain_lists();
}

static void do_cold(struct dice *dice)
{
	advise(dice, "cold", MADV_COLD);
}

static void do_collapse(struct dice *dice)
{
	if (life.huge)
		advise(dice, "collapse", MADV_COLLAPSE);
}

/* "1": accessed bits of all pages; "4": soft-dirty bits, and writes are trapped. */
static void do_clear_refs(struct dice *dice)
{
	const char *word = roll(dice, 4) ? "1" : "4";
	int fd = open("/proc/self/clear_refs", O_WRONLY);
	int written = fd < 0 ? -1 : write(fd, word, 1);

	say("op %u.%u clear_refs %s = %d\n", life.process, life.done, word, written);
	if (fd >= 0)
		close(fd);
	flush_tlbs();
}

static int node_of(unsigned int choice)
{
	int node = 0;

	choice %= __builtin_popcountl(life.nodes);
	for (node = 0; choice || !(life.nodes >> node & 1); node++)
		choice -= life.nodes >> node & 1;
	return node;
}

/* By mbind (all of the region, so that it stays one mapping) or by move_pages. */
static void do_migrate(struct dice *dice)
{
	static void *pages[MOVE_PAGES];
	static int nodes[MOVE_PAGES], status[MOVE_PAGES];
	struct range range = pick_range(dice);
	int node = node_of(roll(dice, 64));
	bool bind = roll(dice, 2);
	unsigned long mask = 1UL << node;

	if (!range.region || in_pool(range.region))
		return;
	drain_lists();
	if (bind) {
		range.from = 0;
		range.count = range.region->pages;
		report("mbind", &range,
		       syscall(SYS_mbind, start_of(&range), bytes_of(&range), MPOL_BIND, &mask, 64, MPOL_MF_MOVE));
	} else {
		range.count = range.count < MOVE_PAGES ? range.count : MOVE_PAGES;
		for (unsigned int i = 0; i < range.count; i++) {
			pages[i] = address_of(range.region, range.from + i);
			nodes[i] = node;
		}
		report("move_pages", &range,
		       syscall(SYS_move_pages, 0, (unsigned long)range.count, pages, nodes, status, MPOL_MF_MOVE) < 0);
	}
	drain_lists();
	flush_tlbs();
}

struct operation {
	void (*run)(struct dice *dice);
	unsigned int weight;
	bool parent;		/* not for children */
};

static const struct operation operations[] = {
	{ do_write, 22 },
	{ do_read, 12 },
	{ do_map, 10 },
	{ do_unmap, 4 },
	{ do_protect, 8 },
	{ do_trespass, 3 },
	{ do_move, 6, true },
	{ do_resize, 4 },
	{ do_huge, 5 },
	{ do_free, 9 },
	{ do_dontneed, 5 },
	{ do_pageout, 9 },
	{ do_cold, 3 },
	{ do_collapse, 4 },
	{ do_clear_refs, 3 },
	{ do_punch, 2 },
	{ do_migrate, 5 },
	{ fork_now, 5, true },
	{ fork_late, 6, true },
	{ release, 5, true },
	{ exec_again, 1, true },
};

void one_operation(unsigned int number, struct dice *dice)
{
	const struct operation *operation = operations;
	unsigned int sum = 0, rolled;
	int used = 0;

	for (int i = 0; i < SLOTS; i++)
		used += regions[i].used;
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		sum += operations[i].weight;
	rolled = roll(dice, sum);
	while (rolled >= operation->weight)
		rolled -= operation++->weight;
	/* There must be something to work on, and a child must see little enough memory to be done soon. */
	if (used < 3 && !life.process)
		do_map(dice);
	if (!operation->parent || !life.process)
		operation->run(dice);
}
