/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A system call that another process makes. The caller traces the process, which has stopped in its own code; x86-64.
 * Its registers, its next instruction and the words below its stack pointer are the same afterwards.
 */
#ifndef TESSERA_CALL_INSIDE_H
#define TESSERA_CALL_INSIDE_H

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#define CALL_WORDS 7 /* the number of the call and six arguments */

struct call {
	unsigned long word[CALL_WORDS];
	int pointed; /* index of an argument that points to a word with this value; 0: none */
};

/*
 * Reads "NUMBER ARGUMENT..." from a list of words; "@VALUE" is the address of a word with this value.
 * Returns 0, or -1 for other words.
 */
static inline int parse_call(int count, char **words, struct call *call)
{
	memset(call, 0, sizeof(*call));
	if (count < 1 || count > CALL_WORDS)
		return -1;
	for (int i = 0; i < count; i++) {
		const char *text = words[i];
		char *end;

		if (*text == '@') {
			if (!i || call->pointed)
				return -1;
			call->pointed = i;
			text++;
		}
		errno = 0;
		call->word[i] = strtoul(text, &end, 0);
		if (errno || end == text || *end)
			return -1;
	}
	return 0;
}

/* Makes the call. Returns 0 and its result, negative for an error of the call; or -1 with errno of ptrace. */
static inline int call_inside(pid_t pid, const struct call *call, long *result)
{
	static const unsigned long syscall_code = 0x050f, code_mask = 0xffff;
	struct user_regs_struct before, now;
	unsigned long at, below, code, word;
	int status;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &before))
		return -1;
	at = before.rip;
	below = (before.rsp - 512) & ~7UL; /* below the red zone */
	errno = 0;
	code = ptrace(PTRACE_PEEKDATA, pid, (void *)at, NULL);
	word = ptrace(PTRACE_PEEKDATA, pid, (void *)below, NULL);
	if (errno)
		return -1;
	now = before;
	now.rax = call->word[0];
	now.rdi = call->word[1], now.rsi = call->word[2], now.rdx = call->word[3];
	now.r10 = call->word[4], now.r8 = call->word[5], now.r9 = call->word[6];
	now.orig_rax = -1;
	if (call->pointed) {
		unsigned long long *const arguments[] = { &now.rdi, &now.rsi, &now.rdx, &now.r10, &now.r8, &now.r9 };

		*arguments[call->pointed - 1] = below;
		if (ptrace(PTRACE_POKEDATA, pid, (void *)below, (void *)call->word[call->pointed]))
			return -1;
	}
	if (ptrace(PTRACE_POKEDATA, pid, (void *)at, (void *)((code & ~code_mask) | syscall_code)) ||
	    ptrace(PTRACE_SETREGS, pid, NULL, &now))
		return -1;
	do { /* SIGSTOP of the attachment may be pending; it comes before the step, and then the step is made again */
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
			return -1;
	} while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
		errno = ESRCH;
		return -1;
	}
	if (ptrace(PTRACE_GETREGS, pid, NULL, &now))
		return -1;
	*result = (long)now.rax;
	before.orig_rax = -1;
	return ptrace(PTRACE_POKEDATA, pid, (void *)at, (void *)code) ||
	       ptrace(PTRACE_POKEDATA, pid, (void *)below, (void *)word) ||
	       ptrace(PTRACE_SETREGS, pid, NULL, &before) ? -1 : 0;
}

#endif
