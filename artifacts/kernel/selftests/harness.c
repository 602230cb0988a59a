// SPDX-License-Identifier: GPL-2.0
/* Runs the tables of cases and prints TAP; see harness.h. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PASSED = 0, FAILED = 1, SKIPPED = 4 };

void fail_at(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	printf("# %s:%d: ", file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf(" (errno %d: %s)\n", errno, strerror(errno));
	fflush(stdout);
	_exit(FAILED);
}

void skip(const char *format, ...)
{
	va_list arguments;

	printf("# skipped: ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	printf("\n");
	fflush(stdout);
	_exit(SKIPPED);
}

unsigned long node_list(const char *path)
{
	unsigned long mask = 0;
	FILE *file = fopen(path, "r");
	int first, last, read;

	require(file);
	while ((read = fscanf(file, "%d-%d", &first, &last)) >= 1) {
		for (last = read == 2 ? last : first; first <= last; first++)
			mask |= 1UL << first;
		if (fgetc(file) != ',')
			break;
	}
	fclose(file);
	return mask;
}

unsigned long all_nodes(void)
{
	return node_list("/sys/devices/system/node/has_memory") & node_list("/sys/devices/system/node/has_cpu");
}

int nr_nodes(void)
{
	return __builtin_popcountl(all_nodes());
}

void run_on_node(int node)
{
	char path[80];
	cpu_set_t set;
	FILE *file;
	int cpu;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
	file = fopen(path, "r");
	require(file && fscanf(file, "%d", &cpu) == 1);
	fclose(file);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	require(!sched_setaffinity(0, sizeof(set), &set));
}

char *map(size_t bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	require(memory != MAP_FAILED);
	return memory;
}

char *map_aligned(size_t bytes)
{
	char *memory = map(bytes + HUGE_PAGE);

	return (char *)(((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
}

char *map_huge(size_t bytes, unsigned long seed)
{
	char *memory = map_aligned(bytes);

	require(!madvise(memory, bytes, MADV_HUGEPAGE));
	fill(memory, bytes, seed);
	if (mapping_kb(memory, "AnonHugePages") < (long)HUGE_PAGE / 1024)
		skip("no transparent huge page was free");
	return memory;
}

void *map_shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	require(memory != MAP_FAILED);
	return memory;
}

void fill(char *memory, size_t bytes, unsigned long seed)
{
	for (size_t offset = 0; offset < bytes; offset += PAGE)
		*(volatile unsigned long *)(memory + offset) = seed + offset / PAGE;
}

void check(const char *memory, size_t bytes, unsigned long seed)
{
	for (size_t offset = 0; offset < bytes; offset += PAGE) {
		unsigned long found = *(const volatile unsigned long *)(memory + offset);

		if (found != seed + offset / PAGE)
			fail("page %zu holds %lu, not %lu", offset / PAGE, found, seed + offset / PAGE);
	}
}

void check_everywhere(const char *memory, size_t bytes, unsigned long seed)
{
	for (int node = 0; node < MAX_NODES; node++) {
		if (!(all_nodes() >> node & 1))
			continue;
		run_on_node(node);
		check(memory, bytes, seed);
	}
}

static sigjmp_buf after_fault;

static void on_fault(int number)
{
	siglongjmp(after_fault, number);
}

bool faults(char *address, bool write)
{
	struct sigaction action = { .sa_handler = on_fault }, old[2];
	volatile bool faulted = false;

	sigaction(SIGSEGV, &action, &old[0]);
	sigaction(SIGBUS, &action, &old[1]);
	if (sigsetjmp(after_fault, 1))
		faulted = true;
	else if (write)
		*(volatile char *)address = *(volatile char *)address;
	else
		(void)*(volatile char *)address;
	sigaction(SIGSEGV, &old[0], NULL);
	sigaction(SIGBUS, &old[1], NULL);
	return faulted;
}

long read_number(const char *path, const char *key)
{
	char line[256];
	long value = -1;
	FILE *file = fopen(path, "r");

	if (!file)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), file)) {
		char *at = strstr(line, key);

		if (at && sscanf(at + strlen(key), "%*[: \t]%ld", &value) != 1)
			value = -1;
	}
	fclose(file);
	return value;
}

long read_value(const char *path)
{
	FILE *file = fopen(path, "r");
	long value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

long mapping_kb(const void *address, const char *key)
{
	unsigned long wanted = (unsigned long)address, first, end;
	FILE *file = fopen("/proc/self/smaps", "r");
	bool inside = false;
	char line[256];
	long value = -1;

	require(file);
	while (value < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
			inside = first <= wanted && wanted < end;
		else if (inside && !strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = atol(line + strlen(key) + 1);
	}
	fclose(file);
	return value;
}

int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), saved;
	ssize_t written;

	if (fd < 0)
		return -1;
	written = write(fd, text, strlen(text));
	saved = errno;
	close(fd);
	errno = saved;
	return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* Run for a moment on each processor, which then forgets the address space that it ran before. */
static void visit_processors(void)
{
	cpu_set_t before, one;

	require(!sched_getaffinity(0, sizeof(before), &before));
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		require(!sched_setaffinity(0, sizeof(one), &one));
	}
	require(!sched_setaffinity(0, sizeof(before), &before));
}

bool set_policy(int policy)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", policy);
	for (int tries = 0; tries < 400; tries++) {
		if (!write_text(POLICY_FILE, text))
			return true;
		if (errno != EBUSY)
			return false;
		visit_processors();
		usleep(50000);
	}
	errno = EBUSY;
	return false;
}

long replica_kb(void)
{
	return read_number("/proc/self/status", "VmPTERepl");
}

long replica_pages(void)
{
	require(!write_text("/proc/sys/vm/stat_refresh", "1"));
	return read_number("/proc/vmstat", "nr_page_table_replica_pages");
}

bool replicas_fall_to(long pages)
{
	for (int tries = 0; tries < 200 && replica_pages() > pages; tries++) {
		visit_processors();	/* the roots of address spaces that have ended */
		usleep(50000);
	}
	return replica_pages() <= pages;
}

double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

#define CGROUPS "/mnt/cgroup"

const char *new_cgroup(const char *name)
{
	static char path[80];

	mkdir(CGROUPS, 0755);
	if (access(CGROUPS "/cgroup.procs", F_OK) && mount("none", CGROUPS, "cgroup2", 0, NULL))
		skip("no cgroups of version 2");
	if (write_text(CGROUPS "/cgroup.subtree_control", "+memory"))
		skip("no memory controller");
	snprintf(path, sizeof(path), CGROUPS "/%s", name);
	rmdir(path);
	require(!mkdir(path, 0755));
	return path;
}

int in_child(void (*function)(void))
{
	int status, pid;

	fflush(stdout);
	pid = fork();
	require(pid >= 0);
	if (!pid) {
		function();
		fflush(stdout);
		_exit(PASSED);
	}
	require(waitpid(pid, &status, 0) == pid);
	return status;
}

void join(int pid)
{
	int status;

	require(waitpid(pid, &status, 0) == pid);
	require_exit(status);
}

void require_exit(int status)
{
	if (!WIFEXITED(status))
		fail("a child died of signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == SKIPPED)
		_exit(SKIPPED);
	if (WEXITSTATUS(status))
		fail("a child ended with status %d", WEXITSTATUS(status));
}

/* One case; the policy and the checker are afterwards as before, and a warning of the kernel fails the case. */
static int run_case(const struct selftest *test)
{
	long tainted = read_value("/proc/sys/kernel/tainted"), checking = read_value(CHECK_FILE);
	int status, pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(300); /* a hang; a busy host is slow */
		if (!test->plain)
			require(!numa_set_pgtable_replication_mask(all_nodes()));
		test->run();
		fflush(stdout);
		_exit(PASSED);
	}
	waitpid(pid, &status, 0);
	if (read_value(POLICY_FILE) != 1)
		set_policy(1);
	if (read_value(CHECK_FILE) != checking)
		write_text(CHECK_FILE, checking ? "1" : "0");
	if (WIFSIGNALED(status)) {
		printf("# died of signal %d\n", WTERMSIG(status));
		return FAILED;
	}
	if (read_value("/proc/sys/kernel/tainted") != tainted) {
		printf("# the kernel warned: see its log\n");
		return FAILED;
	}
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const struct selftest *const tables[] = { basic_tests, huge_tests, aging_tests, control_tests, limit_tests,
						  race_tests };
	int number = 0, failed = 0, matched = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		for (const struct selftest *test = tables[i]; test->name; test++) {
			time_t begin;
			int result;

			if (argc > 1 && !strstr(test->name, argv[1]))
				continue;
			matched++;
			begin = time(NULL);
			result = run_case(test);
			printf("%s %d - %s%s # %ld s\n", result == PASSED || result == SKIPPED ? "ok" : "not ok",
			       ++number, test->name, result == SKIPPED ? " # SKIP" : "", time(NULL) - begin);
			failed += result != PASSED && result != SKIPPED;
		}
	}
	printf("1..%d\n", number);
	if (!matched) {
		fprintf(stderr, "selftest: %s: no case name contains this word\n  what to do: run without arguments to see all names\n",
			argv[1]);
		return 2;
	}
	return failed ? 1 : 0;
}
