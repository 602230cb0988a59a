/* reuse LIVE_BYTES CALLS: maps and unmaps blocks of changing sizes, malloc'd ones between them; never more than
 * LIVE_BYTES are mapped at a time. An allocator that does not reuse addresses needs as many as all calls together. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

enum { SLOTS = 64 };

int main(int count, char** words) {
    const size_t most = count > 1 ? strtoull(words[1], NULL, 10) : 0;
    const long calls = count > 2 ? atol(words[2]) : 0;
    char* held[SLOTS] = {0};
    size_t sizes[SLOTS] = {0};
    size_t live = 0;
    unsigned seed = 7;
    for (long i = 0; i < calls; ++i) {
        seed = seed * 1103515245u + 12345u;
        const unsigned slot = (seed >> 16) % SLOTS;
        if (held[slot] != NULL) {
            if (munmap(held[slot], sizes[slot]) != 0) return 1;
            live -= sizes[slot];
            held[slot] = NULL;
            continue;
        }
        sizes[slot] = (size_t)(1 + (seed >> 8) % 64) * 4096;
        if (live + sizes[slot] > most) continue;
        held[slot] = mmap(NULL, sizes[slot], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (held[slot] == MAP_FAILED) return 2;
        held[slot][0] = 1;
        live += sizes[slot];
    }
    return 0;
}
