// SPDX-License-Identifier: GPL-2.0
/*
 * accounts CGROUPS BYTES RESERVE: compares what the kernel says about the memory of replicas: of a process with so many
 * bytes in pages of 4KB, of all nodes, and of the process's memory cgroup; then that of a reserve of so many pages for
 * each node.
 *
 * CGROUPS is a mounted cgroup2 with the memory controller. The process is in CGROUPS/measured. This program is in
 * CGROUPS/reader: a processor keeps charged pages of one cgroup in store, and gives them back when it charges another
 * one. So use a guest with one processor. Prints CSV:
 * step,nodes,home_kb,replica_kb,meminfo_kb,reserve_kb,cgroup_bytes; home_kb without the root.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tools/replicas.h"

static const char nodes_folder[] = "/sys/devices/system/node";
static const char *cgroups;
static pid_t process;
static int asked, done;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "accounts: %s: %s\n  what to do: mount cgroup2 with the memory controller, and allow requests\n",
		what, strerror(errno));
	if (process > 0)
		kill(process, SIGKILL);
	exit(1);
}

static void write_to(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);

	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(file);
}

static void enter(const char *group)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", cgroups, group);
	write_to(path, "0");
}

/* The number behind @key in a line of the file; @missing where there is none. */
static long number_in(const char *path, const char *key, long missing)
{
	char line[256], *at;
	long number = missing;
	FILE *file = fopen(path, "r");

	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file)) {
		at = strstr(line, key);
		if (at)
			number = atol(at + strlen(key));
	}
	fclose(file);
	return number;
}

/* Of all nodes, in kB; -1 if the kernel has no such line. */
static long meminfo_kb(const char *key)
{
	long all = 0;
	struct dirent *entry;
	DIR *folder = opendir(nodes_folder);
	char path[512];

	while (folder && (entry = readdir(folder))) {
		long kb;

		if (strncmp(entry->d_name, "node", 4))
			continue;
		snprintf(path, sizeof(path), "%s/%s/meminfo", nodes_folder, entry->d_name);
		kb = number_in(path, key, -1);
		if (kb < 0)
			return -1;
		all += kb;
	}
	if (folder)
		closedir(folder);
	return all;
}

static void look(const char *step, int nodes)
{
	char status[64], current[256];
	long home, replicas, meminfo, reserve;
	volatile char *page;

	/* Some milliseconds, for tables that are freed later. */
	usleep(200000);
	write_to("/proc/sys/vm/stat_refresh", "1");
	snprintf(status, sizeof(status), "/proc/%d/status", process);
	home = number_in(status, "VmPTE:", 0);
	replicas = number_in(status, "VmPTERepl:", 0);
	meminfo = meminfo_kb("PageTableRepl:");
	reserve = meminfo_kb("PageTableReplRsv:");
	/* A page for this cgroup, for which the processor gives back what it has in store for the other one. */
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		die("mmap");
	*page = 1;
	snprintf(current, sizeof(current), "%s/measured/memory.current", cgroups);
	printf("%s,%d,%ld,%ld,%ld,%ld,%ld\n", step, nodes, home, replicas, meminfo, reserve, number_in(current, "", -1));
	munmap((void *)page, 4096);
}

/* In the process: memory of this size, then each mask that it is told. Neither needs memory of the kernel. */
static void obey(size_t bytes)
{
	unsigned long mask;
	eventfd_t one;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	enter("measured");
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) ||
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
		_exit(1);
	for (;;) {
		if (eventfd_read(asked, &one))
			_exit(1);
		/* An eventfd doesn't count 0. */
		mask = one - 1;
		if (numa_set_pgtable_replication_mask(mask))
			_exit(1);
		eventfd_write(done, 1);
	}
}

static void step(const char *name, int nodes)
{
	eventfd_t one;

	if (eventfd_write(asked, (1UL << nodes)))
		die(name);
	while (eventfd_read(done, &one))
		if (errno != EAGAIN || waitpid(process, NULL, WNOHANG) || usleep(1000))
			die(name);
	look(name, nodes);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	static const char reserve[] = "/proc/sys/vm/pgtable_replica_cache";

	if (argc != 4 || !bytes) {
		fprintf(stderr, "usage: accounts CGROUPS BYTES RESERVE\n");
		return 2;
	}
	cgroups = argv[1];
	asked = eventfd(0, 0);
	done = eventfd(0, EFD_NONBLOCK);
	if (asked < 0 || done < 0)
		die("eventfd");
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("step,nodes,home_kb,replica_kb,meminfo_kb,reserve_kb,cgroup_bytes\n");
	fflush(stdout);
	process = fork();
	if (!process)
		obey(bytes);
	if (process < 0)
		die("fork");
	enter("reader");
	/* The first request also allocates what the kernel needs beside tables. */
	step("one node", 1);
	step("two nodes", 2);
	step("four nodes", 4);
	step("two nodes again", 2);
	step("one node again", 1);
	step("no node", 0);
	write_to(reserve, argv[3]);
	look("reserve", 0);
	write_to(reserve, "0");
	look("no reserve", 0);
	kill(process, SIGKILL);
	return 0;
}
