/* counters PAGES FORKS: threads count in every 4KB page of huge pages, each in words of its own and in shared words by
 * atomic additions, while the main thread gives one 4KB page of each huge page in turn another protection, and forks.
 * At the end the sums must be exact: no write was lost. */
#include "hostile.h"

enum { THREADS = 3, SMALL = HUGE / PAGE, WORDS = 8, SPARED = 40 /* this 4KB page of each is the guard */ };
static char* g_blocks;
static long g_pages;
static volatile int g_stop;
static uint64_t (*g_own)[THREADS]; /* per 4KB page */
static uint64_t g_shared[THREADS];

static volatile uint64_t* words_of(long small) { return (volatile uint64_t*)(g_blocks + small * PAGE); }

static void* count_up(void* argument) {
    const long id = (long)argument;
    unsigned random = (unsigned)id + 3;
    while (!g_stop) {
        const long small = (long)(next_random(&random) % (unsigned)(g_pages * SMALL));
        if (small % SMALL == SPARED) continue;
        ++words_of(small)[id];
        ++g_own[small][id];
        __atomic_fetch_add(&words_of(small)[WORDS - 1], 1, __ATOMIC_SEQ_CST);
        ++g_shared[id];
    }
    return argument;
}

static void in_child(void) {
    for (long small = 0; small < g_pages * SMALL; small += 97) {
        if (small % SMALL == SPARED) continue;
        const uint64_t seen = words_of(small)[0];
        words_of(small)[0] = seen + 1;
        if (words_of(small)[0] != seen + 1) _exit(1);
    }
    _exit(17);
}

int main(int count, char** words) {
    REQUIRE(count == 3);
    watch(60);
    g_pages = atol(words[1]);
    const long forks = atol(words[2]);
    g_blocks = huge_blocks((size_t)g_pages);
    memset(g_blocks, 0, (size_t)g_pages * HUGE);
    g_own = calloc((size_t)(g_pages * SMALL), sizeof *g_own);
    REQUIRE(g_own != NULL);
    pthread_t ids[THREADS];
    for (long i = 0; i < THREADS; ++i) REQUIRE(pthread_create(&ids[i], NULL, count_up, (void*)i) == 0);
    for (long page = 0; page < g_pages; ++page) {
        usleep(2000);
        REQUIRE(mprotect(g_blocks + page * HUGE + SPARED * PAGE, PAGE, page % 2 ? PROT_READ : PROT_NONE) == 0);
        if (page >= forks) continue;
        const pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) in_child();
        int status = 0;
        REQUIRE(waitpid(child, &status, 0) == child);
        if (status != 17 << 8) dprintf(2, "the child ended with status 0x%x\n", status);
        REQUIRE(status == 17 << 8);
    }
    g_stop = 1;
    uint64_t shared = 0, found = 0, lost = 0;
    for (long i = 0; i < THREADS; ++i) {
        REQUIRE(pthread_join(ids[i], NULL) == 0);
        shared += g_shared[i];
    }
    for (long small = 0; small < g_pages * SMALL; ++small) {
        if (small % SMALL == SPARED) continue;
        for (long i = 0; i < THREADS; ++i) lost += words_of(small)[i] != g_own[small][i];
        found += words_of(small)[WORDS - 1];
    }
    dprintf(2, "%lu words differ, atomic sum %lu of %lu\n", (unsigned long)lost, (unsigned long)found, (unsigned long)shared);
    REQUIRE(lost == 0 && found == shared && shared > 0);
    puts("right");
    return 0;
}
