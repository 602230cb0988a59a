/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Selftests of page-table replication: each case is a function in a table. Each
 * case runs in its own process, with replicas on all nodes unless the table says
 * otherwise. It checks memory from a processor of every node, because each node
 * walks its own tables.
 */
#ifndef SELFTESTS_HARNESS_H
#define SELFTESTS_HARNESS_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>

#include "../tools/replicas.h"

#define PAGE 4096UL
#define HUGE_PAGE (2UL << 20)
#define MAX_NODES 16

struct selftest {
	const char *name;
	void (*run)(void);
	bool plain;	/* starts without replicas */
};

extern const struct selftest basic_tests[], huge_tests[], aging_tests[], control_tests[];

/* End the case: it failed, or this kernel lacks what it needs. */
#define fail(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void fail_at(const char *file, int line, const char *format, ...);
_Noreturn void skip(const char *format, ...);
#define require(condition) do { if (!(condition)) fail("%s", #condition); } while (0)

int nr_nodes(void);			/* nodes with memory */
unsigned long all_nodes(void);		/* their mask */
void run_on_node(int node);		/* move to a processor of the node */

/* Anonymous memory, not touched. */
char *map(size_t bytes);
/* Write `seed` + page number into each page; check it, from the node where we are. */
void fill(char *memory, size_t bytes, unsigned long seed);
void check(const char *memory, size_t bytes, unsigned long seed);
void check_everywhere(const char *memory, size_t bytes, unsigned long seed);
/* Whether reading (or writing) faults, from the node where we are. */
bool faults(char *address, bool write);

/* A number behind `key` in a file like /proc/self/status; -1 without it. */
long read_number(const char *path, const char *key);
int write_text(const char *path, const char *text);
/* Waits for a child and fails the case if its exit status is not 0. */
void join(int pid);

#endif
