/* broken: a library with one fault, named by BROKEN; the random lives must find each. It is preloaded instead of
 * libmosalloc. Each is a fault that a library with huge pages can have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define BUFFER (22 * PAGE) /* memory with a pinned buffer, and with a policy: see pins.cpp, marks.cpp */
#define MARKED (32 * PAGE)

static char* g_buffer = NULL;
static char* g_kept = NULL;

static int is(const char* name) {
    const char* asked = getenv("BROKEN");
    return asked != NULL && strcmp(asked, name) == 0;
}

static char* plain(size_t bytes, int flags, void* at) {
    return (char*)syscall(SYS_mmap, at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0L);
}

/* "handler": memory for a handler that interrupted a call is not zero. */
void* mmap(void* at, size_t bytes, int prot, int flags, int fd, off_t offset) {
    const int simple = at == NULL && (flags & (MAP_ANONYMOUS | MAP_PRIVATE)) == (MAP_ANONYMOUS | MAP_PRIVATE);
    if (simple && bytes == MARKED && g_kept != NULL && is("mark")) {
        char* kept = g_kept;
        g_kept = NULL;
        return kept;
    }
    char* got = (char*)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
    if (simple && bytes == BUFFER) g_buffer = got;
    if (simple && bytes <= 3 * PAGE && is("handler")) {
        sigset_t now;
        sigprocmask(SIG_BLOCK, NULL, &now);
        if (sigismember(&now, SIGALRM)) got[0] = 1;
    }
    return got;
}

/* "mark": memory that was unmapped keeps its policy for the next owner. */
int munmap(void* at, size_t bytes) {
    if (bytes == MARKED && g_kept == NULL && is("mark")) {
        madvise(at, bytes, MADV_DONTNEED);
        g_kept = at;
        return 0;
    }
    if (at == g_buffer) g_buffer = NULL;
    return (int)syscall(SYS_munmap, at, bytes);
}

/* "pin": to protect a page, its neighbours get other frames, although the kernel holds the old ones. */
int mprotect(void* at, size_t bytes, int prot) {
    if (is("pin") && g_buffer != NULL && bytes == PAGE && at == g_buffer) {
        const size_t inner = BUFFER - 2 * PAGE;
        char* copy = plain(inner, 0, NULL);
        memcpy(copy, g_buffer + PAGE, inner);
        syscall(SYS_mremap, copy, inner, inner, MREMAP_MAYMOVE | MREMAP_FIXED, g_buffer + PAGE);
    }
    return (int)syscall(SYS_mprotect, at, bytes, prot);
}

/* "fork": a child misses a page that its parent wrote. "hang": a child never returns from the call. */
pid_t fork(void) {
    pid_t (*original)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    const pid_t child = original();
    if (child == 0 && g_buffer != NULL && is("fork")) madvise(g_buffer + 5 * PAGE, PAGE, MADV_DONTNEED);
    while (child == 0 && is("hang")) pause();
    return child;
}
