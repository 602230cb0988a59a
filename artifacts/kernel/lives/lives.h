/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A random life of page tables: operations on memory whose sequence is a function
 * of the seed only, so that two lives with the same seed, one without and one with
 * replicas, must leave the same contents, the same entries and the same bits.
 *
 * life.c: processes and the sequence; operations.c: operations on regions;
 * contents.c: the model of what each page holds, writes and checks; digest.c: what
 * the kernel says of the regions.
 */
#ifndef LIVES_H
#define LIVES_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE 4096UL
#define HUGE_PAGE (2UL << 20)
#define HUGE_PAGES 512u		/* small pages of a huge one */
#define SLOTS 8			/* places for regions, at fixed addresses */
#define SLOT_PAGES 8192u	/* 32 MB, from the slot's base */
#define REGION_PAGES 2048u	/* of the largest region */
#define FILES 3			/* two in shared memory, one of huge pages */
#define POOL_FILE 2
#define POOL_FILE_PAGES (4 * HUGE_PAGES)
#define CHILDREN 2		/* that wait until they are released */
#define CPUS 16

enum kind { ANON, SHARED, PRIVATE, POOL, POOL_SHARED };

/* States of a page of a region. EITHER: lazily freed, so it reads as its value or as zero. */
enum { MAPPED = 1, READABLE = 2, WRITABLE = 4, OWN = 8, EITHER = 16 };

struct page {
	uint32_t value;		/* 0: zeros; a page of a file without OWN has the file's value */
	uint8_t state;
};

struct region {
	bool used;
	enum kind kind;
	int file;
	unsigned int start;	/* first page in its slot */
	unsigned int pages;
	unsigned int offset;	/* in the file, pages */
	struct page page[REGION_PAGES];
};

/* Shared by all processes of a life, and kept over exec: the contents of files. */
struct files {
	uint32_t value[FILES][REGION_PAGES];
};

struct child {
	int pid;		/* 0: none */
	int release;		/* a byte written here lets it go on */
};

/* Kept over exec. */
struct life {
	uint64_t seed;
	unsigned int operations;
	unsigned int done;
	enum mode { PLAIN, REPLICATED, LATE } mode;
	bool verbose;
	bool loose;		/* leave out accessed bits, which a real processor may set by speculation */
	unsigned int process;	/* 0, or the number of a child */
	unsigned int processes;	/* that were forked */
	unsigned int child_operations;
	uint32_t last_value;
	bool huge, pool;	/* what the machine has */
	int nr_cpus, cpus[CPUS];
	unsigned long nodes;
	int files[FILES];
	struct child children[CHILDREN];
};

extern struct life life;
extern struct files *files;
extern struct region regions[SLOTS];

/* Random numbers of one decision: a stream for each (seed, process, operation, purpose). */
struct dice {
	uint64_t state;
};

struct dice dice_for(unsigned int operation, unsigned int purpose);
unsigned int roll(struct dice *dice, unsigned int sides);	/* 0..sides-1 */

/* Output goes unbuffered: processes share it. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void run_on(int cpu);

/* contents.c */
char *slot_base(int slot);
char *address_of(const struct region *region, unsigned int page);
uint32_t *value_of(struct region *region, unsigned int page);
void write_pages(struct region *region, unsigned int from, unsigned int count);
void check_pages(struct region *region, unsigned int from, unsigned int count);
bool faults(char *address, bool write);

/* operations.c */
void one_operation(unsigned int number, struct dice *dice);
void open_files(void);
void page_out_all(void);
void reuse(struct dice *dice);
void drop(struct dice *dice);

/* life.c, called by operations */
void fork_now(struct dice *dice);
void fork_late(struct dice *dice);
void release(struct dice *dice);
void exec_again(struct dice *dice);

/* digest.c */
void print_digest(const char *when);

#endif
