/* Loads a second copy of libc, whose entry points nobody patched, and takes memory with its malloc. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

int main(void) {
    void* libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    if (libc == NULL) return 1;
    void* (*its_malloc)(size_t) = (void* (*)(size_t))dlsym(libc, "malloc");
    char* at = its_malloc == NULL ? NULL : its_malloc(8 << 20);
    if (at == NULL) return 2;
    memset(at, 'x', 8 << 20);
    return 0;
}
