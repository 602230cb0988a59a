#include "base/host.h"

#include <stdio.h>
#include <stdlib.h>

static void *checked(void *memory, size_t bytes) {
    if (memory) return memory;
    fprintf(stderr, "imitation: a table of %zu bytes: this machine has no memory left\n", bytes);
    fputs("  what to do: simulate less memory\n", stderr);
    exit(3);
}

void *host_alloc(size_t bytes) { return checked(calloc(1, bytes), bytes); }

void *host_grow(void *array, size_t *room, size_t needed, size_t bytes) {
    if (needed <= *room) return array;
    size_t larger = *room < 8 ? 8 : *room;
    while (larger < needed) larger *= 2;
    *room = larger;
    return checked(realloc(array, larger * bytes), larger * bytes);
}
