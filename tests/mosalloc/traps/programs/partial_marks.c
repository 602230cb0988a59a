/* partial_marks: calls over a block with a hole, and over single pages of it. Prints one line for each call: its result, and
 * which pages have the mark (1) or not (0). The bare kernel prints the same. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 8, HOLE = 5 };
static char* g_at;

static int policy_of(int page) {
    int mode = -1;
    if (syscall(SYS_get_mempolicy, &mode, NULL, 0L, g_at + page * PAGE, (long)MPOL_F_ADDR) != 0) return -errno;
    return mode != MPOL_DEFAULT;
}

static void line(const char* what, long result) {
    printf("%s %s", what, result == 0 ? "0" : strerrorname_np(errno));
    for (int i = 0; i < PAGES; ++i) printf(" %d", i == HOLE ? 9 : policy_of(i));
    puts("");
}

static long bind_pages(int from, int to, int mode) {
    unsigned long node = 1;
    return syscall(SYS_mbind, g_at + from * PAGE, (long)(to - from) * PAGE, (long)mode, mode == MPOL_DEFAULT ? NULL : &node,
                   mode == MPOL_DEFAULT ? 0L : 64L, 0L);
}

int main(void) {
    const int plain = MAP_PRIVATE | MAP_ANONYMOUS;
    g_at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, plain, -1, 0);
    if (g_at == MAP_FAILED || munmap(g_at + HOLE * PAGE, PAGE) != 0) return 1;
    line("bind 1-3", bind_pages(1, 3, MPOL_BIND));
    line("bind over the hole", bind_pages(3, 8, MPOL_PREFERRED));
    line("bind behind it", bind_pages(6, 8, MPOL_PREFERRED));
    line("reset over the hole", bind_pages(2, 8, MPOL_DEFAULT));
    line("wrong mode", bind_pages(0, 2, 99));
    line("no bytes", bind_pages(3, 3, MPOL_BIND));
    line("home node", syscall(450, g_at, (long)PAGES * PAGE, 0L, 0L));

    const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | 1);
    if (fd < 0) return 77;
    struct uffdio_api api = {UFFD_API, 0, 0};
    if (ioctl(fd, UFFDIO_API, &api) != 0) return 77;
    struct uffdio_register all = {{(unsigned long)g_at, PAGES * PAGE}, UFFDIO_REGISTER_MODE_MISSING, 0};
    line("register over the hole", ioctl(fd, UFFDIO_REGISTER, &all));
    if (mmap(g_at + HOLE * PAGE, PAGE, PROT_READ | PROT_WRITE, plain | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED) return 2;
    char zeros[PAGE] = {0};
    struct uffdio_copy inside = {(unsigned long)g_at, (unsigned long)zeros, PAGE, 0, 0}, filled = inside;
    filled.dst += HOLE * PAGE;
    line("copy to a registered page", ioctl(fd, UFFDIO_COPY, &inside));
    line("copy to the new one", ioctl(fd, UFFDIO_COPY, &filled));
    struct uffdio_register other = {{(unsigned long)g_at + 1, PAGE}, UFFDIO_REGISTER_MODE_MISSING, 0};
    line("register unaligned", ioctl(fd, UFFDIO_REGISTER, &other));
    other.range.start -= 1, other.mode = 64;
    line("register with a wrong mode", ioctl(fd, UFFDIO_REGISTER, &other));
    if (munmap(g_at, PAGES * PAGE) != 0) return 3;
    other.mode = UFFDIO_REGISTER_MODE_MISSING;
    printf("register nothing %s\n", ioctl(fd, UFFDIO_REGISTER, &other) == 0 ? "0" : strerrorname_np(errno));
    return 0;
}
