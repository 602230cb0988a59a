/* kernel_writes FILE PAGES: threads read a file and the clock into huge pages by ordinary system calls, so that the kernel
 * itself writes there, while the main thread gives other parts of these pages guard pages. No call may fail, and the
 * contents must be right. */
#include "hostile.h"

#include <sys/uio.h>
#include <time.h>

static char* g_block;
static int g_file;
static size_t g_pages;
static volatile size_t g_page;
static volatile int g_stop;
static volatile uint64_t g_rounds;

static void* read_into(void* unused) {
    for (size_t part = 0; !g_stop; part = (part + 1) % g_pages) {
        char* to = g_block + g_page * HUGE;
        const ssize_t got = pread(g_file, to, MB, (off_t)(part * MB));
        if (got != MB) dprintf(2, "pread: %zd, errno %d\n", got, errno);
        REQUIRE(got == MB);
        for (size_t i = 0; i < MB; i += 509) REQUIRE((unsigned char)to[i] == content(part * MB + i, 1));
        ++g_rounds;
    }
    return unused;
}

static void* ask_clock(void* unused) {
    while (!g_stop) {
        char* to = g_block + g_page * HUGE + MB + 64 * PAGE;
        struct timespec* time = (struct timespec*)to;
        REQUIRE(syscall(SYS_clock_gettime, CLOCK_MONOTONIC, time) == 0 && time->tv_nsec >= 0);
        int* ends = (int*)(to + PAGE);
        REQUIRE(pipe(ends) == 0 && write(ends[1], "ab", 2) == 2 && read(ends[0], to + 2 * PAGE, 2) == 2);
        REQUIRE(to[2 * PAGE] == 'a' && close(ends[0]) == 0 && close(ends[1]) == 0);
    }
    return unused;
}

int main(int count, char** words) {
    REQUIRE(count == 3);
    watch(60);
    g_pages = strtoul(words[2], NULL, 10);
    g_block = huge_blocks(g_pages);
    g_file = make_file(words[1], g_pages * MB, 1, 0);
    pthread_t ids[2];
    REQUIRE(pthread_create(&ids[0], NULL, read_into, NULL) == 0 && pthread_create(&ids[1], NULL, ask_clock, NULL) == 0);
    unsigned random = 7;
    for (size_t page = 0; page < g_pages; ++page) {
        const uint64_t before = g_rounds;
        g_page = page;
        while (g_rounds < before + 2) usleep(50);
        usleep(next_random(&random) % 1000);
        REQUIRE(mprotect(g_block + page * HUGE + MB, PAGE, PROT_NONE) == 0);
    }
    g_stop = 1;
    for (int i = 0; i < 2; ++i) REQUIRE(pthread_join(ids[i], NULL) == 0);
    puts("right");
    return 0;
}
