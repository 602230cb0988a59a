/* fault_handler BYTES: registers a block with userfaultfd; for each missing page, a thread maps memory of its own and fills
 * the page with 'u'. Then gives the block back and takes memory at the same place, while the thread still runs: prints
 * `clean` if it reads zero. Ends with 77 if userfaultfd is not allowed; prints the error if registering fails. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };
static int g_fd;
static char g_filled[PAGE] __attribute__((aligned(4096)));

static void* handle(void* unused) {
    struct uffd_msg message;
    while (read(g_fd, &message, sizeof message) == sizeof message) {
        if (message.event != UFFD_EVENT_PAGEFAULT) _exit(9);
        void* own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (own == MAP_FAILED || munmap(own, 1 << 20) != 0) _exit(11);
        const unsigned long at = message.arg.pagefault.address & ~(unsigned long)(PAGE - 1);
        struct uffdio_copy copy = {at, (unsigned long)g_filled, PAGE, 0, 0};
        if (ioctl(g_fd, UFFDIO_COPY, &copy) != 0 && errno != EEXIST) _exit(10);
    }
    return unused;
}

int main(int count, char** words) {
    const size_t bytes = count > 1 ? strtoull(words[1], NULL, 0) : 0;
    memset(g_filled, 'u', sizeof g_filled);
    g_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    const int of_kernel = g_fd >= 0; /* root: it also handles faults of system calls */
    if (!of_kernel) g_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1);
    if (g_fd < 0) return 77;
    struct uffdio_api api = {UFFD_API, 0, 0};
    if (ioctl(g_fd, UFFDIO_API, &api) != 0) return 77;
    const int plain = MAP_PRIVATE | MAP_ANONYMOUS;
    char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, plain, -1, 0);
    if (at == MAP_FAILED) return 2;
    struct uffdio_register all = {{(unsigned long)at, bytes}, UFFDIO_REGISTER_MODE_MISSING, 0};
    if (ioctl(g_fd, UFFDIO_REGISTER, &all) != 0) {
        printf("%s\n", strerrorname_np(errno));
        return 3;
    }
    if ((all.ioctls & (1UL << _UFFDIO_COPY)) == 0 || (all.ioctls & (1UL << _UFFDIO_ZEROPAGE)) == 0) return 4;
    pthread_t thread;
    if (pthread_create(&thread, NULL, handle, NULL) != 0) return 5;
    alarm(30);
    if (of_kernel) { /* these wait for the handler */
        if (madvise(at, 4 * PAGE, 23) != 0 && errno != EINVAL) return 12; /* MADV_POPULATE_WRITE */
        if (mlock(at + 4 * PAGE, PAGE) != 0 || munlock(at + 4 * PAGE, PAGE) != 0) return 13;
    }
    for (size_t b = 0; b < bytes; b += PAGE / 2)
        if (at[b] != 'u') return puts("unhandled"), 6;
    if (munmap(at, bytes) != 0) return 7;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, plain | MAP_FIXED_NOREPLACE, -1, 0) != at) return 8;
    for (size_t b = 0; b < bytes; b += PAGE / 2)
        if (at[b] != 0) return puts("inherited"), 1;
    puts("clean");
    return 0;
}
