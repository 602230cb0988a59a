// SPDX-License-Identifier: GPL-2.0
/*
 * pgtblrepl --pgtblerepl=NODES [--] PROGRAM [ARGUMENT...]: run a program whose
 * page tables the kernel replicates on NODES ("0-3", "0,2", "all", "none").
 * The option has the name of numactl's option in the Mitosis paper; -r is
 * its short form.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replicas.h"

static const char policy_file[] = "/proc/sys/vm/pgtable_replication";

/* Every message says what was asked, what was found and what to do. */
static _Noreturn void refuse(const char *asked, const char *found, const char *remedy)
{
	fprintf(stderr, "pgtblrepl: %s: %s\n  what to do: %s\n", asked, found, remedy);
	exit(2);
}

static int read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "r");

	if (!file)
		return -1;
	if (!fgets(line, size, file))
		line[0] = '\0';
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

/* "0-3,5" as a mask; -1 if it is not a list of nodes 0..63. */
static int parse_list(const char *text, unsigned long *mask)
{
	*mask = 0;
	while (*text) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (end == text)
			return -1;
		if (*end == '-') {
			text = end + 1;
			last = strtoul(text, &end, 10);
			if (end == text)
				return -1;
		}
		if (first > last || last >= REPLICAS_MAX_NODES)
			return -1;
		for (; first <= last; first++)
			*mask |= 1UL << first;
		if (*end == ',' && end[1])
			end++;
		else if (*end)
			return -1;
		text = end;
	}
	return *mask ? 0 : -1;
}

static unsigned long read_nodes(const char *path, char *list, size_t size)
{
	unsigned long mask;

	if (read_line(path, list, size) || parse_list(list, &mask)) {
		char found[160];

		snprintf(found, sizeof(found), "%s is missing or empty", path);
		refuse("the nodes of this machine", found, "use a kernel with CONFIG_NUMA");
	}
	return mask;
}

/* Nodes that can have replicas: with memory, and with processors that would walk them. */
static unsigned long usable_nodes(char *list, size_t size)
{
	unsigned long mask = read_nodes("/sys/devices/system/node/has_memory", list, size) &
			     read_nodes("/sys/devices/system/node/has_cpu", list, size);
	size_t used = 0;

	list[0] = '\0';
	for (int node = 0, end; node < REPLICAS_MAX_NODES; node = end + 1) {
		end = node;
		if (!(mask >> node & 1))
			continue;
		while (end + 1 < REPLICAS_MAX_NODES && mask >> (end + 1) & 1)
			end++;
		used += snprintf(list + used, size - used, end > node ? "%s%d-%d" : "%s%d", used ? "," : "", node, end);
	}
	return mask;
}

static void explain(const char *asked, int error, const char *list)
{
	char found[400];

	switch (error) {
	case EOPNOTSUPP:
		refuse(asked, "vm.pgtable_replication does not allow processes to ask for replicas",
		       "run as root: sysctl vm.pgtable_replication=1");
	case EINVAL:
	case ENODEV:
		snprintf(found, sizeof(found), "%s; nodes with memory and processors are %s",
			 error == EINVAL ? "there is no such node" : "a node lacks one of them", list);
		refuse(asked, found, "name such nodes, or all");
	case EPERM:
		refuse(asked, "this process may not use the memory of one of the nodes (cpuset)",
		       "see Mems_allowed_list in /proc/self/status");
	default:
		refuse(asked, strerror(error), "see Documentation/mm/pgtable_replication.rst");
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pgtblerepl", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *asked = NULL;
	char list[256], policy[16];
	unsigned long mask, available;
	int option;

	while ((option = getopt_long(argc, argv, "+r:h", options, NULL)) != -1) {
		if (option != 'r') {
			fprintf(stderr, "usage: pgtblrepl --pgtblerepl=<nodes>|-r <nodes> [--] program [argument...]\n"
					"nodes: 0-3, 0,2, all or none\n");
			return option == 'h' ? 0 : 2;
		}
		asked = optarg;
	}
	if (!asked || optind == argc)
		refuse("a program and its nodes", "one of them is missing",
		       "run for example: pgtblrepl --pgtblerepl=0-3 -- program argument...");
	if (read_line(policy_file, policy, sizeof(policy)))
		refuse("page-table replication", "this kernel has no vm.pgtable_replication",
		       "boot a kernel with the patches of artifacts/kernel (tessera lab kernel boot)");
	available = usable_nodes(list, sizeof(list));
	if (!strcmp(asked, "none"))
		mask = 0;
	else if (!strcmp(asked, "all"))
		mask = available;
	else if (parse_list(asked, &mask))
		refuse(asked, "it is not a list of nodes", "write a list like 0-3 or 0,2");
	if (mask && !(available & (available - 1)))
		refuse(asked, "this machine has only one node with memory and processors, so there is nothing to replicate",
		       "run the program without pgtblrepl");
	if (numa_set_pgtable_replication_mask(mask))
		explain(asked, errno, list);
	execvp(argv[optind], argv + optind);
	refuse(argv[optind], strerror(errno), "check the program's name");
}
