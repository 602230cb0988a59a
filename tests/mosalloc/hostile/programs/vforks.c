/* vforks N: N children of vfork, which share the memory, map, write and protect through libc, while threads of the parent
 * give guard pages to one huge page after the other and write to them. */
#include "hostile.h"

enum { THREADS = 2, PAGES = 10 };
static volatile int g_stop;

static void* split_in_turn(void* unused) {
    char* blocks = huge_blocks(PAGES);
    for (int round = 0; !g_stop || round < PAGES; ++round) {
        char* block = blocks + (round % PAGES) * HUGE;
        memset(block + MB, round, 16 * PAGE);
        REQUIRE(mprotect(block, PAGE, PROT_NONE) == 0);
        for (size_t i = 0; i < 16 * PAGE; ++i) REQUIRE(block[MB + i] == (char)round);
        REQUIRE(mprotect(block, PAGE, PROT_READ | PROT_WRITE) == 0);
        usleep(500);
    }
    return unused;
}

__attribute__((noinline)) static void in_child(void) {
    char* at = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) _exit(1);
    memset(at, 'v', 16 * PAGE);
    if (mprotect(at + PAGE, PAGE, PROT_NONE) != 0) _exit(2);
    if (at[0] != 'v' || at[2 * PAGE] != 'v') _exit(3);
    if (munmap(at, 16 * PAGE) != 0) _exit(4);
    _exit(7);
}

int main(int count, char** words) {
    REQUIRE(count == 2);
    watch(40);
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; ++i) REQUIRE(pthread_create(&ids[i], NULL, split_in_turn, NULL) == 0);
    for (long left = atol(words[1]); left > 0; --left) {
        const pid_t child = vfork();
        if (child == 0) in_child();
        int status = 0;
        REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
        if (status != 7 << 8) dprintf(2, "the child ended with status 0x%x\n", status);
        REQUIRE(status == 7 << 8);
    }
    g_stop = 1;
    for (int i = 0; i < THREADS; ++i) REQUIRE(pthread_join(ids[i], NULL) == 0);
    puts("right");
    return 0;
}
