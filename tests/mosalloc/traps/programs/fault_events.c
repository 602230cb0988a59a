/* fault_events BYTES: a thread gets the events of userfaultfd for madvise and munmap, and maps memory before it reads each.
 * The kernel lets the calls wait for it. Prints the events: `remove unmap`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { READ_WRITE = PROT_READ | PROT_WRITE, PLAIN = MAP_PRIVATE | MAP_ANONYMOUS };
static int g_fd;
static unsigned long g_start, g_end;

static void* handle(void* unused) {
    struct pollfd ready = {g_fd, POLLIN, 0};
    for (;;) {
        if (poll(&ready, 1, -1) != 1) _exit(10);
        usleep(20000); /* the caller waits already */
        char* at = mmap(NULL, 256 << 10, READ_WRITE, PLAIN, -1, 0);
        if (at == MAP_FAILED) _exit(11);
        memset(at, 1, 256 << 10);
        munmap(at, 256 << 10);
        struct uffd_msg message;
        if (read(g_fd, &message, sizeof message) != sizeof message) _exit(12);
        const char* name = message.event == UFFD_EVENT_REMOVE ? "remove" : message.event == UFFD_EVENT_UNMAP ? "unmap" : "other";
        if (message.arg.remove.start != g_start || message.arg.remove.end != g_end) _exit(13);
        printf("%s\n", name);
        fflush(stdout);
    }
    return unused;
}

int main(int count, char** words) {
    const size_t bytes = count > 1 ? strtoull(words[1], NULL, 0) : 0;
    alarm(20);
    g_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);
    if (g_fd < 0) return 77;
    struct uffdio_api api = {UFFD_API, UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_UNMAP, 0};
    if (ioctl(g_fd, UFFDIO_API, &api) != 0) return 77;
    char* at = mmap(NULL, bytes, READ_WRITE, PLAIN, -1, 0);
    if (at == MAP_FAILED) return 2;
    memset(at, 'x', bytes);
    g_start = (unsigned long)at, g_end = g_start + bytes;
    struct uffdio_register all = {{g_start, bytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
    if (ioctl(g_fd, UFFDIO_REGISTER, &all) != 0) return 3;
    pthread_t thread;
    if (pthread_create(&thread, NULL, handle, NULL) != 0) return 4;
    if (madvise(at, bytes, MADV_DONTNEED) != 0) return 5;
    if (munmap(at, bytes) != 0) return 6;
    if (mmap(at, bytes, READ_WRITE, PLAIN | MAP_FIXED_NOREPLACE, -1, 0) != at) return 7;
    for (size_t b = 0; b < bytes; ++b)
        if (at[b] != 0) return 8;
    usleep(100000);
    return 0;
}
