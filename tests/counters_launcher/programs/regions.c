/* Writes pages and a watched variable: known numbers of times inside regions of interest, others outside.
 * usage: regions MODE
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "roi.h"

enum { PAGE = 4096, PAGES = 400 };

/* The linker puts this section at a fixed address, so that a breakpoint can name it. */
__attribute__((section(".watched"))) volatile int watched = 1;
static char *next_page;

static void pages(int count) {
    for (; count > 0; --count, next_page += PAGE) *next_page = 1;
}

static void writes(int count) {
    for (; count > 0; --count) watched = count;
}

static void *thread(void *unused) {
    writes(100);
    return unused;
}

static int is(const char *mode, const char *wanted) { return strcmp(mode, wanted) == 0; }

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "two";
    next_page = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (next_page == MAP_FAILED || madvise(next_page, PAGES * PAGE, MADV_NOHUGEPAGE) != 0) return 9;
    if (is(mode, "never-begins")) return 0;
    if (is(mode, "stray")) TESSERA_ROI_END();
    if (is(mode, "closes")) close_range(3, ~0u, 0);
    if (is(mode, "behind-exec")) {
        writes(50);
        TESSERA_ROI_END();
        writes(5);
        return 0;
    }
    pages(30);
    writes(30);

    TESSERA_ROI_BEGIN();
    pages(100);
    writes(700);
    if (is(mode, "nested")) TESSERA_ROI_BEGIN();
    if (is(mode, "killed-inside")) raise(SIGKILL);
    if (is(mode, "never-ends")) return 0;
    if (is(mode, "sleeps")) {
        puts("inside");
        fflush(stdout);
        pause();
    }
    if (is(mode, "exec")) {
        execl("/proc/self/exe", "regions", "behind-exec", NULL);
        return 9;
    }
    if (is(mode, "threads")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; ++i)
            if (pthread_create(&threads[i], NULL, thread, NULL) != 0) return 9;
        for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    }
    if (is(mode, "forks")) {
        const pid_t child = fork();
        if (child == 0) {
            writes(60);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    TESSERA_ROI_END();

    pages(40);
    writes(40);
    TESSERA_ROI_BEGIN();
    pages(50);
    writes(300);
    TESSERA_ROI_END();
    writes(11);
    if (is(mode, "killed-after")) raise(SIGKILL);
    return is(mode, "fails") ? 3 : 0;
}
