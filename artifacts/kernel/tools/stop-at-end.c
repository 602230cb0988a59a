// SPDX-License-Identifier: GPL-2.0
/*
 * stop-at-end [-e COMMAND] FILE PROGRAM [ARGUMENT...]: run a program with one thread until the end of its region of
 * interest (artifacts/workloads/common/roi.h), leave it stopped there, and write its process number to FILE.
 * -e: a shell command that runs when the program is about to run its own first instruction, after the constructors of
 * its libraries; it finds the process number in $PID, and the program waits. Each line that it prints is a system call,
 * as of call-inside, which the program makes then.
 *
 * The marker of the end becomes a breakpoint, and so does the entry. The program must contain the marker itself, not
 * in a library.
 * Exit status: 0 stopped; 2 wrong use, or no marker; 3 the program ended before the marker.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call-inside.h"

#define MOST_MARKERS 16

static const unsigned char END[] = { 0x0f, 0x1f, 0x80, 'T', 'S', 'R', 'E' };
static unsigned long markers[MOST_MARKERS];
static int found;

static void die(const char *what, const char *why, const char *remedy, int status)
{
	fprintf(stderr, "stop-at-end: %s: %s\n  what to do: %s\n", what, why, remedy);
	exit(status);
}

/* Notes the markers between two addresses. */
static void search(int memory, unsigned long start, unsigned long end)
{
	unsigned char *text = malloc(end - start), *at;

	if (text && pread(memory, text, end - start, start) == (ssize_t)(end - start))
		for (at = text; (at = memmem(at, text + (end - start) - at, END, sizeof(END))); at++)
			if (found < MOST_MARKERS)
				markers[found++] = start + (at - text);
	free(text);
}

/* Searches the executable's own code; the dynamic linker is the only other one at this moment. */
static void search_program(pid_t pid, int memory)
{
	char path[64], exe[256], line[512], flags[8], name[256];
	unsigned long start, end;
	ssize_t length;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	length = readlink(path, exe, sizeof(exe) - 1);
	exe[length < 0 ? 0 : length] = 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &start, &end, flags, name) == 4 && flags[2] == 'x' &&
		    !strcmp(name, exe))
			search(memory, start, end);
	if (maps)
		fclose(maps);
}

/* Address of the program's first own instruction; 0 if unknown. */
static unsigned long entry_of(pid_t pid)
{
	unsigned long pair[2], found = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "r");
	while (file && !found && fread(pair, sizeof(pair), 1, file) == 1)
		if (pair[0] == AT_ENTRY)
			found = pair[1];
	if (file)
		fclose(file);
	return found;
}

static void write_byte(int memory, unsigned long address, unsigned char byte)
{
	if (pwrite(memory, &byte, 1, address) != 1)
		die("breakpoint", strerror(errno), "run as root", 2);
}

/* True if the stop is at this breakpoint; the instruction is then as it was, and the next one to run. */
static int is_at(pid_t pid, int memory, unsigned long address, unsigned char byte)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers) || registers.rip != address + 1)
		return 0;
	write_byte(memory, address, byte);
	registers.rip = address;
	return !ptrace(PTRACE_SETREGS, pid, NULL, &registers);
}

static int at_marker(pid_t pid, int memory)
{
	for (int i = 0; i < found; i++)
		if (is_at(pid, memory, markers[i], END[0]))
			return 1;
	return 0;
}

/* Lets the program make the system call of a line. */
static void make_call(pid_t pid, char *line)
{
	char *words[CALL_WORDS + 1], *rest = line, *word;
	struct call call;
	int count = 0;
	long result;

	while (count <= CALL_WORDS && (word = strsep(&rest, " \n")))
		if (*word)
			words[count++] = word;
	if (!count)
		return;
	if (parse_call(count, words, &call))
		die(words[0], "the command of -e printed a line that is no system call", "print NUMBER ARGUMENT...", 2);
	if (call_inside(pid, &call, &result))
		die(words[0], strerror(errno), "run as root", 2);
	if (result < 0 && result > -4096)
		die(words[0], strerror((int)-result), "see the manual page of this system call", 2);
}

/* Runs the program to its entry, and the command and its system calls there. */
static void at_entry(pid_t pid, int memory, const char *command)
{
	unsigned long entry = entry_of(pid);
	unsigned char byte;
	char number[16], line[256];
	FILE *printed;
	int status;

	if (!entry || pread(memory, &byte, 1, entry) != 1)
		die("entry of the program", "it is unknown", "leave -e out", 2);
	write_byte(memory, entry, 0xcc);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    !is_at(pid, memory, entry, byte))
		die("entry of the program", "it was not reached", "read the program's messages", 3);
	snprintf(number, sizeof(number), "%d", pid);
	setenv("PID", number, 1);
	printed = popen(command, "r");
	while (printed && fgets(line, sizeof(line), printed))
		make_call(pid, line);
	if (!printed || pclose(printed))
		die(command, "it failed", "read its messages", 2);
}

int main(int argc, char **argv)
{
	char path[64];
	const char *command = NULL;
	int status, memory;
	pid_t pid;
	FILE *out;

	if (argc > 2 && !strcmp(argv[1], "-e")) {
		command = argv[2];
		argc -= 2, argv += 2;
	}
	if (argc < 3)
		die("arguments", "too few", "stop-at-end [-e COMMAND] FILE PROGRAM [ARGUMENT...]", 2);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		die(argv[2], "it does not start", "check its name and its libraries", 2);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDWR);
	search_program(pid, memory);
	if (!found) {
		kill(pid, SIGKILL);
		die(argv[2], "no marker of an end in its code", "use a program of artifacts/workloads", 2);
	}
	for (int i = 0; i < found; i++)
		write_byte(memory, markers[i], 0xcc);
	if (command)
		at_entry(pid, memory, command);
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int signal = WSTOPSIG(status);

		if (signal == SIGTRAP && at_marker(pid, memory)) {
			out = fopen(argv[1], "w");
			if (!out || fprintf(out, "%d\n", pid) < 0 || fclose(out))
				die(argv[1], strerror(errno), "name a file that can be written", 2);
			return ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)SIGSTOP) ? 2 : 0;
		}
		ptrace(PTRACE_CONT, pid, NULL, (void *)(intptr_t)signal);
	}
	die(argv[2], "it ended before the marker", "read its messages", 3);
}
