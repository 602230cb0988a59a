/* A call that waits for another thread, or for a disk, while that thread makes mappings.
 *
 *   blocking_calls populate|lock|lock2   the call waits for a userfaultfd handler of this program
 *   blocking_calls msync FILE            prints `mappings N`, made during one msync of `microseconds T`, and
 *                                        `longest T`, the microseconds of the slowest of them
 *
 * Exit status 77: no userfaultfd here. A hang ends with SIGALRM. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, RW = PROT_READ | PROT_WRITE, PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS, POPULATE_WRITE = 23 };

static char* watched;
static const char* kind;
static atomic_int started, done;
static int result = -1;

static int make_mapping(void) {
    char* at = mmap(NULL, 3 * PAGE, RW, PRIVATE, -1, 0);
    if (at == MAP_FAILED) return -1;
    at[PAGE] = 1;
    return munmap(at, 3 * PAGE);
}

static void* blocks(void* unused) {
    if (strcmp(kind, "populate") == 0) result = madvise(watched, PAGE, POPULATE_WRITE);
    if (strcmp(kind, "lock") == 0) result = mlock(watched, PAGE);
    if (strcmp(kind, "lock2") == 0) result = mlock2(watched, PAGE, 0);
    atomic_store(&done, 1);
    return unused;
}

static int with_handler(void) {
    const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api) != 0) return 77;
    watched = mmap(NULL, 16 * PAGE, RW, PRIVATE, -1, 0);
    watched += 4 * PAGE;
    struct uffdio_register range = {{(unsigned long)watched, PAGE}, UFFDIO_REGISTER_MODE_MISSING, 0};
    if (ioctl(fd, UFFDIO_REGISTER, &range) != 0) return 2;
    pthread_t thread;
    if (pthread_create(&thread, NULL, blocks, NULL) != 0) return 3;
    struct uffd_msg message;
    if (read(fd, &message, sizeof message) != sizeof message) return 4;
    for (int i = 0; i < 1000; ++i)
        if (make_mapping() != 0) return 5;
    if (atomic_load(&done)) return 6;
    struct uffdio_zeropage zero = {{(unsigned long)watched, PAGE}, 0, 0};
    if (ioctl(fd, UFFDIO_ZEROPAGE, &zero) != 0) return 7;
    pthread_join(thread, NULL);
    return result == 0 ? 0 : 8;
}

static char* file_memory;
static const size_t kFileBytes = (size_t)64 << 20;
static double seconds;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* syncs(void* unused) {
    const double start = now();
    atomic_store(&started, 1);
    result = msync(file_memory, kFileBytes, MS_SYNC);
    seconds = now() - start;
    atomic_store(&done, 1);
    return unused;
}

static int with_file(const char* path) {
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)kFileBytes) != 0) return 2;
    file_memory = mmap(NULL, kFileBytes, RW, MAP_SHARED, fd, 0);
    if (file_memory == MAP_FAILED) return 3;
    for (size_t i = 0; i < kFileBytes; i += PAGE) memset(file_memory + i, (int)(i / PAGE) % 251 + 1, PAGE);
    pthread_t thread;
    if (pthread_create(&thread, NULL, syncs, NULL) != 0) return 4;
    long mappings = 0;
    double longest = 0;
    while (!atomic_load(&started)) continue;
    for (; !atomic_load(&done); ++mappings) {
        const double start = now();
        if (make_mapping() != 0) return 5;
        if (now() - start > longest) longest = now() - start;
    }
    pthread_join(thread, NULL);
    printf("mappings %ld\nmicroseconds %.0f\nlongest %.0f\n", mappings, 1e6 * seconds, 1e6 * longest);
    return result == 0 ? 0 : 6;
}

int main(int argc, char** argv) {
    if (argc < 2) return 2;
    kind = argv[1];
    alarm(20);
    return argc > 2 ? with_file(argv[2]) : with_handler();
}
