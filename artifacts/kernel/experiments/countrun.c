// SPDX-License-Identifier: GPL-2.0
/*
 * countrun PROGRAM [ARGUMENT...]: counts the instructions of a program from its fork to its end, with its
 * initialisation and the kernel (Table 6 of the Mitosis paper: the whole run). Run it under QEMU's -icount with one
 * processor, like vmaops.
 * Prints "instructions N" on standard error.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instructions.h"

int main(int argc, char **argv)
{
	unsigned long start;
	int status, pid;

	if (argc < 2) {
		fprintf(stderr, "usage: countrun PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	start = now();
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		perror("countrun");
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	fprintf(stderr, "instructions %lu\n", now() - start);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
