/* exhaust POOL_BYTES: both pools have this size. Allocates until the pools are full: the only errors must be NULL and
 * ENOMEM, and freed memory must be available again. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "case.h"

int main(int count, char** arguments) {
    REQUIRE(count == 2);
    const size_t bytes = strtoull(arguments[1], NULL, 10);
    static void* held[1 << 16];
    size_t taken = 0, total = 0;
    while (taken < sizeof held / sizeof *held && (held[taken] = malloc(100000)) != NULL) {
        memset(held[taken++], 'x', 100000);
        total += 100000;
        REQUIRE(total <= 2 * bytes);
    }
    REQUIRE(errno == ENOMEM && total > bytes); /* the heap pool was full, and malloc went on in the other one */
    REQUIRE(mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == (void*)-1 && errno == ENOMEM);
    REQUIRE(sbrk((intptr_t)bytes) == (void*)-1 && errno == ENOMEM);
    for (size_t i = 0; i < taken; ++i) free(held[i]);
    for (size_t i = 0; i < taken; ++i) REQUIRE((held[i] = malloc(100000)) != NULL);
    return 0;
}
