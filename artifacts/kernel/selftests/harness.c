// SPDX-License-Identifier: GPL-2.0
/* Runs the tables of cases and prints TAP; see harness.h. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

unsigned long all_nodes(void)
{
	unsigned long mask = 0;
	FILE *file = fopen("/sys/devices/system/node/has_memory", "r");
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

void join(int pid)
{
	int status;

	require(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status))
		fail("a child died of signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == SKIPPED)
		_exit(SKIPPED);
	if (WEXITSTATUS(status))
		fail("a child ended with status %d", WEXITSTATUS(status));
}

static int run_case(const struct selftest *test)
{
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
	if (WIFSIGNALED(status)) {
		printf("# died of signal %d\n", WTERMSIG(status));
		return FAILED;
	}
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	const struct selftest *const tables[] = { basic_tests, huge_tests, aging_tests, control_tests };
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
