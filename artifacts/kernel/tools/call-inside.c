// SPDX-License-Identifier: GPL-2.0
/*
 * call-inside PID NUMBER [ARGUMENT...]: let a stopped process make a system call, and leave it stopped. An argument
 * "@VALUE" is the address of a word with this value. For calls that act on their caller alone, such as prctl.
 * Exit status: 0; 1 the call failed; 2 wrong use, or the process cannot be traced.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call-inside.h"

static _Noreturn void die(const char *what, const char *why, const char *remedy, int status)
{
	fprintf(stderr, "call-inside: %s: %s\n  what to do: %s\n", what, why, remedy);
	exit(status);
}

int main(int argc, char **argv)
{
	struct call call;
	long result;
	int status;
	pid_t pid;

	if (argc < 3 || parse_call(argc - 2, argv + 2, &call))
		die("arguments", "not numbers, or too few or too many", "call-inside PID NUMBER [ARGUMENT...]", 2);
	pid = atoi(argv[1]);
	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		die(argv[1], strerror(errno), "name a stopped process that nobody traces, as root", 2);
	if (call_inside(pid, &call, &result))
		die(argv[1], strerror(errno), "stop the process in its own code first (stop-at-end)", 2);
	if (ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)SIGSTOP))
		die(argv[1], strerror(errno), "see whether the process still exists", 2);
	if (result < 0 && result > -4096)
		die(argv[2], strerror((int)-result), "see the manual page of this system call", 1);
	return 0;
}
