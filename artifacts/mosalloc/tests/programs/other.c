/* other.c - a second preloaded library, which allocates in its constructor and wraps malloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void* (*next_malloc)(size_t);

void* malloc(size_t bytes) {
    if (next_malloc == NULL) next_malloc = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
    return next_malloc(bytes);
}

__attribute__((constructor)) static void start(void) {
    char* at = malloc(300000);
    memset(at, 1, 300000);
    free(at);
}
