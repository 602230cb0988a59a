/* ring_gone: a ring with registered buffers is taken down before the first guard page, which then must trap. */
#include "ring.h"

static void trapped(int number) {
    (void)number;
    if (write(1, "right\n", 6) < 0) _exit(3);
    _exit(0);
}

static long pinned_kb(void) {
    char text[4096] = {0};
    const int fd = open("/proc/self/status", O_RDONLY);
    REQUIRE(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
    const char* line = strstr(text, "VmPin:");
    REQUIRE(line != NULL);
    return atol(line + 6);
}

int main(void) {
    watch(20);
    char* block = huge_blocks(1);
    struct ring ring;
    ring_open(&ring);
    ring_register(&ring, block + MB, MB);
    REQUIRE(pinned_kb() > 0);
    REQUIRE(syscall(SYS_io_uring_register, ring.fd, IORING_UNREGISTER_BUFFERS, NULL, 0) == 0);
    ring_unmap(&ring);
    REQUIRE(close(ring.fd) == 0);
    for (int i = 0; i < 500 && pinned_kb() > 0; ++i) usleep(10000);
    REQUIRE(pinned_kb() == 0);
    const struct sigaction action = {.sa_handler = trapped};
    REQUIRE(sigaction(SIGSEGV, &action, NULL) == 0);
    REQUIRE(mprotect(block, PAGE, PROT_NONE) == 0);
    block[PAGE] = 'y';
    *(volatile char*)block = 'y';
    dprintf(2, "the guard page does not trap\n");
    return 1;
}
