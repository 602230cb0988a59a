/* reserve BYTES HOW: reserves addresses without access, makes 2MB of them accessible in one of several ways, frees all.
 * HOW: none, mprotect, noreserve (and mprotect), fixed (a mapping over a part), child (of fork), twice (the same pages);
 * own: a child of fork does all of it; threads: 8 threads reserve BYTES, use one page and free all, 1000 times each. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USED = 2 << 20, RW = PROT_READ | PROT_WRITE };

static int use(char* at, int fixed) {
    if (fixed && mmap(at, USED, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at) return 0;
    if (!fixed && mprotect(at, USED, RW) != 0) return 0;
    memset(at, 1, USED);
    return at[USED - 1] == 1;
}

static void* many(void* bytes) {
    for (int i = 0; i < 1000; ++i) {
        char* at = mmap(NULL, *(size_t*)bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED || mprotect(at, 4096, RW) != 0 || munmap(at, *(size_t*)bytes) != 0) return bytes;
    }
    return NULL;
}

static int in_threads(size_t bytes) {
    pthread_t threads[8];
    int good = 1;
    for (int i = 0; i < 8; ++i) good = good && pthread_create(&threads[i], NULL, many, &bytes) == 0;
    for (int i = 0; i < 8; ++i) {
        void* failed = NULL;
        good = good && pthread_join(threads[i], &failed) == 0 && failed == NULL;
    }
    return good;
}

int main(int count, char** words) {
    if (count < 3) return 2;
    const size_t bytes = strtoull(words[1], NULL, 10);
    const char* how = words[2];
    if (strcmp(how, "threads") == 0) {
        puts(in_threads(bytes) ? "good" : "bad");
        return 0;
    }
    if (strcmp(how, "own") == 0) {
        const pid_t child = fork();
        int status = 1;
        if (child != 0) return waitpid(child, &status, 0) != child || status != 0;
        how = "mprotect";
    }
    const int more = strcmp(how, "noreserve") == 0 ? MAP_NORESERVE : 0;
    char* at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
    if (at == MAP_FAILED) {
        printf("errno %d\n", errno);
        return 3;
    }
    char* middle = at + (bytes / 2 & ~(size_t)4095);
    int good = 1;
    if (strcmp(how, "child") == 0) {
        const pid_t child = fork();
        if (child == 0) _exit(use(middle, 0) ? 0 : 1);
        int status = 1;
        good = waitpid(child, &status, 0) == child && status == 0;
    } else if (strcmp(how, "none") != 0) {
        good = use(middle, strcmp(how, "fixed") == 0);
        if (strcmp(how, "twice") == 0) good = good && mprotect(middle, USED, PROT_NONE) == 0 && use(middle, 0);
    }
    puts(good && munmap(at, bytes) == 0 ? "good" : "bad");
    return 0;
}
