// SPDX-License-Identifier: GPL-2.0
/*
 * witness CASE [HOOK]: a sequence of operations that needs HOOK, which this kernel leaves out from there on
 * (hooks-can-be-skipped.patch). Without HOOK the kernel is whole, and the case must pass.
 *
 * Runs with replicas on all nodes, from a processor of node 0, whose table is the home table: a processor that
 * walks a table without an entry would fault for ever. Exit status: 0 passed; 1 failed; 2 wrong arguments; 4 this
 * kernel lacks something. With WITNESS_STOPS=1 it stops itself wherever its tables can be compared.
 *
 * It is longer than other files because it is one list of cases, and one program that needs nothing of the selftests:
 * what those check with must not be what a missing hook breaks here.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tools/replicas.h"

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define PAGE 4096UL
#define HUGE_PAGE (2UL << 20)
#define SLOT (1UL << 39) /* of an entry of the root table */
#define PAGES 16
#define SECONDS 10
#define SKIP_FILE "/sys/kernel/debug/pgtable_replication/skip"
#define BITS_FILE "/sys/kernel/debug/pgtable_replication/bits"
#define DUMP_FILE "/sys/kernel/debug/pgtable_replication/dump"

/* Each with tables of its own, far from those of the program. */
static char *const arena = (char *)(96 * SLOT);
static char *const fresh = (char *)(128 * SLOT);

static const char *hook = "";
static bool stops, lingers;

#define require(condition)                                                                  \
	do {                                                                                \
		if (!(condition)) {                                                         \
			fprintf(stderr, "witness: line %d: not %s\n", __LINE__, #condition); \
			_exit(1);                                                           \
		}                                                                           \
	} while (0)

static void skip_case(const char *reason)
{
	fprintf(stderr, "witness: %s\n", reason);
	_exit(4);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	require(file && fputs(text, file) >= 0 && !fclose(file));
}

/* From here on the hook is left out. What lingers, takes its time with the hook, too: races have one end then. */
static void arm(void)
{
	char names[80];

	snprintf(names, sizeof(names), "%s %s", lingers ? "linger" : "", hook);
	if (*hook || lingers)
		write_text(SKIP_FILE, names);
}

static void run_on_node(int node)
{
	char path[80];
	cpu_set_t set;
	FILE *file;
	int cpu;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(path, "r");
	if (!file)
		skip_case("four nodes are needed");
	require(fscanf(file, "%d", &cpu) == 1);
	fclose(file);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	require(!sched_setaffinity(0, sizeof(set), &set));
}

static char *map_at(char *address, size_t bytes, int flags, int fd)
{
	char *memory = mmap(address, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED_NOREPLACE | MAP_NORESERVE, fd, 0);

	require(memory == address);
	return memory;
}

static char *map(char *address, size_t bytes)
{
	return map_at(address, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static void fill(char *memory, int pages, unsigned long seed)
{
	for (int page = 0; page < pages; page++)
		*(volatile unsigned long *)(memory + page * PAGE) = seed + page;
}

static void fill_from(int node, char *memory, int pages, unsigned long seed)
{
	run_on_node(node);
	fill(memory, pages, seed);
	run_on_node(0);
}

static bool holds(const char *memory, int pages, unsigned long seed)
{
	for (int page = 0; page < pages; page++)
		if (*(const volatile unsigned long *)(memory + page * PAGE) != seed + page)
			return false;
	return true;
}

/* The checker compares all tables when mmap_lock is released; the host compares them while we stand still. */
static void look(void)
{
	require(!munmap(map(arena + 256 * HUGE_PAGE, PAGE), PAGE));
	if (stops)
		raise(SIGSTOP);
}

/* The number behind `key` in the lines of a file from the one that starts with `from` on; -1 without it. */
static long number_in(const char *path, const char *from, const char *key)
{
	FILE *file = fopen(path, "r");
	bool found = !*from;
	char line[256];
	long value = -1;

	require(file);
	while (value < 0 && fgets(line, sizeof(line), file)) {
		found = found || !strncmp(line, from, strlen(from));
		if (found && !strncmp(line, key, strlen(key)) && sscanf(line + strlen(key), ": %ld", &value) != 1)
			value = -1;
	}
	fclose(file);
	return value;
}

static long replica_kb(void)
{
	return number_in("/proc/self/status", "", "VmPTERepl");
}

static long missing(void)
{
	return number_in("/proc/self/status", "", "PTEReplMissing");
}

static long referenced_kb(char *memory)
{
	char from[32];

	snprintf(from, sizeof(from), "%lx-", (unsigned long)memory);
	return number_in("/proc/self/smaps", from, "Referenced");
}

static void clear_accessed(void)
{
	write_text("/proc/self/clear_refs", "1");
}

/* Whether the line of a leaf in the file of bits has these words. */
static bool has_bits(char *memory, const char *one, const char *other)
{
	FILE *file = fopen(BITS_FILE, "r+");
	char line[512] = "";

	require(file);
	setbuf(file, NULL);
	require(fprintf(file, "%d %lx %lx", getpid(), (unsigned long)memory, (unsigned long)memory + PAGE) > 0);
	rewind(file);
	require(fgets(line, sizeof(line), file));
	fclose(file);
	fprintf(stderr, "%s", line);
	return strstr(line, one) && strstr(line, other);
}

static void ask_for(unsigned long nodes)
{
	require(!numa_set_pgtable_replication_mask(nodes));
}

static unsigned long all_nodes(void)
{
	unsigned long nodes = 0;

	require(!numa_get_pgtable_replication_mask(&nodes));
	return nodes;
}

static int fork_child(void)
{
	int pid = fork();

	if (!pid)
		alarm(SECONDS);
	return pid;
}

static void join(int pid)
{
	int status;

	require(waitpid(pid, &status, 0) == pid);
	require(WIFEXITED(status));
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}

/*
 * Small pages that are clean, so that reclaim drops them unless somebody notes a write. Not those that come back
 * from swap: Linux frees their slots at once if swap is in memory, as the guest's is, and writes them again.
 */
static char *clean_pages(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	require(!madvise(memory, PAGES * PAGE, MADV_FREE));
	return memory;
}

/* A page next to it first: the tables above are there. */
static char *huge_page(long *before_kb)
{
	char *memory;

	fill(map(arena, PAGE), 1, 1);
	*before_kb = replica_kb();
	memory = map(arena + HUGE_PAGE, HUGE_PAGE);
	require(!madvise(memory, HUGE_PAGE, MADV_HUGEPAGE));
	fill(memory, 512, 1);
	if (number_in("/proc/self/smaps_rollup", "", "AnonHugePages") < 2048)
		skip_case("no transparent huge page was free");
	return memory;
}

/* A clean huge page that the kernel may drop, then written from node 1: dirty in that node's copy only. */
static char *dirty_elsewhere(void)
{
	long before;
	char *memory = huge_page(&before);

	require(!madvise(memory, HUGE_PAGE, MADV_FREE));
	fill_from(1, memory, 8, 700);
	return memory;
}

/* New tables of all levels, counted when they come and when they go. */
static void tables(void)
{
	long before = replica_kb(), copies = __builtin_popcountl(all_nodes()) - 1;
	char *memory = map(fresh, 4 * HUGE_PAGE);

	arm();
	for (int i = 0; i < 4; i++)
		fill(memory + i * HUGE_PAGE, 1, i);
	look();
	require(replica_kb() == before + 4 * copies * (4 + 2) && missing() == 0);
	require(!munmap(memory, 4 * HUGE_PAGE));
	look();
	require(replica_kb() == before);
}

/* Tables go, and those that point to them stay. */
static void tables_below(void)
{
	long before;

	fill(map(fresh, PAGE), 1, 1);
	before = replica_kb();
	fill(map(fresh + 4 * HUGE_PAGE, PAGE), 1, 2);
	fill(map(fresh + 1024 * HUGE_PAGE, PAGE), 1, 3);
	arm();
	require(!munmap(fresh + 4 * HUGE_PAGE, PAGE));
	require(!munmap(fresh + 1024 * HUGE_PAGE, PAGE));
	look();
	require(replica_kb() == before);
}

/* Home tables are on the node where the process was born, wherever it runs. */
static void homes(void)
{
	char *memory = map(fresh, 4 * HUGE_PAGE);

	run_on_node(2);
	arm();
	for (int i = 0; i < 4; i++)
		fill(memory + i * HUGE_PAGE, 1, i);
	require(missing() == 0);
}

static atomic_int arrived, round_now;
static pthread_barrier_t together;
#define ROUNDS 96

static void *race(void *argument)
{
	long node = (long)argument;

	run_on_node((int)node);
	pthread_barrier_wait(&together); /* stacks and buffers have their tables */
	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		if (atomic_fetch_add(&arrived, 1) == 4 * i + 3)
			atomic_store(&round_now, i + 1);
		while (atomic_load(&round_now) <= i)
			;
		fill(fresh + i * SLOT + node * PAGE, 1, i);
	}
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	return NULL;
}

/* Of processors that need the same new table, one gives its own back. */
static void races(void)
{
	long before;
	pthread_t threads[4];

	map(fresh, ROUNDS * SLOT);
	require(!pthread_barrier_init(&together, NULL, 5));
	for (long node = 0; node < 4; node++)
		require(!pthread_create(&threads[node], NULL, race, (void *)node));
	pthread_barrier_wait(&together);
	before = replica_kb();
	arm();
	pthread_barrier_wait(&together);
	pthread_barrier_wait(&together);
	require(missing() == 0);
	require(!munmap(fresh, ROUNDS * SLOT));
	require(replica_kb() == before);
	pthread_barrier_wait(&together);
	for (long node = 0; node < 4; node++)
		pthread_join(threads[node], NULL);
}

/* A write fault makes the leaf writable in place. */
static void reuse(void)
{
	char *memory = map(arena, PAGES * PAGE);
	int pid;

	fill(memory, PAGES, 1);
	pid = fork_child();
	if (!pid)
		_exit(0);
	join(pid);
	arm();
	fill(memory, PAGES, 2);
	look();
}

static void slots(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	require(!madvise(memory, PAGES * PAGE, MADV_PAGEOUT));
	require(number_in("/proc/self/status", "", "VmSwap") >= (long)(PAGES * PAGE / 1024));
	arm();
	require(!madvise(memory, PAGES * PAGE, MADV_DONTNEED));
	look();
}

static void move(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	arm();
	require(mremap(memory, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, arena + 65 * PAGE) != MAP_FAILED);
	look();
	require(holds(arena + 65 * PAGE, PAGES, 1));
}

static void protect(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	arm();
	require(!mprotect(memory, PAGES * PAGE, PROT_READ));
	look();
}

static void dirty_unmapped(void)
{
	char *memory = clean_pages();

	fill_from(1, memory, PAGES, 500);
	arm();
	require(!madvise(memory, PAGES * PAGE, MADV_PAGEOUT));
	look();
	require(holds(memory, PAGES, 500));
}

static void dirty_protected(void)
{
	char *memory = clean_pages();

	fill_from(1, memory, PAGES, 500);
	arm();
	require(!mprotect(memory, PAGES * PAGE, PROT_READ));
	require(!madvise(memory, PAGES * PAGE, MADV_PAGEOUT));
	require(holds(memory, PAGES, 500));
}

static void dirty_retired(void)
{
	char *memory = clean_pages();

	fill_from(1, memory, PAGES, 500);
	arm();
	ask_for(0);
	require(!madvise(memory, PAGES * PAGE, MADV_PAGEOUT));
	require(holds(memory, PAGES, 500));
}

/* Pages of a shared file that were read first are clean; the write of a process that ends must not get lost. */
static void dirty_at_exit(void)
{
	int fd = memfd_create("witness", 0), pid;
	char *memory;

	require(fd >= 0 && !ftruncate(fd, PAGES * PAGE));
	pid = fork_child();
	if (!pid) {
		memory = map_at(arena, PAGES * PAGE, MAP_SHARED, fd);
		for (int page = 0; page < PAGES; page++)
			require(!memory[page * PAGE]);
		fill_from(1, memory, PAGES, 500);
		arm();
		_exit(0);
	}
	join(pid);
	memory = map_at(arena, PAGES * PAGE, MAP_SHARED, fd);
	for (int page = 0; page < PAGES; page++)
		(void)*(volatile char *)(memory + page * PAGE);
	require(!madvise(memory, PAGES * PAGE, MADV_PAGEOUT));
	require(holds(memory, PAGES, 500));
}

static void accessed(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	clear_accessed();
	require(referenced_kb(memory) == 0);
	fill_from(1, memory, PAGES, 2);
	arm();
	require(referenced_kb(memory) == (long)(PAGES * PAGE / 1024));
}

static void accessed_cleared(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	clear_accessed();
	fill_from(1, memory, PAGES, 2);
	arm();
	clear_accessed();
	require(referenced_kb(memory) == 0);
}

static void huge_accessed(void)
{
	long before;
	char *memory = huge_page(&before);

	clear_accessed();
	require(referenced_kb(memory) == 0);
	fill_from(1, memory, 8, 2);
	arm();
	require(referenced_kb(memory) == 2048);
}

static void huge_accessed_cleared(void)
{
	long before;
	char *memory = huge_page(&before);

	clear_accessed();
	fill_from(1, memory, 8, 2);
	arm();
	clear_accessed();
	require(referenced_kb(memory) == 0);
}

/* The table that waits for a split of the huge page goes with it. */
static void huge_dropped(void)
{
	long before;
	char *memory = huge_page(&before);

	arm();
	require(!madvise(memory, HUGE_PAGE, MADV_DONTNEED));
	look();
	require(replica_kb() == before);
}

static void huge_split(void)
{
	char *memory = dirty_elsewhere();

	arm();
	require(!madvise(memory + 100 * PAGE, PAGE, MADV_DONTNEED));
	require(!madvise(memory, HUGE_PAGE, MADV_PAGEOUT));
	require(holds(memory, 8, 700));
}

/* Freed once more, it may be dropped again: no copy says that it is dirty. */
static void huge_freed(void)
{
	char *memory = dirty_elsewhere();

	arm();
	require(!madvise(memory, HUGE_PAGE, MADV_FREE));
	require(!madvise(memory, HUGE_PAGE, MADV_PAGEOUT));
	for (int page = 0; page < 8; page++)
		require(!*(volatile unsigned long *)(memory + page * PAGE));
}

static int pipes[2];

/* Fork; the child waits for hear(), the parent goes on. */
static int fork_with_pipe(void)
{
	require(!pipe(pipes));
	return fork_child();
}

static void hear(void)
{
	char byte;

	require(read(pipes[0], &byte, 1) == 1);
}

static void tell(void)
{
	require(write(pipes[1], "", 1) == 1);
}

/* The child keeps a page that is dirty in the parent's replica only. */
static void huge_inherited(void)
{
	char *memory = dirty_elsewhere();
	int pid;

	arm();
	pid = fork_with_pipe();
	if (!pid) {
		hear();
		require(!madvise(memory, HUGE_PAGE, MADV_PAGEOUT));
		require(holds(memory, 8, 700));
		_exit(0);
	}
	require(!munmap(memory, HUGE_PAGE));
	tell();
	join(pid);
}

/* What the parent writes after a fork, the child must not see. */
static void fork_and_write(char *memory)
{
	int pid;

	arm();
	pid = fork_with_pipe();
	if (!pid) {
		hear();
		require(holds(memory, 8, 1));
		_exit(0);
	}
	look();
	fill_from(1, memory, 8, 900);
	tell();
	join(pid);
}

static void forked(void)
{
	char *memory = map(arena, PAGES * PAGE);

	fill(memory, PAGES, 1);
	fork_and_write(memory);
}

static void huge_forked(void)
{
	long before;

	fork_and_write(huge_page(&before));
}

/* A child has the nodes of its parent, and a root of its own on each. */
static void child_is_born(void)
{
	int pid;

	arm();
	pid = fork_child();
	if (!pid) {
		unsigned long home = 0, root;
		char line[256];
		FILE *file;
		int node;

		require(replica_kb() > 0);
		file = fopen(DUMP_FILE, "r");
		require(file);
		while (fgets(line, sizeof(line), file)) {
			sscanf(line, "root home %lx", &home);
			if (sscanf(line, "root %d %lx", &node, &root) == 2)
				require(node == 0 || root != home);
		}
		fclose(file);
		_exit(home ? 0 : 1);
	}
	join(pid);
}

/* For hooks that act when an address space ends: what is left is counted afterwards. */
static void child_ends(void)
{
	int pid;

	arm();
	pid = fork_child();
	if (!pid)
		_exit(0);
	join(pid);
}

/* A processor notes an access in the copy of its own node. */
static void own_tables_walked(void)
{
	int pid;

	arm();
	pid = fork_child();
	if (!pid) {
		char *memory = map(arena, PAGE);

		fill(memory, 1, 1);
		clear_accessed();
		fill_from(1, memory, 1, 2);
		require(has_bits(memory, "home:a0", "node1:a1"));
		_exit(0);
	}
	join(pid);
}

static atomic_int thread_state;

static void *write_late(void *memory)
{
	run_on_node(2);
	atomic_store(&thread_state, 1);
	while (atomic_load(&thread_state) != 2)
		;
	fill(memory, 1, 2);
	atomic_store(&thread_state, 3);
	return NULL;
}

/* A process that asks late: a thread that runs meanwhile goes over to the copy of its node. */
static void late(void)
{
	unsigned long nodes = all_nodes();
	char *memory = map(arena, PAGE);
	pthread_t thread;

	ask_for(0);
	fill(memory, 1, 1);
	require(!pthread_create(&thread, NULL, write_late, memory));
	while (atomic_load(&thread_state) != 1)
		usleep(1000);
	arm();
	ask_for(nodes);
	clear_accessed();
	atomic_store(&thread_state, 2);
	while (atomic_load(&thread_state) != 3)
		usleep(1000);
	require(has_bits(memory, "home:a0", "node2:a1"));
	pthread_join(thread, NULL);
}

static atomic_bool over;

static void *change_places(void *node)
{
	run_on_node((int)(long)node);
	while (!atomic_load(&over))
		sched_yield();
	return NULL;
}

/* Processors that go from this process to another while its roots change. */
static void switches(void)
{
	unsigned long nodes = all_nodes();
	pthread_t threads[4];
	int others[4];

	for (long node = 0; node < 4; node++) {
		others[node] = fork();
		if (!others[node]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			change_places((void *)node);
		}
		require(!pthread_create(&threads[node], NULL, change_places, (void *)node));
	}
	lingers = true;
	arm();
	for (time_t end = time(NULL) + SECONDS / 2; time(NULL) < end;) {
		ask_for(0);
		ask_for(nodes);
	}
	atomic_store(&over, true);
	for (int node = 0; node < 4; node++) {
		pthread_join(threads[node], NULL);
		kill(others[node], SIGKILL);
		require(waitpid(others[node], NULL, 0) == others[node]);
	}
}

/* The kernel looks for the page of a futex without locks; of a clean one, it reads the bits of all copies. */
static void *look_up(void *page)
{
	run_on_node(1);
	while (!atomic_load(&over))
		require(syscall(SYS_futex, page, FUTEX_WAKE, 1, NULL, NULL, 0) == 0);
	return NULL;
}

/* Copies go while somebody who holds no lock stands in their ring, and takes his time. */
static void lockless(void)
{
	unsigned long nodes = all_nodes();
	int fd = memfd_create("witness", 0);
	pthread_t thread;
	char *memory;

	require(fd >= 0 && !ftruncate(fd, PAGE));
	memory = map_at(arena, PAGE, MAP_SHARED, fd);
	require(!*(volatile char *)memory);
	lingers = true;
	arm();
	require(!pthread_create(&thread, NULL, look_up, memory));
	for (time_t end = time(NULL) + SECONDS / 4; time(NULL) < end;) {
		ask_for(0);
		usleep(100000); /* the pages of the copies are not taken for new ones while he stands there */
		ask_for(nodes);
	}
	atomic_store(&over, true);
	pthread_join(thread, NULL);
}

static void deposits(void)
{
	long before;

	huge_page(&before);
	arm();
	ask_for(0);
	require(replica_kb() == 0);
}

/* The table of leaves goes after a grace period, without its process. */
static void collapse(void)
{
	int fd = memfd_create("witness", 0);
	char *memory;
	long before;

	require(fd >= 0 && !ftruncate(fd, HUGE_PAGE));
	fill(map(arena, PAGE), 1, 1);
	before = replica_kb();
	memory = map_at(arena + HUGE_PAGE, HUGE_PAGE, MAP_SHARED, fd);
	fill(memory, 512, 1);
	arm();
	if (madvise(memory, HUGE_PAGE, MADV_COLLAPSE))
		skip_case("MADV_COLLAPSE of shared memory found no huge page");
	require(replica_kb() == before);
	require(holds(memory, 512, 1));
}

static void set_policy(const char *policy)
{
	for (int tries = 0; tries < 4000; tries++) {
		FILE *file = fopen("/proc/sys/vm/pgtable_replication", "w");

		require(file);
		fputs(policy, file);
		if (!fclose(file))
			return;
		usleep(1000);
	}
	require(!"the policy changes");
}

/* Replicas are switched off while RCU still has tables of a process that ended: a race, so many tries. */
static void switched_off(void)
{
	unsigned long nodes = all_nodes();

	ask_for(0);
	lingers = true;
	arm();
	for (time_t end = time(NULL) + SECONDS / 2; time(NULL) < end;) {
		int pid = fork_child();

		if (!pid) {
			ask_for(nodes);
			collapse();
			_exit(0);
		}
		join(pid);
		set_policy("0");
		usleep(300000); /* RCU lingers for 0.2 s */
		set_policy("1");
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "tables", tables },
	{ "tables-below", tables_below },
	{ "homes", homes },
	{ "races", races },
	{ "reuse", reuse },
	{ "slots", slots },
	{ "move", move },
	{ "protect", protect },
	{ "dirty-unmapped", dirty_unmapped },
	{ "dirty-protected", dirty_protected },
	{ "dirty-retired", dirty_retired },
	{ "dirty-at-exit", dirty_at_exit },
	{ "accessed", accessed },
	{ "accessed-cleared", accessed_cleared },
	{ "huge-accessed", huge_accessed },
	{ "huge-accessed-cleared", huge_accessed_cleared },
	{ "huge-dropped", huge_dropped },
	{ "huge-split", huge_split },
	{ "huge-freed", huge_freed },
	{ "huge-inherited", huge_inherited },
	{ "huge-forked", huge_forked },
	{ "forked", forked },
	{ "child-is-born", child_is_born },
	{ "child-ends", child_ends },
	{ "own-tables-walked", own_tables_walked },
	{ "late", late },
	{ "switches", switches },
	{ "lockless", lockless },
	{ "deposits", deposits },
	{ "collapse", collapse },
	{ "switched-off", switched_off },
};

int main(int argc, char **argv)
{
	hook = argc > 2 ? argv[2] : "";
	stops = getenv("WITNESS_STOPS") != NULL;
	alarm(SECONDS);
	replica_kb(); /* the library's buffers have their tables before these are counted */
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(*cases); i++) {
		if (!strcmp(cases[i].name, argv[1])) {
			run_on_node(0);
			cases[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: witness CASE [HOOK]; cases:");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		fprintf(stderr, " %s", cases[i].name);
	fprintf(stderr, "\n");
	return 2;
}
