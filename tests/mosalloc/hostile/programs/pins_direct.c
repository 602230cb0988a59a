/* pins_direct FILE PAGES: a thread reads with O_DIRECT into the lower halves of many huge pages by one call, checks them,
 * and so on; the main thread gives the upper halves guard pages, one huge page after the other, at odd moments. */
#include "hostile.h"

#include <sys/uio.h>

enum { MOST = 64 };
static char *g_block, *g_expected;
static int g_file;
static size_t g_pages;
static volatile int g_stop;
static volatile uint64_t g_reads;

/* Two contents in turn, so that a lost read shows. */
static void* read_and_check(void* unused) {
    struct iovec parts[MOST];
    for (size_t i = 0; i < g_pages; ++i) parts[i] = (struct iovec){g_block + i * HUGE, MB};
    for (size_t from = 0; !g_stop; from = MB - from) {
        REQUIRE(preadv(g_file, parts, (int)g_pages, (off_t)from) == (ssize_t)(g_pages * MB));
        for (size_t i = 0; i < g_pages; ++i) {
            const size_t at = from + i * MB;
            if (memcmp(parts[i].iov_base, g_expected + at, MB) != 0) require_content("read", parts[i].iov_base, MB, at, 1);
        }
        ++g_reads;
    }
    return unused;
}

int main(int count, char** words) {
    REQUIRE(count == 3);
    watch(60);
    g_pages = strtoul(words[2], NULL, 10);
    REQUIRE(g_pages <= MOST);
    g_block = huge_blocks(g_pages);
    g_file = make_file(words[1], (g_pages + 1) * MB, 1, O_DIRECT);
    g_expected = malloc((g_pages + 1) * MB);
    REQUIRE(g_expected != NULL);
    fill(g_expected, (g_pages + 1) * MB, 0, 1);
    pthread_t id;
    REQUIRE(pthread_create(&id, NULL, read_and_check, NULL) == 0);
    unsigned random = 7;
    for (size_t page = g_pages; page-- > 0;) {
        const uint64_t before = g_reads;
        while (g_reads == before) usleep(50);
        usleep(next_random(&random) % 6000);
        REQUIRE(mprotect(g_block + page * HUGE + MB, PAGE, PROT_NONE) == 0);
        REQUIRE(mprotect(g_block + page * HUGE + MB + 9 * PAGE, PAGE, PROT_READ) == 0);
    }
    g_stop = 1;
    REQUIRE(pthread_join(id, NULL) == 0);
    puts("right");
    return 0;
}
