/* wrappers: a program with functions of its own that call `syscall` instead of libc's functions, over memory that libc's mmap
 * gave it. Prints `same`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { BYTES = 64 << 10, PAGE = 4096, READ_WRITE = PROT_READ | PROT_WRITE, PLAIN = MAP_PRIVATE | MAP_ANONYMOUS };

int munmap(void* at, size_t bytes) { return (int)syscall(SYS_munmap, at, bytes); }
int mprotect(void* at, size_t bytes, int prot) { return (int)syscall(SYS_mprotect, at, bytes, (long)prot); }
int madvise(void* at, size_t bytes, int advice) { return (int)syscall(SYS_madvise, at, bytes, (long)advice); }
int mlock(const void* at, size_t bytes) { return (int)syscall(SYS_mlock, at, bytes); }

static void require(int good, int line) {
    if (!good) printf("line %d, errno %d\n", line, errno), fflush(stdout), _exit(1);
}
#define REQUIRE(what) require((what), __LINE__)

typedef void* (*Map)(void*, size_t, int, int, int, off_t);

int main(void) {
    const Map map = (Map)dlsym(RTLD_NEXT, "mmap");
    char* at = map(NULL, BYTES, READ_WRITE, PLAIN, -1, 0);
    REQUIRE(at != MAP_FAILED);
    memset(at, 'x', BYTES);
    REQUIRE(madvise(at, PAGE, MADV_DONTNEED) == 0 && at[0] == 0 && at[PAGE] == 'x');
    REQUIRE(mlock(at + 8 * PAGE, PAGE) == 0 && mprotect(at, PAGE, PROT_READ) == 0 && mprotect(at, PAGE, READ_WRITE) == 0);
    REQUIRE(munmap(at + PAGE, PAGE) == 0);
    REQUIRE(madvise(at, 3 * PAGE, MADV_DONTNEED) == -1 && errno == ENOMEM); /* a hole */
    REQUIRE((char*)syscall(SYS_mmap, at + PAGE, (long)PAGE, (long)READ_WRITE, (long)(PLAIN | MAP_FIXED_NOREPLACE), -1L, 0L) ==
            at + PAGE);
    REQUIRE(at[PAGE] == 0 && at[3 * PAGE] == 'x');
    REQUIRE(syscall(SYS_mmap, at + PAGE, (long)PAGE, (long)READ_WRITE, (long)(PLAIN | MAP_FIXED_NOREPLACE), -1L, 0L) == -1 &&
            errno == EEXIST);
    REQUIRE(munmap(at, BYTES) == 0 && munmap(at + 1, BYTES) == -1 && errno == EINVAL);
    REQUIRE(map(at, BYTES, READ_WRITE, PLAIN | MAP_FIXED_NOREPLACE, -1, 0) == at);
    for (int i = 0; i < BYTES; ++i) REQUIRE(at[i] == 0);
    memset(at, 'y', BYTES);
    char* more = (char*)syscall(SYS_mremap, at, (long)BYTES, 4L * BYTES, (long)MREMAP_MAYMOVE);
    REQUIRE(more != MAP_FAILED && more[BYTES - 1] == 'y' && more[BYTES] == 0);
    REQUIRE(munmap(more, 4 * BYTES) == 0);
    char* own = (char*)syscall(SYS_mmap, NULL, (long)BYTES, (long)READ_WRITE, (long)PLAIN, -1L, 0L);
    REQUIRE(own != MAP_FAILED && munmap(own, BYTES) == 0);
    puts("same");
    return 0;
}
