/* Special cases of the memory calls, in which a simple allocator would give other results than the kernel. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case.h"

extern char** environ;
enum { RW = PROT_READ | PROT_WRITE, ANONYMOUS = MAP_PRIVATE | MAP_ANONYMOUS };

/* Freed memory does not exist: for queries, for MAP_FIXED_NOREPLACE, for accesses. */
void case_holes(void) {
    char* at = anonymous(8 * PAGE, RW);
    unsigned char in_core[8];
    memset(at, 'x', 8 * PAGE);
    REQUIRE(mincore(at, 8 * PAGE, in_core) == 0 && msync(at, 8 * PAGE, MS_ASYNC) == 0);
    REQUIRE(munmap(at + 2 * PAGE, 2 * PAGE) == 0);
    REQUIRE(mincore(at, 8 * PAGE, in_core) == -1 && errno == ENOMEM);
    REQUIRE(msync(at, 8 * PAGE, MS_ASYNC) == -1 && errno == ENOMEM);
    REQUIRE(mlock(at, 4 * PAGE) == -1 && errno == ENOMEM);
    REQUIRE(munlock(at, 2 * PAGE) == 0 && munlock(at + 5 * PAGE, 3 * PAGE) == 0); /* what the failed mlock had done */
    REQUIRE(madvise(at, 8 * PAGE, MADV_DONTNEED) == -1 && errno == ENOMEM); /* but the rest is dropped */
    REQUIRE(all_bytes(at, 2 * PAGE, 0) && all_bytes(at + 4 * PAGE, 4 * PAGE, 0));
    REQUIRE(mprotect(at, 8 * PAGE, PROT_READ) == -1 && errno == ENOMEM);
    char* hole = mmap(at + 2 * PAGE, 2 * PAGE, RW, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    REQUIRE(hole == at + 2 * PAGE && all_bytes(hole, 2 * PAGE, 0));
    REQUIRE(munmap(hole, PAGE) == 0);
    REQUIRE(mmap(hole, PAGE, RW, ANONYMOUS, -1, 0) == hole); /* a hint whose place is free */
    REQUIRE(munmap(at, 8 * PAGE) == 0);
}

void case_dontunmap(void) {
    char* at = anonymous(700 * PAGE, RW);
    memset(at, 'x', 700 * PAGE);
    char* moved = mremap(at, 700 * PAGE, 700 * PAGE, MREMAP_MAYMOVE | 4 /* MREMAP_DONTUNMAP */, NULL);
    REQUIRE(moved != MAP_FAILED && moved != at);
    REQUIRE(all_bytes(moved, 700 * PAGE, 'x') && all_bytes(at, 700 * PAGE, 0));
    memset(at, 'y', 700 * PAGE);
    REQUIRE(all_bytes(moved, 700 * PAGE, 'x'));
    REQUIRE(mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE | 4, NULL) == MAP_FAILED && errno == EINVAL);
}

void case_files(void) {
    FILE* file = tmpfile();
    REQUIRE(file != NULL && ftruncate(fileno(file), 4 * PAGE) == 0);
    const int fd = fileno(file);
    char* shared = mmap(NULL, 4 * PAGE, RW, MAP_SHARED, fd, 0);
    char* own = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE, fd, 2 * PAGE);
    REQUIRE(shared != MAP_FAILED && own != MAP_FAILED);
    memset(shared, 's', 4 * PAGE);
    REQUIRE(all_bytes(own, 2 * PAGE, 's'));
    memset(own, 'o', PAGE);
    REQUIRE(all_bytes(shared, 4 * PAGE, 's'));
    REQUIRE(munmap(shared + PAGE, PAGE) == 0 && all_bytes(shared + 2 * PAGE, 2 * PAGE, 's'));
    char* bigger = mremap(own, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE);
    REQUIRE(bigger != MAP_FAILED && all_bytes(bigger, PAGE, 'o') && all_bytes(bigger + PAGE, PAGE, 's'));
    REQUIRE(faults(bigger + 2 * PAGE, 0)); /* SIGBUS: behind the end of the file */
    REQUIRE(mmap(NULL, PAGE, RW, MAP_SHARED, 12345, 0) == MAP_FAILED && errno == EBADF);
    REQUIRE(mmap(NULL, PAGE, RW, MAP_SHARED, fd, 1) == MAP_FAILED && errno == EINVAL);
    REQUIRE(munmap(bigger, 3 * PAGE) == 0 && munmap(shared, 4 * PAGE) == 0);
}

void case_spawn(void) { /* posix_spawn and vfork share memory with the child until it is another program */
    char* arguments[] = {"/bin/sh", "-c", "exit 7", NULL};
    pid_t child;
    int status = 0;
    REQUIRE(posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) == 0);
    REQUIRE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    child = vfork();
    if (child == 0) {
        execve(arguments[0], arguments, environ);
        _exit(1);
    }
    REQUIRE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    char* at = anonymous(PAGE, RW);
    REQUIRE(munmap(at, PAGE) == 0);
}

void case_raw_fork(void) { /* no fork handlers run */
    char* before = anonymous(3 * PAGE, RW);
    memset(before, 'p', 3 * PAGE);
    const pid_t child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        REQUIRE(all_bytes(before, 3 * PAGE, 'p'));
        char* own = anonymous(50 * PAGE, RW);
        memset(own, 'c', 50 * PAGE);
        REQUIRE(munmap(own, 50 * PAGE) == 0);
        _exit(17);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    REQUIRE(all_bytes(before, 3 * PAGE, 'p'));
}

void case_wipe_on_fork(void) { /* secrets depend on it */
    char* at = anonymous(2 * PAGE, RW);
    memset(at, 'x', 2 * PAGE);
    REQUIRE(madvise(at, PAGE, MADV_WIPEONFORK) == 0);
    const pid_t child = fork();
    if (child == 0) _exit(all_bytes(at, PAGE, 0) && all_bytes(at + PAGE, PAGE, 'x') ? 17 : 1);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 17);
    REQUIRE(all_bytes(at, 2 * PAGE, 'x'));
    REQUIRE(munmap(at, 2 * PAGE) == 0);
    at = anonymous(2 * PAGE, RW); /* the advice went with the mapping */
    memset(at, 'y', 2 * PAGE);
    const pid_t second = fork();
    if (second == 0) _exit(all_bytes(at, 2 * PAGE, 'y') ? 17 : 1);
    REQUIRE(waitpid(second, &status, 0) == second && WIFEXITED(status) && WEXITSTATUS(status) == 17);
}

void case_locked(void) {
    char* at = mmap(NULL, 4 * PAGE, RW, ANONYMOUS | MAP_LOCKED, -1, 0);
    REQUIRE(at != MAP_FAILED && all_bytes(at, 4 * PAGE, 0));
    memset(at, 'x', 4 * PAGE);
    REQUIRE(munmap(at, 4 * PAGE) == 0);
    char* again = anonymous(4 * PAGE, RW);
    REQUIRE(mlock(again + 1, 2 * PAGE) == 0 && munlock(again, 4 * PAGE) == 0);
    REQUIRE(mlock2(again, PAGE, MLOCK_ONFAULT) == 0 && mlock2(again, PAGE, 4096) == -1 && errno == EINVAL);
    REQUIRE(posix_madvise(again, 4 * PAGE, POSIX_MADV_WILLNEED) == 0);
    memset(again, 'y', 4 * PAGE);
    REQUIRE(posix_madvise(again, 4 * PAGE, POSIX_MADV_DONTNEED) == 0 && all_bytes(again, 4 * PAGE, 'y'));
    REQUIRE(posix_madvise(again, 4 * PAGE, 4711) == EINVAL);
}

void case_dlopen(void) { /* libraries come and go while the pools are in use */
    char* at = malloc(1 << 20);
    memset(at, 'x', 1 << 20);
    void* library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != NULL);
    double (*root)(double) = (double (*)(double))dlsym(library, "sqrt");
    REQUIRE(root != NULL && root(49.0) == 7.0);
    REQUIRE(dlclose(library) == 0 && all_bytes(at, 1 << 20, 'x'));
    free(at);
}

void case_realloc_sizes(void) { /* through every way in which malloc grows: in place, mremap, a copy */
    char* at = NULL;
    for (size_t bytes = 1; bytes < 96u << 20; bytes = bytes * 3 + 1) {
        at = realloc(at, bytes);
        REQUIRE(at != NULL && malloc_usable_size(at) >= bytes);
        memset(at + bytes / 3, 'r', bytes - bytes / 3);
        REQUIRE(bytes < 4 || all_bytes(at + bytes / 9 + 1, bytes - bytes / 9 - 1, 'r'));
    }
    free(at);
    REQUIRE(malloc((size_t)1 << 50) == NULL && errno == ENOMEM);
}
