/* Takes the access to one page inside a large block away and writes there: does the program get its fault? */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void trapped(int number) {
    (void)number;
    if (write(1, "trapped\n", 8) < 0) _exit(3);
    _exit(0);
}

int main(void) {
    struct sigaction action = {.sa_handler = trapped};
    sigaction(SIGSEGV, &action, NULL);
    char* at = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return 1;
    memset(at, 'x', 4 << 20);
    if (mprotect(at + (1 << 20), 4096, PROT_NONE) != 0) return 2;
    at[(1 << 20) - 1] = 'y';
    at[(1 << 20) + 4096] = 'y';
    *(volatile char*)(at + (1 << 20)) = 'y';
    if (write(1, "silent\n", 7) < 0) return 3;
    return at[0] == 'x' && at[(4 << 20) - 1] == 'x' ? 0 : 4;
}
