// SPDX-License-Identifier: GPL-2.0
/* What each page holds: a word that names its last write, 512 times. Checks read every byte. */
#include "lives.h"

#include <setjmp.h>
#include <signal.h>

#define WORDS (PAGE / sizeof(uint64_t))

/*
 * Slots lie side by side in one table of the second level, across a border between
 * two of them, and across a border between two entries of the root.
 */
char *slot_base(int slot)
{
	static const unsigned long bases[SLOTS] = {
		0x200000000000, 0x200002000000, 0x200004000000, 0x200006000000,
		0x20007fe00000, 0x2000bfc00000, 0x207fffe00000, 0x20ffffc00000,
	};

	return (char *)bases[slot];
}

char *address_of(const struct region *region, unsigned int page)
{
	return slot_base(region - regions) + (region->start + page) * PAGE;
}

/* Where the model keeps what the page holds now. */
uint32_t *value_of(struct region *region, unsigned int page)
{
	if (region->kind == ANON || region->kind == POOL || region->page[page].state & OWN)
		return &region->page[page].value;
	return &files->value[region->file][region->offset + page];
}

static uint64_t word_of(uint32_t value)
{
	return value ? value * 0x9e3779b97f4a7c15ULL | 1 : 0;
}

void write_pages(struct region *region, unsigned int from, unsigned int count)
{
	for (unsigned int i = from; i < from + count; i++) {
		volatile uint64_t *memory = (volatile uint64_t *)address_of(region, i);
		struct page *page = &region->page[i];
		uint64_t word;

		if (!(page->state & WRITABLE))
			continue;
		if (region->kind == PRIVATE)
			page->state |= OWN;
		page->state &= ~EITHER;
		*value_of(region, i) = ++life.last_value;
		word = word_of(life.last_value);
		for (unsigned int k = 0; k < WORDS; k++)
			memory[k] = word;
	}
}

void check_pages(struct region *region, unsigned int from, unsigned int count)
{
	for (unsigned int i = from; i < from + count; i++) {
		const volatile uint64_t *memory = (const volatile uint64_t *)address_of(region, i);
		struct page *page = &region->page[i];
		uint64_t word, found;

		if (!(page->state & READABLE))
			continue;
		if (page->state & EITHER && !memory[0]) {
			*value_of(region, i) = 0;
			page->state &= ~EITHER;
		}
		word = word_of(*value_of(region, i));
		for (unsigned int k = 0; k < WORDS; k++) {
			found = memory[k];
			if (found == word)
				continue;
			say("WRONG region %d page %u word %u holds %016lx, not %016lx%s\n", (int)(region - regions),
			    i, k, found, word, page->state & EITHER ? " or 0" : "");
			die("wrong contents in operation %u of process %u", life.done, life.process);
		}
	}
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
	siglongjmp(after_fault, number);
}

/* Whether reading (or writing) faults. A write that does not fault leaves the value as it was. */
bool faults(char *address, bool write)
{
	struct sigaction action = { .sa_handler = on_fault }, old[2];
	volatile bool faulted = false;

	sigaction(SIGSEGV, &action, &old[0]);
	sigaction(SIGBUS, &action, &old[1]);
	if (sigsetjmp(after_fault, 1))
		faulted = true;
	else if (write)
		__atomic_fetch_or((unsigned long *)address, 0, __ATOMIC_SEQ_CST);
	else
		(void)*(volatile char *)address;
	sigaction(SIGSEGV, &old[0], NULL);
	sigaction(SIGBUS, &old[1], NULL);
	return faulted;
}
