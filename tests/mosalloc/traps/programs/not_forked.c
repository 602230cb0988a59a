/* not_forked BYTES [move]: memory with MADV_DONTFORK. A child has a hole there, which it can fill, and its new memory stays its
 * own; the parent keeps its contents. Prints `clean`. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, READ_WRITE = PROT_READ | PROT_WRITE, PLAIN = MAP_PRIVATE | MAP_ANONYMOUS };

static int ended(pid_t child) {
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) exit(20);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count, char** words) {
    const size_t bytes = count > 1 ? strtoull(words[1], NULL, 0) : 0;
    char* before = mmap(NULL, bytes, READ_WRITE, PLAIN, -1, 0);
    char* secret = mmap(NULL, bytes, READ_WRITE, PLAIN, -1, 0);
    char* behind = mmap(NULL, bytes, READ_WRITE, PLAIN, -1, 0);
    if (before == MAP_FAILED || secret == MAP_FAILED || behind == MAP_FAILED) return 1;
    memset(before, 'b', bytes), memset(secret, 's', bytes), memset(behind, 'e', bytes);
    if (madvise(secret, bytes, MADV_DONTFORK) != 0) return 2;
    if (count > 2) { /* moved */
        secret = mremap(secret, bytes, bytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
        if (secret == MAP_FAILED) return 7;
    }
    const pid_t reader = fork();
    if (reader == 0) _exit(*(volatile char*)(secret + bytes / 2) == 's' ? 30 : 31);
    if (ended(reader) != 128 + SIGSEGV) return 3;
    const pid_t child = fork();
    if (child == 0) {
        char* mine = mmap(secret, bytes, READ_WRITE, PLAIN | MAP_FIXED_NOREPLACE, -1, 0);
        if (mine != secret) _exit(40);
        for (size_t b = 0; b < bytes; ++b)
            if (mine[b] != 0) _exit(41);
        memset(mine, 'm', bytes);
        char* more = mmap(NULL, bytes, READ_WRITE, PLAIN, -1, 0);
        if (more == MAP_FAILED) _exit(42);
        memset(more, 'n', bytes);
        const pid_t grandchild = fork(); /* the new memory is forked */
        if (grandchild == 0) _exit(mine[bytes - 1] == 'm' && before[0] == 'b' && behind[bytes - 1] == 'e' ? 0 : 43);
        if (ended(grandchild) != 0 || mine[0] != 'm') _exit(44);
        if (munmap(mine, bytes) != 0 || munmap(more, bytes) != 0) _exit(45);
        _exit(before[bytes - 1] == 'b' && behind[0] == 'e' ? 0 : 46);
    }
    const int status = ended(child);
    if (status != 0) return status;
    for (size_t b = 0; b < bytes; ++b)
        if (secret[b] != 's') return 4;
    if (madvise(secret, bytes, MADV_DOFORK) != 0) return 5;
    const pid_t last = fork();
    if (last == 0) _exit(secret[0] == 's' && secret[bytes - 1] == 's' ? 0 : 50);
    if (ended(last) != 0) return 6;
    puts("clean");
    return 0;
}
