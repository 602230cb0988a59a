/* show_map FILE: the counters of a pool map as JSON, by the header that other processes use. */
#include <fcntl.h>
#include <mosalloc/pool_map.h>
#include <stdio.h>
#include <sys/mman.h>

int main(int count, char** words) {
    const int fd = count == 2 ? open(words[1], O_RDONLY) : -1;
    const struct mosalloc_pool_map* map = mmap(NULL, sizeof *map, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED || map->magic != MOSALLOC_POOL_MAP_MAGIC) return 1;
    printf("{");
#define SHOW(name) printf("\"" #name "\": %lu, ", (unsigned long)map->name)
    SHOW(state);
    SHOW(split_pages);
    SHOW(unsplit_pages);
    SHOW(pin_kinds);
    SHOW(exchanged_pages);
    SHOW(softened_protections);
    SHOW(forks);
    SHOW(fork_risks);
    SHOW(copied_forks);
    SHOW(fork_copied_bytes);
    SHOW(stolen_locks);
    printf("\"unsplit_by\": [%lu, %lu, %lu]}\n", (unsigned long)map->unsplit_by[MOSALLOC_UNSPLIT_NO_GATE],
           (unsigned long)map->unsplit_by[MOSALLOC_UNSPLIT_PINNED], (unsigned long)map->unsplit_by[MOSALLOC_UNSPLIT_KERNEL]);
    return 0;
}
