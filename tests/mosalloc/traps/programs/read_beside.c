/* read_beside PAGES: a thread reads a file into one half of huge pages, while the main thread protects a 4KB page in the
 * other half of each. Prints how many reads failed, and whether each guard page traps. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE = 2 << 20, HALF = 1 << 20, PIECE = 64 << 10 };

static char* g_memory;
static int g_pages;
static volatile int g_stop, g_page;
static volatile long g_reads, g_failed;
static sigjmp_buf g_escape;

static void* read_on(void* unused) {
    const int file = open("/dev/zero", O_RDONLY);
    while (!g_stop) {
        if (read(file, g_memory + (size_t)g_page * HUGE + HALF, PIECE) != PIECE) ++g_failed;
        ++g_reads;
    }
    return unused;
}

static void escape(int number) { siglongjmp(g_escape, number); }

static int traps(const char* at) {
    signal(SIGSEGV, escape);
    if (sigsetjmp(g_escape, 1) != 0) return 1;
    (void)*(volatile const char*)at;
    return 0;
}

int main(int count, char** words) {
    if (count != 2 || (g_pages = atoi(words[1])) < 1) return 2;
    alarm(60);
    g_memory = mmap(NULL, (size_t)g_pages * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g_memory == MAP_FAILED) return 3;
    memset(g_memory, 1, (size_t)g_pages * HUGE);
    pthread_t reader;
    if (pthread_create(&reader, NULL, read_on, NULL) != 0) return 3;
    int trapped = 0;
    for (g_page = 0; g_page < g_pages; ++g_page) {
        const long before = g_reads;
        while (g_reads < before + 20) usleep(100);
        if (mprotect(g_memory + (size_t)g_page * HUGE + 4096, 4096, PROT_NONE) != 0) return 4;
        if (g_page + 1 == g_pages) break;
    }
    g_stop = 1;
    pthread_join(reader, NULL);
    for (int i = 0; i < g_pages; ++i) trapped += traps(g_memory + (size_t)i * HUGE + 4096);
    printf("failed %ld trapped %d\n", g_failed, trapped);
    return 0;
}
