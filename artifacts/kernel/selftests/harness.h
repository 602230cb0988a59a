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

extern const struct selftest basic_tests[], huge_tests[], aging_tests[], control_tests[], limit_tests[], race_tests[];

/* End the case: it failed, or this kernel lacks what it needs. */
#define fail(...) fail_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void fail_at(const char *file, int line, const char *format, ...);
_Noreturn void skip(const char *format, ...);
#define require(condition) do { if (!(condition)) fail("%s", #condition); } while (0)

/* Nodes of a list like /sys/devices/system/node/has_memory, as a mask. */
unsigned long node_list(const char *path);
int nr_nodes(void);			/* nodes with memory and processors */
unsigned long all_nodes(void);		/* their mask */
void run_on_node(int node);		/* move to a processor of the node */

/* Anonymous memory, not touched. */
char *map(size_t bytes);
/* Anonymous memory that starts at a multiple of the huge page's size, not touched. */
char *map_aligned(size_t bytes);
/* The same in transparent huge pages, filled; skips the case if the first one is small. */
char *map_huge(size_t bytes, unsigned long seed);
/* Write `seed` + page number into each page; check it, from the node where we are. */
void fill(char *memory, size_t bytes, unsigned long seed);
void check(const char *memory, size_t bytes, unsigned long seed);
void check_everywhere(const char *memory, size_t bytes, unsigned long seed);
/* Whether reading (or writing) faults, from the node where we are. */
bool faults(char *address, bool write);

/* A number behind `key` in a file like /proc/self/status; -1 without it. */
long read_number(const char *path, const char *key);
/* The number that a file like a sysctl consists of; -1 without it. */
long read_value(const char *path);
/* A number of /proc/self/smaps, of the mapping that `address` belongs to. */
long mapping_kb(const void *address, const char *key);
int write_text(const char *path, const char *text);

#define POLICY_FILE "/proc/sys/vm/pgtable_replication"
#define RESERVE_FILE "/proc/sys/vm/pgtable_replica_cache"
#define CHECK_FILE "/sys/kernel/debug/pgtable_replication/check"

/*
 * Write vm.pgtable_replication. Waits up to 20 s while it is busy: idle processors keep the last address space that
 * they ran, and khugepaged the ones that it plans to scan.
 */
bool set_policy(int policy);
long replica_kb(void);			/* of this process; -1 if it has never had replicas */
long replica_pages(void);		/* of the machine */
/* Wait up to 10 s until the machine has at most so many pages of replicas; RCU frees tables late. */
bool replicas_fall_to(long pages);

double now(void);			/* seconds */
/* Memory that children share. */
void *map_shared(size_t bytes);
/* A new cgroup with the memory controller; its folder. Skips the case if there is no such thing. */
const char *new_cgroup(const char *name);
/* Waits for a child and fails the case if its exit status is not 0. */
void join(int pid);
/* Run a function in a child; returns when it has ended, whatever came of it, with the wait status. */
int in_child(void (*function)(void));
/* Fail or skip the case as a child did. */
void require_exit(int status);

#endif
